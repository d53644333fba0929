"""The readable twin of the two-class solver: projected Newton steps in NumPy.

    minimise  Σ_i r_i (log(1 + exp(−m_i)) + u_i m_i)  +  ½ Σ_j κ_j (x_j − v_j)²,   m_i = ±(a_i + Σ_j x_j f_ji)    (1)

u is the smaller of the two targets of a row; the sign of m is that of the class with the larger one. x_0 is the
difference of the two offsets and f_0 = 1; the other x are weights from 0 to `max_weight`, and f_j = e_j1 − e_j0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class TwoClassLoss:
    """Return equation (1)."""

    features: Floats  # (1 + feature, row): ones, and e₁ − e₀
    base: Floats
    sign: Floats  # 1 for the second class, −1 for the first
    doubt: Floats  # u
    weight: Floats
    centre: Floats
    strength: Floats

    def value(self, x: Floats) -> tuple[float, Floats, Floats]:
        """Return (1), its gradient, and the probability of the class that a row does not have."""
        margin = self.sign * (self.base + x @ self.features)
        away = x - self.centre
        smaller_odds = np.exp(-np.abs(margin))
        loss = np.log1p(smaller_odds) - np.minimum(margin, 0.0) + self.doubt * margin
        value = self.weight @ loss + 0.5 * self.strength @ away**2
        wrong = np.where(margin < 0, 1.0, smaller_odds) / (1.0 + smaller_odds)
        slope = self.features @ (self.weight * self.sign * (wrong - self.doubt))
        return float(value), self.strength * away - slope, wrong

    def curvature(self, wrong: Floats) -> Floats:
        """Return the matrix of second derivatives of (1)."""
        matrix = (self.features * (self.weight * wrong * (1.0 - wrong))) @ self.features.T
        return np.asarray(matrix + np.diag(self.strength))


def minimise(
    base: Floats,
    evidence: Floats,
    target: Floats,
    row_weight: Floats,
    centre: Floats,
    strength: Floats,
    start: Floats,
    *,
    max_weight: float,
    tolerance: float,
    max_steps: int,
) -> tuple[Floats, float]:
    """Return the minimum of (1) and its value; weights at a bound that push against it stay there."""
    difference = evidence[:, :, 1] - evidence[:, :, 0]
    features = np.concatenate([np.ones((1, len(target))), difference])
    sign = np.where(target[:, 1] >= target[:, 0], 1.0, -1.0)
    function = TwoClassLoss(features, base[:, 1] - base[:, 0], sign, target.min(axis=1), row_weight, centre, strength)
    low, high = np.full(len(start), 0.0), np.full(len(start), max_weight)
    low[0], high[0] = -np.inf, np.inf
    x = start
    value, gradient, wrong = function.value(x)
    for _ in range(max_steps):
        free = ~(((x <= low) & (gradient > 0)) | ((x >= high) & (gradient < 0)))
        matrix = function.curvature(wrong)[np.ix_(free, free)]
        matrix[np.diag_indices_from(matrix)] *= 1.0 + 1e-9
        step = np.zeros_like(x)
        step[free] = -np.linalg.solve(matrix, gradient[free])
        expected = -float(gradient @ step)
        if expected <= tolerance * (1.0 + abs(value)):
            break
        share, before = 1.0, value
        while True:
            trial = np.clip(x + share * step, low, high)
            value, gradient, wrong = function.value(trial)
            if value <= before - 1e-4 * share * expected or share <= 2e-6:
                break
            share *= 0.5
        x = trial
        if before - value <= tolerance * (1.0 + abs(value)):
            break
    return x, value
