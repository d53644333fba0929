"""Random matrices with labels and weights, and comparisons of tables of cells."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from naively._kernels.cells import Cells, Counted

EXAMPLES = 2000 if os.environ.get("NAIVELY_SOAK") else 60
many = settings(max_examples=EXAMPLES, deadline=None)

TYPES = ["f8", "f4", "i8", "i4", "i2", "i1", "u4", "u2", "u1", "?"]


def same(a: Cells, b: Cells, rtol: float = 0.0) -> None:
    np.testing.assert_array_equal(a.indptr, b.indptr)
    np.testing.assert_array_equal(a.index, b.index)
    np.testing.assert_array_equal(a.rows, b.rows)
    np.testing.assert_allclose(a.sums, b.sums, rtol=rtol, atol=0)
    assert [x.dtype for x in a] == [x.dtype for x in b] == [np.int64, np.int32, np.float64, np.int64]
    assert a.sums.shape == b.sums.shape


def same_counted(a: Counted, b: Counted, rtol: float = 0.0) -> None:
    same(a[0], b[0], rtol)
    same(a[1], b[1], rtol)
    assert a[2] == b[2]


def values(rng: np.random.Generator, kind: str, shape: tuple[int, ...], missing: bool, odd: bool) -> NDArray[Any]:
    """Mostly zeros and small counts; dyadic, so that every sum is exact."""
    x = rng.poisson(0.6, shape) * (rng.random(shape) < 0.7) * 1.0
    if kind[0] == "f":
        if odd:
            x = np.where(rng.random(shape) < 0.1, rng.choice([0.5, -2, 0.25, 70000, -0.0], shape), x)
        if missing:
            x = np.where(rng.random(shape) < 0.1, np.nan, x)
    elif odd and kind[0] == "i":
        x = np.where(rng.random(shape) < 0.1, -1, x)
    return x.astype(kind)


def strided(rng: np.random.Generator, x: NDArray[Any]) -> NDArray[Any]:
    """The same array lying otherwise in memory."""
    match rng.integers(5):
        case 0:
            return x
        case 1:
            return np.asfortranarray(x)
        case 2:
            return np.repeat(np.repeat(x, 2, 0), 3, 1)[::2, ::3]
        case 3:
            return np.ascontiguousarray(x[::-1])[::-1]
        case _:
            return np.asfortranarray(x[:, ::-1])[:, ::-1]


class Draw:
    """A random matrix with labels and weights, from a few drawn numbers."""

    def __init__(self, seed: int) -> None:
        rng = self.rng = np.random.default_rng(seed)
        self.n, self.p = int(rng.integers(0, 40)), int(rng.integers(0, 90))
        self.n_classes = int(rng.choice([1, 2, 3, 17, 60]))
        self.kind = str(rng.choice(TYPES))
        self.label = rng.integers(0, self.n_classes, self.n).astype(rng.choice(["i4", "i8"]))
        self.weight = rng.integers(1, 9, self.n) / 4 if rng.random() < 0.5 else None
        self.x = values(rng, self.kind, (self.n, self.p), bool(rng.random() < 0.5), bool(rng.random() < 0.5))

    def sparse(self, form: str) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """CSR or CSC by hand, for SciPy does not know all types; now and then with zeros and out of order."""
        rng, x = self.rng, self.x if form == "csr" else self.x.T
        is_stored = (x != 0) | (rng.random(x.shape) < 0.1)
        line, index = np.nonzero(is_stored)
        if rng.random() < 0.3:
            order = np.lexsort((rng.random(line.size), line))
            line, index = line[order], index[order]
        indptr = np.concatenate(([0], np.cumsum(np.bincount(line, minlength=x.shape[0]))))
        return x[line, index], index.astype(rng.choice(["i4", "i8"])), indptr.astype(rng.choice(["i4", "i8"]))


seeds = st.integers(0, 2**32)
