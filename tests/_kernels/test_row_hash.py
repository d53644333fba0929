"""Hashes of rows: the core against its readable twin; and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.twins import row_hash as twin

from naively._kernels import row_hash as core

WORDS = st.integers(0, 2**64 - 1)


@given(
    st.lists(st.floats(), max_size=24),
    st.lists(WORDS, min_size=1, max_size=3),
    WORDS,
    st.integers(1, 3),
    st.sampled_from(["f8", "f4", "i8", "i2", "b1"]),
    st.sampled_from("CF"),
)
def test_numbers(values: list[float], salts: list[int], missing: int, step: int, kind: str, order: Any) -> None:
    x: Any = np.array(values[: len(values) // len(salts) * len(salts)]).reshape(-1, len(salts))
    if kind != "f8":
        with np.errstate(over="ignore"):
            x = np.nan_to_num(x, posinf=0, neginf=0).clip(-9e3, 9e3).astype(kind) if kind[0] != "f" else x.astype(kind)
    x = np.array(x, order=order)[::step]
    actual, wanted = np.full((2, len(x)), 7, dtype=np.uint64)
    core.add_number_hashes(x, np.array(salts, np.uint64), missing, actual)
    twin.add_number_hashes(x, np.array(salts, np.uint64), missing, wanted)
    np.testing.assert_array_equal(actual, wanted)


@given(st.lists(st.none() | st.text(max_size=40), max_size=9), WORDS, WORDS)
def test_texts(texts: list[str | None], salt: int, missing: int) -> None:
    actual, wanted = np.full((2, len(texts)), 7, dtype=np.uint64)
    core.add_text_hashes(texts, salt, missing, actual)
    twin.add_text_hashes(texts, salt, missing, wanted)
    np.testing.assert_array_equal(actual, wanted)


@given(st.lists(WORDS, max_size=9), st.integers(1, 3))
def test_mix(words: list[int], step: int) -> None:
    x = np.array(words, np.uint64)[::step]
    np.testing.assert_array_equal(core.mix(x), twin.mix(x))


@given(
    st.lists(st.integers(-1, 3), max_size=9),
    st.lists(WORDS, min_size=5, max_size=5),
    st.sampled_from(["i4", "i1", "i8"]),
)
def test_codes(codes: list[int], table: list[int], kind: str) -> None:
    x, values = np.array(codes, dtype=kind), np.array(table, dtype=np.uint64)
    actual, wanted = np.zeros((2, len(x)), dtype=np.uint64)
    core.add_code_hashes(x, values, actual)
    twin.add_code_hashes(x, values, wanted)
    np.testing.assert_array_equal(actual, wanted)


def test_refusals() -> None:
    total = np.zeros(2, np.uint64)
    with pytest.raises(ValueError, match=r"shape \(3, 1\), but \(2, 1\) is needed"):
        core.add_number_hashes(np.zeros((3, 1)), np.zeros(1, np.uint64), 0, total)
    with pytest.raises(ValueError, match="entries, but 2 are needed"):
        core.add_code_hashes(np.zeros(3), total, total)
    with pytest.raises(ValueError, match="total has 2 entries, but 1 are needed"):
        core.add_text_hashes(["a"], 0, 0, total)
    for code in (-2, 1):
        with pytest.raises(ValueError, match="no value"):
            core.add_code_hashes(np.full(2, code), np.zeros(2, np.uint64), total)
    with pytest.raises(ValueError, match="empty"):
        core.add_code_hashes(np.full(2, -1), np.zeros(0, np.uint64), total)
