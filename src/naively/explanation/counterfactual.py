"""Find the fewest changes that would change a prediction: values to change, words to leave out.

Families propose other values of each column, and words to leave out. The model scores each change by itself. Then the
best changes of all columns and words are made together, the most effective first, until the model predicts another
class. The log-odds is a sum, so no smaller number of these changes does it between two classes. The exceptions are
texts scored by n-grams or with a length exponent, and models with tables of columns, where the order is a guess.

Where the evidence of each column is independent of the others, a change is scored once for many rows by its column
alone, and the score of a row with several changes is a sum. Texts and blocks of counts are scored as whole rows.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from naively._kernels.posterior import normalise, repeat_row
from naively._kernels.types import Floats, Index
from naively.data.labelled import Label
from naively.data.names import positions_of
from naively.data.plain import CellValue, as_plain
from naively.data.views import Codes, Numbers
from naively.explanation.blocks import ExplainedBlock, RowsOfModel, WeighedBlock
from naively.families.base import times
from naively.families.evidence import Alternative
from naively.families.text import without_words
from naively.model.count import views_of
from naively.model.decide import log_sum_exp
from naively.model.model import Model
from naively.schema.schema import Block, Schema

MAX_CHANGES = 100
MAX_RIVALS = 4  # classes that the prediction may change to, the most probable ones
MAX_LOG_ODDS = 1e9  # stands for an infinite log-odds where differences are taken
MIN_GAIN = 1e-12  # nats that a change must add
TIE = 1e-9  # relative: two classes this close are equal
PLANS_AT_A_TIME = 256
MAX_CELLS = 2**20  # of rows in which one column each has a value
Plan = Sequence[Alternative]


@dataclass(frozen=True, slots=True)
class Change:
    """One value to change, or a word to leave out (`after` is None)."""

    column: str
    before: object
    after: object = None

    def __str__(self) -> str:
        if self.after is None:
            return f"leave out {self.before!r} in {self.column}"
        return f"{self.column}: {self.before!r} → {self.after!r}"


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """The fewest changes that change the prediction, and the class and probability that the model then gives."""

    changes: tuple[Change, ...]
    answer: Label
    probability: float

    to_dict = as_plain


def find_counterfactuals(rows: RowsOfModel, candidates: Sequence[Sequence[Plan]]) -> list[Counterfactual | None]:
    """Find the fewest changes of each row that change its prediction.

    Parameters
    ----------
    rows
        The rows and their model.
    candidates
        The changes to try: for each of these rows, those of the columns of each block.

    Returns
    -------
    list
        None for a row that no combination of at most 100 changes is enough for.
    """
    search = _Search.of(rows, candidates)
    results: list[Counterfactual | None] = []
    for i, plans in enumerate(candidates):
        is_sum = all(changes is not None or not plan for changes, plan in zip(search.changes, plans, strict=True))
        if not any(plans):
            results.append(None)
        elif is_sum and np.isfinite(rows.scores[i]).all():
            with np.errstate(invalid="ignore"):  # a change may be impossible in both classes
                results.append(search.by_sums(i, plans))
        else:
            results.append(search.by_scoring(i, list(chain.from_iterable(plans))))
    return results


def _are_additive(rows: RowsOfModel) -> list[bool]:
    """Return for each block whether the evidence of its columns is independent of others, and all can be changed."""
    is_sum = rows.table.can_change_any_cell and rows.tables is None
    return [is_sum and not block.weighed.is_single for block in rows.blocks]


@dataclass(frozen=True, eq=False)
class _Search:
    """Rows, and the evidence of changed columns of each block; None where changed rows are scored as a whole."""

    rows: RowsOfModel
    changes: list[_Changes | None]

    @classmethod
    def of(cls, rows: RowsOfModel, candidates: Sequence[Sequence[Plan]]) -> _Search:
        """Score each distinct change of the rows once."""
        changes = [
            _Changes.of(block.weighed, [plans[b] for plans in candidates]) if is_additive else None
            for b, (block, is_additive) in enumerate(zip(rows.blocks, _are_additive(rows), strict=True))
        ]
        return cls(rows, changes)

    def _difference(self, row: int, b: int, plan: Plan) -> Floats:
        """Return by how much each change of columns of a block changes the score of a row, (change, class)."""
        changes = self.changes[b]
        assert changes is not None
        positions = [changes.position[change.column, change.value] for change in plan]
        evidence = self.rows.blocks[b].evidence
        return np.asarray(changes.scores[positions] - evidence[changes.columns[positions], row])

    def by_sums(self, row: int, plans: Sequence[Plan]) -> Counterfactual | None:
        """Make the best changes of all columns together, the most effective first, until another class leads."""
        score, candidates = self.rows.scores[row], list(chain.from_iterable(plans))
        difference = np.concatenate([self._difference(row, b, plan) for b, plan in enumerate(plans) if plan])
        order = np.argsort(-score, kind="stable")
        answer = int(order[0])
        best: tuple[int, float, list[int], Floats] | None = None
        for rival in order[1 : 1 + MAX_RIVALS].tolist():
            gain = np.nan_to_num(difference[:, rival] - difference[:, answer], nan=0.0)
            chosen: dict[str, int] = {}
            for i in np.argsort(-gain, kind="stable").tolist():
                if gain[i] <= MIN_GAIN or len(chosen) == MAX_CHANGES:
                    break
                chosen.setdefault(candidates[i].column, i)
            if not chosen:
                continue
            plan = list(chosen.values())
            scores = score + np.cumsum(difference[plan], axis=0)
            others = np.delete(scores, answer, axis=1).max(axis=1)
            margin = others - scores[:, answer]
            successes = np.flatnonzero(margin > TIE * (1.0 + np.abs(others)))
            if not len(successes):
                continue
            n = int(successes[0]) + 1
            log_posterior = scores[n - 1] - log_sum_exp(scores[n - 1 : n])[0]
            key = (n, -float(log_posterior.max()))
            if best is None or key < best[:2]:
                best = (*key, plan[:n], log_posterior)
        if best is None:
            return None
        changes = tuple(Change(candidates[i].column, candidates[i].before, candidates[i].after) for i in best[2])
        return _counterfactual(self.rows.model, changes, best[3])

    def by_scoring(self, row: int, candidates: Plan) -> Counterfactual | None:
        """Make the best changes one by one and score the row again, for texts and columns that are not a sum."""
        model, log_posterior = self.rows.model, self.rows.scores[row : row + 1].copy()
        normalise(log_posterior, model.log_prior, 0)
        order = np.argsort(-log_posterior[0], kind="stable")
        answer, rivals = int(order[0]), order[1 : 1 + MAX_RIVALS].tolist()
        single = self._log_posteriors(row, [[candidate] for candidate in candidates])
        plans: list[Plan] = []
        for rival in rivals:
            gain = _log_odds(log_posterior, answer, rival)[0] - _log_odds(single, answer, rival)
            plans += _plans(candidates, gain)
        plans.sort(key=len)
        for start in range(0, len(plans), PLANS_AT_A_TIME):
            batch = plans[start : start + PLANS_AT_A_TIME]
            scores = self._log_posteriors(row, batch)
            successes = np.flatnonzero(scores.argmax(axis=1) != answer)
            if len(successes):
                return _best(model, batch, scores, successes)
        return None

    def _log_posteriors(self, row: int, plans: Sequence[Plan]) -> Floats:
        """Return the log posteriors of a row after each plan, before the floor."""
        rows, model = self.rows, self.rows.model
        scores = repeat_row(model.log_prior + model.offset, len(plans))
        changed = {change.column for plan in plans for change in plan}
        again: list[ExplainedBlock] = []
        for block, changes in zip(rows.blocks, self.changes, strict=True):
            if changes is not None and changes.position:
                scores += changes.replaced_in(block.evidence[:, row], plans).sum(axis=1)
            elif changes is not None or not any(column in block.block.names for column in changed):
                scores += block.total[row]
            else:
                again.append(block)
        if again or rows.tables is not None:
            self._score_again(row, plans, again, scores)
        normalise(scores, model.log_prior, 0)
        return scores

    def _score_again(self, row: int, plans: Sequence[Plan], blocks: Sequence[ExplainedBlock], scores: Floats) -> None:
        """Add the scores of blocks and of the tables of columns after each plan, read from the changed row."""
        rows, tables = self.rows, self.rows.model.weighted_tables
        names, table = [block.block.names for block in blocks], rows.table
        columns = {change.column for plan in plans for change in plan}
        if tables is None:
            table = table.narrowed(names)
            columns = {column for column in columns if any(column in of_block for of_block in names)}
        is_changed = np.array([tables is not None or any(change.column in columns for change in p) for p in plans])
        edits = [_new_cells(plans[i], columns) for i in np.flatnonzero(is_changed).tolist()]
        edited = table.with_cells(rows.positions[row], edits)
        views = views_of(edited, Schema(table.names, tuple(block.block for block in blocks)))
        for block, view in zip(blocks, views, strict=True):
            scores[~is_changed] += block.total[row]
            scores[is_changed] += ExplainedBlock.of(block.weighed, view, len(edits)).total
        if tables is not None:
            tables.score(tables.view(edited), scores)


@dataclass(frozen=True, eq=False)
class _Changes:
    """The distinct changes of columns of a block, by column and value, with the weighted evidence of the new values."""

    position: dict[tuple[str, CellValue], int]
    columns: Index  # (change,)
    scores: Floats  # (change, class)

    @classmethod
    def of(cls, weighed: WeighedBlock, plans: Sequence[Plan]) -> _Changes:
        """Score each change in a row of which all other columns are missing."""
        block, parameters = weighed.block, weighed.estimate.parameters
        position = {key: i for i, key in enumerate(dict.fromkeys((c.column, c.value) for p in plans for c in p))}
        scores = np.zeros((len(position), len(weighed.classes)))
        if not position:
            return cls(position, np.zeros(0, np.intp), scores)
        place = positions_of(block.names)
        columns = np.array([place[column] for column, _ in position])
        values = [value for _, value in position]
        step = max(1, MAX_CELLS // len(block.names))
        for start in range(0, len(values), step):
            chunk = slice(start, start + step)
            block.family.log_likelihood(
                _one_value_each(block, columns[chunk], values[chunk]), parameters, scores[chunk]
            )
        if weighed.weights is not None:
            scores = times(weighed.weights.weight[columns, None], scores)
        return cls(position, columns, scores)

    def replaced_in(self, evidence: Floats, plans: Sequence[Plan]) -> Floats:
        """Return the evidence (column, class) of a row after each plan, (plan, column, class)."""
        by_plan = np.repeat(evidence[None], len(plans), axis=0)
        places = [
            (i, self.position[change.column, change.value])
            for i, plan in enumerate(plans)
            for change in plan
            if (change.column, change.value) in self.position
        ]
        if places:
            plan_index, positions = np.array(places).T
            by_plan[plan_index, self.columns[positions]] = self.scores[positions]
        return by_plan


def _one_value_each(block: Block, columns: Index, values: Sequence[CellValue]) -> Numbers | Codes:
    """Return rows of a block in which one column each has a value, and all others are missing."""
    if block.family.statistic.view is Numbers:
        numbers = np.full((len(values), len(block.names)), np.nan)
        numbers[np.arange(len(values)), columns] = values
        return Numbers((numbers,))
    listed: list[list[CellValue]] = [[] for _ in block.names]
    codes = np.full((len(values), len(block.names)), -1, dtype=np.int32)
    for i, (j, value) in enumerate(zip(columns.tolist(), values, strict=True)):
        codes[i, j] = len(listed[j])
        listed[j].append(value)
    return Codes((codes,), tuple(map(tuple, listed)))


def _plans(candidates: Plan, gain: Floats) -> list[Plan]:
    """Return the best change, the best two, …: at most one for each column or word, the most effective first."""
    best: dict[tuple[str, str | None], Alternative] = {}
    for i in np.argsort(-gain, kind="stable").tolist():
        if gain[i] > MIN_GAIN:
            best.setdefault(candidates[i].key, candidates[i])
    ranked = list(best.values())[:MAX_CHANGES]
    return [ranked[: n + 1] for n in range(len(ranked))]


def _best(model: Model, plans: Sequence[Plan], scores: Floats, successes: Index) -> Counterfactual:
    """Return the shortest of the plans that succeed; among equals, the one with the most probable new class."""
    fewest = len(plans[successes[0]])
    i = max((int(s) for s in successes if len(plans[s]) == fewest), key=lambda s: float(scores[s].max()))
    changes = tuple(Change(change.column, change.before, change.after) for change in plans[i])
    return _counterfactual(model, changes, scores[i])


def _counterfactual(model: Model, changes: tuple[Change, ...], log_posterior: Floats) -> Counterfactual:
    """Return changes with the class that they lead to."""
    answer = int(log_posterior.argmax())
    scores = log_posterior[None].copy()
    normalise(scores, model.log_prior, 1, model.floor)
    return Counterfactual(changes, model.classes[answer], float(scores[0, answer]))


def _log_odds(log_posterior: Floats, answer: int, rival: int) -> Floats:
    """Return the log-odds of the answer against a rival, large instead of infinite, 0 where both are impossible."""
    with np.errstate(invalid="ignore"):
        odds = log_posterior[:, answer] - log_posterior[:, rival]
    return np.clip(np.nan_to_num(odds, nan=0.0), -MAX_LOG_ODDS, MAX_LOG_ODDS)


def _new_cells(plan: Plan, names: Container[str]) -> dict[str, object]:
    """Return the new cells of the row in some columns, by column."""
    cells = {change.column: change.value for change in plan if change.column in names}
    for column in {change.column for change in plan if change.word is not None}:
        words = {change.word for change in plan if change.column == column and change.word is not None}
        cells[column] = without_words(str(cells[column]), words)
    return cells
