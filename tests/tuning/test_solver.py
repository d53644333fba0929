"""The solver of weights and offsets: it meets the conditions of a minimum, also where the targets are in doubt."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import approx_fprime
from tests.twins import posterior as twin

from naively.tuning import solver
from naively.tuning.solver import MAX_WEIGHT, OFFSET_PENALTY, Problem, Solution, one_hot


def drawn_problem(seed: int, n: int, n_classes: int, n_features: int, scale: float) -> tuple[Problem, Any, Any]:
    """Draw a problem, in every second case with targets in doubt, with the centre and the strength of a pull."""
    rng = np.random.default_rng(seed)
    target = one_hot(rng.integers(0, n_classes, n), n_classes)
    if seed % 2:
        doubt = rng.random((n, 1)) / 2
        target = (1 - doubt) * target + doubt * rng.dirichlet(np.ones(n_classes), n)
    base, evidence = scale * rng.normal(size=(n, n_classes)), scale * rng.normal(size=(n_features, n, n_classes))
    problem = Problem(base, evidence, target, rng.integers(0, 4, n) / 2)
    return problem, rng.random(n_features), rng.random(n_features) + 1e-3


def slopes(problem: Problem, offset: Any, weight: Any) -> tuple[float, Any, Any]:
    return twin.log_loss(problem.base, problem.evidence, problem.target, problem.weight, offset, weight)


@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 30),
    st.integers(2, 5),
    st.integers(0, 5),
    st.sampled_from([0.1, 1.0, 10.0]),
)
def test_conditions_of_a_minimum(seed: int, n: int, n_classes: int, n_features: int, scale: float) -> None:
    """The gradient is zero, or pushes a weight against its bound; the objective is that of the twin."""
    problem, centre, strength = drawn_problem(seed, n, n_classes, n_features, scale)
    start = Solution(np.linspace(-0.3, 0.3, n_classes), np.full(n_features, 2.0), 0.0)
    solution = problem.solve(centre, strength, start, tolerance=1e-15)
    offset, weight = solution.offset, solution.weight
    loss, by_offset, by_weight = slopes(problem, offset, weight)
    away = weight - centre
    rho = OFFSET_PENALTY * (2 / n_classes) ** 0.5
    penalty = 0.5 * rho * offset @ offset + 0.5 * strength @ away**2
    assert solution.objective == pytest.approx(loss + penalty, rel=1e-9, abs=1e-9)
    slope = by_weight + strength * away
    tolerance = 1e-5 * (1 + scale) * (1 + n)
    assert (np.abs(by_offset + rho * offset) < tolerance).all()
    assert (np.abs(slope)[(weight > 0) & (weight < MAX_WEIGHT)] < tolerance).all()
    assert (slope[weight <= 0] > -tolerance).all()


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("seed", [0, 1])
def test_slopes_are_finite_differences(n_classes: int, seed: int) -> None:
    problem, weight, _ = drawn_problem(seed, 12, n_classes, 3, 1.0)
    offset = np.linspace(-1, 1, n_classes)
    _, by_offset, by_weight = slopes(problem, offset, weight)

    def loss(x: Any) -> float:
        return slopes(problem, x[:n_classes], x[n_classes:])[0]

    by_difference = approx_fprime(np.concatenate([offset, weight]), loss, 1e-7)
    np.testing.assert_allclose(np.concatenate([by_offset, by_weight]), by_difference, atol=1e-5)
    solution = Solution(offset, weight, 0.0)
    assert problem.losses(solution).sum() == pytest.approx(loss(np.concatenate([offset, weight])))


def test_a_few_rows_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second derivatives do not depend on how many rows are added at a time."""
    problem, centre, strength = drawn_problem(1, 30, 4, 3, 1.0)
    at_once = problem.solve(centre, strength)
    monkeypatch.setattr(solver, "MAX_CELLS_AT_A_TIME", 40)
    in_parts = problem.solve(centre, strength)
    np.testing.assert_allclose(in_parts.weight, at_once.weight, rtol=1e-9)


def test_doubt_keeps_separable_rows_from_running_away() -> None:
    """Without doubt the weights of separable rows grow to the bound; with doubt they stay finite."""
    label = np.tile([0, 1, 2], 20)
    evidence = 0.1 * one_hot(label, 3)[None]
    certain = Problem(np.zeros((60, 3)), evidence, one_hot(label, 3), np.ones(60))
    doubtful = Problem(np.zeros((60, 3)), evidence, 0.9 * one_hot(label, 3) + 0.1 / 3, np.ones(60))
    no_pull = np.ones(1), np.full(1, 1e-9)
    assert certain.solve(*no_pull).weight[0] == MAX_WEIGHT
    assert doubtful.solve(*no_pull).weight[0] == pytest.approx(10 * np.log((0.9 + 0.1 / 3) / (0.1 / 3)), rel=1e-4)


