"""Merging sorted strings: against its twin, and what it refuses."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.twins import values as twin

from naively import _kernels as kernels

any_text = st.text(max_size=3) | st.sampled_from(["", "a", "ä", "z", "\uffff", "\U0001f600"])
strings = st.sets(any_text, max_size=12).map(lambda found: tuple(sorted(found)))


@given(strings, strings)
def test_merging_agrees_with_its_twin(a: tuple[str, ...], b: tuple[str, ...]) -> None:
    merged, of_a, of_b = kernels.merge_strings(a, b)
    wanted, right_a, right_b = twin.merge_strings(a, b)
    assert merged == wanted
    np.testing.assert_array_equal(of_a, right_a)
    np.testing.assert_array_equal(of_b, right_b)


def test_strings_are_neither_copied_nor_kept_alive() -> None:
    a, b = ("a" * 50, "c" * 50), ("b" * 50, "c" * 50)
    before = [sys.getrefcount(x) for x in (*a, *b)]
    merged = kernels.merge_strings(a, b)[0]
    assert merged[0] is a[0]
    assert merged[1] is b[0]
    assert merged[2] is a[1]
    del merged
    assert [sys.getrefcount(x) for x in (*a, *b)] == before


@pytest.mark.parametrize("bad", [("b", "a"), ("a", "a"), ("a", 1), (None,)])
def test_what_is_no_sorted_list_of_strings_is_refused(bad: Any) -> None:
    with pytest.raises(ValueError, match="not"):
        kernels.merge_strings(bad, ("x",))
    with pytest.raises(ValueError, match="not"):
        kernels.merge_strings(("x",), bad)
