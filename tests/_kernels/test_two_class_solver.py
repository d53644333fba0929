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
    given_ = problem.base, problem.evidence, problem.target, problem.weight
    x, objective = minimise(*given_, *pull, start, **(UNTIL | until))
    return x, objective


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
        ({"row_weight": np.ones(4)}, "row_weight has 4 entries"),
        ({"centre": np.zeros(2)}, "centre has 2 entries"),
        ({"start": np.zeros(4)}, "start has 4 entries"),
    ],
)
def test_refusals(changed: dict[str, Any], message: str) -> None:
    given_: dict[str, Any] = {"base": np.zeros((5, 2)), "evidence": np.zeros((2, 5, 2)), "row_weight": np.ones(5)}
    given_ |= {"target": np.full((5, 2), 0.5), "centre": np.zeros(3), "strength": np.ones(3), "start": np.zeros(3)}
    with pytest.raises(ValueError, match=message):
        minimise_two_classes(**(given_ | changed), **UNTIL)
