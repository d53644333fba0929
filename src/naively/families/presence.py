"""Presence: whether a column has a value at all, as evidence of its own (`missing="value"`).

    value is there | c ~ Bernoulli(φ_jc),   φ_jc = (rows with a value + 1) / (rows + 2)      (1)

The column's family then speaks of the value, if there is one. Together they are one distribution over "missing" and
the values. Source: document 004's coin, with the rows that have a value as its heads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from naively.data.kinds import Kind
from naively.data.names import Names
from naively.data.table import Table
from naively.data.views import Numbers
from naively.families.base import ALL_KINDS
from naively.families.bernoulli import Bernoulli
from naively.families.evidence import Alternative, Grid, RowView
from naively.families.multinomial import TokenParameters
from naively.statistics import TokenCounts
from naively.statistics.base import View

__all__ = ["Presence"]


@dataclass(frozen=True)
class Presence(Bernoulli):
    """A coin for each column: has the row a value there?"""

    kinds = ALL_KINDS
    role = "presence"
    zeros = "without a value"

    def read_columns(self, table: Table, positions: Sequence[int]) -> Numbers:
        """Return 1 where a column has a value and 0 where it is missing."""
        return table.present(positions)

    def check_support(self, x: View, names: Names) -> None:
        """Accept all: `read_columns` returns 0 and 1 only."""

    def _format(self, is_one: bool, kind: str) -> tuple[bool, str]:
        """Return whether there is a value."""
        return is_one, "has a value" if is_one else "empty (counts as information)"

    def grid(self, stats: TokenCounts, parameters: TokenParameters, column: int, kind: Kind = "number") -> Grid:
        """Whether there is a value."""
        return Grid((0.0, 1.0), ("missing", "has a value"))

    def word_shares(self, stats: TokenCounts) -> None:
        """None: whether a value is missing is not a word."""
        return

    def alternatives(self, row: RowView, parameters: TokenParameters, rival: int) -> Iterator[Alternative]:
        """None: that a value is missing cannot be changed."""
        return iter(())
