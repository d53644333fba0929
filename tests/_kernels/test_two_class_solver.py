"""The two-class solver of the core: against its twin; what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tuning.test_solver import drawn_problem
from tests.twins import two_class_solver

from naively._kernels.posterior import minimise_two_classes
from naively.tuning.solver import MAX_NEWTON_STEPS, MAX_WEIGHT, OFFSET_PENALTY, SOLVER_TOLERANCE, Problem, one_hot

UNTIL: dict[str, Any] = {"max_weight": MAX_WEIGHT, "tolerance": SOLVER_TOLERANCE, "max_steps": MAX_NEWTON_STEPS}


def two_classes(seed: int, n: int, n_features: int, scale: float) -> tuple[Problem, Any, Any]:
    """A problem of two classes, and a pull."""
    return drawn_problem(seed, n, 2, n_features, scale)


def solved(
    problem: Problem, centre: Any, strength: Any, start: Any, minimise: Any = minimise_two_classes, **until: Any
) -> tuple[Any, float]:
    pull = np.concatenate([[0.0], centre]), np.concatenate([[0.5 * OFFSET_PENALTY], strength])
    given_ = problem.base, problem.evidence, problem.target
    if minimise is two_class_solver.minimise:
        x, objective = minimise(*given_, problem.weight, *pull, start, **(UNTIL | until))
        return x, objective
    lines = (array[None] for array in (problem.weight, *pull, start))
    points, objectives = minimise(*given_, *lines, **(UNTIL | until))
    return points[0], float(objectives[0])


@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.integers(0, 5), st.sampled_from([0.1, 1.0, 100.0]))
def test_core_and_numpy(seed: int, n: int, n_features: int, scale: float) -> None:
    problem, centre, strength = two_classes(seed, n, n_features, scale)
    start = np.concatenate([[0.0], centre])
    solution, value = solved(problem, centre, strength, start)
    wanted, objective = solved(problem, centre, strength, start, two_class_solver.minimise)
    assert value == pytest.approx(objective, rel=1e-8, abs=1e-9)
    np.testing.assert_allclose(solution, wanted, atol=1e-3)


def test_a_weight_of_no_use_is_zero() -> None:
    """What always speaks for the wrong class gets the bound, and the start is left as it was."""
    label = np.tile([0, 1], 50)
    evidence = np.zeros((1, 100, 2))
    evidence[0, np.arange(100), label] = -1.0
    start = np.array([0.0, 1.0])
    problem = Problem(np.zeros((100, 2)), evidence, one_hot(label, 2), np.ones(100))
    solution, value = solved(problem, np.ones(1), np.full(1, 1e-3), start)
    assert solution.tolist() == [0.0, 0.0]
    assert value == pytest.approx(100 * np.log(2) + 0.5e-3)
    assert start.tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"base": np.zeros((5, 3)), "evidence": np.zeros((2, 5, 3))}, "two classes"),
        ({"evidence": np.zeros((2, 4, 2))}, "evidence"),
        ({"target": np.zeros((4, 2))}, "target"),
        ({"row_weight": np.ones((1, 4))}, "row_weight"),
        ({"row_weight": np.ones((2, 5))}, "centre"),
        ({"centre": np.zeros((1, 2))}, "centre"),
        ({"strength": np.zeros((2, 3))}, "strength"),
        ({"start": np.zeros((1, 4))}, "start"),
    ],
)
def test_refusals(changed: dict[str, Any], message: str) -> None:
    given_: dict[str, Any] = {"base": np.zeros((5, 2)), "evidence": np.zeros((2, 5, 2)), "row_weight": np.ones((1, 5))}
    given_ |= {"target": np.full((5, 2), 0.5), "centre": np.zeros((1, 3))}
    given_ |= {"strength": np.ones((1, 3)), "start": np.zeros((1, 3))}
    with pytest.raises(ValueError, match=message):
        minimise_two_classes(**(given_ | changed), **UNTIL)


def test_several_problems_at_once() -> None:
    """Each line of weights, pulls and starts is solved as if it were alone."""
    problem = two_classes(0, 101, 5, 1.0)[0]
    random = np.random.default_rng(0)
    weight = random.choice([0.0, 0.5, 1.0], (3, 101))
    centres, strengths = random.uniform(size=(3, 6)), random.uniform(0.1, 5.0, (3, 6))
    start = random.uniform(size=(3, 6))
    rows = problem.base, problem.evidence, problem.target
    x, objective = minimise_two_classes(*rows, weight, centres, strengths, start, **UNTIL)
    for k in range(3):
        line = slice(k, k + 1)
        alone = minimise_two_classes(*rows, weight[line], centres[line], strengths[line], start[line], **UNTIL)
        np.testing.assert_array_equal(x[line], alone[0])
        assert objective[k] == alone[1][0]
