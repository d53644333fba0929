"""Test the commands that change model files."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import naively
from naively.cli.main import main


def run(*arguments: Any, text: str | None = None) -> Any:
    return CliRunner().invoke(main, [str(argument) for argument in arguments], input=text)


def test_commands(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("sky,wind,play\nsun,1.5,yes\nrain,9,no\nsun,2,yes\n")
    (tmp_path / "e.csv").write_text("sky,wind,play\nhail,8,no\n")
    m, n = tmp_path / "m", tmp_path / "n"
    fit = run("fit", tmp_path / "d.csv", "--target", "play", "-o", m, "--comment", "start", "--remember-rows")
    assert fit.exit_code == 0, fit.output
    assert run("copy", m, n).exit_code == 0
    assert run("copy", m, n).exit_code == 2
    assert run("copy", m, tmp_path / "c", "--comment", "kept").exit_code == 2
    (entry,) = json.loads(run("update", m, tmp_path / "e.csv", "--json").stdout)
    assert (entry["rows"], entry["source"]) == (1, str(tmp_path / "e.csv"))
    assert "“oops”" in run("forget", m, tmp_path / "e.csv", "--comment", "oops").stdout
    again = run("forget", m, tmp_path / "e.csv")
    assert again.exit_code == 1
    assert "never counted" in again.stderr
    log = json.loads(run("log", m, "--json").stdout)
    assert [e["act"] for e in log] == ["fit", "update", "forget"]
    assert log[0]["comment"] == "start"
    assert run("undo", m, log[2]["id"][:8]).exit_code == 0
    merged = run("merge", m, n, "-o", tmp_path / "mn")
    assert merged.stdout.endswith("4 rows (no 2, yes 2)\n")
    assert run("merge", m, n, "-o", tmp_path / "mn").exit_code == 2
    assert json.loads(run("diff", n, m, "--json").stdout)["columns"][0]["column"] == "(classes)"
    assert "1 entry more" in run("diff", n, m, "--all").stdout
    assert run("compact", m, text="n\n").exit_code == 1
    assert len(run("log", m).stdout.splitlines()) == 4
    assert run("compact", m, "--force").exit_code == 0
    assert len(run("log", m).stdout.splitlines()) == 1
    assert "1 entry recovered, 0 lost" in run("copy", m, tmp_path / "s", "--salvage", "--comment", "kept").stdout
    assert run("log", tmp_path / "s").stdout.splitlines()[1].endswith("“kept”")
    assert run("undo", m, log[1]["id"]).exit_code == 1
    assert sorted(p.name for p in tmp_path.iterdir()) == ["d.csv", "e.csv", "m", "mn", "n", "s"]


def test_tune(tmp_path: Path) -> None:
    rows = [f"{'sun' if i % 3 else 'rain'},{i % 5},{'yes' if i % 3 else 'no'}" for i in range(30)]
    data, m = tmp_path / "d.csv", tmp_path / "m"
    data.write_text("\n".join(["sky,wind,play", *rows]) + "\n")
    assert run("fit", data, "--target", "play", "-o", m, "--no-tune").exit_code == 0
    assert "(tuned on 10 rows, log-loss " in run("tune", m, data).stdout
    (entry,) = json.loads(run("tune", m, "--prior", "yes=0.25,no=0.75", "--comment", "winter", "--json").stdout)
    assert (entry["note"], entry["comment"]) == ("class prior yes 0.25, no 0.75", "winter")
    assert json.loads(run("show", m, "--json").stdout)["classes"][0]["prior"] == 0.75
    assert run("undo", m, entry["id"]).exit_code == 0
    assert "not tuned: the textbook" in run("tune", m, "--no-tune").stdout
    for usage in ((), (data, "--no-tune"), ("--prior", "yes=x")):
        assert run("tune", m, *usage).exit_code == 2
    for wrong in (["--prior", "yes=1"], ["--prior", "loud"], [tmp_path / "none.csv"]):
        assert run("tune", m, *wrong).exit_code == 1
    assert len(run("log", m).stdout.splitlines()) == 5


@pytest.mark.parametrize("name", sorted(path.name for path in Path(__file__).parent.glob("*.naively")))
def test_diff_ends_as_diff_does(name: str, tmp_path: Path) -> None:
    """0 without a significant difference, for copies and for models of the same rows; 1 with one; 2 for an error."""
    for copy in ("a", "b"):
        shutil.copy(Path(__file__).parent / name, tmp_path / copy)
    for options in ((), ("--json",), ("--all",)):
        assert CliRunner().invoke(main, ["diff", str(tmp_path / "a"), str(tmp_path / "b"), *options]).exit_code == 0
    assert CliRunner().invoke(main, ["diff", str(tmp_path / "a"), str(tmp_path / "none")]).exit_code == 2


def test_diff_of_different_models_ends_with_1(tmp_path: Path) -> None:
    for copy, sky in (("a", ["sun", "rain"]), ("b", ["sun", "rain"]), ("c", ["sun", "sun"])):
        naively.fit({"sky": sky * 20}, ["yes", "no"] * 20, tune=False).save(tmp_path / copy)
    for options in ((), ("--json",), ("--all",)):
        codes = [
            CliRunner().invoke(main, ["diff", str(tmp_path / "a"), str(tmp_path / other), *options]).exit_code
            for other in "abc"
        ]
        assert codes == [0, 0, 1]
