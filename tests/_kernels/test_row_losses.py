"""Log-losses under several tables of evidence: the core and its twin agree, for any number of threads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.twins import posterior as twin

from naively._kernels.posterior import row_losses


@given(
    st.integers(0, 2**32 - 1),
    st.integers(0, 70),
    st.integers(1, 9),
    st.integers(0, 4),
    st.sampled_from([0.1, 1.0, 300.0]),
    st.sampled_from([1.0, -1.0]),
)
def test_core_and_twin_agree(seed: int, n: int, n_classes: int, n_tables: int, scale: float, factor: float) -> None:
    rng = np.random.default_rng(seed)
    scores, evidence = scale * rng.normal(size=(n, n_classes)), scale * rng.normal(size=(n_tables, n, n_classes))
    target = rng.dirichlet(np.full(n_classes, 0.3), n) if n else np.zeros((0, n_classes))
    losses = row_losses(scores, target, evidence, factor)
    np.testing.assert_array_equal(losses, row_losses(scores, target, evidence, factor, n_jobs=3))
    expected = twin.row_losses(scores, target, evidence, factor)
    np.testing.assert_allclose(losses, expected, rtol=1e-9, atol=1e-9 * (1 + scale))


def test_refusals() -> None:
    scores, evidence = np.zeros((2, 3)), np.zeros((1, 2, 3))
    with pytest.raises(ValueError, match="target has the shape"):
        row_losses(scores, np.zeros((2, 2)), evidence)
    with pytest.raises(ValueError, match="evidence has the shape"):
        row_losses(scores, scores, np.zeros((1, 3, 3)))
    with pytest.raises(ValueError, match="no class"):
        row_losses(np.zeros((2, 0)), np.zeros((2, 0)), np.zeros((1, 2, 0)))
