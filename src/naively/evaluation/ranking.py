"""How well numbers rank the rows: ROC and precision–recall, as scikit-learn defines them.

With weights w and the rows sorted by falling number, at each threshold t

    true(t) = Σ w over the rows of the event with a number ≥ t,   false(t) likewise over the other rows,   (1)
    precision = true / (true + false),   recall = true / true(−∞),                                         (2)
    area = ∫ recall d(false / false(−∞)) by trapezoids,                                                    (3)
    average precision = Σ precision · (recall − recall at the threshold before).                           (4)

Public reference: Fawcett, "An introduction to ROC analysis", Pattern Recognition Letters 27, 2006.
"""

from dataclasses import dataclass

import numpy as np

from naively._kernels.types import Bools, Floats


@dataclass(frozen=True, eq=False)
class Ranking:
    """The weights of equation (1), at each distinct number from the largest to the smallest.

    The ROC curve and its area need rows of both kinds, the others rows of the event.
    """

    true: Floats
    false: Floats

    @classmethod
    def of(cls, observed: Bools, number: Floats, weight: Floats | None = None) -> "Ranking":
        """Sort the rows and sum their weights; rows of weight 0 do not count."""
        weight = np.ones(len(number)) if weight is None else weight
        counted = weight != 0
        order = np.argsort(-number[counted], kind="stable")
        observed, number, weight = (values[counted][order] for values in (observed, number, weight))
        last = np.r_[np.flatnonzero(np.diff(number)), len(number) - 1]
        return cls(np.cumsum(np.where(observed, weight, 0.0))[last], np.cumsum(np.where(observed, 0.0, weight))[last])

    @property
    def area(self) -> float:
        """Return the area under the ROC curve."""
        false, true = np.r_[0.0, self.false / self.false[-1]], np.r_[0.0, self.true / self.true[-1]]
        return float(np.trapezoid(true, false))

    @property
    def average_precision(self) -> float:
        """Return the mean precision, by the recall that each threshold adds."""
        return float(np.sum(np.diff(self._recall, prepend=0.0) * self._precision))

    def roc(self) -> tuple[Floats, Floats]:
        """Return false and true positive rates from (0, 0) to (1, 1), without points inside straight lines."""
        is_corner = np.ones(len(self.true), np.bool_)
        is_corner[1:-1] = (np.diff(self.false, 2) != 0) | (np.diff(self.true, 2) != 0)
        return np.r_[0.0, self.false[is_corner] / self.false[-1]], np.r_[0.0, self.true[is_corner] / self.true[-1]]

    def precision_recall(self) -> tuple[Floats, Floats]:
        """Return recall and precision, from recall 0 (with precision 1) to 1."""
        return np.r_[0.0, self._recall], np.r_[1.0, self._precision]

    @property
    def _precision(self) -> Floats:
        return np.asarray(self.true / (self.true + self.false))

    @property
    def _recall(self) -> Floats:
        return np.asarray(self.true / self.true[-1])
