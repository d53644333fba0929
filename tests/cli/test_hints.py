"""Strings that look like numbers or dates are said by `naively fit`."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from naively.cli.main import main


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (["0,16", "12,5", "3"], "looks like numbers, such as '0,16'"),
        (["160", "1,204", "7"], "looks like numbers, such as '1,204'"),
        (["3 %", "4.5%", "12 %"], "looks like numbers, such as '3 %'"),
        (["$5", "$1,000.00", "$7.5"], "looks like numbers, such as '$5'"),
        (["31/12/2020", "01/02/2021", "05/06/2022"], "looks like dates, such as '31/12/2020'"),
        (["1 Jan 2020", "12 Dec 2021", "3 March 2022"], "looks like dates, such as '1 Jan 2020'"),
        (["A7", "B12", "C3"], ""),
        (["1.5", "2", "3"], ""),
        (["2020-12-31", "2021-01-01", "2021-01-02"], ""),
    ],
)
def test_what_looks_like_something_else_is_said(values: list[str], said: str, tmp_path: Path) -> None:
    rows = "".join(f"{value};{'yes' if i % 2 else 'no'}\n" for i, value in enumerate(values * 20))
    (tmp_path / "d.csv").write_text("x;play\n" + rows)
    result = CliRunner().invoke(main, ["fit", str(tmp_path / "d.csv"), "--target", "play", "-o", str(tmp_path / "m")])
    assert result.exit_code == 0, result.output
    assert said in result.stderr
    assert bool(said) == ("looks like" in result.stderr)
    decided = ["fit", str(tmp_path / "d.csv"), "--target", "play", "-o", str(tmp_path / "n"), "--column"]
    assert "among numbers" not in result.stderr
    assert not said or "looks like" not in CliRunner().invoke(main, [*decided, "x=categorical"]).stderr


def test_a_word_among_numbers_is_named(tmp_path: Path) -> None:
    for often in (1, 20):  # strings, and codes of strings that come back
        rows = "".join(f"{i % 30}.5,{'yes' if i % 2 else 'no'}\n" for i in range(30 * often)) + "much,no\n" * often
        (tmp_path / "d.csv").write_text("x,play\n" + rows)
        command = [
            "fit",
            str(tmp_path / "d.csv"),
            "--target",
            "play",
            "--force",
            "--no-tune",
            "-o",
            str(tmp_path / "m"),
        ]
        result = CliRunner().invoke(main, command)
        assert result.exit_code == 0, result.output
        assert f"column 'x' holds 'much' in row {30 * often + 1}" in result.stderr


def test_amounts_to_predict_are_said(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("x,pay,kind\n" + "".join(f"{i % 7},{100 + i},{i % 3}\n" for i in range(40)))
    command = ["fit", str(tmp_path / "d.csv"), "--force", "--no-tune", "-o", str(tmp_path / "m"), "--target"]
    told = CliRunner().invoke(main, [*command, "pay"]).stdout
    assert "'pay' holds 40 different numbers, and each is a class of its own" in told
    assert "different numbers" not in CliRunner().invoke(main, [*command, "kind"]).stdout
