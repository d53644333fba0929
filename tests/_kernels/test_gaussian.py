"""Scoring a Gaussian, and from scores to posteriors: against the twins and exact functions."""

from __future__ import annotations

import os
from itertools import product
from typing import Any

import mpmath
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tests.twins import moments as twin

from naively._kernels import moments, posterior

SOAK = bool(os.environ.get("NAIVELY_SOAK"))
examples = settings(max_examples=2000 if SOAK else 60, deadline=None)

Array = npt.NDArray[Any]


@examples
@given(st.data())
def test_scores_as_its_twin(data: st.DataObject) -> None:
    shape = data.draw(st.tuples(st.integers(0, 70), st.integers(0, 5)))
    n_classes = data.draw(st.integers(1, 5))
    value = st.floats(allow_infinity=False) if data.draw(st.booleans()) else st.floats(-10, 10)
    x: Array = data.draw(hnp.arrays(np.float64, shape, elements=value, fill=value))
    x = x[:, ::-1] if data.draw(st.booleans()) else np.asfortranarray(x)
    numbers = hnp.arrays(np.float64, (n_classes, shape[1]), elements=st.floats(-1e3, 1e3))
    mean = data.draw(numbers)
    variance = np.exp(data.draw(numbers) / 50)
    actual, expected = np.ones((shape[0], n_classes)), np.ones((shape[0], n_classes))
    missing = bool(np.isnan(x).any())
    assert moments.score_gaussian([x], mean, variance, actual) == (-1, missing)
    assert twin.score_gaussian(x, mean, variance, expected) == (-1, missing)
    assert np.isfinite(actual).all()
    log_scale = np.abs(np.log(2 * np.pi * variance)).sum(axis=1)
    scale = 1 + np.abs(expected) + log_scale  # Σ|terms| is at least this, but for the cancelling of logs
    assert (np.abs(actual - expected) <= 1e-13 * scale).all()


@examples
@given(st.data())
def test_pieces_are_added_in_their_order(data: st.DataObject) -> None:
    """One call gives the bits of a call for each piece."""
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    n_rows, n_classes = data.draw(st.integers(0, 70)), data.draw(st.integers(1, 5))
    widths = data.draw(st.lists(st.integers(0, 4), max_size=5))
    pieces = [rng.normal(size=(n_rows, width)) for width in widths]
    for piece in pieces:
        piece[rng.random(piece.shape) < 0.1] = np.nan
    mean, variance = rng.normal(size=(n_classes, sum(widths))), rng.exponential(size=(n_classes, sum(widths))) + 0.1
    together, one_by_one = np.ones((n_rows, n_classes)), np.ones((n_rows, n_classes))
    missing = moments.score_gaussian(pieces, mean, variance, together)[1]
    starts = np.cumsum([0, *widths])
    parts = [(piece, slice(a, b)) for piece, a, b in zip(pieces, starts[:-1], starts[1:], strict=True)]
    are_missing = [
        moments.score_gaussian([piece], mean[:, place].copy(), variance[:, place].copy(), one_by_one)[1]
        for piece, place in parts
    ]
    assert together.tobytes() == one_by_one.tobytes()
    assert missing == any(are_missing)
    by_column = np.zeros((sum(widths), n_rows, n_classes))
    assert moments.score_gaussian_columns(pieces, mean, variance, by_column) == -1
    for j, column in enumerate(x for piece in pieces for x in piece.T):
        alone = np.zeros((n_rows, n_classes))
        moments.score_gaussian([column[:, None]], mean[:, j : j + 1].copy(), variance[:, j : j + 1].copy(), alone)
        assert by_column[j].tobytes() == alone.tobytes()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_classes", [1, 2, 7])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_many_rows_and_columns(dtype: type, n_classes: int, missing: float) -> None:
    rng = np.random.default_rng(n_classes)
    x: Array = rng.normal(size=(9000, 300)).astype(dtype)
    x[rng.random(x.shape) < missing] = np.nan
    mean, variance = rng.normal(size=(n_classes, 300)), rng.exponential(size=(n_classes, 300)) + 0.1
    expected = np.zeros((len(x), n_classes))
    twin.score_gaussian(x, mean, variance, expected)
    for table, n_jobs in ((x, 1), (x, 2), (np.asfortranarray(x), 1)):
        out = np.zeros((len(x), n_classes))
        assert moments.score_gaussian([table], mean, variance, out, n_jobs) == (-1, missing > 0)
        np.testing.assert_allclose(out, expected, rtol=1e-13)


def test_gaussian_by_hand() -> None:
    out = np.array([[1.0]])
    assert moments.score_gaussian([np.array([[3.0, np.nan]])], np.ones((1, 2)), np.full((1, 2), 4.0), out) == (-1, True)
    assert out[0, 0] == pytest.approx(1 - 0.5 * (np.log(2 * np.pi * 4) + 1), rel=1e-15)


