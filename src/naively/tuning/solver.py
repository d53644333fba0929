"""Solving: the weights and offsets that make leave-one-out evidence a good probability.

    minimise  Σ_i r_i [log Σ_c exp s_ic − s_iy]  +  ½ ρ Σ_c b_c²  +  ½ Σ_j κ_j (w_j − v_j)²,   w ≥ 0      (1)
    s_ic = a_ic + b_c + Σ_j w_j e_jic                                                                     (2)

a is the log prior, e the evidence of feature j in row i for class c, y the class of the row and r its weight. (1) is
convex, and strictly so, hence has one solution. It is found by projected Newton steps (Bertsekas 1982), or by L-BFGS-B
where the matrix of second derivatives would cost too much. The offsets are held near 0 by ρ = 20, as strong as 80 rows
of two equal classes are, so that they do not follow the luck of the sample; beyond 100 classes they are 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively._kernels.calibration import log_loss, log_loss_curvature, minimise_pair

__all__ = ["CLOSE", "TRUST", "Problem", "Solution", "error_of_sum", "normalised"]

Floats = NDArray[np.float64]

STEPS = 50
CLOSE = 1e-9  # of the objective, relative: where Newton's steps end
WORK = 3e7  # multiplications for one matrix of second derivatives, above which L-BFGS-B is used
HOLD = 20.0  # ρ
TRUST = 4.0  # κ of a weight's pull to the textbook's 1: it matters to a few dozen rows that are easily told apart
FEW_OF_A_PAIR = 32  # features up to which two classes are solved in the core
FEW = 4  # features up to which the core sums the matrix of second derivatives
OFFSETS = 100  # classes up to which there are offsets
LARGEST = 50.0  # no evidence is worth more than so many times its face value


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """Offsets b, weights w, and the objective (1) there."""

    offset: Floats
    weight: Floats
    objective: float


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Rows to be calibrated on: base (row, class), evidence (feature, row, class), class codes and row weights."""

    base: Floats
    evidence: Floats
    label: NDArray[np.intp]
    weight: Floats

    def rows(self, keep: NDArray[Any]) -> Problem:
        """Some of the rows."""
        return Problem(self.base[keep], self.evidence[:, keep], self.label[keep], self.weight[keep])

    def summed(self, group: NDArray[np.intp], n_groups: int) -> Problem:
        """The evidence added up within groups of features."""
        evidence = np.zeros((n_groups, *self.base.shape))
        for j, g in enumerate(group.tolist()):
            evidence[g] += self.evidence[j]
        return Problem(self.base, evidence, self.label, self.weight)

    def scores(self, offset: Floats | float, weight: Floats) -> Floats:
        """Equation (2)."""
        flat = self.evidence.reshape(len(weight), -1)
        return np.asarray(self.base + offset + (weight @ flat).reshape(self.base.shape))

    def losses(self, solution: Solution) -> Floats:
        """−r_i log p(y_i | x_i), for each row."""
        log_posterior = normalised(self.scores(solution.offset, solution.weight))
        return np.asarray(-self.weight * log_posterior[np.arange(len(self.label)), self.label])

    def said(self, solution: Solution) -> Floats:
        """What the rows say of each weight: the curvature of the loss there."""
        if self.base.shape[1] == 2:
            difference = self.evidence[:, :, 1] - self.evidence[:, :, 0]
            prior = self.base[:, 1] - self.base[:, 0] + (solution.offset[1] - solution.offset[0])
            rare = np.exp(-np.abs(prior + solution.weight @ difference))  # the smaller of the odds, as in `Pair`
            return np.asarray(difference**2 @ (self.weight * rare / (1.0 + rare) ** 2))
        posterior, _ = posterior_and_loss(self.scores(solution.offset, solution.weight), self.label)
        mean = np.einsum("jic,ic->ji", self.evidence, posterior)
        square = np.einsum("jic,ic->ji", self.evidence**2, posterior)
        return np.asarray(np.maximum(square - mean**2, 0.0) @ self.weight)

    def solve(self, centre: Floats, strength: Floats, start: Solution | None = None, close: float = CLOSE) -> Solution:
        """Minimise (1), where `centre` is v and `strength` κ, until a step gains less than `close`, relative."""
        n_rows, n_classes, n = *self.base.shape, len(centre)
        offset = np.zeros(n_classes) if start is None else start.offset
        weight = np.clip(centre, 0.0, LARGEST) if start is None else start.weight
        if n_classes == 2:
            x, value = self._solve_pair(centre, strength, np.concatenate([[offset[1] - offset[0]], weight]), close)
            return Solution(np.array([-0.5, 0.5]) * x[0], x[1:], value)
        several = Several(self, centre, strength)
        if n_classes > OFFSETS:
            weight, value = _newton(several, weight, 0, close)
            return Solution(np.zeros(n_classes), weight, value)
        x = np.concatenate([offset, weight])
        if n_rows * n_classes * (n_classes + n * n) > WORK:
            x, value = _lbfgs(several, x, n_classes)
        else:
            x, value = _newton(several, x, n_classes, close)
        return Solution(x[:n_classes], x[n_classes:], value)

    def _solve_pair(self, centre: Floats, strength: Floats, x: Floats, close: float) -> tuple[Floats, float]:
        if len(centre) > FEW_OF_A_PAIR:
            return _newton(Pair.of(self, centre, strength), x, 1, close)
        given = self.base, self.evidence, self.label, self.weight
        pull = np.concatenate([[0.0], centre]), np.concatenate([[0.5 * HOLD], strength])
        return minimise_pair(*given, *pull, x, top=LARGEST, close=close, steps=STEPS)


