"""Packed arrays: against their twin, byte for byte."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.twins import packing as twin

from naively._kernels.packing import pack_arrays
from naively.store.codec import pack, unpack

int64s = st.integers(-(2**63), 2**63 - 1) | st.integers(-300, 300) | st.integers(-(2**17), 2**17)
numbers = st.floats(width=64) | st.integers(-(2**54), 2**54).map(float) | st.integers(0, 9).map(float)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "f8": numbers | st.just(-0.0) | st.sampled_from([2.0**53, 2.0**53 + 2, 1e16, 9999999999999998.0, 1e15, 1e22]),
    "i8": int64s,
    "i4": st.integers(-(2**31), 2**31 - 1) | st.integers(0, 5),
    "u1": st.integers(0, 255),
    "b1": st.booleans(),
}
SHAPES = {1: (-1,), 2: (2, -1), 3: (1, 3, -1)}


@st.composite
def any_array(draw: st.DrawFn) -> NDArray[Any]:
    """Draw an array of any stored type, up to three axes, sorted or not, in order or every second of another."""
    name, axes = draw(st.sampled_from(sorted(VALUES))), draw(st.sampled_from([1, 1, 2, 3]))
    few = draw(st.lists(VALUES[name], max_size=12))
    values = (few * draw(st.integers(1, 8)))[: len(few) * 8 // 6 * 6]
    array = np.array(values, dtype="?" if name == "b1" else name)
    if draw(st.booleans()):
        array = np.sort(array)
    if draw(st.booleans()):
        array = np.repeat(array, 2)[::2]
    return array[: len(array) // 6 * 6].reshape(SHAPES[axes])


@given(st.lists(any_array(), max_size=5), st.sampled_from([0, 4, 32]), st.sampled_from([20, 4096]))
def test_the_same_bytes(arrays: list[NDArray[Any]], few: int, many: int) -> None:
    assert pack_arrays(arrays, few, many) == twin.pack_arrays(arrays, few, many)


@given(st.lists(any_array(), max_size=5))
def test_what_was_packed_comes_back(arrays: list[NDArray[Any]]) -> None:
    back = unpack(pack({}, arrays))[1]
    assert [array.dtype for array in back] == [array.dtype for array in arrays]
    for wanted, array in zip(arrays, back, strict=True):
        np.testing.assert_array_equal(array, wanted)
        if wanted.dtype.kind == "f":
            np.testing.assert_array_equal(np.signbit(array), np.signbit(wanted))


def test_other_types_are_refused() -> None:
    with pytest.raises(ValueError, match="neither float64, int64"):
        pack_arrays([np.zeros(3, np.float32)], 32, 4096)
