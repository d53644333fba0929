"""Short lists are read without Arrow, and give the same columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naively.data import values as module
from naively.data.values import column_of_values
from naively.errors import InputError

items = st.one_of(
    st.lists(st.none() | st.floats(), max_size=6),
    st.lists(st.none() | st.integers(-(2**70), 2**70), max_size=6),
    st.lists(st.none() | st.booleans(), max_size=6),
    st.lists(st.none() | st.text(max_size=5) | st.sampled_from(["a b c d", "x" * 60]), max_size=6),
    st.lists(st.none() | st.booleans() | st.integers(0, 3) | st.floats(0, 1) | st.text(max_size=2), max_size=4),
)


def describe(values: list[Any]) -> Any:
    """Return all that families and schemas see of a column."""
    try:
        column = column_of_values("x", values)
    except InputError as error:
        return str(error)
    seen: list[Any] = [column.kind, len(column), column.use(), column.is_present().tolist()]
    for read in (lambda: column.numbers().tolist(), lambda: [*map(repr, decoded(column))], column.has_lost_digits):
        try:
            seen.append(repr(read()))
        except InputError as error:
            seen.append(str(error))
    total = np.zeros(len(column), dtype=np.uint64)
    column.add_hashes(total, np.uint64(7))
    return [*seen, total.tolist()]


def decoded(column: Any) -> list[Any]:
    codes, values = column.codes()
    return [None if code < 0 else values[code] for code in codes.tolist()]


@given(items)
def test_same_column_as_by_arrow(values: list[Any]) -> None:
    short = describe(values)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MAX_SHORT_LIST", -1)
        assert describe(values) == short