@given(st.integers(0, 2**32 - 1), st.integers(3, 6), st.integers(1, 5), st.sampled_from([0.1, 1.0, 10.0]))
def test_the_start_does_not_matter(seed: int, n_classes: int, n_features: int, factor: float) -> None:
    """Any start, with second derivatives of another point or size, leads to the minimum."""
    problem, centre, strength = drawn_problem(seed, 40, n_classes, n_features, 1.0)
    best = problem.solve(centre, strength, tolerance=1e-14)
    random = np.random.default_rng(seed)
    start = Solution(random.normal(size=n_classes), 3 * random.random(n_features), 0.0)
    size = n_classes + n_features
    second_derivatives = problem.curvature_at(start)[1].curvature
    assert second_derivatives is not None
    curvature = factor * (second_derivatives + np.eye(size))
    solution = problem.solve(centre, strength, Solution(start.offset, start.weight, 0.0, curvature))
    assert solution.objective == pytest.approx(best.objective, rel=1e-7)
    np.testing.assert_allclose(solution.weight, best.weight, atol=1e-3)


@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.integers(1, 5), st.sampled_from([0.1, 1.0, 10.0]))
def test_wide_problems_of_two_classes_have_the_solution_of_the_core(seed: int, n: int, p: int, scale: float) -> None:
    problem, centre, strength = drawn_problem(seed, n, 2, p, scale)
    by_core = problem.solve(centre, strength, tolerance=1e-15)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(solver, "MAX_COMPILED_FEATURES", 0)
        by_products = problem.solve(centre, strength, tolerance=1e-15)
    assert by_products.objective == pytest.approx(by_core.objective, rel=1e-9, abs=1e-9)
    np.testing.assert_allclose(by_products.weight, by_core.weight, atol=1e-4)
    np.testing.assert_allclose(by_products.offset, by_core.offset, atol=1e-4)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("scale", [0.3, 5.0])  # of probabilities that are near 0 in the second case
def test_second_derivatives_are_differences_of_slopes(n_classes: int, scale: float) -> None:
    """Cells of no probability are left out of the sums: the error is below one in a thousand."""
    problem, weight, _ = drawn_problem(3, 40, n_classes, 3, scale)
    loss = problem.loss
    x = loss.start(Solution(np.linspace(-0.2, 0.2, n_classes), weight, 0.0))

    def slope(at: Any) -> Any:
        return loss.values(problem.weight[None], at[None])[1][0]

    steps = 1e-5 * np.eye(len(x))
    by_difference = np.array([(slope(x + step) - slope(x - step)) / 2e-5 for step in steps])
    matrix = loss.second_derivatives(problem.weight, loss.values(problem.weight[None], x[None])[2][0])
    np.testing.assert_allclose(matrix, by_difference, atol=1e-3 * np.abs(by_difference).max())


def test_few_cells_give_the_second_derivatives_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, weight, _ = drawn_problem(2, 40, 6, 3, 0.1)
    solution = Solution(np.zeros(6), weight, 0.0)
    of_all = problem.second_derivatives(solution)
    monkeypatch.setattr(solver, "MAX_SHARE_OF_CELLS", 1.0)
    np.testing.assert_allclose(problem.second_derivatives(solution), of_all, rtol=1e-9, atol=1e-9)


@given(st.integers(0, 2**32 - 1), st.integers(1, 6))
def test_a_bounded_step_goes_down_and_stays_within_its_bounds(seed: int, n: int) -> None:
    """Without bounds it is the minimum of the quadratic."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n, n))
    matrix, gradient = root @ root.T + 0.1 * np.eye(n), rng.normal(size=n)
    low, high = -rng.exponential(size=n) * (rng.random(n) < 0.7), rng.exponential(size=n)
    step = solver.bounded_newton_step(matrix, gradient, low, high)
    assert ((low <= step) & (step <= high)).all()
    assert gradient @ step < 0 or not step.any()
    free = solver.bounded_newton_step(matrix, gradient, np.full(n, -np.inf), np.full(n, np.inf))
    np.testing.assert_allclose(matrix @ free, -gradient, atol=1e-6)


def test_arrays_that_are_neighbours_are_stacked_without_a_copy() -> None:
    evidence = np.arange(24.0).reshape(4, 3, 2).copy()
    parts = [evidence[0:1], evidence[1:3], evidence[3:4]]
    assert np.shares_memory(solver.stacked(parts), evidence)
    np.testing.assert_array_equal(solver.stacked(parts), evidence)
    for other in (
        [evidence[1:2], evidence[0:1]],
        [evidence[0:1], evidence[2:3]],
        [evidence[0:1], evidence[1:2].copy()],
    ):
        np.testing.assert_array_equal(solver.stacked(other), np.concatenate(other))
        assert not np.shares_memory(solver.stacked(other), evidence)
    for strided in ([evidence[:1, ::2], evidence[1:2, ::2]], [evidence[:1, ::-1], evidence[1:2, ::-1]]):
        np.testing.assert_array_equal(solver.stacked(strided), np.concatenate(strided))
