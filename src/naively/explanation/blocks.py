"""The blocks of a model with the rows that are explained: their scores, the weights of the tuning, and their lines."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from naively._kernels.posterior import repeat_row
from naively._kernels.types import Floats
from naively.data.kinds import refuse_infinite
from naively.data.labelled import Classes
from naively.data.names import Names
from naively.data.table import Table
from naively.families.base import Estimate, times
from naively.families.evidence import Pair, Pieces, RowView, Term
from naively.families.gaussian import InfiniteValueError
from naively.families.together import TableView
from naively.model.count import View
from naively.model.model import Model
from naively.schema.schema import Block

MAX_NARROW_COLUMNS = 256  # of a block whose columns are always scored one by one
Cache = dict[Hashable, object]  # what a family computes once for a block


@dataclass(frozen=True, eq=False)
class BlockWeights:
    """The weights of a block under the tuning: one of each column, or one that the columns share."""

    names: Names
    weight: Floats
    exponent: float

    @cached_property
    def of_column(self) -> dict[str, float]:
        """The weight of each column by its name."""
        return dict(zip(self.names, self.weight.tolist(), strict=True))

    @cached_property
    def is_uniform(self) -> bool:
        """Whether all columns have the same weight."""
        return len(set(self.weight.tolist())) == 1

    @cached_property
    def _factor(self) -> Floats | None:
        """The weights as a factor of (column, row, class); None if one is 0, which makes 0 of all evidence."""
        return self.weight[:, None, None] if self.weight.all() else None

    def weigh(self, scores: Floats) -> Floats:
        """Return the evidence of each column, (column, row, class), times its weight."""
        return times(self.weight[:, None, None], scores) if self._factor is None else self._factor * scores


@dataclass(frozen=True, eq=False)
class WeighedBlock:
    """A block of a model with its weights; None without a tuning. `cache` holds what the family computes once."""

    block: Block
    estimate: Estimate
    classes: Classes
    weights: BlockWeights | None = None
    cache: Cache = field(default_factory=dict)

    @classmethod
    def of(cls, model: Model, block: Block, estimate: Estimate) -> WeighedBlock:
        """Look up the weights of a block."""
        if model.tuning is None or not len(block.names):
            return cls(block, estimate, model.classes)
        weights = BlockWeights(block.names, model.tuning.weight(block), model.tuning.exponent(block))
        return cls(block, estimate, model.classes, weights)

    def with_estimate(self, estimate: Estimate) -> WeighedBlock:
        """Return the block with the estimate of other rows; what was computed from the same statistic stays."""
        cache = self.cache if estimate.statistic is self.estimate.statistic else {}
        return WeighedBlock(self.block, estimate, self.classes, self.weights, cache)

    @property
    def is_single(self) -> bool:
        """Whether the columns have one score together, and share one weight."""
        return self.block.family.joint or self.block.family.own_block

    def score_columns(self, view: View, n_rows: int) -> Floats:
        """Return the evidence of each column without its weight, (column, row, class)."""
        scores = np.zeros((len(self.block.names), n_rows, len(self.classes)))
        try:
            self.block.family.score_columns(view, self.estimate.parameters, scores)
        except InfiniteValueError as error:
            refuse_infinite(self.block.names[error.column])
        return scores

    def weigh(self, scores: Floats) -> Floats:
        """Return the evidence of each column, (column, row, class), times its weight."""
        return scores if self.weights is None else self.weights.weigh(scores)


_BLOCKS: WeakKeyDictionary[Model, list[WeighedBlock]] = WeakKeyDictionary()  # while the model lives


def weighed_blocks(model: Model) -> list[WeighedBlock]:
    """Return the chosen blocks with their weights; what families compute for rows of the model stays with them."""
    blocks = _BLOCKS.get(model)
    if blocks is None:
        parts = zip(model.chosen.schema.blocks, model.estimates, strict=True)
        blocks = _BLOCKS[model] = [WeighedBlock.of(model, *part) for part in parts]
    return blocks


@dataclass(frozen=True, eq=False)
class ExplainedBlock:
    """A block of a model with the rows to be explained.

    Attributes
    ----------
    weighed, view, n_rows
        The block, and the rows.
    total
        The evidence of all columns with their weights, (row, class).
    known_scores
        The evidence of each column without its weight, (column, row, class), if it is computed already. Columns with
        one score together are one.
    factor
        The weight of columns with one score together: one number, or one for each row if it depends on the length.
        None for other columns, and without a tuning.
    """

    weighed: WeighedBlock
    view: View
    n_rows: int
    total: Floats
    known_scores: Floats | None = None
    factor: Floats | None = None

    @classmethod
    def of(cls, weighed: WeighedBlock, view: View, n_rows: int) -> ExplainedBlock:
        """Score rows; refuse infinite numbers, as predictions do.

        The columns of a wide block are scored together, unless their weights differ.
        """
        names, weights, shape = weighed.block.names, weighed.weights, (n_rows, len(weighed.classes))
        if not len(names):
            return cls(weighed, view, n_rows, np.zeros(shape), np.zeros((0, *shape)))
        is_wide = len(names) > MAX_NARROW_COLUMNS and (weights is None or weights.is_uniform)
        if not (weighed.is_single or is_wide):
            scores = weighed.score_columns(view, n_rows)
            return cls(weighed, view, n_rows, np.add.reduce(weighed.weigh(scores)), scores)
        total, length = np.zeros(shape), np.zeros(n_rows) if weights is not None and weights.exponent else None
        try:
            weighed.block.family.log_likelihood(view, weighed.estimate.parameters, total, length)
        except InfiniteValueError as error:
            refuse_infinite(names[error.column])
        known_scores = total[None] if weighed.is_single else None
        if weights is None:
            return cls(weighed, view, n_rows, total, known_scores)
        factor = weights.weight[:1]
        if length is not None:
            factor = factor * np.maximum(length, 1.0) ** -weights.exponent
        total = factor[:, None] * total if factor.all() else times(factor[:, None], total)
        return cls(weighed, view, n_rows, total, known_scores, factor if weighed.is_single else None)

    @classmethod
    def of_row(cls, weighed: WeighedBlock, view: View) -> ExplainedBlock:
        """Return the row without which the block was estimated."""
        if weighed.estimate.scores is None:
            return cls.of(weighed, view, 1)
        scores = weighed.estimate.scores[:, None]
        return cls(weighed, view, 1, np.add.reduce(weighed.weigh(scores)), scores)

    @property
    def block(self) -> Block:
        """The block of the schema."""
        return self.weighed.block

    @cached_property
    def evidence(self) -> Floats:
        """The evidence of each column with its weight, (column, row, class)."""
        if self.weighed.is_single:
            return self.total[None]
        scores = self.known_scores
        return self.weighed.weigh(self.weighed.score_columns(self.view, self.n_rows) if scores is None else scores)

    def row(self, i: int) -> RowView:
        """Return one row for the family."""
        weighed, x = self.weighed, self.view if self.n_rows == 1 else self.view.rows(i, i + 1)
        weight = None if weighed.is_single or weighed.weights is None else weighed.weights.weight
        block, tables = weighed.block, weighed.estimate.tables
        scores = None if self.known_scores is None else self.known_scores[:, i]
        return RowView(x, block.names, block.kinds, weighed.classes, weight, weighed.cache, tables, scores)

    def lines(self, row: RowView, i: int, pair: Pair) -> tuple[list[Line], Pieces | None]:
        """Return the terms of a row, which has the position i, with their weights, and the pieces of its text."""
        family, estimate = self.block.family, self.weighed.estimate
        terms = family.terms(row, estimate.statistic, estimate.parameters, pair)
        if self.factor is not None:
            factor = float(self.factor[i if len(self.factor) > 1 else 0])
            lines = [Line.of(term, factor) for term in terms]
        else:
            weight_of = {} if self.weighed.weights is None else self.weighed.weights.of_column
            lines = [Line.of(term, weight_of.get(term.column, 1.0)) for term in terms]
        if not family.own_block:
            return lines, None
        weighted = {line.term.value: line.log_odds for line in lines if line.term.value is not None}
        return lines, family.pieces(row, terms, weighted)


class Line(NamedTuple):
    """A term, the weight of its column, and the log-odds with the weight."""

    term: Term
    weight: float
    log_odds: float

    @classmethod
    def of(cls, term: Term, weight: float) -> Line:
        """Weigh a term; a weight of zero removes all evidence, even what is impossible."""
        of, against = term.scores
        return cls(term, weight, 0.0 if weight == 0.0 or of == against else weight * (of - against))

    @property
    def excludes_class(self) -> bool:
        """Whether the row is impossible in one of the classes, or both, by this term alone."""
        return -math.inf in self.term.scores and self.weight != 0.0


class RowsOfModel(NamedTuple):
    """Rows that one model explains: new rows, or one that was counted, by the model without it.

    Attributes
    ----------
    model, left_out
        The model, and the class of the row that was left out; −1 for new rows.
    table, positions
        A table, and the positions of the rows in it.
    places
        The positions of the rows among all that are explained.
    blocks, tables
        The rows as the blocks and the tables of columns of the model read them.
    scores
        The log posteriors, (row, class), but for a constant of each row.
    """

    model: Model
    left_out: int
    table: Table
    positions: range
    places: Sequence[int]
    blocks: list[ExplainedBlock]
    tables: TableView | None
    scores: Floats

    @classmethod
    def of(
        cls,
        model: Model,
        left_out: int,
        table: Table,
        positions: range,
        places: Sequence[int],
        blocks: Sequence[WeighedBlock],
        views: Sequence[View],
    ) -> RowsOfModel:
        """Score the rows, given their columns as the blocks read them."""
        n_rows, tables, parts = len(positions), None, zip(blocks, views, strict=True)
        if left_out < 0:
            explained = [ExplainedBlock.of(*part, n_rows) for part in parts]
        else:
            explained = [ExplainedBlock.of_row(*part) for part in parts]
        scores = repeat_row(model.log_prior + model.offset, n_rows)
        for block in explained:
            scores += block.total
        if model.weighted_tables is not None:
            tables = model.weighted_tables.view(table.take(np.array(positions)))
            model.weighted_tables.score(tables, scores)
        return cls(model, left_out, table, positions, places, explained, tables, scores)
