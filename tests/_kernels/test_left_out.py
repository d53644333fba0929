"""Leaving rows of tokens out: the core against its readable twin, for any threads; and what it refuses."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.twins import left_out as twin

from naively._kernels import LeftTokens, TokenCells, by_token, count_csr, leave_text_out, leave_tokens_out
from naively._kernels.text import Options, Vocabulary

K, C = 5, 3


@st.composite
def counted(draw: st.DrawFn, any_alpha: bool = False) -> dict[str, Any]:
    """Draw rows of counts, the cells that they make, and settings; `any_alpha` may be 0 or differ between classes."""
    n = draw(st.integers(1, 300 if draw(st.booleans()) else 6))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 4, (n, K)) * (rng.random((n, K)) < 0.4)
    label = rng.integers(0, C, n).astype(np.int32)
    weight = np.ones(n) if draw(st.booleans()) else rng.integers(1, 9, n) / 8
    row, token = np.nonzero(x)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=n))]).astype(np.int64)
    count = x[row, token].astype(np.float64)
    cells = count_csr(count, token, indptr, K, label, weight, C)[0]
    start, owner, order = by_token(cells, K)
    fades = rng.random(K) < 0.7
    alpha = np.full(K, 0.25) if draw(st.booleans()) else rng.integers(1, 9, K) / 4
    complement = draw(st.booleans())
    if any_alpha:
        shape = (K,) if complement or draw(st.booleans()) else (K, C)
        alpha = rng.integers(0, 3, shape) / 4 if draw(st.booleans()) else np.zeros(shape)
    return {
        "rows": (indptr, token.astype(np.int32), count, None),
        "leaving": (label, weight, np.ones(n, np.int64)),
        "cells": TokenCells(
            start,
            owner,
            cells.sums[0][order],
            cells.rows[order],
            alpha=alpha,
            known=x.any(axis=0) | ~fades,  # a token that fades and was never seen has faded already
            fades=fades,
            shrinks=draw(st.booleans()),
        ),
        "complement": complement,
    }


@given(counted() | counted(any_alpha=True))
def test_core_and_twin(given_: dict[str, Any]) -> None:
    shape = (len(given_["leaving"][0]), C)
    found, again, wanted = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    assert leave_tokens_out(**given_, out=found) is None
    assert leave_tokens_out(**given_, out=again, n_jobs=3) is None
    twin.leave_tokens_out(**given_, out=wanted)
    np.testing.assert_array_equal(found, again)
    np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-11)


@given(counted())
def test_normed_complement(given_: dict[str, Any]) -> None:
    given_["complement"], given_["cells"] = True, given_["cells"]._replace(shrinks=False)
    shape = (len(given_["leaving"][0]), C)
    found, again, wanted = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    assert leave_tokens_out(**given_, out=found, normed=True) is None
    assert leave_tokens_out(**given_, out=again, normed=True, n_jobs=3) is None
    twin.leave_tokens_out(**given_, out=wanted, normed=True)
    np.testing.assert_array_equal(found, again)
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-11)


@given(counted() | counted(any_alpha=True), st.sampled_from([0.125, 1.0, 3.0]))
def test_rows_read_once(given_: dict[str, Any], scale: float) -> None:
    """Scored with all pseudo-counts `scale` times as large, for any threads."""
    complement = given_.pop("complement")
    read = LeftTokens(**(given_ | {"rows": given_["rows"][:3]}), n_classes=C)
    assert read.bad is None
    found, wanted = read.score(scale, complement), np.zeros((len(given_["leaving"][0]), C))
    given_["cells"] = given_["cells"]._replace(alpha=scale * given_["cells"].alpha)
    twin.leave_tokens_out(**given_, complement=complement, out=wanted)
    np.testing.assert_array_equal(found, read.score(scale, complement, n_jobs=3))
    np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-11)


@given(counted(), st.sampled_from([0.125, 1.0, 3.0]))
def test_coins(given_: dict[str, Any], scale: float) -> None:
    """Of each row's tokens: heads in the other classes; in its own, less the row."""
    label, weight, _ = given_["leaving"]
    start, owner, sums = given_["cells"][:3]
    given_["cells"] = given_["cells"]._replace(alpha=np.ones(K))
    indptr, token, count, _ = given_["rows"]
    tossed = np.bincount(owner, sums, C).astype(np.float64) + 8.0  # no fewer than any number of heads
    read = LeftTokens((indptr, token, count), given_["leaving"], given_["cells"], n_classes=C)
    found = read.score_coins(scale, tossed)
    np.testing.assert_array_equal(found, read.score_coins(scale, tossed, n_jobs=3))
    heads, rows = np.zeros((K, C)), np.zeros((K, C))
    of_token = np.repeat(np.arange(K), np.diff(start))
    heads[of_token, owner], rows[of_token, owner] = sums, given_["cells"].rows
    wanted = np.zeros_like(found)
    for i, (a, b) in enumerate(pairwise(indptr)):
        for k, x in zip(token[a:b], count[a:b], strict=True):
            if given_["cells"].fades[k] and rows[k].sum() == 1:
                continue
            for c in range(C):
                own = c == label[i]
                up = heads[k, c] - own * weight[i] * x if rows[k, c] > own else 0.0
                down = tossed[c] - own * (2 * weight[i] + up) - (not own) * heads[k, c]
                wanted[i, c] += x * (np.log(up + scale) - np.log(down + scale))
    np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-11)


