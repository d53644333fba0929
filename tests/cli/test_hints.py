"""Notes of `naively fit` about text columns that look like numbers or dates."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

import naively
from naively import fitting
from naively.cli.main import main
from naively.errors import InputError


@pytest.mark.parametrize(
    ("values", "hint"),
    [
        (["0,16", "12,5", "3"], "looks like numbers, such as '0,16'"),
        (["160", "1,204", "7"], "looks like numbers, such as '1,204'"),
        (["3 %", "4.5%", "12 %"], "looks like numbers, such as '3 %'"),
        (["$5", "$1,000.00", "$7.5"], "looks like numbers, such as '$5'"),
        (["31/12/2020", "01/02/2021", "05/06/2022"], "looks like dates, such as '31/12/2020'"),
        (["2020-12-31", "01/02/2021", "2022-06-05"], "looks like dates, such as '01/02/2021'"),
        (["1 Jan 2020", "12 Dec 2021", "3 March 2022"], "looks like dates, such as '1 Jan 2020'"),
        (["A7", "B12", "C3"], ""),
        (["1.5", "2", "3"], ""),
        (["2020-12-31", "2021-01-01", "2021-01-02"], ""),
    ],
)
def test_text_that_looks_like_numbers_or_dates(values: list[str], hint: str, tmp_path: Path) -> None:
    rows = "".join(f"{value};{'yes' if i % 2 else 'no'}\n" for i, value in enumerate(values * 20))
    (tmp_path / "d.csv").write_text("x;play\n" + rows)
    result = CliRunner().invoke(main, ["fit", str(tmp_path / "d.csv"), "--target", "play", "-o", str(tmp_path / "m")])
    assert result.exit_code == 0, result.output
    assert hint in result.stderr
    assert bool(hint) == ("looks like" in result.stderr)
    with_family = ["fit", str(tmp_path / "d.csv"), "--target", "play", "-o", str(tmp_path / "n"), "--column"]
    assert "among numbers" not in result.stderr
    assert not hint or "looks like" not in CliRunner().invoke(main, [*with_family, "x=categorical"]).stderr


def test_the_note_names_an_impossible_day(tmp_path: Path) -> None:
    days = ["2024-02-28", "2024-02-29", "2024-02-30", "2024-03-01"]
    (tmp_path / "d.csv").write_text("when,play\n" + "".join(f"{day},{i % 2}\n" for i, day in enumerate(days * 5)))
    command = ["fit", str(tmp_path / "d.csv"), "--target", "play", "--no-tune", "-o", str(tmp_path / "m")]
    result = CliRunner().invoke(main, command)
    assert "d.csv, line 4: column 'when' is '2024-02-30', which is not a day of the calendar" in result.stderr
    assert "looks like dates" not in result.stderr


def test_the_note_names_a_word_among_numbers(tmp_path: Path) -> None:
    for n_copies in (1, 20):  # read as strings, and as codes of repeated strings
        rows = (
            "".join(f"{i % 30}.5,{'yes' if i % 2 else 'no'}\n" for i in range(30 * n_copies)) + "much,no\n" * n_copies
        )
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
        assert f"d.csv, line {30 * n_copies + 2}: column 'x' is 'much' among numbers" in result.stderr


def test_a_numeric_target_gives_a_note(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("x,pay,kind\n" + "".join(f"{i % 7},{100 + i},{i % 3}\n" for i in range(40)))
    command = ["fit", str(tmp_path / "d.csv"), "--force", "--no-tune", "-o", str(tmp_path / "m"), "--target"]
    assert "'pay' is a number with 40 values." in CliRunner().invoke(main, [*command, "pay"]).stderr
    assert "is a number" not in CliRunner().invoke(main, [*command, "kind"]).output


@pytest.mark.parametrize("values", [range(150), [f"name {i}" for i in range(150)], [i / 7 for i in range(150)]])
def test_nearly_unique_labels_are_refused_before_they_are_counted(values: Sequence[object], tmp_path: Path) -> None:
    """151 values in 300 rows are refused, 150 are not; a number with that many values gives a warning."""
    labels = [*values] * 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        naively.fit({"x": list(range(300))}, labels, tune=False)
    labels[0] = 151 if isinstance(values[0], (int, float)) else "name 151"
    message = r"'class' has 151 different values in 300 rows: .*many_classes=True"
    with pytest.MonkeyPatch.context() as patch:
        patch.delattr(fitting, "count")
        with pytest.raises(InputError, match=message):
            naively.fit({"x": list(range(300))}, labels, tune=False)
    (tmp_path / "d.csv").write_text("x,y\n" + "".join(f"{i % 7},{label}\n" for i, label in enumerate(labels)))
    command = ["fit", str(tmp_path / "d.csv"), "--target", "y", "--no-tune", "-o", str(tmp_path / "m")]
    refused = CliRunner().invoke(main, command)
    assert (refused.exit_code, "--many-classes" in refused.stderr) == (1, True)
    assert CliRunner().invoke(main, [*command, "--many-classes"]).exit_code == 0
    assert len(naively.load(tmp_path / "m").classes) == 151
    naively.fit({"x": list(range(300))}, labels, tune=False, many_classes=True)  # without a warning
