"""What a family has learnt of one column, as numbers that can be checked by hand.

    θ_vc = (count_vc + α_vc) / (total_c + total_α_c)            a value v, a bin, a word                             (1)
    parameters such as mean and deviation                       a column without values of its own

In (1), a class without any count has the counts of all classes together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from naively._kernels.types import Floats
from naively.data.plain import CellValue


@dataclass(frozen=True, eq=False)
class Learnt:
    """Values with counts, pseudo-counts and log θ in each class; or parameters by class; or both.

    Attributes
    ----------
    values, shown
        The values, bins or words in order, as plain data and as text.
    counts, alpha, log_probability
        Of each value, (value, class). The logarithm is what a value adds to the score of a class.
    totals, total_alpha
        What the counts are counted of, and the pseudo-counts of all values, (class,).
    parameters
        Other numbers by name, (class,).
    n_values
        The number of values that the column has, if only the most frequent are listed.
    """

    values: tuple[CellValue, ...] = ()
    shown: tuple[str, ...] = ()
    counts: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    alpha: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    log_probability: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    totals: Floats = field(default_factory=lambda: np.zeros(0))
    total_alpha: Floats = field(default_factory=lambda: np.zeros(0))
    parameters: Mapping[str, Floats] = field(default_factory=dict)
    n_values: int = 0

    @classmethod
    def of_values(
        cls, values: Sequence[CellValue], shown: Sequence[str], counts: Floats, alpha: Floats, log_probability: Floats
    ) -> Learnt:
        """Return all values of a column, whose counts add up to the total."""
        alpha = np.broadcast_to(alpha, counts.shape)
        totals = counts.sum(axis=0), alpha.sum(axis=0)
        return cls(tuple(values), tuple(shown), counts, alpha, log_probability, *totals, n_values=len(values))
