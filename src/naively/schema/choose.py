"""Choosing: the family that each column is scored by, and the columns left out, decided from the statistics.

Counting fixed only the kind of statistic. A column whose family was not given is then, by the first rule that holds:

    numbers    no value                                                             left out
               one value only                                                       left out
               a running number (no date): 50 rows or more, each another whole number, and
               they fill at least half of their range                               left out
               two values (no dates), 0 and 1 or of 10 rows or more                 Categorical
               at most 10 values (no dates), whole and not negative, and 5 times
               as many rows                                                         Categorical
               fewer than 30 rows, too few for bins                                 Gaussian
               anything else                                                        Binned
    strings    no value; one value only                                             left out
               an identifier: 20 rows or more, 19 of 20 of them with another value  left out
               anything else                                                        Categorical
    booleans   no value; one value only                                             left out
               anything else                                                        Bernoulli

(Strings that read like sentences are counted as Text from the start; see `schema.py`.) A Tuning may name other
families. Where `missing="value"`, having a value at all is evidence of its own beside the family's (`Presence`).
The rules look at rows, not at classes, but for a Tuning's choices.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from naively import _kernels as kernels
from naively._kernels import Cells
from naively.data.names import select
from naively.families import (
    AutoBoolean,
    AutoNumber,
    AutoString,
    Bernoulli,
    Binned,
    Categorical,
    Family,
    Gaussian,
    Kind,
    Presence,
)
from naively.schema.schema import Block, Schema
from naively.statistics import (
    ClassWeights,
    Histogram,
    Moments,
    NumberSummary,
    Statistic,
    TokenCounts,
    ValueCounts,
)
from naively.statistics.presence import presence_of

__all__ = ["Chosen", "choose", "split", "statistic_for"]

Choice = Family | str  # a family, or the reason why the column is left out

RUNNING_ROWS, IDENTIFIER_ROWS, FEW_VALUES, FEW_ROWS = 50, 20, 10, 30


@dataclass(frozen=True, eq=False)
class Chosen:
    """What a model is scored by: blocks of columns with their families, a statistic for each, and what is left out."""

    schema: Schema
    statistics: tuple[Statistic, ...]
    left_out: Mapping[str, str]

    def families(self) -> dict[str, str]:
        """Each column of the data with its family, or with why it is left out."""
        found: dict[str, str] = {}
        for block in self.schema.blocks:
            for name in block.names:
                found[name] = "; ".join(filter(None, [found.get(name), str(block.family)]))
        return {name: found.get(name) or f"left out: {self.left_out[name]}" for name in self.schema.names}

    def __str__(self) -> str:
        width = max((len(name) for name in self.schema.names), default=0)
        return "\n".join(f"{name:<{width}}  {family}" for name, family in self.families().items())


def choose(
    schema: Schema, statistics: Sequence[Statistic], seen: ClassWeights, given: Mapping[str, Family] | None = None
) -> Chosen:
    """Decide what was left open; `given` are families to be used instead, by column (by a joint block's first)."""
    given = given or {}
    plain = all(block.family.missing == "skip" and not _open(block.family) for block in schema.blocks)
    if plain and not given:
        return Chosen(schema, tuple(statistics), {})
    parts: list[tuple[Block, Statistic]] = []
    left_out: dict[str, str] = {}
    for block, statistic in zip(schema.blocks, statistics, strict=True):
        if block.family.joint or not (_open(block.family) or any(name in given for name in block.names)):
            family = given.get(block.names[0], block.family) if len(block.names) else block.family
            found = [(Block(block.names, block.kinds, family), statistic)]
            gaps = list(range(len(block.names))) if family.missing == "value" else []
        else:
            choices = _choices(block, statistic, given)
            left_out |= {n: c for n, c in zip(block.names, choices, strict=True) if isinstance(c, str)}
            found = _parts(block, statistic, choices)
            gaps = [j for j, choice in enumerate(choices) if _gap_tells(choice, block.family)]
        parts += found
        if len(gaps):
            order = np.array(gaps, dtype=np.intp)
            there = _block(block, order, Presence())
            parts.append((there, presence_of(_columns(statistic, order, len(block.names)), seen, there.names)))
    parts.sort(key=lambda part: _place(part[0], schema))
    return Chosen(Schema(schema.names, tuple(b for b, _ in parts)), tuple(s for _, s in parts), left_out)


def _open(family: Family) -> bool:
    return isinstance(family, (AutoNumber, AutoString, AutoBoolean))


def _gap_tells(choice: Choice, counted: Family) -> bool:
    """Whether a gap is a value of its own: as chosen, or for a column left out as it was asked for."""
    return (counted if isinstance(choice, str) else choice).missing == "value"


def _place(block: Block, schema: Schema) -> int:
    return schema.names.index(block.names[0]) if len(block.names) else 0


def _choices(block: Block, statistic: Statistic, given: Mapping[str, Family]) -> list[Choice]:
    """What the rules say of each column of a block, or what is given instead."""
    if isinstance(block.family, AutoNumber):
        assert isinstance(statistic, NumberSummary)
        dates = np.array([block.kind(j) == "date" for j in range(len(block.names))], dtype=np.bool_)
        choices = _of_numbers(statistic, dates, block.family)
    elif isinstance(block.family, AutoString):
        assert isinstance(statistic, ValueCounts)
        choices = _of_values(statistic, block.family)
    elif isinstance(block.family, AutoBoolean):
        assert isinstance(statistic, TokenCounts)
        choices = _of_booleans(statistic, block.family)
    else:
        choices = [block.family] * len(block.names)
    return [
        choice if isinstance(choice, str) else given.get(name, choice)
        for name, choice in zip(block.names, choices, strict=True)
    ]


def statistic_for(schema: Schema, statistics: Sequence[Statistic], block: Block) -> Statistic:
    """What a chosen block's family reads, out of what was counted by a schema."""
    for counted, statistic in zip(schema.blocks, statistics, strict=True):
        if block.names[0] in counted.names:
            if block.names == counted.names or counted.family.joint:
                return _as_needed(statistic, block.family)
            place = {name: j for j, name in enumerate(counted.names)}
            order = np.array([place[name] for name in block.names], dtype=np.intp)
            return _as_needed(statistic.take_columns(order), block.family)
    raise KeyError(block.names[0])


def _of_numbers(measured: NumberSummary, dates: NDArray[np.bool_], family: AutoNumber) -> list[Choice]:
    """The rules for numbers, all columns at once."""
    histogram = measured.histogram
    cells, column, p = histogram.cells, histogram.column, histogram.n_columns
    first = np.flatnonzero(np.concatenate([np.ones(min(len(column), 1), bool), _differs(cells.keys, column)]))
    owner = column[first]
    low, high = kernels.key_values(cells.keys[first], cells.levels[owner])
    rows = np.add.reduceat(cells.rows, first) if len(first) else np.zeros(0, np.int64)
    n_values, n_rows = np.bincount(owner, minlength=p), np.bincount(owner, rows, minlength=p)
    with np.errstate(invalid="ignore"):
        fit = np.floor(high) - np.ceil(low) + 1  # whole numbers that share the key; NaN for an infinity
    whole = np.bincount(owner, ~(fit == 1), minlength=p) == 0
    distinct = np.bincount(owner, ~(rows <= fit), minlength=p) == 0
    lowest, highest = np.full(p, np.inf), np.full(p, -np.inf)
    np.minimum.at(lowest, owner, low)
    np.maximum.at(highest, owner, high)
    finite = np.isfinite(lowest) & np.isfinite(highest)
    span = np.where(finite, highest, 0.0) - np.where(finite, lowest, 0.0) + 1
    exact = finite & (cells.levels == 0)
    constant = (n_values == 1) & (cells.levels == 0)
    running = finite & ~dates & distinct & (n_rows >= RUNNING_ROWS) & (2 * n_rows >= span)
    binary = (lowest == 0) & (highest == 1)
    two = exact & ~dates & (n_values == 2) & (binary | (n_rows >= 10))
    few = exact & ~dates & (n_values <= FEW_VALUES) & whole & (lowest >= 0) & (n_rows >= 5 * n_values)
    values = Categorical(missing=family.missing)
    numbers = Binned(family.alpha, missing=family.missing)
    bell = Gaussian(missing=family.missing)
    squared = measured.moments.rows.sum(axis=0) == n_rows  # else some are too large to have a variance
    return [
        "no value"
        if n_values[j] == 0
        else f"one value only, {lowest[j]:g}"
        if constant[j]
        else "a running number, another one in each row"
        if running[j]
        else values
        if two[j] or few[j]
        else bell
        if n_rows[j] < FEW_ROWS and squared[j]
        else numbers
        for j in range(p)
    ]


def _differs(keys: NDArray[np.int64], column: NDArray[np.intp]) -> NDArray[np.bool_]:
    return np.asarray((keys[1:] != keys[:-1]) | (column[1:] != column[:-1]), dtype=np.bool_)


def _of_values(counts: ValueCounts, family: AutoString) -> list[Choice]:
    """The rules for strings."""
    column = np.searchsorted(counts.offsets, counts.cells.index, side="right") - 1
    n_rows = np.bincount(column, counts.cells.rows, minlength=len(counts.values))
    values = Categorical(family.alpha, missing=family.missing)
    choices: list[Choice] = []
    for known, n in zip(counts.values, n_rows.tolist(), strict=True):
        if not known:
            choices.append("no value")
        elif len(known) == 1:
            choices.append(f"one value only, {known[0]!r}")
        elif n >= IDENTIFIER_ROWS and 20 * len(known) >= 19 * n:
            choices.append("an identifier, nearly every row has its own")
        else:
            choices.append(values)
    return choices


def _of_booleans(counts: TokenCounts, family: AutoBoolean) -> list[Choice]:
    """The rules for booleans."""
    n = counts.n_tokens
    ones = np.bincount(counts.cells.index, counts.cells.rows, minlength=n)
    there = counts.seen.rows.sum() - np.bincount(counts.missing.index, counts.missing.rows, minlength=n)
    coin = Bernoulli(family.a, family.b, missing=family.missing)
    return [
        "no value" if m == 0 else f"one value only, {bool(k)}" if k in (0, m) else coin
        for k, m in zip(ones.tolist(), there.tolist(), strict=True)
    ]


def _parts(block: Block, statistic: Statistic, choices: Sequence[Choice]) -> list[tuple[Block, Statistic]]:
    """The columns of a block, grouped by the family chosen for them."""
    groups: dict[Family, list[int]] = {}
    for j, choice in enumerate(choices):
        if isinstance(choice, Family):
            groups.setdefault(choice, []).append(j)
    found = []
    for family, positions in groups.items():
        order = np.array(positions, dtype=np.intp)
        chosen = _columns(statistic, order, len(block.names))
        found.append((_block(block, order, family), _as_needed(chosen, family)))
    return found


def split(block: Block, statistic: Statistic, weight: NDArray[np.float64]) -> list[tuple[Block, Statistic, float]]:
    """The columns of a block, grouped by a number that each of them has."""
    found = []
    for w in dict.fromkeys(weight.tolist()):
        order = np.flatnonzero(weight == w)
        found.append((_block(block, order, block.family), statistic.take_columns(order), w))
    return found


def _block(block: Block, order: NDArray[np.intp], family: Family) -> Block:
    names = select(block.names, order.tolist())
    kinds: Kind | tuple[Kind, ...] = (
        block.kinds if isinstance(block.kinds, str) else tuple(block.kinds[j] for j in order.tolist())
    )
    return Block(names, kinds, family)


def _columns(statistic: Statistic, order: NDArray[np.intp], n: int) -> Statistic:
    return statistic if len(order) == n else statistic.take_columns(order)


def _as_needed(statistic: Statistic, family: Family) -> Statistic:
    """The statistic that a family reads, out of what was counted."""
    if isinstance(statistic, NumberSummary):
        if family.statistic is Moments:
            return statistic.moments
        return values_of(statistic.histogram) if family.statistic is ValueCounts else statistic.histogram
    return statistic


def values_of(histogram: Histogram) -> ValueCounts:
    """The counts of each value of columns whose histograms are exact (level 0)."""
    cells, column = histogram.cells, histogram.column
    new = np.concatenate([np.ones(min(len(column), 1), bool), _differs(cells.keys, column)])
    slot = np.cumsum(new) - 1
    numbers = (histogram.values[new] + 0.0).tolist()
    per_column = np.bincount(column[new], minlength=histogram.n_columns)
    ends = np.concatenate([[0], np.cumsum(per_column)]).tolist()
    named = [int(v) if v == v // 1 else v for v in numbers]
    values = tuple(tuple(named[a:b]) for a, b in itertools.pairwise(ends))
    order = np.lexsort((slot, cells.classes))
    sizes = np.bincount(cells.classes, minlength=histogram.n_classes)
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return ValueCounts(
        values, Cells(indptr, slot[order].astype(np.int32), cells.weight[order][None, :].copy(), cells.rows[order])
    )
