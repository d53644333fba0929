"""Divide a part by word and value, so that parts of many words are added by several machines, each some of the words.

    sum over parts = sum over shards of (sum over parts of the shard of each part)                     (1)

A word is in the shard of its hash. Shard 0 also has all that is not a word or a value: rows, numbers, tables of
columns, the sample.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from naively.data.labelled import RowTally
from naively.engines.parts import Part
from naively.schema.schema import Block
from naively.statistics import ClassWeights, Histogram, Statistic
from naively.statistics.histogram import max_keys_for

MIN_SPLIT_KEYS = 100_000  # words and values of a part, above which parts are added by key


def n_keys(part: Part) -> int:
    """Return the number of words and values of a part."""
    return 0 if part.counts is None else sum(statistic.n_keys for statistic in part.counts.statistics)


def split_by_key(part: Part, n_shards: int) -> list[Part]:
    """Return parts that add up to this one, each with the words and values of one shard."""
    model = part.counts
    if model is None:
        return [part]
    n_classes = len(model.classes)
    no_rows = ClassWeights(np.zeros(n_classes), np.zeros(n_classes, np.int64))
    shards = [[*statistic.split_by_key(n_shards)] for statistic in model.statistics]
    for block, pieces in zip(model.schema.blocks, shards, strict=True):
        pieces += [_nothing(block, no_rows, len(model.schema.names))] * (n_shards - len(pieces))
    rest = replace(part, sample=None, tally=RowTally())
    no_tables = model.table_counts
    if no_tables is not None:
        columns = np.full(no_tables.n_columns, -1, dtype=np.intp)
        no_tables = Histogram.empty(no_rows).take_columns(columns).with_max_keys(no_tables.cap)
    without_rows = replace(model, class_weights=no_rows, row_hashes=None, table_counts=no_tables)
    parts = [replace(part, counts=replace(model, statistics=tuple(pieces[0] for pieces in shards)))]
    for i in range(1, n_shards):
        counts = replace(without_rows, statistics=tuple(pieces[i] for pieces in shards))
        parts.append(replace(rest, counts=counts))
    return parts


def _nothing(block: Block, no_rows: ClassWeights, n_columns: int) -> Statistic:
    """Return the statistic of no rows in the columns of a block, of a schema that has `n_columns` in all."""
    columns = np.full(len(block.names), -1, dtype=np.intp)
    statistic: Statistic = block.family.statistic.empty(no_rows).take_columns(columns).renamed(block.names)
    return statistic.with_max_keys(max_keys_for(n_columns))
