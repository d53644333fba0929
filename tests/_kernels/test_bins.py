"""Bins of numeric columns: cells added up within them, and the tournament by which keys are joined into them."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests._kernels.test_histogram import any_number, tables
from tests.twins import histogram as twin

from naively._kernels import histogram
from naively._kernels.histogram import count_histogram

cut_values = st.one_of(
    any_number.filter(lambda v: v == v), st.sampled_from([-np.inf, np.inf, -0.0, -1.7976931348623157e308])
)


@given(tables(), st.data())
def test_cells_are_binned_as_by_the_twin(drawn: Any, data: st.DataObject) -> None:
    pieces, label, weight, n_classes, cap = drawn
    cells = count_histogram(pieces, label, weight, n_classes, cap)
    per_column = [sorted(data.draw(st.lists(cut_values, max_size=4))) for _ in cells.levels]
    cuts = np.array([cut for column_cuts in per_column for cut in column_cuts], np.float64)
    offsets = np.cumsum([0, *map(len, per_column)])
    actual, expected = (k.bin_cells(cells, n_classes, cuts, offsets) for k in (histogram, twin))
    np.testing.assert_array_equal(actual[0], expected[0])
    np.testing.assert_array_equal(actual[1], expected[1])
    assert actual[1].sum() == cells.rows.sum()
