"""`naively plot`."""

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from naively.cli.commands.plot import KINDS, OF_MODEL
from naively.cli.main import main

ROWS = ["sun,1.5,dry and warm,yes", "rain,9,wet and cold,no", "sun,2,dry and mild,yes", ",8,cold,no"]
DATA = "sky,wind,note,play\n" + "\n".join(ROWS * 4) + "\nsun,1,dry,maybe\n"


def run(*arguments: Any) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("train.csv").write_text(DATA.replace("maybe", "yes"))
    Path("d.csv").write_text(DATA)
    assert run("fit", "train.csv", "--target", "play", "--column", "note=text", "-o", "m").exit_code == 0
    return tmp_path


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_picture(folder: Path, kind: str) -> None:
    data = () if kind in OF_MODEL else ("d.csv",)
    for name in ("p.svg", "p.png"):
        result = run("plot", kind, "m", *data, "-o", name)
        assert result.exit_code == 0, result.output
        assert (folder / name).stat().st_size > 2000
    if kind not in OF_MODEL and kind != "waterfall":
        assert "1 of 17 rows have no 'play' that the model knows" in result.stderr


def test_options(folder: Path) -> None:
    for more in (
        ("waterfall", "m", "--text", "cold and wet"),
        ("waterfall", "m", "d.csv", "--row", 2, "--of", "yes", "--against", "no"),
        ("nomogram", "m", "--of", "no"),
        ("distributions", "m", "--column", "wind"),
        ("words", "m", "--column", "note"),
        ("roc", "m", "d.csv", "--of", "no"),
        ("importance", "m", "train.csv"),
    ):
        result = run("plot", *more, "-o", "x.svg", "--force")
        assert result.exit_code == 0, result.output
    assert (folder / "x.svg").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("roc", "m", "-o", "x.svg"), 2, "roc needs DATA"),
        (("waterfall", "m", "-o", "x.svg"), 2, "give DATA, or one row"),
        (("nomogram", "m", "d.csv", "-o", "x.svg"), 2, "leave out the data"),
        (("nomogram", "m", "-o", "x.gif"), 2, ".svg, .png or .pdf"),
        (("confusion", "m", "d.csv", "--of", "perhaps", "-o", "x.svg"), 1, "'perhaps' is not a class of the model"),
        (("words", "m", "--of", "perhaps", "-o", "x.svg"), 1, "'perhaps' is not a class of the model"),
        (("nomogram", "m", "-o", "none/x.svg"), 2, "no such folder"),
        (("nomogram", "m", "--of", "maybe", "-o", "x.svg"), 1, "'maybe' is not a class"),
        (("distributions", "m", "--column", "note", "-o", "x.svg"), 1, "'note' has no distribution"),
        (("pie", "m", "-o", "x.svg"), 2, "'pie' is not one of"),
    ],
)
def test_errors(folder: Path, arguments: tuple[str, ...], code: int, message: str) -> None:
    result = run("plot", *arguments)
    assert result.exit_code == code
    assert message in result.stderr
    assert not list(folder.glob("x.*"))


def test_importance_of_a_model_without_tuning_needs_rows(folder: Path) -> None:
    assert run("fit", "train.csv", "--target", "play", "--no-tune", "-o", "plain").exit_code == 0
    refused = run("plot", "importance", "plain", "-o", "x.svg")
    assert refused.exit_code == 1
    assert "naively plot importance MODEL DATA" in refused.stderr
    assert run("plot", "importance", "plain", "train.csv", "-o", "x.svg").exit_code == 0
    assert (folder / "x.svg").stat().st_size > 2000


def test_no_column_to_draw(folder: Path) -> None:
    Path("same.csv").write_text("a,y\n" + "1,no\n1,yes\n" * 5)
    assert run("fit", "same.csv", "--target", "y", "-o", "same").exit_code == 0
    result = run("plot", "distributions", "same", "-o", "x.svg")
    assert result.exit_code == 1
    assert result.stderr.endswith("whose distribution can be drawn (families of its columns: none).\n")
    Path("text.csv").write_text("note,y\n" + "".join(f"word {i} of many,{'ab'[i % 2]}\n" for i in range(40)))
    assert run("fit", "text.csv", "--target", "y", "--column", "note=text", "-o", "text").exit_code == 0
    assert "draw the words of 'note' instead" in run("plot", "distributions", "text", "-o", "x.svg").stderr


def test_letters_that_the_font_does_not_have_are_one_note(tmp_path: Path) -> None:
    rows = "\n".join(f"{'基本' if i % 3 else '学生'},{'yes' if i % 4 else 'no'}" for i in range(40))
    (tmp_path / "plans.csv").write_text(f"プラン,churn\n{rows}\n", encoding="utf-8")
    model, picture = str(tmp_path / "m.naively"), tmp_path / "m.png"
    assert run("fit", tmp_path / "plans.csv", "--target", "churn", "-o", model, "--no-tune").exit_code == 0
    result = run("plot", "distributions", model, "-o", picture)
    assert result.exit_code == 0
    assert picture.stat().st_size > 0
    assert result.stderr.count("naively: note:") == 1
    assert "the font of the picture does not have" in result.stderr
    assert "プ" in result.stderr
