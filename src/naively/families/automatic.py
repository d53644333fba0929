"""Families not decided yet: what is counted of a column is fixed by its type, what it is scored by is chosen later.

    AnyNumber    numbers and dates: histogram and moments, then Numeric, Gaussian or Categorical
    AnyValue     strings: value counts, then Categorical
    AnyTruth     booleans: counts of yes, then Bernoulli

The choice is made from the statistics (`choosing.py`), so that batches, order and merging cannot change what a column
is. Each of them is also a likelihood in its own right, that of its first choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from naively.families.bernoulli import Bernoulli
from naively.families.categorical import Categorical
from naively.families.numeric import Numeric, NumericParameters
from naively.statistics import Histogram
from naively.statistics.measured import Measured

__all__ = ["AnyNumber", "AnyTruth", "AnyValue"]


@dataclass(frozen=True)
class AnyNumber(Numeric):
    """Numbers: `Numeric`, unless their values say otherwise."""

    statistic = Measured

    def estimate(self, stats: Measured | Histogram, classes: Sequence[Any]) -> NumericParameters:
        """As `Numeric`, from the histogram."""
        return super().estimate(stats.histogram if isinstance(stats, Measured) else stats, classes)

    def __str__(self) -> str:
        return "automatic, from the numbers seen"


@dataclass(frozen=True)
class AnyValue(Categorical):
    """Strings: `Categorical`, unless there is one value only or nearly each row has its own."""

    def __str__(self) -> str:
        return "automatic, from the values seen"


@dataclass(frozen=True)
class AnyTruth(Bernoulli):
    """Booleans: `Bernoulli`, unless all are the same."""

    def __str__(self) -> str:
        return "automatic, from the booleans seen"
