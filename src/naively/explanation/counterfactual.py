"""Find the fewest changes that would change a prediction: values to change, words to leave out.

Families propose other values of each column, and words to leave out. The model scores each change by itself. Then the
best changes of all columns and words are made together, the most effective first, until the model predicts another
class. The log-odds is a sum, so no smaller number of these changes does it between two classes. The exceptions are
texts scored by n-grams or with a length exponent, and models with tables of columns, where the order is a guess.

Where the evidence of each column is independent of the others, a change is scored once for all rows, and the score of a
row with several changes is a sum. Texts and blocks of counts are scored as whole rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from naively._kernels.posterior import normalise
from naively._kernels.types import Floats, Index
from naively.data.labelled import Label
from naively.data.names import positions_of
from naively.data.plain import as_plain
from naively.data.table import Table
from naively.errors import ImpossibleRowsWarning
from naively.families.evidence import Alternative
from naively.families.text import without_words
from naively.model.contributions import evidence_of_columns
from naively.model.count import View, views_of
from naively.model.decide import log_sum_exp
from naively.model.model import Model

MAX_CHANGES = 100
MAX_RIVALS = 4  # classes that the prediction may change to, the most probable ones
MAX_LOG_ODDS = 1e9  # stands for an infinite log-odds where differences are taken
MIN_GAIN = 1e-12  # nats that a change must add
TIE = 1e-9  # relative: two classes this close are equal
PLANS_AT_A_TIME = 256
MAX_CACHED_SCORES = 1_000_000  # of changes, by class
Plan = Sequence[Alternative]
_SCORES: WeakKeyDictionary[Model, dict[tuple[str, object], Floats]] = WeakKeyDictionary()  # of changes to columns


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
    model: Model, table: Table, views: Sequence[View], rows: range, log_posterior: Floats, candidates: Sequence[Plan]
) -> list[Counterfactual | None]:
    """Find the fewest changes of each row that change its prediction.

    Parameters
    ----------
    model, table, views, log_posterior
        The model, the rows, their columns by block, and their log posteriors before the floor.
    rows
        The positions of the rows to explain.
    candidates
        The changes to try, for each of these rows.

    Returns
    -------
    list
        None for a row that no combination of at most 100 changes is enough for.
    """
    additive = _additive_columns(model) if table.can_change_any_cell else frozenset()
    is_additive = [all(change.column in additive for change in plan) for plan in candidates]
    results: list[Counterfactual | None] = [None] * len(rows)
    quick = [i for i, plan in enumerate(candidates) if plan and is_additive[i]]
    if quick:
        sums = _Sums.of(model, table, views, rows, candidates, quick)
        for i in quick:
            if np.isfinite(sums.evidence[:, i]).all():
                with np.errstate(invalid="ignore"):  # a change may be impossible in both classes
                    results[i] = sums.search(model, i, candidates[i])
            else:
                is_additive[i] = False
    for i, plan in enumerate(candidates):
        if plan and not is_additive[i]:
            results[i] = _search_by_scoring(model, table, rows[i], log_posterior[rows[i]], plan)
    return results


def _additive_columns(model: Model) -> frozenset[str]:
    """Return the columns whose evidence does not depend on other columns: none if the model has tables of columns."""
    if model.weighted_blocks.tables is not None:
        return frozenset()
    blocks = model.chosen.schema.blocks
    names = {name for block in blocks for name in block.names}
    return frozenset(
        names - {n for block in blocks if block.family.joint or block.family.own_block for n in block.names}
    )


@dataclass(frozen=True, eq=False)
class _Sums:
    """The evidence of columns as it is and after each change: the score of a changed row is a sum of these."""

    evidence: Floats  # (column, row, class)
    changed: Floats  # (change, class): the evidence of the column after each distinct change
    position: dict[tuple[str, object], int]  # of a change among the distinct ones
    column: dict[str, int]
    start: Floats  # (class,)

    @classmethod
    def of(
        cls,
        model: Model,
        table: Table,
        views: Sequence[View],
        rows: range,
        candidates: Sequence[Plan],
        quick: Sequence[int],
    ) -> _Sums:
        """Score the rows, and each distinct change once, in any row, also if it is proposed for later rows again."""
        evidence = evidence_of_columns(model, [view.rows(rows.start, rows.stop) for view in views], len(rows))
        changes = {(change.column, change.value): change for i in quick for change in candidates[i]}
        column = positions_of(model.schema.names)
        known = _SCORES.setdefault(model, {})
        scores = {key: score for key in changes if (score := known.get(key)) is not None}
        new = [change for key, change in changes.items() if key not in scores]
        if new:
            edited = table.with_cells(rows[quick[0]], [{change.column: change.value} for change in new])
            of_new = evidence_of_columns(model, views_of(edited, model.chosen.schema), len(new))
            for i, change in enumerate(new):
                scores[change.column, change.value] = of_new[column[change.column], i].copy()
            if (len(known) + len(new)) * len(model.classes) > MAX_CACHED_SCORES:
                known.clear()
            known.update(scores)
        position = {key: i for i, key in enumerate(changes)}
        changed = np.array([scores[key] for key in changes])
        return cls(evidence, changed, position, column, model.log_prior + model.weighted_blocks.offset)

    def search(self, model: Model, row: int, candidates: Plan) -> Counterfactual | None:
        """Make the best changes of all columns together, the most effective first, until another class leads."""
        of_row = self.evidence[:, row]
        score = self.start + of_row.sum(axis=0)
        columns = [self.column[change.column] for change in candidates]
        positions = [self.position[change.column, change.value] for change in candidates]
        difference = self.changed[positions] - of_row[columns]
        order = np.argsort(-score, kind="stable")
        answer = int(order[0])
        best: tuple[int, float, list[int], Floats] | None = None
        for rival in order[1 : 1 + MAX_RIVALS].tolist():
            gain = np.nan_to_num(difference[:, rival] - difference[:, answer], nan=0.0)
            chosen: dict[int, int] = {}
            for i in np.argsort(-gain, kind="stable").tolist():
                if gain[i] <= MIN_GAIN or len(chosen) == MAX_CHANGES:
                    break
                chosen.setdefault(columns[i], i)
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
        return _counterfactual(model, changes, best[3])


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
