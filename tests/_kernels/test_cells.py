"""The compiled kernels of cells and codes: against their twins, by hand, and at their edges."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from tests.support.drawn_matrix import Draw, many, same, same_counted, seeds, strided
from tests.twins import cells as twin

from naively._kernels import cells as core

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from naively._kernels.cells import Cells


@many
@given(seeds)
def test_counts_are_the_twins(seed: int) -> None:
    d = Draw(seed)
    rest = (d.label, d.weight, d.n_classes)
    csr, csc, dense = d.sparse("csr"), d.sparse("csc"), strided(d.rng, d.x)
    expected = twin.count_dense(d.x, *rest)
    for n_jobs in (1, 2):
        same_counted(core.count_csr(csr, d.p, *rest, n_jobs), expected)
        same_counted(core.count_csc(csc, *rest, n_jobs), expected)
        same_counted(core.count_dense(dense, *rest, n_jobs), expected)
    same_counted(twin.count_csr(csr, d.p, *rest), expected)
    same_counted(twin.count_csc(csc, *rest), expected)


@many
@given(seeds)
def test_parts_add_up_and_total_minus_part_is_the_rest(seed: int) -> None:
    d = Draw(seed)
    part = d.rng.random(d.n) < 0.4

    def count(rows: NDArray[np.bool_]) -> Cells:
        weight = None if d.weight is None else d.weight[rows]
        return core.count_dense(d.x[rows], d.label[rows], weight, d.n_classes)[0]

    total, first, rest = count(np.ones(d.n, bool)), count(part), count(~part)
    same(core.merge_cells(first, rest, 1), total)
    same(core.merge_cells(total, first, -1), rest)
    same(twin.merge_cells(total, first, -1), rest)
    same(core.merge_cells(first, total, -1), twin.merge_cells(first, total, -1))  # negative rows stay
    assert core.merge_cells(total, total, -1).rows.size == 0


@many
@given(seeds)
def test_renumbering_and_transposing_are_the_twins(seed: int) -> None:
    d = Draw(seed)
    cells = core.count_dense(d.x, d.label, d.weight, d.n_classes)[0]
    n = int(d.rng.integers(1, 5))
    class_map = d.rng.integers(-1, n, d.n_classes).astype(np.int32)
    index_map = d.rng.integers(-1, 50, d.p).astype(np.int32)
    same(
        core.renumber_cells(cells, class_map, index_map, n),
        twin.renumber_cells(cells, class_map, index_map, n),
    )
    for a, b in zip(core.by_token(cells, d.p + 2), twin.by_token(cells, d.p + 2), strict=True):
        np.testing.assert_array_equal(a, b)


@many
@given(seeds)
def test_some_tokens_are_the_twins(seed: int) -> None:
    d = Draw(seed)
    cells = core.count_dense(d.x, d.label, d.weight, d.n_classes)[0]
    chosen = d.rng.random(d.p) < 0.5
    place = np.where(chosen, np.cumsum(chosen) - 1, -1).astype(np.int32)
    actual, wanted = (kernel.select_tokens(cells, place, int(chosen.sum())) for kernel in (core, twin))
    for i in (0, 1, 3, 4):
        np.testing.assert_array_equal(actual[i], wanted[i])
    np.testing.assert_allclose(actual[2], wanted[2], rtol=1e-12)


@many
@given(seeds)
def test_ranges_and_codes_are_the_twins(seed: int) -> None:
    d = Draw(seed)
    x = strided(d.rng, d.x)
    for n_jobs in (1, 2):
        for a, b in zip(core.column_range(x, n_jobs), twin.column_range(d.x), strict=True):
            np.testing.assert_array_equal(a, b)
    if d.kind[0] == "f":
        d.x = np.floor(d.x)
    sizes = d.rng.integers(0, 5, d.p)
    x = strided(d.rng, d.x)
    table = d.rng.normal(size=(sizes.sum(), d.n_classes))
    table[d.rng.random(table.shape) < 0.1] = -np.inf
    expected = twin.count_codes(d.x, sizes, d.label, d.weight, d.n_classes)
    score = np.ones((d.n, d.n_classes))
    twin.score_codes(d.x, sizes, table, score)
    for n_jobs in (1, 2):
        for a, b in zip(core.count_codes(x, sizes, d.label, d.weight, d.n_classes, n_jobs), expected, strict=True):
            np.testing.assert_array_equal(a, b)
        out = np.ones_like(score)
        core.score_codes([x], sizes, table, out, n_jobs)
        np.testing.assert_allclose(out, score, rtol=1e-13, atol=1e-12)
        in_pieces, by_column, by_plain_column = np.ones((3, *score.shape))
        columns = [x[:, j : j + 1] for j in range(d.p)]
        core.score_codes(columns, sizes, table, in_pieces, n_jobs)
        plain = [np.where((c >= 0) & (c < size), c, -1) for c, size in zip(columns, sizes, strict=True)]
        core.score_codes([c.astype(np.int32) for c in plain], sizes, table, by_plain_column, n_jobs)
        for j, start in enumerate(np.cumsum([0, *sizes[:-1]]) if d.p else []):
            core.score_codes([columns[j]], sizes[j : j + 1], table[start : start + sizes[j]], by_column, n_jobs)
        assert in_pieces.tobytes() == by_column.tobytes() == by_plain_column.tobytes()
        apart = np.zeros((d.p, *score.shape))
        core.score_code_columns(columns, sizes, table, apart, n_jobs)
        np.testing.assert_allclose(1.0 + apart.sum(axis=0), score, rtol=1e-13, atol=1e-12)


@many
@given(seeds)
def test_scores_are_the_twins(seed: int) -> None:
    d = Draw(seed)
    csr, x = d.sparse("csr"), strided(d.rng, d.x)
    base = d.rng.normal(size=d.p)
    base[d.rng.random(d.p) < 0.2] = np.nan
    own = sp.csr_array(np.where(d.rng.random((d.p, d.n_classes)) < 0.3, d.rng.random((d.p, d.n_classes)), 0))
    table, constant = base[:, None] + own.toarray(), d.rng.normal(size=d.n_classes)
    expected = np.ones((d.n, d.n_classes))
    finite = twin.score_dense(d.x, table, constant, expected)
    length = np.ones((d.n, 1))
    twin.score_dense(d.x, 0 * base[:, None], np.ones(1), length)
    close: Any = {"rtol": 1e-13, "atol": 1e-12 * max(1.0, float(np.nanmax(np.abs(d.x), initial=0)) * d.p)}
    for n_jobs in (1, 2):
        a, b, c = np.ones((3, *expected.shape))
        lengths = np.ones((3, d.n))
        assert core.score_csr(csr, table, constant, a, n_jobs, None, lengths[0]) == finite
        assert core.score_dense(x, table, constant, b, n_jobs, lengths[1]) == finite
        sparse = (base, own.indptr.astype(np.int64), own.indices.astype(np.int32), own.data)
        assert core.score_csr(csr, sparse, constant, c, n_jobs, None, lengths[2]) == finite
        for out, n_known in zip((a, b, c), lengths, strict=True):
            np.testing.assert_allclose(out, expected, **close)
            np.testing.assert_allclose(n_known, length[:, 0], **close)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("fraction", [1, 3])
@pytest.mark.parametrize("n_classes", [1, 3])
def test_large_classes_are_cut_alike_for_any_number_of_threads(n_classes: int, fraction: int, weighted: bool) -> None:
    """14 M entries are several tasks; thirds are not dyadic, so only a fixed order gives the same bits."""
    rng = np.random.default_rng(0)
    n, p, width = 5000, 700, 1100
    start = np.sort(rng.integers(0, width - p, n))
    indices = (start[:, None] + np.arange(p)).ravel().astype(np.int32)
    indices = np.tile(indices, 4)
    n *= 4
    data = rng.integers(0, 5, indices.size) / fraction
    indptr = np.arange(n + 1) * p
    label = rng.integers(0, n_classes, n).astype(np.int32)
    weight = rng.random(n) + 0.5 if weighted else None
    one = core.count_csr((data, indices, indptr), width, label, weight, n_classes, 1)
    two = core.count_csr((data, indices, indptr), width, label, weight, n_classes, 2)
    same_counted(one, two)
    w = np.ones(n) if weight is None else weight
    x = sp.csr_array((data, indices, indptr), shape=(n, width))
    for c in range(n_classes):
        expected = (w * (label == c)) @ x
        cells = slice(one[0].indptr[c], one[0].indptr[c + 1])
        np.testing.assert_allclose(one[0].sums[0, cells], expected[one[0].index[cells]], rtol=1e-12)


def test_counts_by_hand() -> None:
    x = np.array([[2.0, 0, 1, np.nan], [0, 0, 3, 1], [0.5, -1, 0, np.nan]])
    cells, missing, irregular = core.count_dense(x, np.array([0, 1, 0], np.int32), np.array([1, 2, 4.0]), 2)
    assert cells.indptr.tolist() == [0, 3, 5]
    assert cells.index.tolist() == [0, 1, 2, 2, 3]
    assert cells.sums.tolist() == [[2 + 2, -4, 1, 6, 2], [5, 4, 1, 2, 2]]
    assert cells.rows.tolist() == [2, 1, 1, 1, 1]
    assert (missing.indptr.tolist(), missing.index.tolist()) == ([0, 1, 1], [3])
    assert (missing.sums.tolist(), missing.rows.tolist()) == ([[5.0]], [2])
    assert irregular == (1, 0)


def test_infinity_is_reported() -> None:
    x = np.array([[1.0, 2, np.inf]])
    for form in (x, np.asfortranarray(x)):
        assert core.count_dense(form, np.array([0]), None, 1)[2] == (2, -1)


def test_sums_of_weights_are_compensated() -> None:
    """A million tenths: a plain sum is off by 1e-6, a compensated one by no more than the last digit."""
    n = 1_000_000
    x, label, weight = np.ones((n, 1)), np.zeros(n, np.int32), np.full(n, 0.1)
    exact = math.fsum(weight)
    for form in (x, np.broadcast_to(1.0, (n, 1))):
        assert core.count_dense(form, label, weight, 1)[0].sums[:, 0] == pytest.approx([exact] * 2, rel=2e-16)
    codes = core.count_codes(np.zeros((n, 1), np.int8), np.array([1]), label, weight, 1)
    assert codes[0][0, 0] == pytest.approx(exact, rel=2e-16)


def test_memory_follows_what_is_not_zero() -> None:
    """2,000 classes × 1,000,000 columns would be 16 GB as a table."""
    n, p = 2000, 1_000_000
    indices = (np.arange(n * 3) * 7919 % p).reshape(n, 3)
    indices.sort(axis=1)
    cells = core.count_csr((np.ones(n * 3), indices.ravel(), np.arange(n + 1) * 3), p, np.arange(n), None, n)[0]
    assert cells.rows.tolist() == [1] * (3 * n)
    np.testing.assert_array_equal(cells.index, indices.ravel())
