"""Find the weights and offsets that turn leave-one-out evidence into probabilities.

    minimise  Σ_i r_i [log Σ_c exp s_ic − s_iy]  +  ½ ρ Σ_c b_c²  +  ½ Σ_j κ_j (w_j − v_j)²,   0 ≤ w ≤ 50     (1)
    s_ic = a_ic + b_c + Σ_j w_j e_jic                                                                     (2)

a is the log prior, e the evidence of feature j in row i for class c, y the class of the row and r its weight. (1) is
strictly convex, so it has one solution. Two classes are solved in the core by projected Newton steps (Bertsekas,
Constrained Optimization and Lagrange Multiplier Methods, 1982, section 1.5); more classes by SciPy's L-BFGS-B.
ρ = 20 keeps the offsets near 0, as strongly as 80 rows of two equal classes would, so that they do not follow the luck
of the sample. With more than 100 classes the offsets are 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from naively._kernels.posterior import log_loss, minimise_two_classes

Floats = NDArray[np.float64]

SOLVER_TOLERANCE = 1e-9  # relative gain of the objective at which a solver stops
MAX_NEWTON_STEPS = 50
OFFSET_PENALTY = 20.0  # ρ
WEIGHT_PENALTY = 4.0  # κ of a weight's pull to the textbook's 1: matters to a few dozen rows that are easily separated
MAX_CLASSES_WITH_OFFSETS = 100
MAX_WEIGHT = 50.0


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """Offsets b, weights w, and the objective (1) there."""

    offset: Floats
    weight: Floats
    objective: float


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Rows to calibrate on.

    `base` is the log prior (row, class), `evidence` is (feature, row, class), `label` holds class codes.
    """

    base: Floats
    evidence: Floats
    label: NDArray[np.intp]
    weight: Floats

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.base.shape[1])

    def rows(self, keep: NDArray[np.bool_] | NDArray[np.intp]) -> Problem:
        """Return the problem of some of the rows."""
        return Problem(self.base[keep], self.evidence[:, keep], self.label[keep], self.weight[keep])

    def summed(self, group: NDArray[np.intp], n_groups: int) -> Problem:
        """Add up the evidence within groups of features."""
        evidence = np.zeros((n_groups, *self.base.shape))
        for j, g in enumerate(group.tolist()):
            evidence[g] += self.evidence[j]
        return Problem(self.base, evidence, self.label, self.weight)

    def scores(self, offset: Floats | float, weight: Floats) -> Floats:
        """Return equation (2), (row, class)."""
        flat = self.evidence.reshape(len(weight), -1)
        return np.asarray(self.base + offset + (weight @ flat).reshape(self.base.shape))

    def losses(self, solution: Solution) -> Floats:
        """Return −r_i log p(y_i | x_i) of each row."""
        log_posterior = log_softmax(self.scores(solution.offset, solution.weight))
        return np.asarray(-self.weight * log_posterior[np.arange(len(self.label)), self.label])

    def curvature_of_weights(self, solution: Solution) -> Floats:
        """Return the second derivative of the loss by each weight: how much the rows determine it."""
        if self.n_classes == 2:
            difference = self.evidence[:, :, 1] - self.evidence[:, :, 0]
            prior = self.base[:, 1] - self.base[:, 0] + (solution.offset[1] - solution.offset[0])
            smaller_odds = np.exp(-np.abs(prior + solution.weight @ difference))
            return np.asarray(difference**2 @ (self.weight * smaller_odds / (1.0 + smaller_odds) ** 2))
        posterior = np.exp(log_softmax(self.scores(solution.offset, solution.weight)))
        mean = np.einsum("jic,ic->ji", self.evidence, posterior)
        square = np.einsum("jic,ic->ji", self.evidence**2, posterior)
        return np.asarray(np.maximum(square - mean**2, 0.0) @ self.weight)

    def solve(
        self, centre: Floats, strength: Floats, start: Solution | None = None, tolerance: float = SOLVER_TOLERANCE
    ) -> Solution:
        """Minimise (1), where `centre` is v and `strength` is κ.

        Parameters
        ----------
        centre, strength
            The values that the weights are pulled to, and how strongly, one per feature.
        start
            Where to begin; by default no offsets and the centre.
        tolerance
            Stop when a step gains less than this share of the objective.
        """
        if start is None:
            start = Solution(np.zeros(self.n_classes), np.clip(centre, 0.0, MAX_WEIGHT), 0.0)
        if self.n_classes == 2:
            return self._solve_two_classes(centre, strength, start, tolerance)
        return self._solve_many_classes(centre, strength, start, tolerance)

    def _solve_two_classes(self, centre: Floats, strength: Floats, start: Solution, tolerance: float) -> Solution:
        """Solve for (b₁ − b₀, w) in the core: ½ρ(b₀² + b₁²) is ¼ρ(b₁ − b₀)²."""
        x, objective = minimise_two_classes(
            *(self.base, self.evidence, self.label, self.weight),
            np.concatenate([[0.0], centre]),
            np.concatenate([[0.5 * OFFSET_PENALTY], strength]),
            np.concatenate([[start.offset[1] - start.offset[0]], start.weight]),
            max_weight=MAX_WEIGHT,
            tolerance=tolerance,
            max_steps=MAX_NEWTON_STEPS,
        )
        return Solution(np.array([-0.5, 0.5]) * x[0], x[1:], objective)

    def _solve_many_classes(self, centre: Floats, strength: Floats, start: Solution, tolerance: float) -> Solution:
        """Solve for (b, w) by L-BFGS-B, each variable scaled by the square root of its second derivative."""
        from scipy.optimize import fmin_l_bfgs_b

        n_offsets = self.n_classes if self.n_classes <= MAX_CLASSES_WITH_OFFSETS else 0
        no_offset = np.zeros(self.n_classes)

        def loss_and_gradient(scaled: Floats) -> tuple[float, Floats]:
            x = scaled / scale
            offset, weight = x[:n_offsets], x[n_offsets:]
            loss, by_offset, by_weight, _ = log_loss(
                self.base, self.evidence, self.label, self.weight, offset if n_offsets else no_offset, weight
            )
            away = weight - centre
            value = loss + 0.5 * OFFSET_PENALTY * offset @ offset + 0.5 * strength @ away**2
            gradient = np.concatenate([by_offset[:n_offsets] + OFFSET_PENALTY * offset, by_weight + strength * away])
            return float(value), gradient / scale

        posterior = np.exp(log_softmax(self.scores(start.offset, start.weight)))
        by_offsets = self.weight @ (posterior * (1.0 - posterior)) + OFFSET_PENALTY
        scale = np.sqrt(np.concatenate([by_offsets[:n_offsets], self.curvature_of_weights(start) + strength]))
        unbounded, bounded = [(None, None)] * n_offsets, [(0.0, MAX_WEIGHT * s) for s in scale[n_offsets:].tolist()]
        x, objective, _ = fmin_l_bfgs_b(  # takes half as long as minimize() for a small problem
            loss_and_gradient,
            np.concatenate([start.offset[:n_offsets], start.weight]) * scale,
            bounds=[*unbounded, *bounded],
            m=20,
            # L-BFGS-B makes small steps near the end: a smaller tolerance gives the accuracy of Newton's steps.
            factr=0.01 * tolerance / np.finfo(np.float64).eps,
            pgtol=1e-5,
            maxiter=1000,
        )
        x = np.asarray(x, dtype=np.float64) / scale
        return Solution(x[:n_offsets] if n_offsets else no_offset, x[n_offsets:], float(objective))


def standard_error_of_sum(gain: Floats, weight: Floats, copies_per_row: Floats) -> float:
    """Return the standard error of Σ gain over rows of weight w, of which l at a time are one observation.

    √ Σ (w/l) (l (g/w − mean))²: a row that occurs often counts as that many observations, unless its copies leave the
    model together.
    """
    away = gain / weight - gain.sum() / weight.sum()
    return float(np.sqrt((weight * copies_per_row) @ away**2))


def log_softmax(scores: Floats) -> Floats:
    """Return scores (row, class) as log posteriors."""
    if scores.shape[1] == 2:
        return np.asarray(scores - np.logaddexp(scores[:, 0], scores[:, 1])[:, None])
    shifted = scores - scores.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))
