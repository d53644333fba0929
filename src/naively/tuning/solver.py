"""Find the weights and offsets that turn leave-one-out evidence into probabilities.

    minimise  Σ_i r_i [log Σ_c exp s_ic − Σ_c t_ic s_ic]  +  ½ ρ Σ_c b_c²  +  ½ Σ_j κ_j (w_j − v_j)²,   0 ≤ w ≤ 50   (1)
    s_ic = a_ic + b_c + Σ_j w_j e_jic                                                                              (2)

a is the log prior, e the evidence of feature j in row i for class c, t the target and r the weight of the row. The
target is 1 for the class of the row, or less if that is in doubt; the targets of a row add up to 1. (1) is strictly
convex, so it has one solution. Newton steps within the bounds find it (Bertsekas, Constrained Optimization and
Lagrange Multiplier Methods, 1982, section 1.5), for two classes and few features in the core. ρ = 20 keeps the offsets
near 0, as strongly as 80 rows of two equal classes would, so that they do not follow the luck of the sample. Of C
classes it is 20 √(2/C): each has fewer of the rows. With more than 100 classes the offsets are 0.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from naively._kernels.posterior import minimise_two_classes, row_losses
from naively._kernels.types import Floats

SOLVER_TOLERANCE = 1e-10  # nats per row that a step gains at which a solver stops
MAX_NEWTON_STEPS = 50
MAX_GAIN_OF_A_STEP = 0.05  # share of the objective beyond which second derivatives are computed again, and
MAX_NATS_OF_A_STEP = 0.01  # nats per row
MIN_SHARE = 1e-4  # of a class in a row, times the weight of the row, to matter to second derivatives
MAX_SHARE_OF_CELLS = 0.6  # up to which such cells are gathered
MAX_BOUND_ROUNDS = 4  # of stopping coordinates at their bounds
MAX_COMPILED_FEATURES = 48  # of two classes: the core solves these; more are faster by matrix products
MIN_NEWTON_SHARE = 2e-6  # of a step that is shortened until the objective falls
MAX_CELLS_AT_A_TIME = 2**18  # of the evidence, in the sums of its products: 2 MB
OFFSET_PENALTY = 20.0  # ρ of two classes
WEIGHT_PENALTY = 4.0  # κ of a weight's pull to the textbook's 1: matters to a few dozen rows that are easily separated
MAX_CLASSES_WITH_OFFSETS = 100
MAX_WEIGHT = 50.0


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """Offsets b, weights w, and the objective (1) there.

    `curvature` is the matrix of second derivatives of the loss by offsets and weights near there. It serves to solve a
    similar problem from there, if its evidence is the same.
    """

    offset: Floats
    weight: Floats
    objective: float
    curvature: Floats | None = None


@dataclass(frozen=True, eq=False)
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

    def scores_of_each(self, solutions: Sequence[Solution]) -> Floats:
        """Return equation (2) for each solution, (solution, row, class)."""
        if not solutions:
            return np.zeros((0, *self.base.shape))
        weight, offset = (np.stack(arrays) for arrays in zip(*((s.weight, s.offset) for s in solutions), strict=True))
        scores = weight @ self.evidence.reshape(weight.shape[1], self.base.size)
        return np.asarray(scores.reshape(-1, *self.base.shape) + self.base + offset[:, None])

    def losses(self, solution: Solution) -> Floats:
        """Return −r_i Σ_c t_ic log p(c | x_i) of each row."""
        return np.asarray(self.losses_of_tables(self.scores(solution.offset, solution.weight)[None])[0])

    def losses_of(self, log_posterior: Floats) -> Floats:
        """Return −r_i Σ_c t_ic log p(c | x_i) of each row for log posteriors (row, class)."""
        return np.asarray(-self.weight * np.einsum("ic,ic->i", self.target, log_posterior))

    def losses_of_tables(self, evidence: Floats, scores: Floats | None = None, factor: float = 1.0) -> Floats:
        """Return the losses of each row for each table of evidence (table, row, class), as (table, row).

        The evidence counts `factor` times, and is added to scores (row, class), by default none.
        """
        scores = np.zeros(self.base.shape) if scores is None else scores
        return row_losses(scores, self.target, evidence, factor) * self.weight

    @cached_property
    def loss(self) -> Loss:
        """The loss as a function of offsets and weights."""
        return TwoClassLoss(self) if self.n_classes == 2 else ManyClassLoss(self)

    def curvature_at(self, solution: Solution) -> tuple[Floats, Solution]:
        """Return the second derivative of the loss by each weight: how much the rows determine it.

        The second result is the solution with all second derivatives, unless the core is to solve from there.
        """
        if self._is_for_core:
            difference = self.evidence[:, :, 1] - self.evidence[:, :, 0]
            prior = self.base[:, 1] - self.base[:, 0] + (solution.offset[1] - solution.offset[0])
            smaller_odds = np.exp(-np.abs(prior + solution.weight @ difference))
            return difference**2 @ (self.weight * smaller_odds / (1.0 + smaller_odds) ** 2), solution
        matrix = self.second_derivatives(solution)
        return np.diag(matrix)[len(matrix) - len(self.evidence) :], replace(solution, curvature=matrix)

    def second_derivatives(self, solution: Solution) -> Floats:
        """Return the matrix of second derivatives of the loss by offsets and weights."""
        loss = self.loss
        posterior = loss.values(self.weight[None], loss.start(solution)[None])[2][0]
        return loss.second_derivatives(self.weight, posterior)

    @property
    def _is_for_core(self) -> bool:
        return self.n_classes == 2 and len(self.evidence) <= MAX_COMPILED_FEATURES

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
            Stop when a step gains fewer nats per row than this. The core, which solves narrow problems of two classes,
            takes it as a share of the objective.
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
        if self._is_for_core:
            return self._solve_two_classes(weight, centre, strength, start, tolerance)
        settings = zip(weight, centre, strength, start, strict=True)
        loss = self.loss
        descents = [Descent(loss, r, v, k, begin, tolerance).steps() for r, v, k, begin in settings]
        points = {k: next(descent) for k, descent in enumerate(descents)}
        solutions = list(start)
        while points:
            at = list(points)
            values = loss.values(weight[at], np.stack([points[k] for k in at]))
            for k, *value in zip(at, *values, strict=True):
                try:
                    points[k] = descents[k].send(tuple(value))
                except StopIteration as end:
                    solutions[k] = end.value
                    del points[k]
        return solutions

    def _solve_two_classes(
        self, weight: Floats, centre: Floats, strength: Floats, start: Sequence[Solution], tolerance: float
    ) -> list[Solution]:
        """Solve for (b₁ − b₀, w) in the core: ½ρ(b₀² + b₁²) is ¼ρ(b₁ − b₀)²."""
        x, objective = minimise_two_classes(
            *(self.base, self.evidence, self.target, weight),
            np.insert(centre, 0, 0.0, axis=1),
            np.insert(strength, 0, 0.5 * OFFSET_PENALTY, axis=1),
            np.stack([np.concatenate([[s.offset[1] - s.offset[0]], s.weight]) for s in start]),
            max_weight=MAX_WEIGHT,
            tolerance=tolerance,
            max_steps=MAX_NEWTON_STEPS,
        )
        halves = np.array([-0.5, 0.5])
        return [Solution(halves * line[0], line[1:], float(v)) for line, v in zip(x, objective, strict=True)]


class Loss(Protocol):
    """The first term of (1) as a function of x = (offsets, w)."""

    n_offsets: int
    offset_penalty: float

    def values(self, weight: Floats, x: Floats) -> tuple[Floats, Floats, Floats]:
        """Return value, gradient and posterior for each line of row weights and of x."""

    def second_derivatives(self, weight: Floats, posterior: Floats) -> Floats:
        """Return the matrix of second derivatives by x, for one line of row weights."""

    def offsets(self, x: Floats) -> Floats:
        """Return the offset of each class."""

    def start(self, solution: Solution) -> Floats:
        """Return x of a solution."""


class ManyClassLoss:
    """The loss of three or more classes: x = (b, w), or w alone if there are too many classes for offsets."""

    def __init__(self, problem: Problem) -> None:
        """Take the rows of a problem."""
        self.offset_penalty = OFFSET_PENALTY * np.sqrt(2.0 / max(problem.n_classes, 2))
        self.problem, self.n_offsets = problem, problem._n_offsets
        self.evidence = problem.evidence.reshape(len(problem.evidence), problem.base.size)

    def values(self, weight: Floats, x: Floats) -> tuple[Floats, Floats, Floats]:
        """Return value, gradient and posterior (row, class) for each line of row weights and of x."""
        base, target, n_offsets = self.problem.base, self.problem.target, self.n_offsets
        scores = (x[:, n_offsets:] @ self.evidence).reshape(len(x), *base.shape)
        scores += base
        if n_offsets:
            scores += x[:, None, :n_offsets]
        scores -= scores.max(axis=2, keepdims=True)
        of_target = np.einsum("ic,kic->ki", target, scores)
        posterior = np.exp(scores, out=scores)
        total = posterior.sum(axis=2)
        loss = ((np.log(total) - of_target) * weight).sum(axis=1)
        posterior /= total[:, :, None]
        slope = posterior - target
        slope *= weight[:, :, None]
        by_weight = slope.reshape(len(x), base.size) @ self.evidence.T
        return loss, np.concatenate([slope.sum(axis=1)[:, :n_offsets], by_weight], axis=1), posterior

    def second_derivatives(self, weight: Floats, posterior: Floats) -> Floats:
        """Return the matrix of second derivatives by x, a few rows at a time; cells of no probability add nothing."""
        evidence = self.problem.evidence
        n_features, n_rows, n_classes = evidence.shape
        share = weight[:, None] * posterior
        by_weights, by_both = np.zeros((n_features, n_features)), np.zeros((n_features, n_classes))
        height = max(1, MAX_CELLS_AT_A_TIME // max(1, n_features * n_classes))
        for start in range(0, n_rows, height):
            rows = slice(start, start + height)
            row, of_class = np.nonzero(share[rows] > MIN_SHARE)
            if len(row) > MAX_SHARE_OF_CELLS * share[rows].size:
                centred = evidence[:, rows] - np.einsum("jic,ic->ji", evidence[:, rows], posterior[rows])[:, :, None]
                centred *= np.sqrt(share[rows])
                by_both += np.einsum("jic,ic->jc", centred, np.sqrt(share[rows]))
                centred = centred.reshape(n_features, share[rows].size)
            else:
                cells = evidence[:, rows].reshape(n_features, share[rows].size).take(row * n_classes + of_class, axis=1)
                is_first = np.diff(row, prepend=-1) > 0
                mean = np.add.reduceat(cells * posterior[rows][row, of_class], np.flatnonzero(is_first), axis=1)
                root = np.sqrt(share[rows][row, of_class])
                centred = (cells - mean[:, np.cumsum(is_first) - 1]) * root
                by_class = np.zeros((len(row), n_classes))
                by_class[np.arange(len(row)), of_class] = root
                by_both += centred @ by_class
            by_weights += centred @ centred.T
        if not self.n_offsets:
            return by_weights
        by_offsets = np.diag(share.sum(axis=0)) - share.T @ posterior
        return np.block([[by_offsets, by_both.T], [by_both, by_weights]])

    def offsets(self, x: Floats) -> Floats:
        """Return the offset of each class."""
        return x[: self.n_offsets] if self.n_offsets else np.zeros(self.problem.n_classes)

    def start(self, solution: Solution) -> Floats:
        """Return x of a solution."""
        return np.concatenate([solution.offset[: self.n_offsets], solution.weight])


class TwoClassLoss:
    """The loss of two classes: x = (b₁ − b₀, w), and only differences of evidence matter."""

    n_offsets = 1
    offset_penalty = 0.5 * OFFSET_PENALTY  # ½ρ(b₀² + b₁²) is ¼ρ(b₁ − b₀)²

    def __init__(self, problem: Problem) -> None:
        """Take the rows of a problem."""
        self.base, self.target = problem.base[:, 1] - problem.base[:, 0], problem.target[:, 1]
        self.difference = np.ones((1 + len(problem.evidence), len(self.base)))
        np.subtract(problem.evidence[:, :, 1], problem.evidence[:, :, 0], out=self.difference[1:])

    def values(self, weight: Floats, x: Floats) -> tuple[Floats, Floats, Floats]:
        """Return value, gradient and posterior of the second class for each line of row weights and of x."""
        scores = x @ self.difference + self.base
        rare = np.exp(-np.abs(scores))
        loss = ((np.maximum(scores, 0.0) - self.target * scores + np.log1p(rare)) * weight).sum(axis=1)
        posterior = np.where(scores >= 0, 1.0, rare) / (1.0 + rare)
        return loss, ((posterior - self.target) * weight) @ self.difference.T, posterior

    def second_derivatives(self, weight: Floats, posterior: Floats) -> Floats:
        """Return the matrix of second derivatives by x."""
        scaled = self.difference * np.sqrt(weight * posterior * (1.0 - posterior))
        return np.asarray(scaled @ scaled.T)

    def offsets(self, x: Floats) -> Floats:
        """Return the offset of each class."""
        return np.asarray([-0.5 * x[0], 0.5 * x[0]])

    def start(self, solution: Solution) -> Floats:
        """Return x of a solution."""
        return np.concatenate([[solution.offset[1] - solution.offset[0]], solution.weight])


@dataclass(frozen=True, slots=True, eq=False)
class Descent:
    """The way to the minimum of (1) for one line of row weights.

    Second derivatives cost as much as several steps. So those of an earlier point serve again, corrected by what each
    step shows, unless a step has gained much: then they have changed.
    """

    loss: Loss
    row_weight: Floats
    centre: Floats
    strength: Floats
    start: Solution
    tolerance: float

    def steps(self) -> Generator[Floats, tuple[float, Floats, Floats], Solution]:
        """Yield points x = (offsets, w), receive the values of the loss at each, and return the minimum."""
        loss, n_offsets = self.loss, self.loss.n_offsets
        low = np.concatenate([np.full(n_offsets, -np.inf), np.zeros(len(self.centre))])
        high = np.concatenate([np.full(n_offsets, np.inf), np.full(len(self.centre), MAX_WEIGHT)])
        centre = np.concatenate([np.zeros(n_offsets), self.centre])
        strength = np.concatenate([np.full(n_offsets, loss.offset_penalty), self.strength])
        enough = self.tolerance * (1.0 + float(self.row_weight.sum()))

        def penalised(x: Floats, value: float, gradient: Floats, posterior: Floats) -> tuple[float, Floats, Floats]:
            away = x - centre
            return value + 0.5 * float(strength @ away**2), gradient + strength * away, posterior

        x = loss.start(self.start)
        value, gradient, posterior = penalised(x, *(yield x))
        matrix = self.start.curvature
        if matrix is None or len(matrix) != len(x):
            matrix = loss.second_derivatives(self.row_weight, posterior)
        n_steps = 0
        for _ in range(MAX_NEWTON_STEPS):
            step = bounded_newton_step(matrix + np.diag(strength), gradient, low - x, high - x)
            gain = -float(gradient @ step)
            if not gain > enough and n_steps:
                break
            share = 1.0
            after = penalised(x + step, *(yield x + step))
            while after[0] > value - 1e-4 * share * gain and share > MIN_NEWTON_SHARE:
                share *= 0.5
                after = penalised(x + share * step, *(yield x + share * step))
            before, n_steps, step = value, n_steps + 1, share * step
            matrix = updated(matrix, step, after[1] - gradient - strength * step)
            x, (value, gradient, posterior) = x + step, after
            if before - value <= enough:
                break
            if before - value > max(MAX_GAIN_OF_A_STEP * before, MAX_NATS_OF_A_STEP * float(self.row_weight.sum())):
                matrix = loss.second_derivatives(self.row_weight, posterior)
        return Solution(loss.offsets(x), x[n_offsets:], value, matrix)


def bounded_newton_step(matrix: Floats, gradient: Floats, low: Floats, high: Floats) -> Floats:
    """Return the step from 0 to nearly the minimum of gᵀs + ½ sᵀHs, with low ≤ s ≤ high, where low ≤ 0 ≤ high.

    Coordinates that would leave the bounds stop there, and the others are solved for again.
    """
    step = np.zeros_like(gradient)
    is_free = ~(((low >= 0) & (gradient > 0)) | ((high <= 0) & (gradient < 0)))
    for _ in range(MAX_BOUND_ROUNDS):
        slope = gradient + matrix[:, ~is_free] @ step[~is_free]
        step[is_free] = -np.linalg.solve(matrix[is_free][:, is_free], slope[is_free])
        is_beyond = is_free & ((step < low) | (step > high))
        step = np.clip(step, low, high)
        if not is_beyond.any():
            break
        is_free &= ~is_beyond
    if gradient @ step < 0:
        return step
    return np.clip(-gradient / np.diag(matrix), low, high)  # goes down in every coordinate


def updated(matrix: Floats, step: Floats, change: Floats) -> Floats:
    """Return second derivatives that explain how the gradient changed by a step (the update of BFGS)."""
    expected = matrix @ step
    by_step, by_change = float(step @ expected), float(step @ change)
    if not (by_step > 0 and by_change > 1e-8 * by_step):
        return matrix
    return matrix + np.outer(change, change / by_change) - np.outer(expected, expected / by_step)


def standard_error_of_sum(gain: Floats, weight: Floats, copies_per_row: Floats) -> Floats:
    """Return the standard error of Σ gain over rows of weight w, of which l at a time are one observation.

    √ Σ (w/l) (l (g/w − mean))²: a row that occurs often counts as that many observations, unless its copies leave the
    model together. `gain` is (row,), or (…, row) for several sums.
    """
    away = gain / weight - gain.sum(axis=-1, keepdims=True) / weight.sum()
    return np.asarray(np.sqrt(away**2 @ (weight * copies_per_row)))


def stacked(pieces: Sequence[Floats]) -> Floats:
    """Return arrays (feature, row, class) as one; without a copy if they are neighbours in one array."""
    base = pieces[0].base
    if base is None or base.ndim != 3 or not base.flags.c_contiguous:
        base = np.zeros((0, 0, 0))
    if not len(base) or any(piece.base is not base or not piece.flags.c_contiguous for piece in pieces):
        return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
    first, size = base.ctypes.data, base[0].nbytes
    starts = [(piece.ctypes.data - first) // max(size, 1) for piece in pieces]
    ends = [start + len(piece) for start, piece in zip(starts, pieces, strict=True)]
    are_neighbours = all(piece.shape[1:] == base.shape[1:] for piece in pieces) and starts[1:] == ends[:-1]
    return base[starts[0] : ends[-1]] if are_neighbours else np.concatenate(pieces)


def one_hot(label: NDArray[np.integer], n_classes: int) -> Floats:
    """Return targets (row, class) without doubt: 1 for the class of each row."""
    return np.asarray(label[:, None] == np.arange(n_classes), dtype=np.float64)


def with_floor(log_posterior: Floats, floor: float) -> Floats:
    """Return log posteriors (row, class) mixed with equal probabilities: p becomes (1 − ε) p + ε / C."""
    if not floor:
        return log_posterior
    n_classes = log_posterior.shape[1]
    return np.asarray(np.logaddexp(np.log1p(-floor) + log_posterior, np.log(floor / n_classes)))


def log_softmax(scores: Floats) -> Floats:
    """Return scores (row, class) as log posteriors."""
    if scores.shape[1] == 2:
        return np.asarray(scores - np.logaddexp(scores[:, 0], scores[:, 1])[:, None])
    shifted = scores - scores.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))
