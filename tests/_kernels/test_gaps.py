"""Columns with gaps: against their twins, for every type and place of the first bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.twins import gaps as twin

from naively import _kernels as kernels

NUMBERS = ["f8", "f4", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1"]


@given(st.sampled_from(NUMBERS), st.integers(0, 200), st.integers(0, 20), st.booleans(), st.integers(0, 2**32 - 1))
def test_gaps_are_where_the_bits_are_zero(kind: str, n: int, first: int, gaps: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 120, n).astype(kind)
    bits = rng.choice([0, 255, 170, 7], (first + n + 7) // 8).astype(np.uint8) if gaps else None
    found, wanted = np.zeros(n), np.zeros(n)
    kernels.fill_numbers(values, bits, first, found)
    twin.fill_numbers(values, bits, first, wanted)
    np.testing.assert_array_equal(found, wanted)
    if kind[0] != "f":
        codes, right = np.zeros(n, np.int32), np.zeros(n, np.int32)
        kernels.fill_codes(values, bits, first, codes)
        twin.fill_codes(values, bits, first, right)
        np.testing.assert_array_equal(codes, right)


@given(st.sampled_from(NUMBERS[2:]), st.integers(0, 5000), st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_labels_are_what_codes_stand_for(kind: str, n: int, n_codes: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes = kernels.Gapped(rng.integers(0, n_codes, n).astype(kind))
    place = rng.permutation(n_codes).astype(np.int32)
    for found, wanted in zip(kernels.relabel(codes, place), twin.relabel(codes, place), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_labels_without_a_code_are_refused() -> None:
    place = np.zeros(2, np.int32)
    with pytest.raises(ValueError, match="row 1 "):
        kernels.relabel(kernels.Gapped(np.array([0, 2, 0])), place)
    with pytest.raises(ValueError, match="row 2 "):
        kernels.relabel(kernels.Gapped(np.zeros(3, np.int32), np.array([0b011], np.uint8)), place)
    assert kernels.relabel(kernels.Gapped(np.zeros(0, np.int32)), place)[1].tolist() == [0, 0]


def test_arrays_that_do_not_match_are_refused() -> None:
    x, bits = np.zeros(9, np.int64), np.zeros(1, np.uint8)
    with pytest.raises(ValueError, match="has 8 bits"):
        kernels.fill_numbers(x, bits, 0, np.zeros(9))
    with pytest.raises(ValueError, match="from bit -1"):
        kernels.fill_numbers(x, np.zeros(2, np.uint8), -1, np.zeros(9))
    with pytest.raises(ValueError, match="9 values cannot fill 8"):
        kernels.fill_codes(x, None, 0, np.zeros(8, np.int32))
    with pytest.raises(ValueError, match="codes are integers"):
        kernels.fill_codes(x.astype(float), None, 0, np.zeros(9, np.int32))