def error_of_sum(gain: Floats, weight: Floats, together: Floats) -> float:
    """The standard error of Σ gain, each gain that of rows of some weight w, of which l at a time are one observation.

    √ Σ (w/l) (l (g/w − mean))²: rows that come often are as many observations, unless they leave together as copies.
    """
    away = gain / weight - gain.sum() / weight.sum()
    return float(np.sqrt((weight * together) @ away**2))


def normalised(scores: Floats) -> Floats:
    """Scores as log posteriors."""
    if scores.shape[1] == 2:
        return np.asarray(scores - np.logaddexp(scores[:, 0], scores[:, 1])[:, None])
    shifted = scores - scores.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))


def posterior_and_loss(scores: Floats, label: NDArray[np.intp]) -> tuple[Floats, Floats]:
    """The posterior (row, class), and −log of that of each row's label; `scores` are overwritten."""
    scores -= scores.max(axis=1, keepdims=True)
    own = scores[np.arange(len(label)), label]
    np.exp(scores, out=scores)
    whole = scores.sum(axis=1, keepdims=True)
    scores /= whole
    return scores, np.log(whole[:, 0]) - own


@dataclass(frozen=True, slots=True, eq=False)
class Several:
    """(1) as a function of x = (b, w)."""

    problem: Problem
    centre: Floats
    strength: Floats

    def value(self, x: Floats) -> tuple[float, Floats, Floats]:
        """(1), its gradient, and the posterior."""
        problem, n_offsets = self.problem, len(x) - len(self.centre)
        offset, weight = x[:n_offsets], x[n_offsets:]
        given = offset if n_offsets else np.zeros(problem.base.shape[1])
        loss, of_offset, of_weight, posterior = log_loss(
            problem.base, problem.evidence, problem.label, problem.weight, given, weight
        )
        away = weight - self.centre
        value = loss + 0.5 * HOLD * offset @ offset + 0.5 * self.strength @ away**2
        slopes = np.concatenate([of_offset[:n_offsets] + HOLD * offset, of_weight + self.strength * away])
        return float(value), slopes, posterior

    def curvature(self, posterior: Floats) -> Floats:
        """The matrix of second derivatives of (1)."""
        problem, evidence = self.problem, self.problem.evidence
        n_classes = problem.base.shape[1]
        if len(evidence) <= FEW and n_classes <= OFFSETS:
            matrix = log_loss_curvature(evidence, problem.weight, posterior)
            np.einsum("ii->i", matrix)[:] += np.concatenate([np.full(n_classes, HOLD), self.strength])
            return matrix
        mean = np.einsum("jic,ic->ji", evidence, posterior)
        mass = posterior * problem.weight[:, None]
        centred = evidence - mean[:, :, None]
        spread = (centred * np.sqrt(mass)).reshape(len(evidence), -1)
        of_weights = spread @ spread.T + np.diag(self.strength)
        if n_classes > OFFSETS:
            return np.asarray(of_weights)
        out = np.empty((n_classes + len(evidence),) * 2)
        out[:n_classes, :n_classes] = np.diag(mass.sum(axis=0) + HOLD) - mass.T @ posterior
        out[n_classes:, :n_classes] = np.einsum("jic,ic->jc", centred, mass)
        out[:n_classes, n_classes:] = out[n_classes:, :n_classes].T
        out[n_classes:, n_classes:] = of_weights
        return out


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """(1) for two classes, as a function of x = (b₁ − b₀, w): only differences count, and ½ρ(b₀² + b₁²) is ¼ρx₀²."""

    features: Floats  # (1 + feature, row): ones, and e₁ − e₀
    base: Floats
    sign: Floats  # 1 for the second class, −1 for the first
    weight: Floats
    centre: Floats
    strength: Floats

    @classmethod
    def of(cls, problem: Problem, centre: Floats, strength: Floats) -> Pair:
        """The differences."""
        difference = problem.evidence[:, :, 1] - problem.evidence[:, :, 0]
        return cls(
            np.concatenate([np.ones((1, len(problem.label))), difference]),
            problem.base[:, 1] - problem.base[:, 0],
            np.where(problem.label == 1, 1.0, -1.0),
            problem.weight,
            np.concatenate([[0.0], centre]),
            np.concatenate([[0.5 * HOLD], strength]),
        )

    def value(self, x: Floats) -> tuple[float, Floats, Floats]:
        """(1), its gradient, and the probability of the class that a row does not have."""
        margin = self.sign * (self.base + x @ self.features)
        away = x - self.centre
        rare = np.exp(-np.abs(margin))  # the smaller of the two odds, so that nothing overflows
        loss = np.log1p(rare) - np.minimum(margin, 0.0)
        value = self.weight @ loss + 0.5 * self.strength @ away**2
        wrong = np.where(margin < 0, 1.0, rare) / (1.0 + rare)
        return float(value), self.strength * away - self.features @ (self.weight * self.sign * wrong), wrong

    def curvature(self, wrong: Floats) -> Floats:
        """The matrix of second derivatives of (1)."""
        matrix = (self.features * (self.weight * wrong * (1.0 - wrong))) @ self.features.T
        np.einsum("ii->i", matrix)[:] += self.strength
        return np.asarray(matrix)


