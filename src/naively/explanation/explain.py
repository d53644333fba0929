"""Explain predictions: the prior and one contribution per column or word, whose sum is the log-odds of the model.

    log P(of | x) − log P(against | x) = log π_of/π_against + b_of − b_against + Σ_j w_j (e_j,of − e_j,against)   (1)

A model with tables of columns adds Σ_m u_m (e_m,of − e_m,against), what columns say together (together.py). A floor of
the tuning is the last line, the difference that it makes to (1).

e_jc is the evidence of column j for class c. The offsets b, added to the prior, and the weights w are those of
the tuning, 0 and 1 without one. Where a probability is zero the evidence is −∞, and one such line decides. A row that
is impossible in both classes is left with the prior, as in `Model.log_odds`; its contributions are then zero.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from naively._kernels.posterior import normalise
from naively._kernels.threads import on_own_threads
from naively._kernels.types import Floats
from naively.data.labelled import Classes, Label
from naively.data.read import TableLike
from naively.data.table import Table
from naively.errors import InputError
from naively.explanation.counterfactual import Counterfactual, find_counterfactuals
from naively.explanation.explanation import Contribution, Explanation, Others, group_others
from naively.explanation.together import together_of
from naively.families.base import Estimate
from naively.families.evidence import Alternative, Pair, Pieces, RowView, Term, intervals_of
from naively.families.together import TableView
from naively.model.count import View, views_of
from naively.model.counted import counted_classes
from naively.model.decide import log_odds_of_row, position_of
from naively.model.model import Model
from naively.model.score import ScoredViews, read_rows, score, warn_of_impossible_rows
from naively.model.without_row import without_counted_row
from naively.schema.schema import Block
from naively.statistics import Statistic

ROWS_AT_A_TIME = 256  # whose alternatives and intervals are computed together

Cache = dict[Hashable, object]  # what a family computes once for a block
_BLOCKS: WeakKeyDictionary[Model, list[WeighedBlock]] = WeakKeyDictionary()  # while the model lives


def explain(
    model: Model,
    X: TableLike,
    of: Label | None = None,
    against: Label | None = None,
    top: int | None = None,
    changes: bool = True,
    leave_out: bool = True,
) -> list[Explanation]:
    """Explain the prediction for each row. See `Model.explain`."""
    if top is not None and top < 0:
        raise InputError(f"top={top}: the number of contributions to keep is zero or more.")
    table = read_rows(model, X)
    counted = counted_classes(model, table) if leave_out else np.full(table.n_rows, -1)
    rows = _Rows.of(model, table)
    if (counted < 0).all():
        return _explain_rows(model, rows, of, against, top, changes)
    explanations: dict[int, Explanation] = {}
    for i in np.flatnonzero(counted >= 0).tolist():
        row = rows.part(i, i + 1)
        others = without_counted_row(model, table, i, row.views, int(counted[i]))
        if others is not None:
            row = row if model.schema.tables is None else _Rows.of(others, table.take(np.array([i])))
            [explanation] = _explain_rows(others, row, of, against, top, changes)
            explanations[i] = replace(explanation, is_left_out=True)
    new_rows = [i for i in range(table.n_rows) if i not in explanations]
    if new_rows:
        rows = _Rows.of(model, table.take(np.array(new_rows)))
        explanations |= zip(new_rows, _explain_rows(model, rows, of, against, top, changes), strict=True)
    return [explanations[i] for i in range(table.n_rows)]


class _Rows(NamedTuple):
    """Rows of a table, by their positions, and their columns as the weighted and the chosen blocks read them."""

    table: Table
    positions: range
    scored: ScoredViews
    views: Sequence[View]

    @classmethod
    def of(cls, model: Model, table: Table) -> _Rows:
        """Read the columns of all rows."""
        scored = ScoredViews.of(table, model.weighted_blocks)
        is_as_chosen = model.weighted_blocks.schema.blocks == model.chosen.schema.blocks
        views = scored.blocks if is_as_chosen else views_of(table, model.chosen.schema)
        return cls(table, range(table.n_rows), scored, views)

    def part(self, start: int, stop: int) -> _Rows:
        """Return the rows from start to stop."""
        positions = self.positions[start:stop]
        if positions == self.positions:
            return self
        scored = self.scored.rows(start, stop)
        is_as_chosen = self.views is self.scored.blocks
        views = scored.blocks if is_as_chosen else [view.rows(start, stop) for view in self.views]
        return _Rows(self.table, positions, scored, views)


def _explain_rows(
    model: Model, rows: _Rows, of: Label | None, against: Label | None, top: int | None, changes: bool
) -> list[Explanation]:
    """Explain rows by a model as it is."""
    log_posteriors = _log_posteriors(model, rows.scored, len(rows.positions))
    explanations: list[Explanation] = []
    for start in range(0, len(rows.positions), ROWS_AT_A_TIME):
        part = rows.part(start, start + ROWS_AT_A_TIME)
        n_rows = len(part.positions)
        before_floor, log_posterior = (logs[start : start + n_rows] for logs in log_posteriors)
        logs = before_floor.tolist(), log_posterior.tolist(), np.exp(log_posterior).tolist()
        scores = list(map(_Scores, range(n_rows), *logs))
        blocks = explained_blocks(model, part.views, n_rows)
        row_views = [[block.row(i) for block in blocks] for i in range(n_rows)]
        counterfactuals: list[Counterfactual | None] = [None] * n_rows
        if changes and len(model.classes) > 1:
            pairs = zip(row_views, scores, strict=True)
            candidates = [_alternatives(blocks, views_of_row, of_row.order[1]) for views_of_row, of_row in pairs]
            counterfactuals = find_counterfactuals(
                model, part.table, part.positions, part.views, before_floor, candidates
            )
        drafts = [
            _Draft.of(model, blocks, views_of_row, of_row, class_pair(model, of, against, of_row.order), top)
            for views_of_row, of_row in zip(row_views, scores, strict=True)
        ]
        intervals = iter(intervals_of([line.term for draft in drafts for line in draft.shown]))
        for draft, counterfactual in zip(drafts, counterfactuals, strict=True):
            explanation = draft.finish(model, counterfactual, intervals)
            if part.scored.tables is not None and not draft.is_impossible:
                explanation = _with_together(model, explanation, part.scored.tables, draft)
            explanations.append(explanation)
    return explanations


def _alternatives(blocks: Sequence[ExplainedBlock], rows: Sequence[RowView], rival: int) -> list[list[Alternative]]:
    """Return the changes to a row, given by its part in each block, that might change the prediction to a rival."""
    return [
        [] if b.block.part else list(b.block.family.alternatives(row, b.weighed.estimate.parameters, rival))
        for b, row in zip(blocks, rows, strict=True)
    ]


def _with_together(model: Model, explanation: Explanation, view: TableView, draft: _Draft) -> Explanation:
    """Add what columns say together to an explanation."""
    tables, i = model.weighted_blocks.tables, draft.scores.row
    assert tables is not None  # there is a view of them
    together = together_of(model, tables, view.rows(i, i + 1), draft.pair)
    contributions = tuple(
        replace(c, note="only together") if c.note == "not used" and c.column in together.by_column else c
        for c in explanation.contributions
    )
    return replace(explanation, contributions=contributions, together=together)


@on_own_threads
def _log_posteriors(model: Model, views: ScoredViews, n_rows: int) -> tuple[Floats, Floats]:
    """Return the log posteriors before the floor of the tuning, and with it."""
    scores = score(model.weighted_blocks, views, model.log_prior, n_rows)
    before_floor = scores.copy()
    warn_of_impossible_rows(normalise(before_floor, model.log_prior, 0), n_rows)
    if model.floor:
        normalise(scores, model.log_prior, 0, model.floor)
    return before_floor, scores if model.floor else before_floor


def scored_blocks(model: Model) -> list[tuple[Block, Statistic, Any]]:
    """Return the blocks that predictions depend on, each with its statistic and its parameters."""
    return list(zip(model.chosen.schema.blocks, model.chosen.statistics, model.parameters, strict=True))


def weighed_blocks(model: Model) -> list[WeighedBlock]:
    """Return the scored blocks with their weights; what families compute for rows of the model stays with them."""
    blocks = _BLOCKS.get(model)
    if blocks is None:
        parts = zip(model.chosen.schema.blocks, model.estimates, strict=True)
        blocks = _BLOCKS[model] = [WeighedBlock.of(model, *part) for part in parts]
    return blocks


def explained_blocks(model: Model, views: Sequence[View], n_rows: int) -> list[ExplainedBlock]:
    """Return the scored blocks with rows; what families computed for earlier rows of the model is used again."""
    return [ExplainedBlock.of(block, view, n_rows) for block, view in zip(weighed_blocks(model), views, strict=True)]


def class_pair(model: Model, of: Label | None, against: Label | None, order: Iterable[int]) -> Pair:
    """Return the positions of two classes; the default of either is the first other one in this order."""
    if len(model.classes) < 2:
        raise InputError("an explanation compares two classes, and the model has one.")
    first = None if of is None else position_of(of, model.classes)
    second = None if against is None else position_of(against, model.classes)
    if first is None:
        first = next(c for c in order if c != second)
    if second is None:
        second = next(c for c in order if c != first)
    if first == second:
        raise InputError(f"of= and against= are the same class, {model.classes[first]!r}: name two.")
    return first, second


@dataclass(frozen=True, eq=False)
class WeighedBlock:
    """A block of a model with its weights under the tuning: one of each column, or one that the columns share.

    `weight` is None without a tuning. `cache` holds what the family computes once for all rows.
    """

    block: Block
    estimate: Estimate
    classes: Classes
    weight: Floats | None = None
    exponent: float = 0.0
    cache: Cache = field(default_factory=dict)

    @classmethod
    def of(cls, model: Model, block: Block, estimate: Estimate) -> WeighedBlock:
        """Look up the weights of a block."""
        weighed = cls(block, estimate, model.classes)
        if model.tuning is None or not len(block.names):
            return weighed
        return replace(weighed, weight=model.tuning.weight(block), exponent=model.tuning.exponent(block))

    @cached_property
    def shares_weight(self) -> bool:
        """Whether the columns share one weight, which may depend on the length of a row."""
        return self.weight is not None and (self.block.family.joint or self.block.family.own_block)

    @cached_property
    def weight_of(self) -> dict[str, float]:
        """The weight of each column by its name; empty if it is 1, or shared."""
        if self.weight is None or self.shares_weight:
            return {}
        return dict(zip(self.block.names, self.weight.tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class ExplainedBlock:
    """A block of a model with the rows to be explained.

    `factor` is the weight that all columns share: one number, or one for each row if it depends on the length. It is
    None if each column has its own weight.
    """

    weighed: WeighedBlock
    view: View
    n_rows: int
    factor: Floats | None = None

    @classmethod
    def of(cls, weighed: WeighedBlock, view: View, n_rows: int) -> ExplainedBlock:
        """Compute the weight that the columns share."""
        if weighed.weight is None or not weighed.shares_weight:
            return cls(weighed, view, n_rows)
        factor = weighed.weight[:1]
        if weighed.exponent:
            scores, length = np.zeros((n_rows, len(weighed.classes))), np.zeros(n_rows)
            weighed.block.family.log_likelihood(view, weighed.estimate.parameters, scores, length)
            factor = factor * np.maximum(length, 1.0) ** -weighed.exponent
        return cls(weighed, view, n_rows, factor)

    @property
    def block(self) -> Block:
        """The block of the schema."""
        return self.weighed.block

    def row(self, i: int) -> RowView:
        """Return one row for the family."""
        weighed, x = self.weighed, self.view if self.n_rows == 1 else self.view.rows(i, i + 1)
        weight = None if weighed.shares_weight else weighed.weight
        block, tables = weighed.block, weighed.estimate.tables
        return RowView(x, block.names, block.kinds, weighed.classes, weight, weighed.cache, tables)

    def lines(self, row: RowView, i: int, pair: Pair) -> tuple[list[Line], Pieces | None]:
        """Return the terms of a row, which has the position i, with their weights, and the pieces of its text."""
        family, estimate = self.block.family, self.weighed.estimate
        terms = family.terms(row, estimate.statistic, estimate.parameters, pair)
        if self.factor is not None:
            factor = float(self.factor[i if len(self.factor) > 1 else 0])
            lines = [Line.of(term, factor) for term in terms]
        else:
            weight_of = self.weighed.weight_of
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


def _without_repeated_missing(lines: list[Line]) -> list[Line]:
    """Return lines without those of a missing value whose column has another line, such as that it has no value."""
    if not any(line.term.note == "missing" for line in lines):
        return lines
    n_lines = Counter(line.term.column for line in lines)
    remaining = []
    for line in lines:
        if line.term.note == "missing" and n_lines[line.term.column] > 1:
            n_lines[line.term.column] -= 1
        else:
            remaining.append(line)
    return remaining


class _Scores(NamedTuple):
    """The position of a row, its log posteriors before the floor and with it, and its posteriors, by class."""

    row: int
    before_floor: list[float]
    log_posterior: list[float]
    posterior: list[float]

    @property
    def order(self) -> list[int]:
        """The classes, the most probable first."""
        return sorted(range(len(self.before_floor)), key=lambda c: -self.before_floor[c])


@dataclass(frozen=True, slots=True, eq=False)
class _Draft:
    """The lines of one row before their intervals are known: those that are shown, and the sums of the others."""

    scores: _Scores
    pair: Pair
    shown: list[Line]
    others: tuple[Others, ...]
    texts: dict[str, Pieces]
    is_impossible: bool

    @classmethod
    def of(
        cls,
        model: Model,
        blocks: Sequence[ExplainedBlock],
        rows: Sequence[RowView],
        scores: _Scores,
        pair: Pair,
        top: int | None,
    ) -> _Draft:
        """Collect the lines of a row, given by its part in each block, the strongest first."""
        lines: list[Line] = []
        texts: dict[str, Pieces] = {}
        for block, row in zip(blocks, rows, strict=True):
            block_lines, pieces = block.lines(row, scores.row, pair)
            lines += block_lines
            if pieces is not None:
                name = block.block.names[0]
                texts[name] = _added(texts[name], pieces) if name in texts else pieces
        lines = _without_repeated_missing(lines)
        for name, reason in model.chosen.left_out.items():
            note = f"not used: {reason}"
            lines.append(Line(Term(name, None, note, note=note), 0.0, 0.0))
        excluding = [line.term.scores for line in lines if line.excludes_class]
        is_impossible = all(
            model.log_prior[c] == -np.inf or any(scores[side] == -np.inf for scores in excluding)
            for side, c in enumerate(pair)
        )
        if is_impossible:
            lines = [line._replace(log_odds=0.0) for line in lines]
        lines.sort(key=lambda line: -abs(line.log_odds))
        n_shown = len(lines) if top is None else min(top, len(lines))
        others = group_others(((line.term.column, line.log_odds) for line in lines[n_shown:]), texts)
        return cls(scores, pair, lines[:n_shown], others, texts, is_impossible)

    def finish(
        self, model: Model, counterfactual: Counterfactual | None, intervals: Iterator[tuple[float, float]]
    ) -> Explanation:
        """Return the explanation; `intervals` are those of the lines that are shown, without their weights."""
        first, second = self.pair
        labels, scores = (model.classes[first], model.classes[second]), self.scores
        offset, log_prior = model.weighted_blocks.offset.tolist(), model.log_prior.tolist()
        total, before, prior = (
            log_odds_of_row(logs, log_prior, first, second)
            for logs in (scores.log_posterior, scores.before_floor, log_prior)
        )
        return Explanation(
            of=labels[0],
            against=labels[1],
            answer=model.classes[scores.before_floor.index(max(scores.before_floor))],
            prior=prior,
            offset=0.0 if self.is_impossible else offset[first] - offset[second],
            contributions=tuple([_contribution(line, labels, next(intervals)) for line in self.shown]),
            rest=math.fsum(group.log_odds for group in self.others),
            n_rest=sum(group.n for group in self.others),
            others=self.others,
            total=total,
            posterior=dict(zip(model.classes, scores.posterior, strict=True)),
            counterfactual=counterfactual,
            texts=self.texts or None,
            floor=total - before if total != before else 0.0,
        )


def _added(a: Pieces, b: Pieces) -> Pieces:
    """Return the pieces of a text with the log-odds of two parts of its column."""
    return tuple((text, x + y) for (text, x), (_, y) in zip(a, b, strict=True))


def _contribution(line: Line, labels: tuple[Label, Label], interval: tuple[float, float]) -> Contribution:
    """Return a line as plain data."""
    term, weight, log_odds = line
    of, against = term.scores
    low, high = interval
    low, high = (weight * low, weight * high) if weight else (0.0, 0.0)
    note = term.note or ("" if weight else "not used")
    excludes_class = line.excludes_class
    if excludes_class:
        zero_in = [str(label) for label, score_of in zip(labels, term.scores, strict=True) if score_of == -math.inf]
        note = f"impossible under {' and '.join(zero_in)}"
    has_interval = math.isfinite(low) and math.isfinite(high) and not excludes_class
    return Contribution(
        column=term.column,
        value=term.value,
        shown=term.shown,
        count=term.count,
        log_odds=log_odds,
        evidence=0.0 if of == against else of - against,
        weight=weight,
        counts=term.counts[0],
        counts_against=term.counts[1],
        low=low if has_interval else None,
        high=high if has_interval else None,
        note=note,
    )
