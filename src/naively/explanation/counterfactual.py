"""Find the fewest changes that would change a prediction: values to change, words to leave out.

Families propose other values of each column, and words to leave out. The model scores each change by itself. Then the
best changes of all columns and words are made together, the most effective first, until the model predicts another
class. The log-odds is a sum, so no smaller number of these changes does it between two classes. The exceptions are
texts scored by n-grams or with a length exponent, and models with tables of columns, where the order is a guess.

Where the evidence of each column is independent of the others, a change is scored once for many rows by its column
alone, and the score of a row with several changes is a sum. Texts and blocks of counts are scored as whole rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from naively._kernels.posterior import normalise
from naively._kernels.types import Floats, Index
from naively.data.labelled import Label
from naively.data.names import positions_of
from naively.data.plain import CellValue, as_plain
from naively.data.table import Table
from naively.data.views import Codes, Numbers
from naively.errors import ImpossibleRowsWarning
from naively.families.base import times
from naively.families.evidence import Alternative
from naively.families.text import without_words
from naively.model.contributions import evidence_of_block
from naively.model.count import View
from naively.model.decide import log_sum_exp
from naively.model.model import Model
from naively.schema.schema import Block

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


def find_counterfactuals(
    model: Model,
    table: Table,
    positions: range,
    views: Sequence[View],
    log_posterior: Floats,
    candidates: Sequence[Sequence[Plan]],
) -> list[Counterfactual | None]:
    """Find the fewest changes of each row that change its prediction.

    Parameters
    ----------
    model
        The model.
    table, positions
        A table, and the positions of the rows to explain.
    views, log_posterior
        The columns of these rows by block, and their log posteriors before the floor.
    candidates
        The changes to try: for each of these rows, those of the columns of each block.

    Returns
    -------
    list
        None for a row that no combination of at most 100 changes is enough for.
    """
    are_additive = _are_additive(model, table)
    is_sum = [
        any(plans) and all(additive or not plan for additive, plan in zip(are_additive, plans, strict=True))
        for plans in candidates
    ]
    sums = _Sums.of(model, views, [plans if i else () for i, plans in zip(is_sum, candidates, strict=True)])
    results: list[Counterfactual | None] = []
    for i, plans in enumerate(candidates):
        if not any(plans):
            results.append(None)
        elif is_sum[i] and np.isfinite(sums.score[i]).all():
            with np.errstate(invalid="ignore"):  # a change may be impossible in both classes
                results.append(sums.search(i, plans))
        else:
            plan = list(chain.from_iterable(plans))
            results.append(_search_by_scoring(model, table, positions[i], log_posterior[i], plan))
    return results


def _are_additive(model: Model, table: Table) -> list[bool]:
    """Return for each block whether the evidence of its columns is independent of others, and all can be changed."""
    is_sum = table.can_change_any_cell and model.weighted_blocks.tables is None
    blocks = model.chosen.schema.blocks
    return [is_sum and not (block.family.joint or block.family.own_block) for block in blocks]


@dataclass(frozen=True, eq=False)
class _Sums:
    """The evidence of the columns of rows, and of changed columns, by block: the score of a changed row is a sum."""

    model: Model
    evidence: list[Floats]  # of each block, (column, row, class)
    score: Floats  # (row, class)
    changes: list[_Changes]  # of each block

    @classmethod
    def of(cls, model: Model, views: Sequence[View], candidates: Sequence[Sequence[Plan]]) -> _Sums:
        """Score the rows, and each distinct change of the rows once; rows without candidates may not be sums."""
        blocks = list(zip(model.chosen.schema.blocks, model.parameters, views, strict=True))
        evidence = [evidence_of_block(model, *block, len(candidates)) for block in blocks]
        start = model.log_prior + model.weighted_blocks.offset
        score = np.add.reduce([part.sum(axis=0) for part in evidence], initial=0) + start
        changes = [
            _Changes.of(model, block, parameters, [plans[b] for plans in candidates if plans])
            for b, (block, parameters, _) in enumerate(blocks)
        ]
        return cls(model, evidence, score, changes)

    def _difference(self, row: int, b: int, plan: Plan) -> Floats:
        """Return by how much each change of columns of a block changes the score of a row, (change, class)."""
        changes = self.changes[b]
        positions = [changes.position[change.column, change.value] for change in plan]
        return np.asarray(changes.scores[positions] - self.evidence[b][changes.columns[positions], row])

    def search(self, row: int, plans: Sequence[Plan]) -> Counterfactual | None:
        """Make the best changes of all columns together, the most effective first, until another class leads."""
        score, candidates = self.score[row], list(chain.from_iterable(plans))
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
        return _counterfactual(self.model, changes, best[3])


@dataclass(frozen=True, eq=False)
class _Changes:
    """The distinct changes of columns of a block, by column and value, with the weighted evidence of the new values."""

    position: dict[tuple[str, CellValue], int]
    columns: Index  # (change,)
    scores: Floats  # (change, class)

    @classmethod
    def of(cls, model: Model, block: Block, parameters: Any, plans: Sequence[Plan]) -> _Changes:
        """Score each change in a row of which all other columns are missing."""
        position = {key: i for i, key in enumerate(dict.fromkeys((c.column, c.value) for p in plans for c in p))}
        scores = np.zeros((len(position), len(model.classes)))
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
        if model.tuning is not None:
            scores = times(model.tuning.weight(block)[columns, None], scores)
        return cls(position, columns, scores)


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


def _search_by_scoring(
    model: Model, table: Table, row: int, log_posterior: Floats, candidates: Plan
) -> Counterfactual | None:
    """Find the fewest changes by scoring whole rows, for texts and columns whose evidence is not a sum."""
    order = np.argsort(-log_posterior, kind="stable")
    answer, rivals = int(order[0]), order[1 : 1 + MAX_RIVALS].tolist()
    single = _log_posteriors(model, table, row, [[candidate] for candidate in candidates])
    plans: list[Plan] = []
    for rival in rivals:
        gain = _log_odds(log_posterior[None], answer, rival)[0] - _log_odds(single, answer, rival)
        plans += _plans(candidates, gain)
    plans.sort(key=len)
    for start in range(0, len(plans), PLANS_AT_A_TIME):
        batch = plans[start : start + PLANS_AT_A_TIME]
        scores = _log_posteriors(model, table, row, batch)
        successes = np.flatnonzero(scores.argmax(axis=1) != answer)
        if len(successes):
            return _best(model, batch, scores, successes)
    return None


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


def _log_posteriors(model: Model, table: Table, row: int, plans: Sequence[Plan]) -> Floats:
    """Return the log posteriors of the row after each plan, before the floor."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ImpossibleRowsWarning)
        return model.without_floor().log_posterior(table.with_cells(row, [_new_cells(plan) for plan in plans]))


def _new_cells(plan: Plan) -> dict[str, object]:
    """Return the new cells of the row, by column."""
    cells = {change.column: change.value for change in plan}
    for column in {change.column for change in plan if change.word is not None}:
        words = {change.word for change in plan if change.column == column and change.word is not None}
        cells[column] = without_words(str(cells[column]), words)
    return cells
