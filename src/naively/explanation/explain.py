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
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from naively._kernels.posterior import normalise
from naively._kernels.threads import on_own_threads
from naively._kernels.types import Wholes
from naively.data.labelled import Label
from naively.data.read import TableLike
from naively.data.table import Table
from naively.errors import InputError
from naively.explanation.blocks import ExplainedBlock, Line, RowsOfModel, weighed_blocks
from naively.explanation.counterfactual import Counterfactual, find_counterfactuals
from naively.explanation.explanation import Contribution, Explanation, Others, group_others
from naively.explanation.together import together_of
from naively.families.evidence import Alternative, Pair, Pieces, RowView, Term, intervals_of
from naively.model.contributions import MAX_SCORES
from naively.model.count import View, views_of
from naively.model.counted import counted_classes
from naively.model.decide import log_odds_of_row, position_of
from naively.model.model import Model
from naively.model.score import read_rows, warn_of_impossible_rows
from naively.model.without_row import without_counted_row
from naively.schema.schema import Block
from naively.statistics import Statistic

MAX_ROWS = 256  # that are explained together


@on_own_threads
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
    views = views_of(table, model.chosen.schema)
    n_columns = sum(1 if b.is_single else len(b.block.names) for b in weighed_blocks(model))
    step = min(MAX_ROWS, max(1, MAX_SCORES // max(1, n_columns * len(model.classes))))
    explanations: list[Explanation] = []
    n_impossible = 0
    for start in range(0, table.n_rows, step):
        positions = range(start, min(start + step, table.n_rows))
        groups = _rows_of_models(model, table, positions, views, counted)
        rows, n = _scored_rows(groups, model.floor)
        n_impossible += n
        explanations += _explain_rows(model, groups, rows, of, against, top, changes)
    warn_of_impossible_rows(n_impossible, table.n_rows)
    return explanations


def _rows_of_models(
    model: Model, table: Table, positions: range, views: Sequence[View], counted: Wholes
) -> list[RowsOfModel]:
    """Return some rows of a table by the model that explains them: without the row itself, if it was counted.

    `views` and `counted`, the class of each counted row, are those of the table.
    """
    blocks, groups, new = weighed_blocks(model), list[RowsOfModel](), list[int]()
    for i, c in zip(positions, counted[positions.start : positions.stop].tolist(), strict=True):
        row = views if c < 0 or table.n_rows == 1 else [view.rows(i, i + 1) for view in views]
        others = None if c < 0 else without_counted_row(model, table, i, row, c)
        if others is None:
            new.append(i)
            continue
        of_others = [block.with_estimate(e) for block, e in zip(blocks, others.estimates, strict=True)]
        groups.append(RowsOfModel.of(others, c, table, range(i, i + 1), (i,), of_others, row))
    if len(new) == len(positions):
        if len(new) < table.n_rows:
            views = [view.rows(positions.start, positions.stop) for view in views]
        groups.append(RowsOfModel.of(model, -1, table, positions, new, blocks, views))
    elif new:
        rows = table.take(np.array(new))
        views = views_of(rows, model.chosen.schema)
        groups.append(RowsOfModel.of(model, -1, rows, range(len(new)), new, blocks, views))
    return groups


class _ScoredRow(NamedTuple):
    """The row i of rows of a model: its log posteriors before the floor and with it, and its posteriors, by class."""

    rows: RowsOfModel
    i: int
    before_floor: list[float]
    log_posterior: list[float]
    posterior: list[float]

    @property
    def place(self) -> int:
        """The position of the row among those to be explained."""
        return self.rows.places[self.i]

    @property
    def order(self) -> list[int]:
        """The classes, the most probable first."""
        return sorted(range(len(self.before_floor)), key=lambda c: -self.before_floor[c])


def _scored_rows(groups: Sequence[RowsOfModel], floor: float) -> tuple[list[_ScoredRow], int]:
    """Return the rows in the order of their places, and how many are impossible in every class."""
    rows = list[_ScoredRow]()
    n_impossible = 0
    by_class = sorted(groups, key=lambda group: group.left_out)  # rows of one class leave the same class prior
    for _, same_class in groupby(by_class, key=lambda group: group.left_out):
        parts = list(same_class)
        log_prior, before_floor = parts[0].model.log_prior, np.concatenate([part.scores for part in parts])
        log_posterior = before_floor.copy() if floor else before_floor
        n_impossible += normalise(before_floor, log_prior, 0)
        if floor:
            normalise(log_posterior, log_prior, 0, floor)
        row_of = ((part, i) for part in parts for i in range(len(part.places)))
        logs = before_floor.tolist(), log_posterior.tolist(), np.exp(log_posterior).tolist()
        rows += [_ScoredRow(*row, *of_row) for row, *of_row in zip(row_of, *logs, strict=True)]
    return sorted(rows, key=lambda row: row.place), n_impossible


def _explain_rows(
    model: Model,
    groups: Sequence[RowsOfModel],
    rows: Sequence[_ScoredRow],
    of: Label | None,
    against: Label | None,
    top: int | None,
    changes: bool,
) -> list[Explanation]:
    """Explain rows together: what is computed for one is used for others."""
    drafts = list[_Draft]()
    candidates, counterfactual_of = dict[int, list[list[Alternative]]](), dict[int, Counterfactual | None]()
    for row in rows:
        views = [block.row(row.i) for block in row.rows.blocks]
        if changes and len(model.classes) > 1:
            candidates[row.place] = _alternatives(row.rows.blocks, views, row.order[1])
        drafts.append(_Draft.of(views, row, class_pair(model, of, against, row.order), top))
    if candidates:
        for group in groups:
            of_group = find_counterfactuals(group, [candidates[place] for place in group.places])
            counterfactual_of |= zip(group.places, of_group, strict=True)
    intervals = iter(intervals_of([line.term for draft in drafts for line in draft.shown]))
    return [draft.finish(counterfactual_of.get(draft.row.place), intervals) for draft in drafts]


def _alternatives(blocks: Sequence[ExplainedBlock], rows: Sequence[RowView], rival: int) -> list[list[Alternative]]:
    """Return the changes to a row, given by its part in each block, that might change the prediction to a rival."""
    return [
        [] if b.block.part else list(b.block.family.alternatives(row, b.weighed.estimate.parameters, rival))
        for b, row in zip(blocks, rows, strict=True)
    ]


def _with_together(explanation: Explanation, row: _ScoredRow, pair: Pair) -> Explanation:
    """Add what columns say together to an explanation."""
    model, view = row.rows.model, row.rows.tables
    assert model.weighted_tables is not None and view is not None  # noqa: PT018
    together = together_of(model, model.weighted_tables, view.rows(row.i, row.i + 1), pair)
    contributions = tuple(
        replace(c, note="only together") if c.note == "not used" and c.column in together.by_column else c
        for c in explanation.contributions
    )
    return replace(explanation, contributions=contributions, together=together)


def scored_blocks(model: Model) -> list[tuple[Block, Statistic, Any]]:
    """Return the blocks that predictions depend on, each with its statistic and its parameters."""
    return list(zip(model.chosen.schema.blocks, model.chosen.statistics, model.parameters, strict=True))


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


@dataclass(frozen=True, slots=True, eq=False)
class _Draft:
    """The lines of one row before their intervals are known: those that are shown, and the sums of the others."""

    row: _ScoredRow
    pair: Pair
    shown: list[Line]
    others: tuple[Others, ...]
    texts: dict[str, Pieces]
    is_impossible: bool

    @classmethod
    def of(cls, views: Sequence[RowView], row: _ScoredRow, pair: Pair, top: int | None) -> _Draft:
        """Collect the lines of a row, given by its part in each block, the strongest first."""
        lines: list[Line] = []
        texts: dict[str, Pieces] = {}
        model = row.rows.model
        for block, view in zip(row.rows.blocks, views, strict=True):
            block_lines, pieces = block.lines(view, row.i, pair)
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
        return cls(row, pair, lines[:n_shown], others, texts, is_impossible)

    def finish(self, counterfactual: Counterfactual | None, intervals: Iterator[tuple[float, float]]) -> Explanation:
        """Return the explanation; `intervals` are those of the lines that are shown, without their weights."""
        (first, second), row, model = self.pair, self.row, self.row.rows.model
        labels = model.classes[first], model.classes[second]
        offset, log_prior = model.offset.tolist(), model.log_prior.tolist()
        total, before, prior = (
            log_odds_of_row(logs, log_prior, first, second) for logs in (row.log_posterior, row.before_floor, log_prior)
        )
        explanation = Explanation(
            of=labels[0],
            against=labels[1],
            answer=model.classes[row.before_floor.index(max(row.before_floor))],
            prior=prior,
            offset=0.0 if self.is_impossible else offset[first] - offset[second],
            contributions=tuple([_contribution(line, labels, next(intervals)) for line in self.shown]),
            rest=math.fsum(group.log_odds for group in self.others),
            n_rest=sum(group.n for group in self.others),
            others=self.others,
            total=total,
            posterior=dict(zip(model.classes, row.posterior, strict=True)),
            counterfactual=counterfactual,
            is_left_out=row.rows.left_out >= 0,
            texts=self.texts or None,
            floor=total - before if total != before else 0.0,
        )
        is_together = row.rows.tables is not None and not self.is_impossible
        return _with_together(explanation, row, self.pair) if is_together else explanation


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
