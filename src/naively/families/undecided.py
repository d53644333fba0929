"""No likelihood yet: a column in which nothing was seen but gaps, so that its type is not known.

It is zero evidence, and takes the family of the other side when two models are added.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.families.base import ALL_KINDS, Family, Floats, Labels, Leaving, LinearPart
from naively.statistics.empty import EmptyStatistic

__all__ = ["NoValuesYet"]


@dataclass(frozen=True)
class NoValuesYet(Family[EmptyStatistic, int]):
    """A column without a value."""

    statistic = EmptyStatistic
    kinds = ALL_KINDS
    awaits_values = True

    def estimate(self, stats: EmptyStatistic, classes: Labels, structure: Any = None) -> int:
        """The number of columns is all that is known."""
        return stats.n_columns

    def log_likelihood(self, x: Any, parameters: int, out: Floats, length: Floats | None = None) -> None:
        """Nothing to add."""

    def leave_one_out(
        self, x: Any, stats: EmptyStatistic, classes: Labels, structure: None, leaving: Leaving, out: Floats
    ) -> None:
        """Nothing to add."""

    def linear(self, parameters: int, names: Sequence[str], of: int, against: int) -> LinearPart:
        """No weights."""
        return LinearPart((), np.zeros(0), 0.0)

    def __str__(self) -> str:
        return "left out: no value yet"

    def sample(self, parameters: int, label: NDArray[np.intp], generator: np.random.Generator) -> list[NDArray[Any]]:
        """Gaps."""
        return [np.full(len(label), None, dtype=object) for _ in range(parameters)]
