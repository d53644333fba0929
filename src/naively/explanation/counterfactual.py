"""The fewest changes that would turn the answer: values to change, words to leave out; verified by rescoring.

Each column offers other values that it could have, each word that it might not be there. All single changes are
scored by the model itself; then the best of each column or word are made together, the most effective first, and
scored again, until the answer is another one. The log-odds is a sum, so between two classes no smaller number of these
changes does it (but for words scored in n-grams, or shortened by a length exponent, where the order is a guess).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from naively.data.table import Table
from naively.errors import ImpossibleRowsWarning
from naively.explanation.explanation import Change, Turn
from naively.explanation.offers import Offer, offers_of

if TYPE_CHECKING:
    from naively.model.columns import View
    from naively.model.model import Model
    from naively.schema.schema import Block

__all__ = ["turning"]

MOST_CHANGES = 100  # an answer that so many changes do not turn is said to stand
RIVALS = 4  # classes that are tried in the place of the answer, the most probable first
BEYOND = 1e9  # stands for an infinite log-odds where differences are taken


def turning(
    model: Model,
    blocks: Sequence[tuple[Block, Any, Any]],
    views: Sequence[View],
    table: Table,
    row: int,
    log_posterior: NDArray[np.float64],
) -> Turn | None:
    """The fewest changes found that turn the answer of a row; None if none do."""
    order = np.argsort(-log_posterior, kind="stable")
    answer, rivals = int(order[0]), order[1 : 1 + RIVALS].tolist()
    offers = [
        offer
        for (block, _, fitted), view in zip(blocks, views, strict=True)
        for offer in offers_of(block, fitted, view, row, rivals[0])
    ]
    if not offers:
        return None
    alone = _log_posterior(model, table, row, [[offer] for offer in offers])
    plans: list[list[Offer]] = []
    for rival in rivals:
        before = _odds(log_posterior[None], answer, rival)[0]
        gain = before - _odds(alone, answer, rival)
        plans += _plans(offers, gain)
    plans.sort(key=len)
    for start in range(0, len(plans), 256):
        some = plans[start : start + 256]
        scored = _log_posterior(model, table, row, some)
        turned = np.flatnonzero(scored.argmax(axis=1) != answer)
        if len(turned):
            return _turn(model, some, scored, turned)
    return None


def _plans(offers: Sequence[Offer], gain: NDArray[np.float64]) -> list[list[Offer]]:
    """The best offers of all columns and words, the most effective first: one of them, two of them, …"""
    best: dict[tuple[str, Any], int] = {}
    for i in np.argsort(-gain, kind="stable").tolist():
        if gain[i] > 1e-12:
            best.setdefault(offers[i].key, i)
    chosen = [offers[i] for i in list(best.values())[:MOST_CHANGES]]
    return [chosen[: n + 1] for n in range(len(chosen))]


def _turn(model: Model, plans: list[list[Offer]], scored: NDArray[np.float64], turned: NDArray[np.intp]) -> Turn:
    """The shortest of the plans that turn the answer; of equals, the one that makes the new answer most probable."""
    fewest = len(plans[turned[0]])
    i = max((int(t) for t in turned if len(plans[t]) == fewest), key=lambda t: float(scored[t].max()))
    changes = tuple(Change(offer.column, offer.before, offer.after) for offer in plans[i])
    new = int(scored[i].argmax())
    return Turn(changes, model.classes[new], float(np.exp(scored[i, new])))


def _odds(log_posterior: NDArray[np.float64], answer: int, rival: int) -> NDArray[np.float64]:
    """Log-odds of the answer against a rival, large instead of infinite, zero where both are impossible."""
    with np.errstate(invalid="ignore"):
        odds = log_posterior[:, answer] - log_posterior[:, rival]
    return np.clip(np.nan_to_num(odds, nan=0.0), -BEYOND, BEYOND)


def _log_posterior(model: Model, table: Table, row: int, plans: Sequence[Sequence[Offer]]) -> NDArray[np.float64]:
    edits = [Offer.edits(plan) for plan in plans]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ImpossibleRowsWarning)
        return model.log_posterior(table.with_cells(row, edits))
