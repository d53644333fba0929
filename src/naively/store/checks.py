"""Checks of what was read from a model file: sizes, types, order, finite numbers. The core trusts all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from naively._kernels import Cells, HistogramCells
from naively.data.names import Numbered
from naively.schema.schema import Block, Schema
from naively.statistics import (
    ClassWeights,
    EmptyStatistic,
    Histogram,
    Moments,
    NumberSummary,
    Statistic,
    Sums,
    TokenCounts,
    ValueCounts,
    WordCounts,
)
from naively.statistics.value_counts import in_order

__all__ = ["CHECKS", "check_model"]


def check_model(schema: Schema, classes: tuple[Any, ...], seen: Any, statistics: tuple[Any, ...]) -> None:
    """Refuse parts that do not make a model."""
    kinds = {type(label) if isinstance(label, (bool, str)) else float for label in classes}
    _need(all(isinstance(label, (str, bool, int, float)) for label in classes) and len(kinds) == 1, "classes")
    _need(list(classes) == sorted(set(classes)), "classes in order")
    _need(len(statistics) == len(schema.blocks), "one statistic for each block of columns")
    check_class_weights(seen, len(classes))
    for block, statistic in zip(schema.blocks, statistics, strict=True):
        _need(isinstance(statistic, block.family.statistic), f"the statistic of {block.names[:1]}")
        check = next((CHECKS[kind] for kind in type(statistic).__mro__ if kind in CHECKS), None)
        if check is None:
            raise TypeError(f"{type(statistic).__name__} cannot be checked")
        check(statistic, len(classes), block)


def _need(holds: bool, what: str) -> None:
    if not holds:
        raise ValueError(f"wrong: {what}")


def _array(found: Any, dtype: Any, shape: tuple[int, ...], what: str) -> None:
    """An array of this type and shape, and finite."""
    _need(isinstance(found, np.ndarray) and found.dtype == dtype and found.shape == shape, f"type or size of {what}")
    _need(bool(np.isfinite(found).all()), f"finite numbers in {what}")


def check_class_weights(found: Any, n_classes: int) -> None:
    """Rows and weights, none below zero."""
    _need(isinstance(found, ClassWeights), "weights of classes")
    _array(found.weight, np.float64, (n_classes,), "weights of classes")
    _array(found.rows, np.int64, (n_classes,), "rows of classes")
    _need(bool((found.rows >= 0).all() and (found.weight >= 0).all()), "weights of classes")


def check_cells(found: Any, n_classes: int, n_sums: int, n_slots: int, signed: bool = False) -> None:
    """Cells in order, each within the slots; only a delta may have rows below zero."""
    _need(isinstance(found, Cells) and isinstance(found.index, np.ndarray) and found.index.ndim == 1, "cells")
    n = len(found.index)
    _array(found.indptr, np.int64, (n_classes + 1,), "cells")
    _array(found.index, np.int32, (n,), "cells")
    _array(found.sums, np.float64, (n_sums, n), "cells")
    _array(found.rows, np.int64, (n,), "cells")
    sizes = np.diff(found.indptr)
    _need(found.indptr[0] == 0 and found.indptr[-1] == n and bool((sizes >= 0).all()), "cells of classes")
    _need(n == 0 or (int(found.index.min()) >= 0 and int(found.index.max()) < n_slots), "places of cells")
    owner = np.repeat(np.arange(n_classes), sizes)
    rising = (np.diff(found.index.astype(np.int64)) > 0) | (np.diff(owner) > 0)
    _need(bool(rising.all()), "order of cells")
    _need(bool((found.rows != 0).all() if signed else (found.rows > 0).all()), "rows of cells")


def _moments(found: Moments, n_classes: int, block: Block) -> None:
    _array(found.rows, np.int64, (n_classes, len(block.names)), "moments")
    _array(found.state, np.float64, (9, n_classes, len(block.names)), "moments")
    _need(bool((found.rows >= 0).all()), "rows of moments")


def _histogram(found: Histogram, n_classes: int, block: Block) -> None:
    """Cells of (key, class) in order within each column; the level says how many bits the keys have lost."""
    cells, p = found.cells, len(block.names)
    _need(isinstance(cells, HistogramCells) and isinstance(cells.keys, np.ndarray) and cells.keys.ndim == 1, "cells")
    n = len(cells.keys)
    _array(cells.levels, np.int64, (p,), "levels of histograms")
    _array(cells.offsets, np.int64, (p + 1,), "columns of histograms")
    for name, dtype in (("keys", np.int64), ("classes", np.int32), ("weight", np.float64), ("rows", np.int64)):
        _array(getattr(cells, name), dtype, (n,), f"{name} of histograms")
    sizes = np.diff(cells.offsets)
    _need(cells.offsets[0] == 0 and cells.offsets[-1] == n and bool((sizes >= 0).all()), "columns of histograms")
    _need(bool(((cells.levels >= 0) & (cells.levels < 64)).all()), "levels of histograms")
    inside = (cells.classes >= 0) & (cells.classes < n_classes) & (cells.rows > 0)
    _need(found.n_classes == n_classes and 2 <= found.cap <= 2**24 and bool(inside.all()), "cells of histograms")
    column = np.repeat(np.arange(p), sizes)
    order = np.lexsort((cells.classes, cells.keys, column))
    same = (np.diff(column) == 0) & (cells.keys[1:] == cells.keys[:-1]) & (np.diff(cells.classes) == 0)
    _need(bool((order == np.arange(n)).all()) and not same.any(), "order of histograms")


def _sums(found: Sums, n_classes: int, block: Block) -> None:
    shape = (n_classes, len(block.names))
    _array(found.rows, np.int64, shape, "sums")
    _array(found.weight, np.float64, shape, "sums")
    _array(found.parts, np.float64, (2, *shape), "sums")
    _need(bool((found.rows >= 0).all()), "rows of sums")


def _value_counts(found: ValueCounts, n_classes: int, block: Block) -> None:
    _need(isinstance(found.values, tuple) and len(found.values) == len(block.names), "values of columns")
    sizes = getattr(block.family, "sizes", None)
    _need(sizes is None or len(sizes) == len(block.names), "numbers of values")
    for values in found.values:
        plain = isinstance(values, tuple) and all(isinstance(v, (str, bool, int, float)) and v == v for v in values)
        _need(plain and len(set(values)) == len(values) and in_order(values) == values, "values of a column")
    check_cells(found.cells, n_classes, 1, sum(len(values) for values in found.values))


def _token_counts(found: TokenCounts, n_classes: int, block: Block) -> None:
    named = isinstance(found.tokens, Numbered) or (
        isinstance(found.tokens, tuple) and all(isinstance(token, str) for token in found.tokens)
    )
    _need(named and found.tokens == block.names, "names of tokens")
    check_class_weights(found.seen, n_classes)
    check_cells(found.cells, n_classes, 2, found.n_tokens)
    check_cells(found.missing, n_classes, 1, found.n_tokens)


def _word_counts(found: WordCounts, n_classes: int, block: Block) -> None:
    bits = found.vocabulary is None
    n = 2**31 - 1 if bits else len(found.vocabulary)  # type: ignore[arg-type]
    _need(bits == (getattr(block.family, "hash_bits", None) is not None), "words, hashed or not")
    check_class_weights(found.seen, n_classes)
    check_cells(found.base, n_classes, 2, n)
    check_cells(found.delta, n_classes, 2, n, signed=True)
    check_cells(found.lengths, n_classes, 1, 2**31 - 1)
    _need(isinstance(found.unicode, str), "version of Unicode")


def _nothing(found: EmptyStatistic, n_classes: int, block: Block) -> None:
    _need(found.classes == n_classes and found.n_columns == len(block.names), "columns without a value")


def _measured(found: NumberSummary, n_classes: int, block: Block) -> None:
    _need(isinstance(found.histogram, Histogram) and isinstance(found.moments, Moments), "histogram and moments")
    _histogram(found.histogram, n_classes, block)
    _moments(found.moments, n_classes, block)


# A new statistic is checked by adding it here; what is not here is not read.
CHECKS: Mapping[type[Statistic], Callable[[Any, int, Block], None]] = {
    Histogram: _histogram,
    NumberSummary: _measured,
    Moments: _moments,
    Sums: _sums,
    ValueCounts: _value_counts,
    TokenCounts: _token_counts,
    WordCounts: _word_counts,
    EmptyStatistic: _nothing,
}
