"""Find the weights and offsets that turn leave-one-out evidence into probabilities.

    minimise  Σ_i r_i [log Σ_c exp s_ic − Σ_c t_ic s_ic]  +  ½ ρ Σ_c b_c²  +  ½ Σ_j κ_j (w_j − v_j)²,   0 ≤ w ≤ 50   (1)
    s_ic = a_ic + b_c + Σ_j w_j e_jic                                                                              (2)

a is the log prior, e the evidence of feature j in row i for class c, t the target and r the weight of the row. The
target is 1 for the class of the row, or less if that is in doubt; the targets of a row add up to 1. (1) is strictly
convex, so it has one solution. Projected Newton steps find it (Bertsekas, Constrained Optimization and Lagrange
Multiplier Methods, 1982, section 1.5), for two classes in the core. ρ = 20 keeps the offsets near 0, as strongly as 80
rows of two equal classes would, so that they do not follow the luck of the sample. With more than 100 classes the
offsets are 0.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from naively._kernels.posterior import minimise_two_classes

Floats = NDArray[np.float64]

SOLVER_TOLERANCE = 1e-9  # relative gain of the objective at which a solver stops
MAX_NEWTON_STEPS = 50
MAX_STEPS_BETWEEN = 40  # two computations of the second derivatives
MIN_NEWTON_SHARE = 2e-6  # of a step that is shortened until the objective falls
MAX_CELLS_AT_A_TIME = 2**18  # of the evidence, in the sums of its products: 2 MB
OFFSET_PENALTY = 20.0  # ρ
WEIGHT_PENALTY = 4.0  # κ of a weight's pull to the textbook's 1: matters to a few dozen rows that are easily separated
MAX_CLASSES_WITH_OFFSETS = 100
MAX_WEIGHT = 50.0


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """Offsets b, weights w, and the objective (1) there.

    `curvature` is the matrix of second derivatives of the loss by (b, w) near there. It serves to solve a similar
    problem from there, if its evidence is the same.
    """

    offset: Floats
    weight: Floats
    objective: float
    curvature: Floats | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Rows to calibrate on.

    `base` is the log prior (row, class), `evidence` is (feature, row, class), `target` is (row, class).
    """

    base: Floats
    evidence: Floats
    target: Floats
    weight: Floats

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.base.shape[1])

    @property
    def _n_offsets(self) -> int:
        """Number of offsets that are not 0 by rule."""
        return self.n_classes if self.n_classes <= MAX_CLASSES_WITH_OFFSETS else 0

    @property
    def label(self) -> NDArray[np.intp]:
        """The class with the largest target of each row."""
        return np.asarray(self.target.argmax(axis=1))

    def rows(self, keep: NDArray[np.intp]) -> Problem:
        """Return the problem of some of the rows; `take` keeps the classes of a row together, unlike an index."""
        return Problem(self.base[keep], self.evidence.take(keep, axis=1), self.target[keep], self.weight[keep])

    def every(self, step: int) -> Problem:
        """Return the problem of every `step`-th row."""
        return self if step == 1 else self.rows(np.arange(0, len(self.base), step))

    def summed(self, group: NDArray[np.intp], n_groups: int) -> Problem:
        """Add up the evidence within groups of features."""
        evidence = np.zeros((n_groups, *self.base.shape))
        for j, g in enumerate(group.tolist()):
            evidence[g] += self.evidence[j]
        return replace(self, evidence=evidence)

    def scores(self, offset: Floats | float, weight: Floats) -> Floats:
        """Return equation (2), (row, class)."""
        scores = (weight @ self.evidence.reshape(len(weight), self.base.size)).reshape(self.base.shape)
        scores += self.base
        scores += offset
        return np.asarray(scores)

    def losses(self, solution: Solution) -> Floats:
        """Return −r_i Σ_c t_ic log p(c | x_i) of each row."""
        return self.losses_of(log_softmax(self.scores(solution.offset, solution.weight)))

    def losses_of(self, log_posterior: Floats) -> Floats:
        """Return −r_i Σ_c t_ic log p(c | x_i) of each row for log posteriors (row, class)."""
        return np.asarray(-self.weight * np.einsum("ic,ic->i", self.target, log_posterior))

    def curvature_at(self, solution: Solution) -> tuple[Floats, Solution]:
        """Return the second derivative of the loss by each weight: how much the rows determine it.

        The second result is the solution with all second derivatives, unless there are two classes.
        """
        if self.n_classes == 2:
            difference = self.evidence[:, :, 1] - self.evidence[:, :, 0]
            prior = self.base[:, 1] - self.base[:, 0] + (solution.offset[1] - solution.offset[0])
            smaller_odds = np.exp(-np.abs(prior + solution.weight @ difference))
            return difference**2 @ (self.weight * smaller_odds / (1.0 + smaller_odds) ** 2), solution
        matrix = self.second_derivatives(solution)
        return np.diag(matrix)[self._n_offsets :], replace(solution, curvature=matrix)

    def second_derivatives(self, solution: Solution) -> Floats:
        """Return the matrix of second derivatives of the loss by (b, w)."""
        posterior = np.exp(log_softmax(self.scores(solution.offset, solution.weight)))
        return self._second_derivatives(posterior, self._n_offsets)

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
        return self.solve_each(self.weight[None], centre[None], strength[None], [start], tolerance)[0]

    def solve_each(
        self, weight: Floats, centre: Floats, strength: Floats, start: Sequence[Solution], tolerance: float
    ) -> list[Solution]:
        """Solve a problem for each line of `weight`, the weights of the rows, with its centre, strength and start.

        They take their steps together: most of the work is to read the evidence, which is read once for all of them.
        """
        problems = [replace(self, weight=of_rows) for of_rows in weight]
        settings = zip(problems, centre, strength, start, strict=True)
        if self.n_classes == 2:
            return [problem._solve_two_classes(v, k, begin, tolerance) for problem, v, k, begin in settings]
        descents = [problem._descend(v, k, begin, tolerance) for problem, v, k, begin in settings]
        points = {k: next(descent) for k, descent in enumerate(descents)}
        solutions = list(start)
        while points:
            at = list(points)
            for k, *there in zip(at, *self._losses(weight[at], np.stack([points[k] for k in at])), strict=True):
                try:
                    points[k] = descents[k].send(tuple(there))
                except StopIteration as end:
                    solutions[k] = end.value
                    del points[k]
        return solutions

    def _solve_two_classes(self, centre: Floats, strength: Floats, start: Solution, tolerance: float) -> Solution:
        """Solve for (b₁ − b₀, w) in the core: ½ρ(b₀² + b₁²) is ¼ρ(b₁ − b₀)²."""
        x, objective = minimise_two_classes(
            *(self.base, self.evidence, self.target, self.weight),
            np.concatenate([[0.0], centre]),
            np.concatenate([[0.5 * OFFSET_PENALTY], strength]),
            np.concatenate([[start.offset[1] - start.offset[0]], start.weight]),
            max_weight=MAX_WEIGHT,
            tolerance=tolerance,
            max_steps=MAX_NEWTON_STEPS,
        )
        return Solution(np.array([-0.5, 0.5]) * x[0], x[1:], objective)

    def _descend(
        self, centre: Floats, strength: Floats, start: Solution, tolerance: float
    ) -> Generator[Floats, tuple[float, Floats, Floats], Solution]:
        """Yield points x = (b, w), receive what `_losses` says of each, and return the minimum.

        Second derivatives cost as much as ten steps, and more where several problems share the work of a step. So those
        of an earlier point serve for forty steps, corrected by what each step shows.
        """
        n_offsets = self._n_offsets
        low = np.concatenate([np.full(n_offsets, -np.inf), np.zeros(len(centre))])
        high = np.concatenate([np.full(n_offsets, np.inf), np.full(len(centre), MAX_WEIGHT)])
        centre = np.concatenate([np.zeros(n_offsets), centre])
        strength = np.concatenate([np.full(n_offsets, OFFSET_PENALTY), strength])

        def penalised(x: Floats, loss: float, gradient: Floats, posterior: Floats) -> tuple[float, Floats, Floats]:
            away = x - centre
            return loss + 0.5 * float(strength @ away**2), gradient + strength * away, posterior

        x = np.concatenate([start.offset[:n_offsets], start.weight])
        value, gradient, posterior = penalised(x, *(yield x))
        matrix = start.curvature if start.curvature is not None and len(start.curvature) == len(x) else None
        n_steps = 0  # with these second derivatives
        for _ in range(MAX_NEWTON_STEPS):
            is_new = matrix is None
            if matrix is None:
                matrix, n_steps = self._second_derivatives(posterior, n_offsets), 0
            is_free = ~(((x <= low) & (gradient > 0)) | ((x >= high) & (gradient < 0)))
            step = np.zeros_like(x)
            both = (matrix + np.diag(strength))[np.ix_(is_free, is_free)]
            step[is_free] = -np.linalg.solve(both, gradient[is_free])
            gain = -float(gradient @ step)
            if not gain > tolerance * (1.0 + abs(value)) and (is_new or n_steps):
                break
            share = 1.0
            trial = np.clip(x + step, low, high)
            after = penalised(trial, *(yield trial))
            while after[0] > value - 1e-4 * share * gain and share > MIN_NEWTON_SHARE:
                share *= 0.5
                trial = np.clip(x + share * step, low, high)
                after = penalised(trial, *(yield trial))
            before, n_steps = value, n_steps + 1
            matrix = updated(matrix, trial - x, after[1] - gradient - strength * (trial - x))
            x, (value, gradient, posterior) = trial, after
            if before - value <= tolerance * (1.0 + abs(value)):
                break
            if n_steps == MAX_STEPS_BETWEEN:
                matrix = None
        return Solution(x[:n_offsets] if n_offsets else np.zeros(self.n_classes), x[n_offsets:], value, matrix)

    def _losses(self, weight: Floats, x: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the first term of (1), its gradient and the posterior for each line of row weights and of (b, w)."""
        n_features, n_offsets = len(self.evidence), x.shape[1] - len(self.evidence)
        evidence = self.evidence.reshape(n_features, self.base.size)
        scores = (x[:, n_offsets:] @ evidence).reshape(len(x), *self.base.shape)
        scores += self.base
        if n_offsets:
            scores += x[:, None, :n_offsets]
        scores -= scores.max(axis=2, keepdims=True)
        of_target = np.einsum("ic,kic->ki", self.target, scores)
        posterior = np.exp(scores, out=scores)
        total = posterior.sum(axis=2)
        loss = ((np.log(total) - of_target) * weight).sum(axis=1)
        posterior /= total[:, :, None]
        slope = posterior - self.target
        slope *= weight[:, :, None]
        by_weight = slope.reshape(len(x), self.base.size) @ evidence.T
        return loss, np.concatenate([slope.sum(axis=1)[:, :n_offsets], by_weight], axis=1), posterior

    def _second_derivatives(self, posterior: Floats, n_offsets: int) -> Floats:
        """Return the matrix of second derivatives of the first term of (1) by (b, w), a few rows at a time."""
        n_features, n_rows, n_classes = self.evidence.shape
        share = self.weight[:, None] * posterior
        by_weights, by_both = np.zeros((n_features, n_features)), np.zeros((n_classes, n_features))
        height = max(1, MAX_CELLS_AT_A_TIME // max(1, n_features * n_classes))
        for rows in (slice(i, i + height) for i in range(0, n_rows, height)):
            root = np.sqrt(share[rows])
            mean = np.einsum("jic,ic->ji", self.evidence[:, rows], posterior[rows])
            centred = (self.evidence[:, rows] - mean[:, :, None]) * root
            by_both += np.einsum("jic,ic->cj", centred, root)
            flat = centred.reshape(n_features, root.size)
            by_weights += flat @ flat.T
        if not n_offsets:
            return by_weights
        by_offsets = np.diag(share.sum(axis=0)) - share.T @ posterior
        return np.block([[by_offsets, by_both], [by_both.T, by_weights]])


def updated(matrix: Floats, step: Floats, change: Floats) -> Floats:
    """Return second derivatives that explain how the gradient changed by a step (the update of BFGS)."""
    expected = matrix @ step
    by_step, by_change = float(step @ expected), float(step @ change)
    if not (by_step > 0 and by_change > 1e-8 * by_step):
        return matrix
    return matrix + np.outer(change, change / by_change) - np.outer(expected, expected / by_step)


def standard_error_of_sum(gain: Floats, weight: Floats, copies_per_row: Floats) -> float:
    """Return the standard error of Σ gain over rows of weight w, of which l at a time are one observation.

    √ Σ (w/l) (l (g/w − mean))²: a row that occurs often counts as that many observations, unless its copies leave the
    model together.
    """
    away = gain / weight - gain.sum() / weight.sum()
    return float(np.sqrt((weight * copies_per_row) @ away**2))


def one_hot(label: NDArray[np.integer], n_classes: int) -> Floats:
    """Return targets (row, class) without doubt: 1 for the class of each row."""
    return np.asarray(label[:, None] == np.arange(n_classes), dtype=np.float64)


def log_softmax(scores: Floats) -> Floats:
    """Return scores (row, class) as log posteriors."""
    if scores.shape[1] == 2:
        return np.asarray(scores - np.logaddexp(scores[:, 0], scores[:, 1])[:, None])
    shifted = scores - scores.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))
