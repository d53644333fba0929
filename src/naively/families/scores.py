"""The score of a column as plain data: what each value adds to log p(x | c), in every class.

    ValueScores       a score for each listed value             s_c(x) = table[x, c]                                 (1)
    IntervalScores    a score for each interval between cuts    s_c(x) = table[number of cuts ≤ x, c]                (2)
    GaussianScores    a parabola for each class                 s_c(x) = base_c − ½ ((x − mean_c) / deviation_c)²    (3)
    LinearScores      a line for each class                     s_c(x) = intercept_c + slope_c x                     (4)

These are the families without their statistics: enough to score a row anywhere, in SQL or in another language. A term
that is the same in all classes changes no posterior and is left out. A missing value adds nothing, unless `missing` of
`ValueScores` says what it adds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from naively._kernels.types import Bools, Floats
from naively.data.views import Values


@dataclass(frozen=True, slots=True, eq=False)
class ValueScores:
    """Equation (1): scores (value, class) of listed values.

    `other` is the score of any other value, None if such a value is refused. `missing` is that of a missing value.
    """

    values: Values
    scores: Floats
    other: Floats | None
    missing: Floats

    form: ClassVar[Literal["values"]] = "values"

    def weighted(self, weight: float) -> ValueScores:
        """Return the scores times a positive weight."""
        other = None if self.other is None else weight * self.other
        return replace(self, scores=weight * self.scores, other=other, missing=weight * self.missing)

    @property
    def is_evidence(self) -> bool:
        """Whether any value has different scores in different classes."""
        return any(map(_differ, (self.scores, self.missing, 0.0 if self.other is None else self.other)))


@dataclass(frozen=True, slots=True, eq=False)
class IntervalScores:
    """Equation (2): ascending cuts, and scores (interval, class); there is one interval more than cuts."""

    cuts: Floats
    scores: Floats

    form: ClassVar[Literal["intervals"]] = "intervals"

    def weighted(self, weight: float) -> IntervalScores:
        """Return the scores times a positive weight."""
        return replace(self, scores=weight * self.scores)

    @property
    def is_evidence(self) -> bool:
        """Whether any interval has different scores in different classes."""
        return _differ(self.scores)


@dataclass(frozen=True, slots=True, eq=False)
class GaussianScores:
    """Equation (3), of x or of its logarithm. Infinite numbers are refused, and those without a logarithm."""

    base: Floats
    mean: Floats
    deviation: Floats
    of_logarithm: bool

    form: ClassVar[Literal["gaussian"]] = "gaussian"

    def weighted(self, weight: float) -> GaussianScores:
        """Return the scores times a positive weight."""
        return replace(self, base=weight * self.base, deviation=self.deviation / np.sqrt(weight))

    @property
    def is_evidence(self) -> bool:
        """Whether any number has different scores in different classes."""
        return any(map(_differ, (self.base, self.mean, self.deviation)))


@dataclass(frozen=True, slots=True, eq=False)
class LinearScores:
    """Equation (4) for numbers from 0 to 1e300, whole ones if `integers_only`; other numbers are refused.

    In classes with `zero_only`, any number above 0 is impossible. The length of a row is the sum of its numbers in the
    columns with `in_length`.
    """

    intercept: Floats
    slope: Floats
    zero_only: Bools
    integers_only: bool
    in_length: bool = False

    form: ClassVar[Literal["linear"]] = "linear"

    def weighted(self, weight: float) -> LinearScores:
        """Return the scores times a positive weight."""
        return replace(self, intercept=weight * self.intercept, slope=weight * self.slope)

    @property
    def is_evidence(self) -> bool:
        """Whether any number has different scores in different classes, or counts for the length of the row."""
        return bool(self.in_length or self.zero_only.any() or _differ(self.intercept) or _differ(self.slope))


ColumnScores = ValueScores | IntervalScores | GaussianScores | LinearScores


def _differ(scores: Floats | float) -> bool:
    """Return whether numbers differ along the last axis, that of the classes, or make a class impossible."""
    table = np.atleast_1d(np.asarray(scores))
    return bool((table != table[..., :1]).any() or np.isneginf(table).any())
