"""Terms of columns scored by a formula: Gaussian, LogNormal, Poisson, Exponential, and families from elsewhere.

A missing value adds nothing, so the evidence of one column is what its family gives a row in which all others are
missing. The spread is that of the first-order error (delta method), for n rows of class c:

    Gaussian      Var log p = z²/n + (z² − 1)²/2n,   z = (x − μ)/σ          (1)
    Poisson       (x/λ − 1)² λ / (n + b)                                    (2)
    Exponential   (1 − λx)² / (n + a)                                       (3)

Source: Gelman et al., Bayesian Data Analysis, 3rd ed. (2013), §3.2 and §2.6, for the posterior variances.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.explanation.bins import number_row
from naively.families import Exponential, Gaussian, LogNormal, Poisson
from naively.families.evidence import BlockTerms, Term, normal_spread, shown_value, two
from naively.families.gaussian import GaussianParameters
from naively.schema.schema import Block
from naively.statistics import Moments, Numbers, Statistic, Sums

__all__ = ["NumberTerms", "alone"]

STRIP = 64  # columns looked at together: a table of 64 × columns numbers


def alone(block: Block, fitted: Any, row: NDArray[np.float64], n_classes: int) -> NDArray[np.float64]:
    """log p(x_j | c) of each number of a row by itself, (column, class); 0 where it is missing."""
    out = np.zeros((len(row), n_classes))
    for start in range(0, len(row), STRIP):
        stop = min(start + STRIP, len(row))
        diagonal = np.full((stop - start, len(row)), np.nan)
        diagonal[np.arange(stop - start), np.arange(start, stop)] = row[start:stop]
        block.family.log_likelihood(Numbers((diagonal,)), fitted, out[start:stop])
    return out


@dataclass(frozen=True, eq=False)
class NumberTerms(BlockTerms):
    """A term for each column."""

    block: Block
    counts: Statistic
    fitted: Any
    x: Numbers
    n_classes: int

    def terms(self, row: int, of: int, against: int) -> list[Term]:
        """Those of one row, between two classes."""
        numbers = number_row(self.x, row)
        scores = alone(self.block, self.fitted, numbers, self.n_classes)[:, [of, against]]
        behind = [self._behind(c) for c in (of, against)]
        variance = self._variance(numbers, of) + self._variance(numbers, against)
        with np.errstate(invalid="ignore"):
            low, high = normal_spread(scores[:, 0] - scores[:, 1], variance)
        terms = []
        for j, x in enumerate(numbers.tolist()):
            name = self.block.names[j]
            if x != x:
                terms.append(Term(name, None, "missing", note="missing"))
                continue
            value, shown = shown_value(x, self.block.kind(j))
            known = behind[0][j], behind[1][j]
            note = "" if any(side["rows"] for side in known) or not known[0] else "never seen in these classes"
            terms.append(Term(name, value, shown, two(scores[j]), 1.0, known, (float(low[j]), float(high[j])), note))
        return terms

    def _behind(self, c: int) -> list[dict[str, float]]:
        """Rows, mean and deviation of each column in a class; those of the logarithm for LogNormal."""
        found, n = self.counts, len(self.block.names)
        if isinstance(found, Moments) and isinstance(self.fitted, GaussianParameters):
            parts = (found.weight[c], self.fitted.mean[c], np.sqrt(self.fitted.variance[c]))
            return [
                {"rows": w, "mean": m, "deviation": s} for w, m, s in zip(*(p.tolist() for p in parts), strict=True)
            ]
        if isinstance(found, Sums):
            rows = found.weight[c].tolist()
            totals = zip(rows, found.total[c].tolist(), strict=True)
            return [{"rows": w, "mean": total / w if w else 0.0} for w, total in totals]
        return [{} for _ in range(n)]

    def _variance(self, x: NDArray[np.float64], c: int) -> NDArray[np.float64]:
        """Equations (1) to (3); NaN where there is nothing to go by."""
        found, family = self.counts, self.block.family
        with np.errstate(all="ignore"):
            if isinstance(found, Moments) and isinstance(self.fitted, GaussianParameters):
                assert isinstance(family, Gaussian)
                n = np.where(found.weight[c] > 0, found.weight[c], found.weight.sum(axis=0))
                value = np.log(x) if isinstance(family, LogNormal) else x
                squared = (value - self.fitted.mean[c]) ** 2 / self.fitted.variance[c]
                spread = squared / n + (squared - 1) ** 2 / (2 * n)
                return np.where(self.fitted.constant, 0.0, spread)
            if isinstance(found, Sums):
                n, rate = np.where(found.weight[c] > 0, found.weight[c], found.weight.sum(axis=0)), self.fitted[c]
                if isinstance(family, Poisson):
                    return np.asarray((x / rate - 1) ** 2 * rate / (n + family.b))
                if isinstance(family, Exponential):
                    return np.asarray((1 - rate * x) ** 2 / (n + family.a))
        return np.full(len(x), np.nan)