@pytest.mark.parametrize("column", [0, 2])
@pytest.mark.parametrize("infinity", [np.inf, -np.inf])
def test_infinity_is_reported(column: int, infinity: float) -> None:
    x = np.zeros((5000, 3))
    x[4999, column] = infinity
    x[10, 2] = infinity
    out = np.zeros((5000, 1))
    assert moments.score_gaussian([x], np.zeros((1, 3)), np.ones((1, 3)), out, 2) == (column, False)
    pieces = [x[:, :1], x[:, 1:]]
    assert moments.score_gaussian(pieces, np.zeros((1, 3)), np.ones((1, 3)), out, 2) == (column, False)


def test_the_widest_class_wins_far_away() -> None:
    x = np.array([[1e300], [-1e300], [1e160]])
    out = np.zeros((3, 2))
    assert moments.score_gaussian([x], np.array([[5.0], [-5.0]]), np.array([[1.0], [2.0]]), out) == (-1, False)
    assert np.isfinite(out).all()
    assert out.argmax(axis=1).tolist() == [1, 1, 1]
    assert moments.score_gaussian([x], np.array([[1e150], [0.0]]), np.full((2, 1), 1e-300), out) == (-1, False)
    assert np.isfinite(out).all()


def log_joints(n: int, n_classes: int) -> st.SearchStrategy[Array]:
    value = st.floats(-800, 800) | st.just(-np.inf) | st.floats(-1e300, 0)
    return hnp.arrays(np.float64, (n, n_classes), elements=value, fill=value)


@examples
@given(st.data())
def test_posteriors_as_its_twin(data: st.DataObject) -> None:
    n, n_classes = data.draw(st.integers(0, 20)), data.draw(st.integers(1, 7))
    log_joint = data.draw(log_joints(n, n_classes))
    with np.errstate(divide="ignore"):
        prior = data.draw(hnp.arrays(np.float64, n_classes, elements=st.sampled_from([0.0, 1.0, 2.0])))
        prior[data.draw(st.integers(0, n_classes - 1))] = 3.0
        log_prior = np.log(prior / prior.sum())
    for kind, floor in product((0, 1), (0.0, data.draw(st.floats(1e-9, 0.5)))):
        actual, expected = log_joint.copy(), log_joint.copy()
        n_impossible = twin.normalise(expected, log_prior, kind, floor)
        assert posterior.normalise(actual, log_prior, kind, floor) == n_impossible
        np.testing.assert_allclose(actual, expected, rtol=1e-13 if kind else 1e-14, atol=1e-16)
    best, expected_best = np.empty(n, np.int32), np.empty(n, np.int32)
    assert posterior.best_class(log_joint, log_prior, best) == twin.best_class(log_joint, log_prior, expected_best)
    np.testing.assert_array_equal(best, expected_best)


def test_exponentials_are_accurate() -> None:
    """With a row (0, x), the second posterior is e/(1 + e): for x < −40 that is e itself."""
    x = -np.concatenate([np.random.default_rng(0).uniform(40, 746, 20_000), [708.4, 745.13, 745.2, 1e300]])
    log_joint = np.stack([np.zeros_like(x), x], axis=1)
    posterior.normalise(log_joint, np.log([0.5, 0.5]), 1)
    true = np.array([float(mpmath.exp(v)) for v in x])
    assert (np.abs(log_joint[:, 1] - true) <= 2 * np.spacing(true)).all()


def test_the_number_of_threads_changes_nothing() -> None:
    rng = np.random.default_rng(0)
    log_joint = rng.normal(size=(50_000, 3)) * 100
    log_joint[::7] = -np.inf
    log_prior = np.log([0.2, 0.5, 0.3])
    results = []
    for n_jobs in (1, 2):
        probability, best = log_joint.copy(), np.empty(50_000, np.int32)
        lost = posterior.normalise(probability, log_prior, 1, n_jobs=n_jobs)
        assert lost == posterior.best_class(log_joint, log_prior, best, n_jobs) == 7143
        results.append((probability, best))
    np.testing.assert_array_equal(results[0][0], results[1][0])
    np.testing.assert_array_equal(results[0][1], results[1][1])
    np.testing.assert_allclose(results[0][0][0], [0.2, 0.5, 0.3], rtol=1e-15)
    assert results[0][1][0] == 1


def test_wrong_arguments() -> None:
    with pytest.raises(ValueError, match="smooth"):
        moments.score_gaussian([np.ones((1, 1))], np.zeros((1, 1)), np.zeros((1, 1)), np.zeros((1, 1)))
    with pytest.raises(ValueError, match=r"out has the shape \(1, 1\)"):
        moments.score_gaussian([np.ones((2, 1))], np.zeros((1, 1)), np.ones((1, 1)), np.zeros((1, 1)))
    with pytest.raises(ValueError, match="kind"):
        posterior.normalise(np.zeros((1, 1)), np.zeros(1), 2)
    with pytest.raises(ValueError, match="floor"):
        posterior.normalise(np.zeros((1, 1)), np.zeros(1), 1, 1.0)
    with pytest.raises(ValueError, match="log_prior has 1 entries, but 2"):
        posterior.best_class(np.zeros((1, 2)), np.zeros(1), np.zeros(1, np.int32))
