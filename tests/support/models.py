"""Small models for the tests of the model file, and a comparison of what two models have counted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import naively
from naively import Model
from naively._kernels.histogram import HistogramCells
from naively.statistics import (
    ClassWeights,
    EmptyStatistic,
    Histogram,
    Moments,
    NumberSummary,
    Sums,
    TokenCounts,
    ValueCounts,
    WordBlocks,
    WordCounts,
)

WORDS = ("cheap", "pills", "lunch", "today", "offer", "späher", "x1", "你好")


def rows(seed: int, n: int = 5, classes: str = "ab") -> tuple[dict[str, list[Any]], list[str]]:
    """Make rows with every kind of column and missing values."""
    rng = np.random.default_rng(seed)
    pick = rng.integers
    data: dict[str, list[Any]] = {
        "number": [None if pick(8) == 0 else float(pick(0, 40)) / 4 for _ in range(n)],
        "value": [None if pick(8) == 0 else "uvw"[pick(3)] for _ in range(n)],
        "flag": [bool(pick(2)) for _ in range(n)],
        "visits": [int(pick(0, 5)) for _ in range(n)],
        "text": [" ".join(WORDS[i] for i in pick(0, len(WORDS), pick(1, 6))) for _ in range(n)],
    }
    return data, [classes[pick(len(classes))] for _ in range(n)]


COLUMNS = {"visits": naively.Poisson(), "flag": naively.Bernoulli(), "value": naively.Categorical()}
EVERYTHING = {**COLUMNS, "text": naively.Text(), "number": naively.Binned()}


def fitted(seed: int = 0, n: int = 12) -> Model:
    return naively.fit(*rows(seed, n), columns=EVERYTHING, tune=False)


def files_next_to(path: Path) -> list[str]:
    """Return the names of all files in the folder of a file."""
    return sorted(p.name for p in path.parent.iterdir())


def cells_by_name(statistic: Any, classes: Any) -> Any:
    """Return what a statistic has counted by class and name, independent of its internal order."""
    if isinstance(statistic, ClassWeights):
        cells = zip(classes, statistic.weight.tolist(), statistic.rows.tolist(), strict=True)
        return {c: (w, n) for c, w, n in cells if n}
    if isinstance(statistic, WordCounts):
        return {
            "words": _cells(statistic.cells, classes, lambda k: statistic.names_of(np.array([k]))[0]),
            "lengths": _cells(statistic.lengths, classes, str),
            "seen": cells_by_name(statistic.seen, classes),
        }
    if isinstance(statistic, WordBlocks):
        return [cells_by_name(block, classes) for block in statistic.blocks]
    if isinstance(statistic, ValueCounts):
        names = [(j, v) for j, values in enumerate(statistic.values) for v in values]
        return _cells(statistic.cells, classes, lambda k: names[k])
    if isinstance(statistic, TokenCounts):
        return _cells(statistic.cells, classes, lambda k: statistic.tokens[k])
    if isinstance(statistic, Histogram):
        return _histogram(statistic.cells, classes)
    if isinstance(statistic, NumberSummary):
        return cells_by_name(statistic.histogram, classes), cells_by_name(statistic.moments, classes)
    if isinstance(statistic, (Moments, Sums)):
        return {
            (c, j): (int(statistic.rows[i, j]), _numbers(statistic, i, j))
            for i, c in enumerate(classes)
            for j in range(statistic.rows.shape[1])
            if statistic.rows[i, j]
        }
    assert isinstance(statistic, EmptyStatistic)
    return None


def _numbers(statistic: Any, c: int, j: int) -> tuple[float, ...]:
    """Return the sums rounded to 12 digits, because moments are not exact."""
    if isinstance(statistic, Sums):
        return tuple(float(f"{x:.12g}") for x in (statistic.weight[c, j], statistic.total[c, j]))
    return tuple(float(f"{x:.12g}") for x in (statistic.weight[c, j], statistic.mean[c, j], statistic.squares[c, j]))


def _cells(cells: Any, classes: Any, name: Any) -> dict[Any, Any]:
    owner = np.repeat(np.arange(len(cells.indptr) - 1), np.diff(cells.indptr)).tolist()
    return {
        (classes[c], name(k)): (tuple(cells.sums[:, i].tolist()), int(cells.rows[i]))
        for i, (c, k) in enumerate(zip(owner, cells.index.tolist(), strict=True))
    }


def _histogram(cells: HistogramCells, classes: Any) -> dict[Any, Any]:
    column = np.repeat(np.arange(len(cells.levels)), np.diff(cells.offsets)).tolist()
    return {
        (j, int(cells.levels[j]), int(k), classes[c]): (float(w), int(n))
        for j, k, c, w, n in zip(column, cells.keys, cells.classes, cells.weight, cells.rows, strict=True)
    }


def same(a: Model, b: Model) -> bool:
    """Assert that two models have counted the same."""
    assert cells_by_name(a.class_weights, a.classes) == cells_by_name(b.class_weights, b.classes)
    assert [(x.names, x.family) for x in a.schema.blocks] == [(x.names, x.family) for x in b.schema.blocks]
    for one, two in zip(a.statistics, b.statistics, strict=True):
        assert cells_by_name(one, a.classes) == cells_by_name(two, b.classes)
    return True
