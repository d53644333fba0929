"""The logarithms of counts by token: the core beside its twin, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.twins import token_logs as twin

from naively._kernels import cells as core
from naively._kernels.cells import Cells


@st.composite
def counted(draw: st.DrawFn) -> tuple[Cells, int]:
    """Cells of a few classes and tokens, with whole, large and fractional counts; and how many tokens there are."""
    n_classes, n_tokens = draw(st.integers(0, 4)), draw(st.integers(0, 12))
    tokens = [sorted(draw(st.sets(st.integers(0, n_tokens - 1)))) if n_tokens else [] for _ in range(n_classes)]
    size = sum(map(len, tokens))
    count = st.one_of(st.integers(0, 9).map(float), st.sampled_from([4095.0, 4096.0, 1e12]), st.floats(0, 100))
    sums = np.array(draw(st.lists(count, min_size=size, max_size=size)), dtype=np.float64)[None, :]
    indptr = np.cumsum([0, *map(len, tokens)]).astype(np.int64)
    index = np.array([k for listed in tokens for k in listed], dtype=np.int32)
    return Cells(indptr, index, sums, np.ones(size, dtype=np.int64)), n_tokens


@given(counted(), st.sampled_from([1.0, 0.5, 0.01, 3.0]))
def test_the_core_is_its_twin(made: tuple[Cells, int], alpha: float) -> None:
    cells, n_tokens = made
    base = np.where(np.arange(n_tokens) % 3, np.log(alpha), np.nan)
    assert core.seen_tokens(cells.index, n_tokens).tolist() == twin.seen_tokens(cells.index, n_tokens).tolist()
    np.testing.assert_allclose(
        core.token_log_table(cells, base, alpha), twin.token_log_table(cells, base, alpha), rtol=1e-15
    )
    start, owner, value = core.token_logs(cells, n_tokens, alpha)
    expected = twin.token_logs(cells, n_tokens, alpha)
    assert start.tolist() == expected[0].tolist()
    assert owner.tolist() == expected[1].tolist()
    np.testing.assert_allclose(value, expected[2], rtol=1e-15)


def test_many_tokens_of_classes_that_stop_early_and_late() -> None:
    generator = np.random.default_rng(0)
    n_tokens = 400_000
    tokens = [np.arange(50), np.arange(0), np.sort(generator.choice(n_tokens, 90_000, replace=False))]
    index = np.concatenate(tokens).astype(np.int32)
    sums = generator.integers(0, 9, (1, len(index))).astype(np.float64)
    cells = Cells(np.cumsum([0, *map(len, tokens)]), index, sums, np.ones(len(index), dtype=np.int64))
    base = np.full(n_tokens, -0.5)
    expected, listed = twin.token_log_table(cells, base, 2.0), twin.token_logs(cells, n_tokens, 2.0)
    fallen = cells._replace(index=cells.index[::-1].copy())
    for n_jobs in (1, 2, 5):
        np.testing.assert_allclose(core.token_log_table(cells, base, 2.0, n_jobs), expected, rtol=1e-15)
        start, owner, value = core.token_logs(cells, n_tokens, 2.0, n_jobs)
        assert (start == listed[0]).all()
        assert (owner == listed[1]).all()
        np.testing.assert_allclose(value, listed[2], rtol=1e-15)
        with pytest.raises(ValueError, match="out of order"):
            core.token_log_table(fallen, base, 2.0, n_jobs)
        with pytest.raises(ValueError, match="out of order"):
            core.token_logs(fallen, n_tokens, 2.0, n_jobs)


def test_what_lies_outside_is_refused() -> None:
    one = np.ones((1, 1))
    cells = Cells(np.array([0, 1]), np.array([3], dtype=np.int32), one, np.array([1]))
    for index in (3, -1):
        wrong = cells._replace(index=np.array([index], dtype=np.int32))
        with pytest.raises(ValueError, match=f"token {index}"):
            core.seen_tokens(wrong.index, 3)
        with pytest.raises(ValueError, match=f"token {index}"):
            core.token_log_table(wrong, np.zeros(3), 1.0)
        with pytest.raises(ValueError, match=f"token {index}"):
            core.token_logs(wrong, 3, 1.0)
    with pytest.raises(ValueError, match="indptr of the cells must rise"):
        core.token_logs(cells._replace(indptr=np.array([0, 2])), 4, 1.0)
    with pytest.raises(ValueError, match=r"sums of the cells has the shape \(1, 2\)"):
        core.token_logs(cells._replace(sums=np.ones((1, 2))), 4, 1.0)
    with pytest.raises(ValueError, match="alpha is 0"):
        core.token_logs(cells, 4, 0.0)
