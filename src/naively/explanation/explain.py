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
from naively.families.evidence import Pair, Pieces, RowView, Term, intervals_of
from naively.model.count import View, views_of
from naively.model.counted import counted_classes
from naively.model.decide import log_odds_against, position_of
from naively.model.model import Model
from naively.model.score import read_rows, score_rows, warn_of_impossible_rows
from naively.model.without_row import without_counted_row
from naively.schema.schema import Block
from naively.statistics import Statistic

ROWS_AT_A_TIME = 256  # whose alternatives and intervals are computed together

Cache = dict[Hashable, object]  # what a family computes once for a block
_CACHES: WeakKeyDictionary[Model, list[Cache]] = WeakKeyDictionary()  # of each block, while the model lives


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
    if (counted < 0).all():
        return _explain_rows(model, table, of, against, top, changes)
    explanations: dict[int, Explanation] = {}
    for i in np.flatnonzero(counted >= 0).tolist():
        row = table.take(np.array([i]))
        others = without_counted_row(model, row, int(counted[i]))
        if others is not None:
            [explanation] = _explain_rows(others, row, of, against, top, changes)
            explanations[i] = replace(explanation, is_left_out=True)
    new_rows = [i for i in range(table.n_rows) if i not in explanations]
    if new_rows:
        of_new_rows = _explain_rows(model, table.take(np.array(new_rows)), of, against, top, changes)
        explanations |= zip(new_rows, of_new_rows, strict=True)
    return [explanations[i] for i in range(table.n_rows)]


def _explain_rows(
    model: Model, table: Table, of: Label | None, against: Label | None, top: int | None, changes: bool
) -> list[Explanation]:
    """Explain rows by a model as it is."""
    before_floor, log_posterior = _log_posteriors(model, table)
    tables = model.weighted_blocks.tables
    table_view = None if tables is None else tables.view(table)
    views = views_of(table, model.chosen.schema)
    blocks = explained_blocks(model, views, table.n_rows)
    columns = [block for block in blocks if not block.block.part]
    explanations: list[Explanation] = []
    for start in range(0, table.n_rows, ROWS_AT_A_TIME):
        rows = range(start, min(start + ROWS_AT_A_TIME, table.n_rows))
        orders = np.argsort(-before_floor[rows.start : rows.stop], axis=1, kind="stable").tolist()
        counterfactuals: list[Counterfactual | None] = [None] * len(rows)
        if changes:
            candidates = [
                [a for b in columns for a in b.block.family.alternatives(b.row(row), b.parameters, order[1])]
                if len(order) > 1
                else []
                for row, order in zip(rows, orders, strict=True)
            ]
            counterfactuals = find_counterfactuals(model, table, views, rows, before_floor, candidates)
        drafts = [
            _Draft.of(model, blocks, row, log_posterior[row], class_pair(model, of, against, order), top)
            for row, order in zip(rows, orders, strict=True)
        ]
        intervals = iter(intervals_of([line.term for draft in drafts for line in draft.shown]))
        for row, draft, counterfactual in zip(rows, drafts, counterfactuals, strict=True):
            explanation = draft.finish(model, log_posterior[row], before_floor[row], counterfactual, intervals)
            if tables is not None and table_view is not None and not draft.is_impossible:
                together = together_of(model, tables, table_view.rows(row, row + 1), draft.pair)
                contributions = tuple(
                    replace(c, note="only together") if c.note == "not used" and c.column in together.by_column else c
                    for c in explanation.contributions
                )
                explanation = replace(explanation, contributions=contributions, together=together)
            explanations.append(explanation)
    return explanations


@on_own_threads
def _log_posteriors(model: Model, table: Table) -> tuple[Floats, Floats]:
    """Return the log posteriors before the floor of the tuning, and with it."""
    scores = score_rows(model, table, model.weighted_blocks)
    before_floor = scores.copy()
    warn_of_impossible_rows(normalise(before_floor, model.log_prior, 0), table.n_rows)
    if model.floor:
        normalise(scores, model.log_prior, 0, model.floor)
    return before_floor, scores if model.floor else before_floor


def scored_blocks(model: Model) -> list[tuple[Block, Statistic, Any]]:
    """Return the blocks that predictions depend on, each with its statistic and its parameters."""
    return list(zip(model.chosen.schema.blocks, model.chosen.statistics, model.parameters, strict=True))


