"""Row hashes: the laws of the sum, against a dictionary of all hashes; what is held of large data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naively.statistics import row_hashes
from naively.statistics.row_hashes import LARGEST, RowHashes

K = 4  # instead of 2,048, so that small examples are trimmed
HASHES = st.lists(st.integers(0, 12) | st.integers(0, LARGEST), max_size=30)


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_hashes, "MAX_HASHES", K)


def of(hashes: Iterable[int]) -> RowHashes:
    return RowHashes.of(np.array(list(hashes), np.int64))


def plain(held: RowHashes) -> tuple[list[int], list[int], int]:
    return held.hashes.tolist(), held.rows.tolist(), held.limit


def oracle(hashes: list[int], limit: int = LARGEST) -> tuple[list[int], list[int], int]:
    """Return the smallest hashes of a list within a limit."""
    counts = Counter(h for h in hashes if h <= limit)
    first = sorted(counts)[:K]
    return first, [counts[h] for h in first], limit if len(counts) <= K else first[-1]


@given(HASHES)
def test_smallest(hashes: list[int]) -> None:
    assert plain(of(hashes)) == oracle(hashes)


@given(HASHES, st.lists(st.integers(0, 30), max_size=4), st.randoms())
def test_any_split_and_order(hashes: list[int], cuts: list[int], random: Any) -> None:
    shuffled = random.sample(hashes, len(hashes))
    edges = [0, *sorted(min(cut, len(hashes)) for cut in cuts), len(hashes)]
    parts = [of(shuffled[a:b]) for a, b in pairwise(edges)]
    assert plain(RowHashes.sum_of(parts)) == oracle(hashes)
    total = parts[0]
    for part in parts[1:]:
        total = part + total
    assert plain(total) == oracle(hashes)


@given(HASHES, st.data())
def test_total_minus_part_is_rest(hashes: list[int], data: st.DataObject) -> None:
    is_part = data.draw(st.lists(st.booleans(), min_size=len(hashes), max_size=len(hashes)))
    part = [h for h, p in zip(hashes, is_part, strict=True) if p]
    rest = [h for h, p in zip(hashes, is_part, strict=True) if not p]
    total = of(hashes)
    assert plain(total - of(part)) == (*oracle(rest, total.limit)[:2], total.limit)


@given(HASHES, HASHES)
def test_held(hashes: list[int], others: list[int]) -> None:
    held = of(hashes)
    for h, is_held in zip(others, held.are_held(np.array(others, np.int64)).tolist(), strict=True):
        assert is_held == (h in hashes and h <= held.limit)


@given(HASHES)
def test_files(hashes: list[int]) -> None:
    held = of(hashes)
    assert plain(RowHashes.from_export(*held.export())) == plain(held)


@pytest.mark.parametrize(
    ("hashes", "rows", "limit"),
    [
        (np.array([2, 1]), None, None),
        (np.array([1, 1]), None, None),
        (np.array([-1, 1]), None, None),
        (np.array([1, 2]), None, 1),
        (np.array([1]), np.array([0]), None),
        (np.array([1]), np.array([1, 1]), None),
        (np.array([1.0]), None, None),
        (np.arange(9), None, None),
        (np.array([1]), None, 2**40),
        ("ab", None, None),
    ],
)
def test_refusals(hashes: Any, rows: Any, limit: Any) -> None:
    with pytest.raises(ValueError, match=r"hashes|rows"):
        RowHashes.from_export(hashes, rows, limit)
