"""Leave numbers out of Gaussians: the core and its twin agree, for any number of threads and any layout."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.twins import leave_one_out as twin

from naively._kernels.leave_one_out import GaussianSettings, Leaving, MomentArrays, leave_gaussian_out
from naively._kernels.types import Floats
from naively.statistics import Moments

Case = tuple[Floats, Leaving, MomentArrays, MomentArrays, GaussianSettings]
SETTINGS = [GaussianSettings(1.0, 1e-9, 2.0, True), GaussianSettings(0.0, 1e-9, 0.0, True)]
UNUSUAL_SETTINGS = [GaussianSettings(0.0, 0.5, 0.0, False), GaussianSettings(2.0, 0.0, 0.5, False)]


def case_of(values: Floats, label: Any, weight: Floats, n_classes: int, settings: GaussianSettings) -> Case:
    """Return the arguments of the kernel for rows that leave with all their weight."""
    stats = Moments.count(values, label, weight, n_classes)
    pooled = stats.pooled()
    classes = MomentArrays(stats.weight, stats.rows, *stats.mean_and_squares())
    of_all = MomentArrays(pooled.weight[0], pooled.rows[0], *(table[0] for table in pooled.mean_and_squares()))
    return values, (label, weight, np.ones(len(label), np.int64)), classes, of_all, settings


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Draw rows of numbers, some missing; classes may have few rows or none, columns little spread."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, p, n_classes = draw(st.integers(1, 60)), draw(st.integers(1, 4)), draw(st.integers(1, 9))
    values = rng.normal(size=(n, p)) * 10.0 ** rng.integers(-3, 4, p) + rng.choice([0.0, 5.0, 1e6], p)
    if draw(st.booleans()):
        values = np.round(values)
    values[rng.random(values.shape) < 0.1] = np.nan
    label = rng.integers(0, draw(st.integers(1, n_classes)), n).astype(np.int32)
    weight = np.ones(n) if draw(st.booleans()) else rng.integers(1, 9, n) / 4
    return case_of(values, label, weight, n_classes, draw(st.sampled_from(SETTINGS + UNUSUAL_SETTINGS)))


@given(cases())
def test_core_and_twin_agree(case: Case) -> None:
    shape = (*case[0].shape, len(case[2].weight))
    one_thread, three_threads, expected = (np.full(shape, 0.5) for _ in range(3))
    by_column = np.full((shape[1], shape[0], shape[2]), 0.5)
    refused = leave_gaussian_out(*case, one_thread).tolist()
    assert leave_gaussian_out(*case, three_threads, n_jobs=3).tolist() == refused
    assert leave_gaussian_out(*case, by_column.transpose(1, 0, 2)).tolist() == refused
    assert twin.leave_gaussian_out(*case, expected) == refused
    np.testing.assert_array_equal(one_thread, three_threads)
    np.testing.assert_array_equal(one_thread, by_column.transpose(1, 0, 2))
    np.testing.assert_allclose(one_thread, expected, rtol=1e-9, atol=1e-9)


@given(cases())
def test_rows_of_no_weight_are_scored_with_all_counts(case: Case) -> None:
    values, (label, weight, rows) = case[:2]
    nothing = label, 0.0 * weight, 0 * rows
    all_counted: Case = (values, nothing, case[2], case[3], case[4])
    scores, expected = (np.zeros((*values.shape, len(case[2].weight))) for _ in range(2))
    refused = twin.leave_gaussian_out(*all_counted, expected)
    assert leave_gaussian_out(*all_counted, scores).tolist() == refused
    np.testing.assert_allclose(scores, expected, rtol=1e-9, atol=1e-9)


def test_numbers_that_need_exact_arithmetic_are_returned() -> None:
    """An infinity, a column far from zero, the only number of its class, and a number far from all others."""
    values = np.array([[1.0, 1e9], [2.0, 1e9 + 1], [1e6, 1e9 + 2], [np.inf, 1e9], [3.0, 1e9 + 5]])
    label = np.array([0, 0, 0, 0, 1], np.int32)
    finite = np.where(np.isinf(values), 2.0, values)
    case = case_of(finite, label, np.ones(5), 2, SETTINGS[0])
    scores = np.zeros((5, 2, 2))
    positions = leave_gaussian_out(values, *case[1:], scores)
    rows, columns = np.divmod(positions, 2)
    assert set(rows[columns == 0].tolist()) == {2, 3, 4}
    assert rows[columns == 1].tolist() == [0, 1, 2, 3, 4]
    assert not scores.reshape(10, 2)[positions].any()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"values": np.zeros((2, 1))}, "value has the shape"),
        ({"label": np.array([2], np.int32)}, "labels must lie in"),
        ({"weight": np.ones(2)}, "weight has 2 entries, but 1"),
        ({"mean": np.ones((2, 2))}, "mean of the classes has the shape"),
        ({"pooled_mean": np.ones(2)}, "pooled mean has 2 entries"),
        ({"out": np.zeros((1, 1, 4))[:, :, ::2]}, "not neighbours in memory"),
    ],
)
def test_refusals(change: dict[str, Any], message: str) -> None:
    given_to_it = {
        "values": np.zeros((1, 1)),
        "label": np.zeros(1, np.int32),
        "weight": np.ones(1),
        "mean": np.ones((2, 1)),
        "pooled_mean": np.ones(1),
        "out": np.zeros((1, 1, 2)),
        **change,
    }
    leaving = given_to_it["label"], given_to_it["weight"], np.ones(1, np.int64)
    classes = MomentArrays(np.ones((2, 1)), np.ones((2, 1), np.int64), given_to_it["mean"], np.ones((2, 1)))
    pooled = MomentArrays(np.ones(1), np.ones(1, np.int64), given_to_it["pooled_mean"], np.ones(1))
    with pytest.raises(ValueError, match=message):
        leave_gaussian_out(given_to_it["values"], leaving, classes, pooled, SETTINGS[0], given_to_it["out"])