def explained_blocks(model: Model, views: Sequence[View], n_rows: int) -> list[ExplainedBlock]:
    """Return the scored blocks with rows; what families computed for earlier rows of the model is used again."""
    caches = _CACHES.setdefault(model, [{} for _ in views])
    blocks = zip(scored_blocks(model), views, caches, strict=True)
    return [ExplainedBlock.of(model, *block, view, cache, n_rows) for block, view, cache in blocks]


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
class ExplainedBlock:
    """A block of a model with the rows to be explained, and its weights under the tuning.

    `weight` is that of each column. Families whose columns share a weight have `factor` instead: one weight, or one
    for each row if it depends on the length.
    """

    block: Block
    statistic: Statistic
    parameters: Any
    view: View
    classes: Classes
    weight: Floats | None = None
    factor: Floats | None = None
    cache: Cache = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        model: Model,
        block: Block,
        statistic: Statistic,
        parameters: Any,
        view: View,
        cache: Cache,
        n_rows: int,
    ) -> ExplainedBlock:
        """Look up the weights of a block."""
        block_of_rows = cls(block, statistic, parameters, view, model.classes, cache=cache)
        if model.tuning is None or not len(block.names):
            return block_of_rows
        weight, exponent = model.tuning.weight(block), model.tuning.exponent(block)
        if not (block.family.joint or block.family.own_block):
            return replace(block_of_rows, weight=weight)
        factor = weight[:1]
        if exponent:
            scores, length = np.zeros((n_rows, len(model.classes))), np.zeros(n_rows)
            block.family.log_likelihood(view, parameters, scores, length)
            factor = factor * np.maximum(length, 1.0) ** -exponent
        return replace(block_of_rows, factor=factor)

    @cached_property
    def weight_of(self) -> dict[str, float]:
        """The weight of each column by its name."""
        return {} if self.weight is None else dict(zip(self.block.names, self.weight.tolist(), strict=True))

    def row(self, i: int) -> RowView:
        """Return one row for the family."""
        x = self.view.rows(i, i + 1)
        return RowView(x, self.block.names, self.block.kinds, self.classes, self.weight, self.cache)

    def lines(self, i: int, pair: Pair) -> tuple[list[Line], Pieces | None]:
        """Return the terms of a row with their weights, and the pieces of its text."""
        row, family = self.row(i), self.block.family
        terms = family.terms(row, self.statistic, self.parameters, pair)
        if self.factor is not None:
            factor = float(self.factor[i if len(self.factor) > 1 else 0])
            lines = [Line.of(term, factor) for term in terms]
        else:
            weight_of = self.weight_of
            lines = [Line.of(term, weight_of.get(term.column, 1.0)) for term in terms]
        weighted = {line.term.value: line.log_odds for line in lines if line.term.value is not None}
        return lines, family.pieces(row, terms, weighted) if family.own_block else None


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

    def is_impossible(self, side: int) -> bool:
        """Return whether the row is impossible in a class by this term alone."""
        return self.weight != 0.0 and self.term.scores[side] == -math.inf


def _without_repeated_missing(lines: list[Line]) -> list[Line]:
    """Return lines without those of a missing value whose column has another line, such as that it has no value."""
    n_lines = Counter(line.term.column for line in lines)
    remaining = []
    for line in lines:
        if line.term.note == "missing" and n_lines[line.term.column] > 1:
            n_lines[line.term.column] -= 1
        else:
            remaining.append(line)
    return remaining


@dataclass(frozen=True, slots=True, eq=False)
class _Draft:
    """The lines of one row before their intervals are known: those that are shown, and the sums of the others."""

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
        row: int,
        log_posterior: Floats,
        pair: Pair,
        top: int | None,
    ) -> _Draft:
        """Collect the lines of a row, the strongest first."""
        lines: list[Line] = []
        texts: dict[str, Pieces] = {}
        for block in blocks:
            block_lines, pieces = block.lines(row, pair)
            lines += block_lines
            if pieces is not None:
                name = block.block.names[0]
                texts[name] = _added(texts[name], pieces) if name in texts else pieces
        lines = _without_repeated_missing(lines)
        for name, reason in model.chosen.left_out.items():
            lines.append(Line(Term(name, None, "", note=f"not used: {reason}"), 0.0, 0.0))
        is_impossible = all(
            model.log_prior[c] == -np.inf or any(line.is_impossible(side) for line in lines)
            for side, c in enumerate(pair)
        )
        if is_impossible:
            lines = [line._replace(log_odds=0.0) for line in lines]
        lines.sort(key=lambda line: -abs(line.log_odds))
        n_shown = len(lines) if top is None else min(top, len(lines))
        others = group_others(((line.term.column, line.log_odds) for line in lines[n_shown:]), texts)
        return cls(pair, lines[:n_shown], others, texts, is_impossible)

    def finish(
        self,
        model: Model,
        log_posterior: Floats,
        before_floor: Floats,
        counterfactual: Counterfactual | None,
        intervals: Iterator[tuple[float, float]],
    ) -> Explanation:
        """Return the explanation; `intervals` are those of the lines that are shown, without their weights."""
        first, second = self.pair
        labels, log_prior = (model.classes[first], model.classes[second]), model.log_prior
        offset = (
            0.0
            if self.is_impossible
            else float(model.weighted_blocks.offset[first] - model.weighted_blocks.offset[second])
        )
        total = float(log_odds_against(log_posterior[None], log_prior, first, second)[0])
        before = float(log_odds_against(before_floor[None], log_prior, first, second)[0])
        return Explanation(
            of=labels[0],
            against=labels[1],
            answer=model.classes[int(before_floor.argmax())],
            prior=float(log_odds_against(log_prior[None], log_prior, first, second)[0]),
            offset=offset,
            contributions=tuple(_contribution(line, labels, next(intervals)) for line in self.shown),
            rest=math.fsum(group.log_odds for group in self.others),
            n_rest=sum(group.n for group in self.others),
            others=self.others,
            total=total,
            posterior=dict(zip(model.classes, np.exp(log_posterior).tolist(), strict=True)),
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
    zero_in = [str(label) for side, label in enumerate(labels) if line.is_impossible(side)]
    low, high = (weight * end if weight else 0.0 for end in interval)
    has_interval = math.isfinite(low) and math.isfinite(high) and not zero_in
    of, against = term.scores
    note = term.note or ("not used" if weight == 0.0 else "")
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
        note=f"impossible under {' and '.join(zero_in)}" if zero_in else note,
    )
