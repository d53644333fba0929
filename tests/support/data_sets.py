"""Where the tests find data: small sets in the repository, larger ones next to it if they are there."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DATA_SETS = ROOT / "tests" / "data_sets"
OPTIONAL_DATA_SETS = ROOT.parent / "shared" / "data"


def optional_data_set(name: str) -> Path:
    """Return the path of a data set that is not in the repository, such as "tables/adult.csv"."""
    return OPTIONAL_DATA_SETS / name


def needs_data_set(name: str) -> pytest.MarkDecorator:
    """Skip a test if an optional data set is missing."""
    reason = f"optional data set ../shared/data/{name} is missing (see tests/data_sets/README.md)"
    return pytest.mark.skipif(not optional_data_set(name).exists(), reason=reason)


def read_csv(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file as dictionaries of strings."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