def _newton(function: Several | Pair, x: Floats, n_free: int, close: float) -> tuple[Floats, float]:
    """Projected Newton: weights at a bound that push against it stay there; others take a step, or a part of it."""
    low = np.concatenate([np.full(n_free, -np.inf), np.zeros(len(x) - n_free)])
    high = np.concatenate([np.full(n_free, np.inf), np.full(len(x) - n_free, LARGEST)])
    value, gradient, posterior = function.value(x)
    for _ in range(STEPS):
        free = ~(((x <= low) & (gradient > 0)) | ((x >= high) & (gradient < 0)))
        matrix = function.curvature(posterior)
        matrix = matrix if free.all() else matrix[np.ix_(free, free)]
        np.einsum("ii->i", matrix)[:] *= 1.0 + 1e-9  # its diagonal
        step = np.zeros_like(x)
        step[free] = -np.linalg.solve(matrix, gradient[free])
        expected = -float(gradient @ step)
        if expected <= close * (1.0 + abs(value)):
            break
        share, before = 1.0, value
        while share > 1e-6:
            tried = np.clip(x + share * step, low, high)
            value, gradient, posterior = function.value(tried)
            if value <= before - 1e-4 * share * expected or share <= 2e-6:
                break
            share *= 0.5
        x = tried
        if before - value <= close * (1.0 + abs(value)):
            break
    return x, value


def _lbfgs(function: Several, x: Floats, n_free: int) -> tuple[Floats, float]:
    from scipy.optimize import minimize

    bounds: Any = [(None, None)] * n_free + [(0.0, LARGEST)] * (len(x) - n_free)
    options: Any = {"maxiter": 200, "ftol": CLOSE, "gtol": 1e-6}
    objective: Any = lambda at: function.value(at)[:2]  # noqa: E731
    found: Any = minimize(objective, x, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return np.asarray(found.x, dtype=np.float64), float(found.fun)
