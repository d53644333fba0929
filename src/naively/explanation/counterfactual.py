"""Find the fewest changes that would change a prediction: values to change, words to leave out.

Families propose other values of each column, and words to leave out. The model scores each change by itself. Then the
best changes of all columns and words are made together, the most effective first, until the model predicts another
class. The log-odds is a sum, so no smaller number of these changes does it between two classes. The exceptions are
texts scored by n-grams or with a length exponent, where the order is a guess.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from naively._kernels.types import Floats, Index
from naively.data.labelled import Label
from naively.data.plain import as_plain
from naively.data.table import Table
from naively.errors import ImpossibleRowsWarning
from naively.families.evidence import Alternative
from naively.families.text import without_words
from naively.model.model import Model

MAX_CHANGES = 100
MAX_RIVALS = 4  # classes that the prediction may change to, the most probable ones
MAX_LOG_ODDS = 1e9  # stands for an infinite log-odds where differences are taken
PLANS_AT_A_TIME = 256
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


def find_counterfactual(
    model: Model, table: Table, row: int, log_posterior: Floats, candidates: Plan
) -> Counterfactual | None:
    """Find the fewest changes of a row that change its prediction.

    Parameters
    ----------
    model, table, row, log_posterior
        The model, the rows, the position of the row, and its log posterior.
    candidates
        The changes to try.

    Returns
    -------
    Counterfactual or None
        None if no combination of at most 100 changes is enough.
    """
    order = np.argsort(-log_posterior, kind="stable")
    answer, rivals = int(order[0]), order[1 : 1 + MAX_RIVALS].tolist()
    if not candidates:
        return None
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
        if gain[i] > 1e-12:
            best.setdefault(candidates[i].key, candidates[i])
    ranked = list(best.values())[:MAX_CHANGES]
    return [ranked[: n + 1] for n in range(len(ranked))]


def _best(model: Model, plans: Sequence[Plan], scores: Floats, successes: Index) -> Counterfactual:
    """Return the shortest of the plans that succeed; among equals, the one with the most probable new class."""
    fewest = len(plans[successes[0]])
    i = max((int(s) for s in successes if len(plans[s]) == fewest), key=lambda s: float(scores[s].max()))
    changes = tuple(Change(change.column, change.before, change.after) for change in plans[i])
    answer = int(scores[i].argmax())
    return Counterfactual(changes, model.classes[answer], float(np.exp(scores[i, answer])))


def _log_odds(log_posterior: Floats, answer: int, rival: int) -> Floats:
    """Return the log-odds of the answer against a rival, large instead of infinite, 0 where both are impossible."""
    with np.errstate(invalid="ignore"):
        odds = log_posterior[:, answer] - log_posterior[:, rival]
    return np.clip(np.nan_to_num(odds, nan=0.0), -MAX_LOG_ODDS, MAX_LOG_ODDS)


def _log_posteriors(model: Model, table: Table, row: int, plans: Sequence[Plan]) -> Floats:
    """Return the log posteriors of the row after each plan."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ImpossibleRowsWarning)
        return model.log_posterior(table.with_cells(row, [_new_cells(plan) for plan in plans]))


def _new_cells(plan: Plan) -> dict[str, object]:
    """Return the new cells of the row, by column."""
    cells = {change.column: change.value for change in plan}
    for column in {change.column for change in plan if change.word is not None}:
        words = {change.word for change in plan if change.column == column and change.word is not None}
        cells[column] = without_words(str(cells[column]), words)
    return cells
