"""Labels are counted by class, and entries above a threshold like the twins do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.drawn_matrix import Draw, many, same_counted, seeds
from tests.twins import cells as twin_cells

from naively._kernels import cells


@many
@given(st.integers(1, 9), st.integers(0, 200), st.integers(0, 2**32))
def test_labels_are_counted(n_classes: int, n: int, seed: int) -> None:
    label = np.random.default_rng(seed).integers(0, n_classes, n).astype(np.int32)
    np.testing.assert_array_equal(cells.count_labels(label, n_classes), np.bincount(label, minlength=n_classes))
    if n:
        label[n // 2] = n_classes
        with pytest.raises(ValueError, match=f"label of row {n // 2} is {n_classes}"):
            cells.count_labels(label, n_classes)


@many
@given(seeds)
def test_entries_above_a_threshold_are_counted_and_scored_as_the_twins_do(seed: int) -> None:
    d = Draw(seed)
    data, index, start = d.sparse("csr")
    above = float(d.rng.choice([0.0, 0.1, 1.0, 1e30]))
    if d.kind[0] == "f" and data.size and d.rng.random() < 0.5:
        data[d.rng.integers(data.size)] = d.rng.choice([np.inf, -np.inf, np.nan, 0.1])
    rest = (d.p, d.label, d.weight, d.n_classes)
    expected = twin_cells.count_csr((data, index, start), *rest, above=above)
    table, constant = d.rng.normal(size=(d.p, d.n_classes)), d.rng.normal(size=d.n_classes)
    score = np.zeros((d.n, d.n_classes))
    finite = twin_cells.score_csr((data, index, start), table, constant, score, above=above)
    sparse = (table[:, 0], np.arange(d.p + 1) * d.n_classes, np.tile(np.arange(d.n_classes, dtype=np.int32), d.p))
    for n_jobs in (1, 2):
        same_counted(cells.count_csr((data, index, start), *rest, n_jobs, above), expected)
        one, other = np.zeros_like(score), np.zeros_like(score)
        assert cells.score_csr((data, index, start), table, constant, one, n_jobs, above) == finite
        values = (table - table[:, :1]).ravel()
        assert cells.score_csr((data, index, start), (*sparse, values), constant, other, n_jobs, above) == finite
        np.testing.assert_allclose(one, score, rtol=1e-12, atol=1e-11)
        np.testing.assert_allclose(other, score, rtol=1e-12, atol=1e-11)
