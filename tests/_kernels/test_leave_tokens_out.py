"""Leave rows of tokens out: the core and its twin agree, for any number of threads; invalid arguments are refused."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.twins import leave_one_out as twin

from naively._kernels.cells import by_token, count_csr
from naively._kernels.leave_one_out import (
    Entries,
    Leaving,
    LeftOutRows,
    Model,
    TokenCells,
    leave_texts_out,
    leave_tokens_out,
)
from naively._kernels.text import Options, Vocabulary
from naively._kernels.types import Floats

N_TOKENS, N_CLASSES = 5, 3


class Case(NamedTuple):
    entries: Entries
    leaving: Leaving
    cells: TokenCells
    model: Model

    def zeros(self) -> Floats:
        return np.zeros((len(self.leaving[0]), N_CLASSES))


@st.composite
def cases(draw: st.DrawFn, any_alpha: bool = False) -> Case:
    """Draw rows of counts, their cells, and settings; with `any_alpha` alpha may be 0 or differ between classes."""
    n = draw(st.integers(1, 300 if draw(st.booleans()) else 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    x = rng.integers(0, 4, (n, N_TOKENS)) * (rng.random((n, N_TOKENS)) < 0.4)
    label = rng.integers(0, N_CLASSES, n).astype(np.int32)
    weight = np.ones(n) if draw(st.booleans()) else rng.integers(1, 9, n) / 8
    row, token = np.nonzero(x)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=n))]).astype(np.int64)
    count = x[row, token].astype(np.float64)
    cells = count_csr((count, token, indptr), N_TOKENS, label, weight, N_CLASSES)[0]
    start, owner, order = by_token(cells, N_TOKENS)
    vanishes = rng.random(N_TOKENS) < 0.7
    known = x.any(axis=0) | ~vanishes  # a token that vanishes and was never counted is unknown already
    model: Model = draw(st.sampled_from(["multinomial", "complement"]))
    alpha = np.full(N_TOKENS, 0.25) if draw(st.booleans()) else rng.integers(1, 9, N_TOKENS) / 4
    if any_alpha:
        shape = (N_TOKENS,) if model == "complement" or draw(st.booleans()) else (N_TOKENS, N_CLASSES)
        alpha = rng.integers(0, 3, shape) / 4 if draw(st.booleans()) else np.zeros(shape)
    return Case(
        (indptr, token.astype(np.int32), count, None),
        (label, weight, np.ones(n, np.int64)),
        TokenCells(start, owner, cells.sums[0][order], cells.rows[order], alpha, known, vanishes, draw(st.booleans())),
        model,
    )


@given(cases() | cases(any_alpha=True))
def test_core_and_twin_agree(case: Case) -> None:
    one_thread, three_threads, expected = case.zeros(), case.zeros(), case.zeros()
    assert leave_tokens_out(*case, one_thread) is None
    assert leave_tokens_out(*case, three_threads, n_jobs=3) is None
    assert twin.leave_tokens_out(*case, expected) is None
    np.testing.assert_array_equal(one_thread, three_threads)
    np.testing.assert_allclose(one_thread, expected, rtol=1e-11, atol=1e-11)


@given(cases())
def test_normed_complement(case: Case) -> None:
    case = case._replace(model="normed complement", cells=case.cells._replace(alpha_vanishes=False))
    one_thread, three_threads, expected = case.zeros(), case.zeros(), case.zeros()
    assert leave_tokens_out(*case, one_thread) is None
    assert leave_tokens_out(*case, three_threads, n_jobs=3) is None
    assert twin.leave_tokens_out(*case, expected) is None
    np.testing.assert_array_equal(one_thread, three_threads)
    np.testing.assert_allclose(one_thread, expected, rtol=1e-10, atol=1e-11)


@given(cases() | cases(any_alpha=True), st.sampled_from([0.125, 1.0, 3.0]))
def test_rows_that_are_read_once_are_scored_with_scaled_pseudo_counts(case: Case, scale: float) -> None:
    rows = LeftOutRows(case.entries, case.leaving, case.cells, N_CLASSES)
    assert rows.uncounted is None
    scores, expected = rows.score(scale, case.model), case.zeros()
    scaled = case._replace(cells=case.cells._replace(alpha=scale * case.cells.alpha))
    twin.leave_tokens_out(*scaled, expected)
    np.testing.assert_array_equal(scores, rows.score(scale, case.model, n_jobs=3))
    np.testing.assert_allclose(scores, expected, rtol=1e-11, atol=1e-11)


@given(cases(), st.sampled_from([0.125, 1.0, 3.0]))
def test_bernoulli_scores_of_the_tokens_that_a_row_has(case: Case, scale: float) -> None:
    label, weight, _ = case.leaving
    cells = case.cells._replace(alpha=np.ones(N_TOKENS))
    indptr, token, count, _ = case.entries
    n_rows = np.bincount(cells.owner, cells.sums, N_CLASSES).astype(np.float64) + 8.0  # at least as many as any count
    rows = LeftOutRows(case.entries, case.leaving, cells, N_CLASSES)
    scores = rows.score_bernoulli(scale, n_rows)
    np.testing.assert_array_equal(scores, rows.score_bernoulli(scale, n_rows, n_jobs=3))
    sums, in_rows = np.zeros((N_TOKENS, N_CLASSES)), np.zeros((N_TOKENS, N_CLASSES))
    cell_token = np.repeat(np.arange(N_TOKENS), np.diff(cells.start))
    sums[cell_token, cells.owner], in_rows[cell_token, cells.owner] = cells.sums, cells.rows
    expected = np.zeros_like(scores)
    for i, (first, last) in enumerate(pairwise(indptr)):
        for k, x in zip(token[first:last], count[first:last], strict=True):
            if cells.vanishes[k] and in_rows[k].sum() == 1:
                continue
            for c in range(N_CLASSES):
                own = c == label[i]
                present = sums[k, c] - own * weight[i] * x if in_rows[k, c] > own else 0.0
                absent = n_rows[c] - own * (2 * weight[i] + present) - (not own) * sums[k, c]
                expected[i, c] += x * (np.log(present + scale) - np.log(absent + scale))
    np.testing.assert_allclose(scores, expected, rtol=1e-11, atol=1e-11)


@given(cases() | cases(any_alpha=True), st.booleans())
def test_texts_are_scored_like_their_tokens(case: Case, once: bool) -> None:
    indptr, token, count, _ = case.entries
    texts: list[str | None] = [
        " ".join(f"w{k} " * int(x) for k, x in zip(token[first:last], count[first:last], strict=True))
        for first, last in pairwise(indptr)
    ]
    vocabulary = Vocabulary()
    vocabulary.add([f"w{k}" for k in range(N_TOKENS)])
    scores, expected = case.zeros(), case.zeros()
    uncounted = leave_texts_out(texts, vocabulary, Options(), once, *case[1:], scores, n_jobs=2)
    entries = indptr, token, np.ones_like(count) if once else count, None
    assert uncounted == twin.leave_tokens_out(entries, *case[1:], expected)
    if uncounted is None:
        np.testing.assert_allclose(scores, expected, rtol=1e-11, atol=1e-11)
    missing: list[str | None] = [None] * len(texts)
    unchanged = case.zeros()
    assert leave_texts_out(missing, vocabulary, Options(), once, *case[1:], unchanged) is None
    assert not unchanged.any()


@given(cases(), st.integers(0, 5), st.integers(1, 2))
def test_the_first_row_that_was_never_counted_is_reported(case: Case, row: int, more: int) -> None:
    """Rows that leave as more rows than they were."""
    label, weight, rows = case.leaving
    rows = np.where(np.arange(len(rows)) >= min(row, len(label) - 1), rows * (1 + 400 * more), rows)
    case = case._replace(leaving=(label, weight, rows))
    assert leave_tokens_out(*case, case.zeros(), n_jobs=2) == twin.leave_tokens_out(*case, case.zeros())


def test_a_row_may_be_several_rows_of_a_cell() -> None:
    """A row that has a value twice, as two columns that share values do, leaves as two rows of its cell."""
    cells = np.array([0, 1, 2]), np.array([0, 0], np.int32), np.array([2.0, 1.0]), np.array([2, 1])
    entries = np.array([0, 1]), np.array([0], np.int32), np.array([2.0]), np.array([2])
    leaving = np.array([0], np.int32), np.ones(1), np.ones(1, np.int64)
    every, out = np.ones(2, bool), np.zeros((1, 1))
    vanishing = TokenCells(*cells, np.ones(2), every, every, True)
    assert leave_tokens_out(entries, leaving, vanishing, "multinomial", out) is None
    assert out.tolist() == [[0.0]]  # no row has the value any more
    declared = vanishing._replace(vanishes=~every)
    assert leave_tokens_out(entries, leaving, declared, "multinomial", out) is None
    np.testing.assert_allclose(out, 2 * np.log(1 / 3))


ONE = np.ones(1, bool)
VALID = TokenCells(
    np.array([0, 1]), np.array([0], np.int32), np.ones(1), np.ones(1, np.int64), np.ones(1), ONE, ONE, True
)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"entries": (np.array([0, 2]), np.array([0], np.int32), np.ones(1), None)}, "indptr"),
        ({"cells": VALID._replace(owner=np.array([7], np.int32))}, "class of a cell"),
        ({"cells": VALID._replace(start=np.array([0, 2]))}, "start"),
        ({"cells": VALID._replace(known=np.ones(2, bool))}, "alpha has 1 entries, but 2"),
        ({"cells": VALID._replace(alpha=np.ones((1, 1, 1)))}, "alpha must be"),
        ({"cells": VALID._replace(alpha=np.ones((1, 1))), "model": "complement"}, "one alpha for all classes"),
        ({"leaving": (np.array([3], np.int32), np.ones(1), np.ones(1, np.int64))}, "labels must lie in"),
        ({"leaving": (np.array([0], np.int32), np.ones(2), np.ones(1, np.int64))}, "weight has 2 entries, but 1"),
        ({"model": "other"}, "model is not"),
    ],
)
def test_refusals(change: dict[str, Any], message: str) -> None:
    valid: dict[str, Any] = {
        "entries": (np.array([0, 1]), np.array([0], np.int32), np.ones(1), None),
        "leaving": (np.array([0], np.int32), np.ones(1), np.ones(1, np.int64)),
        "cells": VALID,
        "model": "multinomial",
    }
    assert leave_tokens_out(**valid, out=np.zeros((1, 1))) is None
    with pytest.raises(ValueError, match=message):
        leave_tokens_out(**(valid | change), out=np.zeros((1, 1)))
