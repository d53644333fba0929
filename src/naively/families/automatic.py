"""Families not decided yet: what is counted of a column is fixed by its type, what it is scored by is chosen later.

    AutoNumber     numbers and dates: histogram and moments, then Binned, Gaussian or Categorical
    AutoString     strings: value counts, then Categorical
    AutoBoolean    booleans: counts of yes, then Bernoulli

The choice is made from the statistics (`choosing.py`), so that batches, order and merging cannot change what a column
is. Each of them is also a likelihood in its own right, that of its first choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from naively.families.base import Family, Labels
from naively.families.bernoulli import Bernoulli
from naively.families.binned import Binned, BinnedParameters, Cuts
from naively.families.categorical import Categorical
from naively.families.gaussian import Gaussian
from naively.statistics import Histogram
from naively.statistics.number_summary import NumberSummary

__all__ = ["AutoBoolean", "AutoNumber", "AutoString"]


@dataclass(frozen=True)
class AutoNumber(Binned):
    """Numbers: `Binned`, unless their values say otherwise."""

    statistic = NumberSummary
    automatic = True

    def estimate(self, stats: Any, classes: Labels, structure: Any = None) -> BinnedParameters:
        """As `Binned`, from the histogram."""
        return super().estimate(_histogram(stats), classes, structure)

    def structure(self, stats: Any) -> Cuts:
        """As `Binned`, from the histogram."""
        return super().structure(_histogram(stats))

    def leave_one_out(self, x: Any, stats: Any, *arguments: Any, **options: Any) -> None:
        """As `Binned`, from the histogram."""
        super().leave_one_out(x, _histogram(stats), *arguments, **options)

    def rivals(self, stats: Any) -> Sequence[Family]:
        """Return Gaussian and binned, if all numbers are small enough to have a variance."""
        rows = np.bincount(stats.histogram.column, stats.histogram.cells.rows, minlength=stats.histogram.n_columns)
        if not (stats.moments.rows.sum(axis=0) == rows).all():
            return ()
        return Gaussian(missing=self.missing), Binned(missing=self.missing)

    def __str__(self) -> str:
        return "automatic, from the numbers seen"


def _histogram(stats: NumberSummary | Histogram) -> Histogram:
    return stats.histogram if isinstance(stats, NumberSummary) else stats


@dataclass(frozen=True)
class AutoString(Categorical):
    """Strings: `Categorical`, unless there is one value only or nearly each row has its own."""

    automatic = True

    def __str__(self) -> str:
        return "automatic, from the values seen"


@dataclass(frozen=True)
class AutoBoolean(Bernoulli):
    """Booleans: `Bernoulli`, unless all are the same."""

    automatic = True

    def __str__(self) -> str:
        return "automatic, from the booleans seen"
