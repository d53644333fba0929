"""Small labelled tables for Hypothesis: every class has a row, and there are a few rows to classify."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, TypeVar

from hypothesis import strategies as st

T = TypeVar("T")

quarters = st.integers(0, 12).map(lambda n: Fraction(n, 4))  # pseudo-counts that are exact as floats


@dataclass(frozen=True)
class Labelled(Generic[T]):
    rows: list[tuple[T, ...]]
    labels: list[int]
    new: list[tuple[T, ...]]

    @property
    def classes(self) -> list[int]:
        return sorted(set(self.labels))

    @property
    def width(self) -> int:
        return len(self.rows[0])

    def column(self, j: int) -> list[T]:
        return [row[j] for row in self.rows]

    def of(self, label: int) -> list[tuple[T, ...]]:
        return [row for row, c in zip(self.rows, self.labels, strict=True) if c == label]


@st.composite
def labelled(
    draw: st.DrawFn, cell: st.SearchStrategy[T], classes: int = 2, most: int = 4, per_class: int = 1
) -> Labelled[T]:
    """Up to `most` columns of cells; at least `per_class` rows of each class, in any order."""
    width = draw(st.integers(1, most))
    row = st.tuples(*[cell] * width)
    more = draw(st.lists(st.integers(0, classes - 1), max_size=8))
    labels = draw(st.permutations(list(range(classes)) * per_class + more))
    rows = draw(st.lists(row, min_size=len(labels), max_size=len(labels)))
    return Labelled(rows, list(labels), draw(st.lists(row, min_size=1, max_size=4)))


bits = st.integers(0, 1)
counts = st.integers(0, 3)
