"""Leave rows of values out: the core and its twin agree, for any number of threads; invalid arguments are refused."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.twins import leave_one_out as twin

from naively._kernels.leave_one_out import Leaving, ValueArrays, leave_values_out
from naively._kernels.types import Wholes

N_CLASSES = 3
Case = tuple[ValueArrays, Wholes, Leaving]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Draw rows of values, some missing, with their counts; classes and values may have none."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(1, 200 if draw(st.booleans()) else 5))
    sizes = np.array(draw(st.lists(st.integers(1, 4), max_size=4)))
    start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    columns = [rng.integers(first, last, n) for first, last in pairwise(start.tolist())]
    value = np.stack(columns, axis=1) if columns else np.zeros((n, 0))
    value = np.where(rng.random(value.shape) < 0.2, -1, value).astype(np.int64)
    label = rng.integers(0, draw(st.integers(1, N_CLASSES)), n).astype(np.int32)
    row_weight = np.ones(n) if draw(st.booleans()) else rng.integers(1, 9, n) / 8
    weight, rows = np.zeros((start[-1], N_CLASSES)), np.zeros((start[-1], N_CLASSES), np.int64)
    for column in value.T:
        is_present = column >= 0
        np.add.at(weight, (column[is_present], label[is_present]), row_weight[is_present])
        np.add.at(rows, (column[is_present], label[is_present]), 1)
    alpha = np.asarray(rng.integers(0 if draw(st.booleans()) else 1, 9, weight.shape) / 4)
    total_alpha = np.add.reduceat(alpha, start[:-1], axis=0) if len(sizes) else np.zeros((0, N_CLASSES))
    rows_until_unknown = np.where(rng.random(len(rows)) < 0.3, 2**62, rows.sum(axis=1))
    cells = ValueArrays(weight, rows, alpha, total_alpha, start[:-1], rows_until_unknown)
    return cells, value, (label, row_weight, np.ones(n, np.int64))


@given(cases())
def test_core_and_twin_agree(case: Case) -> None:
    one_thread, three_threads, expected = (np.full((*case[1].shape, N_CLASSES), 0.5) for _ in range(3))
    assert leave_values_out(*case, one_thread) is None
    assert leave_values_out(*case, three_threads, n_jobs=3) is None
    assert twin.leave_values_out(*case, expected) is None
    np.testing.assert_array_equal(one_thread, three_threads)
    np.testing.assert_allclose(one_thread, expected, rtol=1e-12, atol=1e-12)


@given(cases())
def test_rows_of_no_weight_are_scored_with_all_counts(case: Case) -> None:
    cells, value, (label, weight, rows) = case
    scores, expected = np.zeros((*value.shape, N_CLASSES)), np.zeros((*value.shape, N_CLASSES))
    nothing = label, 0.0 * weight, 0 * rows
    assert leave_values_out(cells, value, nothing, scores) is None
    assert twin.leave_values_out(cells, value, nothing, expected) is None
    np.testing.assert_allclose(scores, expected, rtol=1e-12, atol=1e-12)


@given(cases(), st.integers(0, 2**32 - 1))
def test_the_first_value_that_was_never_counted_is_reported(case: Case, seed: int) -> None:
    cells, value, (label, weight, _) = case
    rows = np.random.default_rng(seed).integers(0, 4, len(label))
    scores = np.zeros((*value.shape, N_CLASSES))
    uncounted = leave_values_out(cells, value, (label, weight, rows), scores)
    assert uncounted == twin.leave_values_out(cells, value, (label, weight, rows), np.zeros_like(scores))
    if uncounted is not None:
        assert not scores.any()


def test_the_output_may_be_a_slice() -> None:
    ones = np.ones((2, N_CLASSES))
    cells = ValueArrays(
        ones, ones.astype(np.int64), ones, np.full((1, N_CLASSES), 2.0), np.zeros(1, np.int64), np.full(2, 9)
    )
    leaving = np.zeros(1, np.int32), np.ones(1), np.ones(1, np.int64)
    wide, narrow = np.zeros((1, 2, N_CLASSES)), np.zeros((1, 1, N_CLASSES))
    leave_values_out(cells, np.zeros((1, 1), np.int64), leaving, wide[:, 1:])
    leave_values_out(cells, np.zeros((1, 1), np.int64), leaving, narrow)
    np.testing.assert_array_equal(wide, np.concatenate([np.zeros((1, 1, N_CLASSES)), narrow], axis=1))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rows": np.ones((1, N_CLASSES), np.int64)}, "rows of the values has the shape"),
        ({"alpha": np.ones((2, 2))}, "alpha has the shape"),
        ({"total_alpha": np.ones((2, N_CLASSES))}, "total_alpha"),
        ({"rows_until_unknown": np.ones(3, np.int64)}, "rows_until_unknown"),
        ({"start": np.array([3])}, "start"),
        ({"start": np.array([-1])}, "start"),
        ({"value": np.array([[2]])}, "no such value"),
        ({"value": np.zeros((1, 2), np.int64)}, "value has the shape"),
        ({"label": np.array([N_CLASSES], np.int32)}, "labels must lie in"),
        ({"label": np.array([-1], np.int32)}, "labels must lie in"),
        ({"weight": np.ones((3, N_CLASSES))}, "has the shape"),
        ({"row_weight": np.ones(2)}, "weight has 2 entries, but 1"),
        ({"out": np.zeros((2, 1, N_CLASSES))}, "label has 1 entries, but 2"),
    ],
)
def test_refusals(change: dict[str, Any], message: str) -> None:
    fields = {
        "weight": np.ones((2, N_CLASSES)),
        "rows": np.ones((2, N_CLASSES), np.int64),
        "alpha": np.ones((2, N_CLASSES)),
        "total_alpha": np.ones((1, N_CLASSES)),
        "start": np.zeros(1, np.int64),
        "rows_until_unknown": np.ones(2, np.int64),
        "value": np.zeros((1, 1), np.int64),
        "label": np.zeros(1, np.int32),
        "row_weight": np.ones(1),
        "out": np.zeros((1, 1, N_CLASSES)),
        **change,
    }
    cells = ValueArrays(*(fields[name] for name in ValueArrays._fields))
    leaving = fields["label"], fields["row_weight"], np.ones(1, np.int64)
    with pytest.raises(ValueError, match=message):
        leave_values_out(cells, fields["value"], leaving, fields["out"])