@given(counted() | counted(any_alpha=True), st.booleans())
def test_straight_from_texts(given_: dict[str, Any], once: bool) -> None:
    """The words of a row, one after the other, in a text; missing texts say nothing."""
    indptr, token, count, _ = given_.pop("rows")
    texts: list[str | None] = [
        " ".join(f"w{k} " * int(x) for k, x in zip(token[a:b], count[a:b], strict=True)) for a, b in pairwise(indptr)
    ]
    rows = indptr, token, np.ones_like(count) if once else count, None
    found, wanted = np.zeros((len(texts), C)), np.zeros((len(texts), C))
    vocabulary = Vocabulary()
    vocabulary.add([f"w{k}" for k in range(K)])
    asked = vocabulary, Options(), once, given_.pop("leaving"), given_.pop("cells")
    bad = leave_text_out(texts, *asked, **given_, out=found, n_jobs=2)
    assert bad == twin.leave_tokens_out(rows, *asked[3:], **given_, out=wanted)
    if bad is None:
        np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-11)
    none: list[str | None] = [None] * len(texts)
    again = np.zeros_like(found)
    assert leave_text_out(none, *asked, **given_, out=again) is None
    assert not again.any()


@given(counted(), st.integers(0, 5), st.integers(1, 2))
def test_what_was_never_counted_is_told(given_: dict[str, Any], row: int, more: int) -> None:
    """The first of the rows that want to leave as more rows than they were."""
    label, weight, rows = given_["leaving"]
    row = min(row, len(label) - 1)
    rows = np.where(np.arange(len(rows)) >= row, rows * (1 + 400 * more), rows)
    given_["leaving"] = (label, weight, rows)
    out, other = np.zeros((len(label), C)), np.zeros((len(label), C))
    assert leave_tokens_out(**given_, out=out, n_jobs=2) == twin.leave_tokens_out(**given_, out=other)


def test_a_row_that_is_several() -> None:
    """A row that shows a value twice, as two shared columns do, leaves as two rows of its cell."""
    cells = np.array([0, 1, 2]), np.array([0, 0], np.int32), np.array([2.0, 1.0]), np.array([2, 1])
    rows = np.array([0, 1]), np.array([0], np.int32), np.array([2.0]), np.array([2])
    leaving = np.array([0], np.int32), np.ones(1), np.ones(1, np.int64)
    every, out = np.ones(2, bool), np.zeros((1, 1))
    assert leave_tokens_out(rows, leaving, TokenCells(*cells, np.ones(2), every, every, True), False, out) is None
    assert out.tolist() == [[0.0]]  # nothing of the value is left
    assert leave_tokens_out(rows, leaving, TokenCells(*cells, np.ones(2), every, ~every, True), False, out) is None
    np.testing.assert_allclose(out, 2 * np.log(1 / 3))


EVERY = np.ones(1, bool)
SOUND = TokenCells(
    np.array([0, 1]), np.array([0], np.int32), np.ones(1), np.ones(1, np.int64), np.ones(1), EVERY, EVERY, True
)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rows": (np.array([0, 2]), np.array([0], np.int32), np.ones(1), None)}, "indptr"),
        ({"cells": SOUND._replace(owner=np.array([7], np.int32))}, "class of a cell"),
        ({"cells": SOUND._replace(start=np.array([0, 2]))}, "start"),
        ({"leaving": (np.array([3], np.int32), np.ones(1), np.ones(1, np.int64))}, "a label is no class"),
        ({"leaving": (np.array([0], np.int32), np.ones(2), np.ones(1, np.int64))}, "unequal lengths"),
        ({"cells": SOUND._replace(known=np.ones(2, bool))}, "unequal lengths"),
    ],
)
def test_refusals(change: dict[str, Any], message: str) -> None:
    sound: dict[str, Any] = {
        "rows": (np.array([0, 1]), np.array([0], np.int32), np.ones(1), None),
        "leaving": (np.array([0], np.int32), np.ones(1), np.ones(1, np.int64)),
        "cells": SOUND,
        "complement": False,
    }
    assert leave_tokens_out(**sound, out=np.zeros((1, 1))) is None
    with pytest.raises(ValueError, match=message):
        leave_tokens_out(**(sound | change), out=np.zeros((1, 1)))
