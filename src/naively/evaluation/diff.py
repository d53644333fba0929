"""Drift: how far two models lie apart, column by column and word by word, and whether chance alone would do that.

Within each class c, the rows of two models A and B that have value k number n_Akc and n_Bkc, out of n_Ac and n_Bc:

    G = 2 Σ_c Σ_k Σ_m n_mkc log(n_mkc / e_mkc),   e_mkc = n_mc (n_Akc + n_Bkc) / (n_Ac + n_Bc)      (1)
    nats = (G − degrees of freedom) / 2N                                                            (2)
    p = P(χ² ≥ G),   q = p corrected for the number of columns (or words)                           (3)

(2) is the information, per row, that a value gives about which of the two models it came from, its class being known;
chance alone makes G as large as its degrees of freedom, which are taken off. Values expected under 5 times are pooled.
Numbers are cut into 32 bins of about equal weight; where only moments are kept, G is twice the logarithm of the ratio
of likelihoods of two normal distributions and one. A word is in a text or not: that is its table, and a column of texts
is the sum of its words, with the p of its least probable word times their number (Bonferroni), as words come together.
Source: Woolf, The log likelihood ratio test, Ann. Hum. Genet. 21 (1957) 397–409; Benjamini & Hochberg, J. R. Stat. Soc.
B 57 (1995) 289–300 for q.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively._kernels import Cells
from naively.data.names import listed
from naively.families import Exponential, Family
from naively.model import merge as merging
from naively.model.model import Model
from naively.statistics import Histogram, Moments, NumberSummary, Statistic, Sums, TokenCounts, ValueCounts, WordCounts
from naively.statistics.cells import class_of_cells

__all__ = ["Change", "Drift", "drift"]

Table = NDArray[np.float64]  # (model, class, value)
BINS = 32
FEWEST = 5.0  # rows that are expected of a value that is not pooled


@dataclass(frozen=True)
class Change:
    """A word, value or token: for each class by how many nats its log-probability changed."""

    name: str
    nats: tuple[float, ...]
    G: float
    p: float
    q: float


@dataclass(frozen=True)
class Drift:
    """A column (or the classes themselves): equations (1) to (3), and what changed most in it."""

    column: str
    nats: float
    G: float
    freedom: int
    p: float
    q: float
    changes: tuple[Change, ...]


def drift(a: Model, b: Model, top: int = 20) -> tuple[Drift, ...]:
    """From a to b: the classes first, then every column, the most changed first.

    >>> from naively import fit
    >>> old = fit({"sky": ["sun"] * 30 + ["rain"] * 10}, ["yes"] * 40)
    >>> new = fit({"sky": ["sun"] * 10 + ["rain"] * 30}, ["yes"] * 40)
    >>> sky = drift(old, new)[1]
    >>> sky.column, round(sky.nats, 3), round(sky.G, 2), f"{sky.p:.0e}"
    ('sky', 0.125, 20.93, '5e-06')
    """
    a, b = merging.align(a, b)
    seen = np.stack([a.class_weights.rows, b.class_weights.rows]).astype(np.float64)
    found = [_values("(classes)", seen[:, None, :], [str(c) for c in a.classes], top)]
    for block, one, two in zip(a.schema.blocks, a.statistics, b.statistics, strict=True):
        found.extend(_block(list(block.names), block.family, one, two, top))
    adjusted = _adjusted([d.p for d in found])
    found = [replace(d, q=q) for d, q in zip(found, adjusted, strict=True)]
    return (found[0], *sorted(found[1:], key=lambda d: (d.p, -d.nats)))


def _block(names: Sequence[str], family: Family, one: Any, two: Any, top: int) -> Iterable[Drift]:
    if isinstance(one, NumberSummary):
        one, two = one.histogram, two.histogram
    if isinstance(one, WordCounts):
        yield _words(names[0], one, two, top)
    elif isinstance(one, TokenCounts):
        yield _tokens(listed(names, 3), one, two, top)
    elif isinstance(one, ValueCounts):
        one, two = one.aligned(two)
        tables = np.stack([one.dense(rows=True), two.dense(rows=True)])
        for name, values, start in zip(names, one.values, one.offsets, strict=False):
            yield _values(name, tables[:, :, start : start + len(values)], [str(v) for v in values], top)
    elif isinstance(one, Histogram):
        yield from (_values(name, *_binned(one, two, j), top) for j, name in enumerate(names))
    elif isinstance(one, (Moments, Sums)):
        yield from _likelihoods(names, family, one, two)


def _ratio(table: Table) -> Table:
    """The terms of equation (1) over (model, …, value); the second axis from the end is not summed over."""
    n = table.sum(axis=-1, keepdims=True)
    expected = n * table.sum(axis=0) / np.maximum(n.sum(axis=0), 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(table > 0, table * np.log(table / np.where(expected > 0, expected, 1.0)), 0.0)
    return np.asarray(2.0 * terms)


def _probability(statistic: Any, freedom: Any) -> Any:
    from scipy.special import chdtrc

    return np.where(np.asarray(freedom) > 0, chdtrc(np.maximum(freedom, 1), np.maximum(statistic, 0.0)), 1.0)


def _values(column: str, table: Table, values: Sequence[str], top: int) -> Drift:
    """A column with a table of values, equations (1) to (3)."""
    both = (table.sum(axis=2) > 0).all(axis=0)
    table = table[:, both]
    total, freedom = 0.0, 0
    for c in range(table.shape[1]):
        share = table[:, c].sum(axis=1)
        rare = table[:, c].sum(axis=0) * share.min() / share.sum() < FEWEST
        pooled = np.concatenate([table[:, c][:, ~rare], table[:, c][:, rare].sum(axis=1, keepdims=True)], axis=1)
        pooled = pooled[:, pooled.sum(axis=0) > 0]
        total += float(_ratio(pooled).sum())
        freedom += max(pooled.shape[1] - 1, 0)
    changes = _changes(table, values, both, top)
    return _drift(column, total, freedom, float(table.sum()), float(_probability(total, freedom)), changes)


def _drift(column: str, total: float, freedom: int, n: float, p: float, changes: tuple[Change, ...]) -> Drift:
    nats = max(total - freedom, 0.0) / (2.0 * n) if n else 0.0
    return Drift(column, nats, total, freedom, p, p, changes)


def _changes(table: Table, values: Sequence[str], both: NDArray[np.bool_], top: int) -> tuple[Change, ...]:
    """Each value against all others, in the classes that both models have seen."""
    rest = table.sum(axis=2, keepdims=True) - table
    return _listed(table, rest, values, both, top)


def _listed(there: Table, absent: Table, names: Sequence[str], both: NDArray[np.bool_], top: int) -> tuple[Change, ...]:
    g = _ratio(np.stack([there, absent], axis=-1)).sum(axis=(0, 1, 3))
    freedom = (there.sum(axis=0) > 0).sum(axis=0)
    p = _probability(g, freedom)
    q = np.asarray(_adjusted(p.tolist()))
    log_p = np.log(there + 0.5) - np.log(there + absent + 1.0)
    order = np.lexsort((-g, p))[:top]
    change = np.full((len(both), len(names)), np.nan)
    change[both] = log_p[1] - log_p[0]
    return tuple(
        Change(names[k], tuple(change[:, k].tolist()), float(g[k]), float(p[k]), float(q[k])) for k in order.tolist()
    )


def _adjusted(p: Sequence[float]) -> list[float]:
    """q of Benjamini & Hochberg.

    >>> [round(q, 6) for q in _adjusted([0.01, 0.04, 0.03, 0.2])]
    [0.04, 0.053333, 0.053333, 0.2]
    """
    found = np.asarray(p, dtype=np.float64)
    order = np.argsort(found)[::-1]
    n = len(found)
    scaled = found[order] * n / np.arange(n, 0, -1)
    out = np.empty(n)
    out[order] = np.minimum.accumulate(np.minimum(scaled, 1.0))
    return [float(q) for q in out]


def _rows_with(cells: Cells, slots: int) -> Table:
    """(class, word): in how many rows it is."""
    out = np.zeros((len(cells.indptr) - 1, slots))
    out[class_of_cells(cells), cells.index] = cells.rows
    return out


def _words(column: str, one: WordCounts, two: WordCounts, top: int) -> Drift:
    one, two = one.aligned(two)
    used = np.union1d(one.cells.index, two.cells.index)
    numbers = [
        cells._replace(index=np.searchsorted(used, cells.index).astype(np.int32)) for cells in (one.cells, two.cells)
    ]
    there = np.stack([_rows_with(cells, len(used)) for cells in numbers])
    texts = np.stack([one.seen.rows, two.seen.rows]).astype(np.float64)
    names = (
        [one.name(int(k)) for k in used.tolist()]
        if one.vocabulary is None
        else one.vocabulary.words(used.astype(np.int32))
    )
    return _presence(column, there, texts, names, top)


def _tokens(column: str, one: TokenCounts, two: TokenCounts, top: int) -> Drift:
    one, two = one.aligned(two)
    used = np.union1d(one.cells.index, two.cells.index)
    numbers = [c._replace(index=np.searchsorted(used, c.index).astype(np.int32)) for c in (one.cells, two.cells)]
    there = np.stack([_rows_with(cells, len(used)) for cells in numbers])
    rows = np.stack([one.seen.rows, two.seen.rows]).astype(np.float64)
    return _presence(column, there, rows, [str(one.tokens[int(k)]) for k in used.tolist()], top)


def _presence(column: str, there: Table, rows: Table, names: Sequence[str], top: int) -> Drift:
    """Words, each in a row or not: their sum, and the least probable of them times their number."""
    both = np.asarray((rows > 0).all(axis=0))
    there, rows = there[:, both], rows[:, both]
    changes = _listed(there, rows[:, :, None] - there, names, both, max(top, 1))
    g = _ratio(np.stack([there, rows[:, :, None] - there], axis=-1)).sum()
    freedom = int((there.sum(axis=0) > 0).sum())
    p = min(1.0, changes[0].p * len(names)) if changes else 1.0
    return _drift(column, float(g), freedom, float(rows.sum()), p, changes[:top])


def _binned(one: Histogram, two: Histogram, column: int) -> tuple[Table, list[str]]:
    """(model, class, bin) of a column of numbers, at the level of the sum."""
    whole = one + two
    level = int(whole.cells.levels[column])
    keys, classes, rows = [], [], []
    for part in (one, two):
        cells = part.cells
        here = slice(int(cells.offsets[column]), int(cells.offsets[column + 1]))
        shift = level - int(cells.levels[column])
        finite = np.abs(cells.keys[here].astype(np.float64)) < 2.0**63
        keys.append(np.where(finite, cells.keys[here] >> shift, cells.keys[here]))
        classes.append(cells.classes[here])
        rows.append(cells.rows[here])
    distinct, place = np.unique(np.concatenate(keys), return_inverse=True)
    weight = np.bincount(place, np.concatenate(rows), len(distinct))
    bins = np.minimum((np.cumsum(weight) - weight) * BINS / max(weight.sum(), 1.0), BINS - 1).astype(np.int64)
    table = np.zeros((2, one.n_classes, int(bins.max(initial=-1)) + 1))
    for m, (k, c, n) in enumerate(zip(keys, classes, rows, strict=True)):
        np.add.at(table[m], (c, bins[np.searchsorted(distinct, k)]), n)
    return table, _ranges(distinct, bins, level)


def _ranges(keys: NDArray[np.int64], bins: NDArray[np.int64], level: int) -> list[str]:
    from naively import _kernels as kernels

    values = kernels.key_values(keys, np.full(len(keys), level, np.int64))[0]
    firsts = np.flatnonzero(np.diff(bins, prepend=-1))
    starts = dict(zip(bins[firsts].tolist(), values[firsts].tolist(), strict=True))
    return [f"from {starts[k]:.4g}" if k in starts else "" for k in range(int(bins.max(initial=-1)) + 1)]


def _likelihoods(names: Sequence[str], family: Family, one: Statistic, two: Statistic) -> Iterable[Drift]:
    """Columns of which moments or totals are kept: two distributions against one."""
    parts = (one, two, one + two)
    if isinstance(one, Moments):
        rows = np.stack([part.rows for part in parts]).astype(np.float64)  # type: ignore[attr-defined]
        with np.errstate(divide="ignore", invalid="ignore"):
            variance = np.stack([part.squares / part.weight for part in parts])  # type: ignore[attr-defined]
            usable = (rows[:2] > 1).all(axis=0) & (variance > 0).all(axis=0)
            g = np.where(usable, rows[2] * np.log(variance[2]) - (rows[:2] * np.log(variance[:2])).sum(axis=0), 0.0)
        freedom = 2 * usable.sum(axis=0)
    else:
        rows = np.stack([part.rows for part in parts]).astype(np.float64)  # type: ignore[attr-defined]
        sums = np.stack([part.total for part in parts])  # type: ignore[attr-defined]
        usable = (rows[:2] > 0).all(axis=0) & (sums[2] > 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = (rows if isinstance(family, Exponential) else -sums) * np.log(sums / rows)
            terms = np.where(sums > 0, terms, 0.0)
        g = np.where(usable, 2.0 * (terms[2] - terms[:2].sum(axis=0)), 0.0)
        freedom = usable.sum(axis=0)
    p = _probability(g.sum(axis=0), freedom)
    for j, name in enumerate(names):
        yield _drift(name, float(g[:, j].sum()), int(freedom[j]), float(rows[2, :, j].sum()), float(p[j]), ())
