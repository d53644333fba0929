"""The ratios in docs/speed.md and the figures in docs/quality.md are those of runs in benchmarks/results/."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[2]
RUNS = [json.loads(path.read_text(encoding="utf-8")) for path in sorted((ROOT / "benchmarks/results").glob("*.json"))]


def rounded(numbers: list[float]) -> str:
    """Format a median and two quartiles as the tables do."""
    median, low, high = (f"{n:.0f}" if numbers[0] >= 50 and n == round(n) else f"{n:.1f}" for n in numbers)
    return f"{median}× ({low}–{high})"


def recorded_ratios() -> set[str]:
    results = [result for run in RUNS for result in run["results"]]
    ratios = [ratio for result in results for ratio in result.get("ratios", {}).values()]
    return {rounded(ratio) for ratio in ratios if len(ratio) == 3}


def numbers_in(value: Any) -> Iterator[float]:
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from numbers_in(item)
    elif isinstance(value, int | float):
        yield value


def test_ratios_of_speed_are_recorded() -> None:
    page = (ROOT / "docs" / "speed.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"[\d.]+× \([\d.]+–[\d.]+\)", page))
    assert len(shown) > 50
    assert not shown - recorded_ratios()


def sections_of_quality() -> tuple[str, str]:
    """Return the page without the section of tables of columns and pairs of words, and that section."""
    page = (ROOT / "docs" / "quality.md").read_text(encoding="utf-8")
    before, section = page.split("## With tables of columns, and pairs of words")
    section, after = section.split("\n## ")
    return before + "## " + after, section


def means_of_splits(splits: dict[str, list[list[float]]]) -> set[str]:
    """Return the mean of each figure of each contender, and that of with − without tables and its standard error."""
    figures = {contender: np.array(rows) for contender, rows in splits.items()}
    means = [mean for rows in figures.values() for mean in rows.mean(axis=0)]
    if "together" in figures:
        change = figures["together"][:, 0] - figures["plain"][:, 0]
        means += [abs(change.mean()), change.std() / len(change) ** 0.5]
    return {f"{mean:.4f}" for mean in means}


def test_figures_of_tables_are_recorded() -> None:
    _, section = sections_of_quality()
    rows = re.findall(r"^\| ([\w.]+) \| (.*\d.*) \|$", section, flags=re.MULTILINE)
    assert len(rows) == 11
    for name, figures in rows:
        results = [result for run in RUNS for result in run["results"] if run["benchmark"] == "together"]
        splits = [result["splits"] for result in results if result["work"] == name and "splits" in result]
        assert set(re.findall(r"0\.\d{4}", figures)) <= set().union(*map(means_of_splits, splits)), name


def test_figures_of_quality_are_recorded() -> None:
    page, _ = sections_of_quality()
    rows = re.findall(r"^\| ([\w.]+) \| (0\.\d{4}) \| (.*) \|$", page, flags=re.MULTILINE)
    names = {name for name, _, _ in rows}
    results = {result["work"]: result for run in RUNS for result in run["results"] if run["benchmark"] == "quality"}
    assert names == set(results)
    for name, first, rest in rows:
        recorded = {f"{number:.4f}" for number in numbers_in(results[name])}
        assert {first, *re.findall(r"0\.\d{4}", rest)} <= recorded, name


def test_dates_are_given() -> None:
    dates = {run["date"] for run in RUNS}
    for page in ("docs/speed.md", "docs/quality.md", "README.md"):
        stated = set(re.findall(r"20\d\d-\d\d-\d\d", (ROOT / page).read_text(encoding="utf-8")))
        assert stated & dates, page
