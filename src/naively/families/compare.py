"""Test whether columns have the same distribution in two models, by the likelihood ratio of what was counted.

Within each class c, the rows of two models A and B that have value k number n_Akc and n_Bkc, out of n_Ac and n_Bc:

    G = 2 Σ_c Σ_k Σ_m n_mkc log(n_mkc / e_mkc),   e_mkc = n_mc (n_Akc + n_Bkc) / (n_Ac + n_Bc)      (1)
    p = P(χ² ≥ G)                                                                                   (2)

Values with fewer than 5 expected rows are pooled. Numbers are divided into 32 bins of about equal weight. A word is in
a text or not, which is a table of its own. The G of a column of texts is the sum over its words, and its p is that of
the least probable word times their number (Bonferroni), because words are not independent.
Source: Woolf, The log likelihood ratio test, Ann. Hum. Genet. 21 (1957) 397–409; Benjamini & Hochberg, J. R. Stat. Soc.
B 57 (1995) 289–300, for the q of values and words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from naively._kernels.types import Bools, Floats, Index
from naively.data.views import Codes
from naively.errors import InputError
from naively.families.evidence import LikelihoodRatio, ValueChange
from naively.statistics.base import Statistic, ValueTable
from naively.statistics.cells import table_of_cells
from naively.statistics.token_counts import TokenCounts
from naively.statistics.word_counts import WordCounts

N_BINS = 32
MIN_EXPECTED = 5.0  # rows of a value that is not pooled

W = TypeVar("W", TokenCounts, WordCounts)


def compare_values(name: str, one: Statistic, two: Statistic, top: int) -> list[LikelihoodRatio]:
    """Test each column by the values that the statistic keeps; refuse if it keeps none."""
    both = one + two
    tests = []
    for column in range(one.n_columns):
        tables = [statistic.table(column) for statistic in (one, two, both)]
        known = [table for table in tables if table is not None]
        if len(known) < len(tables):
            raise InputError(
                f"{name} has no test for a difference between two models: its statistic ({type(one).__name__}) does "
                "not keep the values."
            )
        rows, names = _code_tables(*known) if one.view is Codes else _binned_tables(*known)
        tests.append(compare_table(rows, names, top))
    return tests


def _code_tables(one: ValueTable, two: ValueTable, both: ValueTable) -> tuple[Floats, list[str]]:
    """Return the rows of each value, (model, class, value), and the values."""
    position = {value: k for k, value in enumerate(both.values)}
    rows = np.zeros((2, both.rows.shape[1], len(both.values)))
    for m, table in enumerate((one, two)):
        rows[m][:, [position[value] for value in table.values]] = table.rows.T
    return rows, [str(value) for value in both.values]


def _binned_tables(one: ValueTable, two: ValueTable, both: ValueTable) -> tuple[Floats, list[str]]:
    """Return the rows of each of 32 bins of about equal weight, (model, class, bin), and where the bins begin."""
    values, weight = np.array(both.values, dtype=np.float64), both.rows.sum(axis=1)
    bins = np.minimum((np.cumsum(weight) - weight) * N_BINS / max(weight.sum(), 1), N_BINS - 1).astype(np.intp)
    n_bins = int(bins.max(initial=-1)) + 1
    rows = np.zeros((2, both.rows.shape[1], n_bins))
    for m, table in enumerate((one, two)):
        position = np.searchsorted(values, np.array(table.values, dtype=np.float64), side="right") - 1
        np.add.at(rows[m].T, bins[position], table.rows)
    is_first = np.diff(bins, prepend=-1) > 0
    names = [""] * n_bins
    for b, value in zip(bins[is_first].tolist(), values[is_first].tolist(), strict=True):
        names[b] = f"from {value:.4g}"
    return rows, names


def compare_table(rows: Floats, names: Sequence[str], top: int) -> LikelihoodRatio:
    """Test a table of rows, (model, class, value), by equations (1) and (2)."""
    in_both = (rows.sum(axis=2) > 0).all(axis=0)
    rows = rows[:, in_both]
    total, freedom = 0.0, 0
    for c in range(rows.shape[1]):
        n = rows[:, c].sum(axis=1)
        is_rare = rows[:, c].sum(axis=0) * n.min() / n.sum() < MIN_EXPECTED
        pooled = [rows[:, c][:, ~is_rare], rows[:, c][:, is_rare].sum(axis=1, keepdims=True)]
        table = np.concatenate(pooled, axis=1)
        table = table[:, table.sum(axis=0) > 0]
        total += float(_ratio(table).sum())
        freedom += max(table.shape[1] - 1, 0)
    changes = _changes(rows, rows.sum(axis=2, keepdims=True) - rows, names, in_both, top)
    return likelihood_ratio(total, freedom, float(rows.sum()), changes)


def compare_words(one: W, two: W, top: int) -> LikelihoodRatio:
    """Test words that are in a row or not; the words of both statistics have the same numbers."""
    used = np.union1d(one.cells.index, two.cells.index)
    names, tables = one.names_of(used), []
    for cells in (one.cells, two.cells):
        slots = cells._replace(index=np.searchsorted(used, cells.index).astype(np.int32))
        tables.append(table_of_cells(slots, len(used), cells.rows))
    rows, present = np.stack([one.seen.rows, two.seen.rows]).astype(np.float64), np.stack(tables)
    in_both = np.asarray((rows > 0).all(axis=0))
    present, absent = present[:, in_both], rows[:, in_both, None] - present[:, in_both]
    changes = _changes(present, absent, names, in_both, max(top, 1))
    total = float(_ratio(np.stack([present, absent], axis=-1)).sum())
    freedom = int((present.sum(axis=0) > 0).sum())
    p = min(1.0, changes[0].p * len(names)) if changes else 1.0
    return LikelihoodRatio(total, freedom, float(rows[:, in_both].sum()), p, changes[:top])


def compare_likelihoods(twice_log_ratio: Floats, freedom: Index, rows: Floats) -> list[LikelihoodRatio]:
    """Return a test for each column, from its G and degrees of freedom and its rows, (class, column)."""
    columns = zip(twice_log_ratio.sum(axis=0).tolist(), freedom.tolist(), rows.sum(axis=0).tolist(), strict=True)
    return [likelihood_ratio(total, df, n_rows) for total, df, n_rows in columns]


def likelihood_ratio(
    total: float, freedom: int, n_rows: float, changes: tuple[ValueChange, ...] = ()
) -> LikelihoodRatio:
    """Return the test of a G by equation (2)."""
    p = float(_probability(np.array([total]), np.array([freedom]))[0])
    return LikelihoodRatio(total, freedom, n_rows, p, changes)


def false_discovery_rates(p: Sequence[float] | Floats) -> Floats:
    """Return q of Benjamini & Hochberg for each p.

    >>> false_discovery_rates([0.01, 0.04, 0.03, 0.2]).round(6).tolist()
    [0.04, 0.053333, 0.053333, 0.2]
    """
    p = np.asarray(p, dtype=np.float64)
    order = np.argsort(p)[::-1]
    q = np.empty(len(p))
    q[order] = np.minimum.accumulate(np.minimum(p[order] * len(p) / np.arange(len(p), 0, -1), 1.0))
    return q


def _ratio(rows: Floats) -> Floats:
    """Return the terms of equation (1) over (model, …, value)."""
    n = rows.sum(axis=-1, keepdims=True)
    expected = n * rows.sum(axis=0) / np.maximum(n.sum(axis=0), 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(rows > 0, rows * np.log(rows / np.where(expected > 0, expected, 1.0)), 0.0)
    return np.asarray(2.0 * terms)


def _probability(total: Floats, freedom: NDArray[np.integer]) -> Floats:
    """Return equation (2); 1 without degrees of freedom."""
    from scipy.special import chdtrc

    return np.where(freedom > 0, chdtrc(np.maximum(freedom, 1), np.maximum(total, 0.0)), 1.0)


def _changes(
    present: Floats, absent: Floats, names: Sequence[str], in_both: Bools, top: int
) -> tuple[ValueChange, ...]:
    """Test each value against all others, in the classes that both models have; return the most significant ones."""
    total = _ratio(np.stack([present, absent], axis=-1)).sum(axis=(0, 1, 3))
    p = _probability(total, (present.sum(axis=0) > 0).sum(axis=0))
    q = false_discovery_rates(p)
    log_share = np.log(present + 0.5) - np.log(present + absent + 1.0)
    nats = np.full((len(in_both), len(names)), np.nan)
    nats[in_both] = log_share[1] - log_share[0]
    order = np.lexsort((-total, p))[:top]
    return tuple(
        ValueChange(names[k], tuple(nats[:, k].tolist()), float(total[k]), float(p[k]), float(q[k]))
        for k in order.tolist()
    )
