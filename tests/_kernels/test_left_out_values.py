"""Leaving rows of values out: the core against its readable twin, for any threads; and what it refuses."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.twins import left_out as twin

from naively._kernels import ValueSlots, leave_values_out

C = 3
Case = tuple[ValueSlots, NDArray[np.int64], tuple[Any, Any, Any]]


@st.composite
def counted(draw: st.DrawFn) -> Case:
    """Rows of values, some missing, with what was counted of them; classes and values may have none."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, sizes = (
        draw(st.integers(1, 200 if draw(st.booleans()) else 5)),
        np.array(draw(st.lists(st.integers(1, 4), max_size=4))),
    )
    start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    slot = (
        np.stack([rng.integers(a, b, n) for a, b in pairwise(start.tolist())], axis=1)
        if len(sizes)
        else np.zeros((n, 0))
    )
    slot = np.where(rng.random(slot.shape) < 0.2, -1, slot).astype(np.int64)
    label = rng.integers(0, draw(st.integers(1, C)), n).astype(np.int32)
    leaving = np.ones(n) if draw(st.booleans()) else rng.integers(1, 9, n) / 8
    weight, rows = np.zeros((start[-1], C)), np.zeros((start[-1], C), np.int64)
    for j in range(len(sizes)):
        there = slot[:, j] >= 0
        np.add.at(weight, (slot[there, j], label[there]), leaving[there])
        np.add.at(rows, (slot[there, j], label[there]), 1)
    alpha = np.asarray(rng.integers(0 if draw(st.booleans()) else 1, 9, weight.shape) / 4)
    whole = np.add.reduceat(alpha, start[:-1], axis=0) if len(sizes) else np.zeros((0, C))
    lasting = np.where(rng.random(len(rows)) < 0.3, 2**62, rows.sum(axis=1))
    return ValueSlots(weight, rows, alpha, whole, start[:-1], lasting), slot, (label, leaving, np.ones(n, np.int64))


@given(counted())
def test_core_and_twin(case: Case) -> None:
    slots, slot, leaving = case
    found, again, wanted = (np.full((*slot.shape, C), 0.5) for _ in range(3))
    assert leave_values_out(slots, slot, leaving, found) is None
    assert leave_values_out(slots, slot, leaving, again, n_jobs=3) is None
    assert twin.leave_values_out(slots, slot, leaving, wanted) is None
    np.testing.assert_array_equal(found, again)
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


@given(counted())
def test_nothing_leaves(case: Case) -> None:
    slots, slot, (label, weight, rows) = case
    found, wanted = np.zeros((*slot.shape, C)), np.zeros((*slot.shape, C))
    nothing = label, 0.0 * weight, 0 * rows
    assert leave_values_out(slots, slot, nothing, found) is None
    assert twin.leave_values_out(slots, slot, nothing, wanted) is None
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


@given(counted(), st.integers(0, 2**32 - 1))
def test_the_first_value_that_was_not_counted(case: Case, seed: int) -> None:
    slots, slot, (label, weight, _) = case
    rows = np.random.default_rng(seed).integers(0, 4, len(label))
    found, wanted = np.zeros((*slot.shape, C)), np.zeros((*slot.shape, C))
    told = leave_values_out(slots, slot, (label, weight, rows), found)
    assert told == twin.leave_values_out(slots, slot, (label, weight, rows), wanted)
    if told is not None:
        assert not found.any()


def test_an_output_that_is_a_slice() -> None:
    slots = ValueSlots(
        np.ones((2, C)),
        np.ones((2, C), np.int64),
        np.ones((2, C)),
        np.full((1, C), 2.0),
        np.zeros(1, np.int64),
        np.full(2, 9),
    )
    leaving = np.zeros(1, np.int32), np.ones(1), np.ones(1, np.int64)
    wide, narrow = np.zeros((1, 2, C)), np.zeros((1, 1, C))
    leave_values_out(slots, np.zeros((1, 1), np.int64), leaving, wide[:, 1:])
    leave_values_out(slots, np.zeros((1, 1), np.int64), leaving, narrow)
    np.testing.assert_array_equal(wide, np.concatenate([np.zeros((1, 1, C)), narrow], axis=1))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"rows": np.ones((1, C), np.int64)}, "unequal shapes"),
        ({"alpha": np.ones((2, 2))}, "unequal shapes"),
        ({"whole_alpha": np.ones((2, C))}, "whole_alpha"),
        ({"lasting": np.ones(3, np.int64)}, "lasting"),
        ({"start": np.array([3])}, "start"),
        ({"start": np.array([-1])}, "start"),
        ({"slot": np.array([[2]])}, "no such slot"),
        ({"slot": np.zeros((1, 2), np.int64)}, "slot is not"),
        ({"label": np.array([C], np.int32)}, "no class"),
        ({"label": np.array([-1], np.int32)}, "no class"),
        ({"weight": np.ones((3, C))}, "unequal shapes"),
        ({"leaving": np.ones(2)}, "unequal lengths"),
        ({"out": np.zeros((2, 1, C))}, "out is not"),
    ],
)
def test_refusals(changed: dict[str, Any], said: str) -> None:
    fields = {
        "weight": np.ones((2, C)),
        "rows": np.ones((2, C), np.int64),
        "alpha": np.ones((2, C)),
        "whole_alpha": np.ones((1, C)),
        "start": np.zeros(1, np.int64),
        "lasting": np.ones(2, np.int64),
        "slot": np.zeros((1, 1), np.int64),
        "label": np.zeros(1, np.int32),
        "leaving": np.ones(1),
        "out": np.zeros((1, 1, C)),
        **changed,
    }
    slots = ValueSlots(*(fields[name] for name in ValueSlots._fields))
    leaving = fields["label"], fields["leaving"], np.ones(1, np.int64)
    with pytest.raises(ValueError, match=said):
        leave_values_out(slots, fields["slot"], leaving, fields["out"])
