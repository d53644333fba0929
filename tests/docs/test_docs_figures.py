"""The ratios in docs/speed.md and the figures in docs/quality.md are those of runs in benchmarks/results/."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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


def test_figures_of_quality_are_recorded() -> None:
    page = (ROOT / "docs" / "quality.md").read_text(encoding="utf-8")
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
