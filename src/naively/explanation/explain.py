"""Explaining rows: the prior and one contribution per column or word, whose sum is the model's own log-odds.

    log P(of | x) − log P(against | x) = log π_of/π_against + b_of − b_against + Σ_j w_j (e_j,of − e_j,against)   (1)

e_jc is the evidence of column j for class c; the class offsets b (part of `prior` here) and the weights w are the
Tuning's, 0 and 1 without one (`calibration.py`). Where a probability is zero the evidence is −∞: one such line decides.
A row that is impossible in both classes leaves the prior, as in `Model.log_odds`, and every line is then zero.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from naively.errors import InputError
from naively.explanation.bins import BinTerms
from naively.explanation.counterfactual import turning
from naively.explanation.explanation import Contribution, Explanation, Turn
from naively.explanation.numbers import NumberTerms
from naively.explanation.tokens import CoinTerms, TokenTerms
from naively.explanation.values import ValueTerms
from naively.explanation.words import WordTerms
from naively.families import Bernoulli, NoValuesYet
from naively.families.evidence import BlockTerms, Term
from naively.model import columns as local
from naively.model import decide as decisions
from naively.model.calibrate import weighted_blocks
from naively.model.decide import position_of
from naively.statistics import Codes, Histogram, Numbers, Texts, TokenCounts, ValueCounts, WordCounts

if TYPE_CHECKING:
    from naively.model.columns import View
    from naively.model.model import Model
    from naively.schema.schema import Block

__all__ = ["explain", "scored_blocks"]


def scored_blocks(model: Model) -> list[tuple[Block, Any, Any]]:
    """What is scored: each block with its statistic and its parameters."""
    return list(zip(model.chosen.schema.blocks, model.chosen.statistics, model.parameters, strict=True))


def explain(
    model: Model, X: Any, of: Any = None, against: Any = None, top: int | None = None, changes: bool = True
) -> list[Explanation]:
    """One explanation per row, of `of` (by default the answer) against `against` (the runner-up).

    `top` keeps that many contributions and adds up the rest; `changes=False` does not look for what would turn the
    answer.
    """
    if len(model.classes) < 2:
        raise InputError("an explanation compares two classes, and the model has one.")
    if top is not None and top < 0:
        raise InputError(f"top={top}: the number of contributions to keep is zero or more.")
    table = local.read_rows(model, X)
    log_posterior = model.log_posterior(table)
    blocks = scored_blocks(model)
    views = local.views(table, model.chosen.schema)
    found = [
        Weighted(_terms_of(model, *block, view), *_weights(model, block[0], block[2], view, table.n_rows))
        for block, view in zip(blocks, views, strict=True)
    ]
    found.append(Weighted(LeftOutTerms(model.chosen.left_out), {}, None))
    explained = []
    for row in range(table.n_rows):
        pair = _pair(model, log_posterior[row], of, against)
        turn = turning(model, blocks, views, table, row, log_posterior[row]) if changes else None
        explained.append(_explanation(model, found, row, log_posterior[row], pair, top, turn))
    return explained


def _pair(model: Model, log_posterior: NDArray[np.float64], of: Any, against: Any) -> tuple[int, int]:
    """Two classes: those given, and else the most probable ones."""
    order = np.argsort(-log_posterior, kind="stable").tolist()
    first = None if of is None else position_of(of, model.classes)
    second = None if against is None else position_of(against, model.classes)
    if first is None:
        first = next(c for c in order if c != second)
    if second is None:
        second = next(c for c in order if c != first)
    if first == second:
        raise InputError(f"of= and against= are the same class, {model.classes[first]!r}: name two.")
    return first, second


def _terms_of(model: Model, block: Block, statistic: Any, fitted: Any, view: View) -> BlockTerms:
    """What tells the terms of a block, by its statistic."""
    if isinstance(statistic, TokenCounts) and isinstance(view, Numbers):
        if isinstance(block.family, Bernoulli):
            weight = None if model.tuning is None else model.tuning.weight(block)
            return CoinTerms(block, statistic, fitted, view, weight)
        return TokenTerms(block, statistic, fitted, view, model.classes)
    if isinstance(statistic, ValueCounts) and isinstance(view, Codes):
        return ValueTerms(block, statistic, fitted, view, model.classes)
    if isinstance(statistic, WordCounts) and isinstance(view, Texts):
        return WordTerms(block, statistic, fitted, view, model.classes)
    if isinstance(statistic, Histogram) and isinstance(view, Numbers):
        return BinTerms(block, statistic, fitted, view, {})
    if isinstance(block.family, NoValuesYet):
        return LeftOutTerms(dict.fromkeys(block.names, "it had no value in training"))
    assert isinstance(view, Numbers)
    return NumberTerms(block, statistic, fitted, view, len(model.classes))


def _weights(model: Model, block: Block, fitted: Any, view: View, n_rows: int) -> tuple[Mapping[str, float], Any]:
    """The weight of each column of a block, and for a block of words the factor of each row."""
    tuning = model.tuning
    if tuning is None or not len(block.names):
        return {}, None
    weight = tuning.weight(block)
    if not (block.family.joint or block.family.own_block):
        return dict(zip(block.names, weight.tolist(), strict=True)), None
    exponent = tuning.exponents.get(block.names[0], 0.0)
    if exponent == 0.0:
        return {}, np.full(1, weight[0])
    scores, length = np.zeros((n_rows, len(model.classes))), np.zeros(n_rows)
    block.family.log_likelihood(view, fitted, scores, length)
    return {}, weight[0] * np.maximum(length, 1.0) ** -exponent


@dataclass(frozen=True, eq=False)
class Weighted:
    """The terms of a block under the tuning: times the weight of their column, or of all in a row."""

    block: BlockTerms
    by_column: Mapping[str, float]
    by_row: NDArray[np.float64] | None

    def terms(self, row: int, of: int, against: int) -> list[Term]:
        """Those of one row, between two classes."""
        terms = self.block.terms(row, of, against)
        if self.by_row is not None:
            factor = float(self.by_row[row if len(self.by_row) > 1 else 0])
            return [term.times(factor) for term in terms]
        return [term.times(self.by_column.get(term.column, 1.0)) for term in terms] if self.by_column else terms

    def pieces(self, row: int, terms: Sequence[Term]) -> dict[str, tuple[tuple[str, float], ...]]:
        """The texts of a row in pieces with their log-odds."""
        return self.block.pieces(row, terms)


@dataclass(frozen=True)
class LeftOutTerms(BlockTerms):
    """Columns that are no evidence, and why."""

    reasons: Mapping[str, str]

    def terms(self, row: int, of: int, against: int) -> list[Term]:
        """A line of zero each."""
        return [Term(name, None, "", note=f"left out: {reason}") for name, reason in self.reasons.items()]


def _explanation(
    model: Model,
    blocks: Sequence[Weighted],
    row: int,
    log_posterior: NDArray[np.float64],
    pair: tuple[int, int],
    top: int | None,
    turn: Turn | None,
) -> Explanation:
    of, against = pair
    terms = [block.terms(row, of, against) for block in blocks]
    flat = [term for part in terms for term in part]
    log_prior = model.log_prior
    total = float(decisions.log_odds_against(log_posterior[None], log_prior, of, against)[0])
    void = all(log_prior[c] == -np.inf or any(term.scores[i] == -np.inf for term in flat) for i, c in enumerate(pair))
    start = log_prior if void else log_prior + weighted_blocks(model).offset
    prior = float(decisions.log_odds_against(start[None], log_prior, of, against)[0])
    labels = model.classes[of], model.classes[against]
    lines = sorted((_contribution(term, *labels, void) for term in flat), key=lambda c: -abs(c.log_odds))
    kept = lines if top is None else lines[:top]
    texts: dict[str, tuple[tuple[str, float], ...]] = {}
    for block, part in zip(blocks, terms, strict=True):
        texts |= block.pieces(row, part)
    return Explanation(
        *labels,
        model.classes[int(log_posterior.argmax())],
        prior,
        tuple(kept),
        total,
        dict(zip(model.classes, np.exp(log_posterior).tolist(), strict=True)),
        math.fsum(line.log_odds for line in lines[len(kept) :]),
        len(lines) - len(kept),
        turn,
        texts or None,
    )


def _contribution(term: Term, of: Any, against: Any, void: bool) -> Contribution:
    """The difference of a term between the two classes; zero if the row is impossible in both."""
    never = [str(label) for label, score in zip((of, against), term.scores, strict=True) if score == -np.inf]
    note = f"impossible under {' and '.join(never)}" if never else term.note
    log_odds = 0.0 if void or len(never) == 2 else term.log_odds
    told = all(map(math.isfinite, term.spread)) and not never
    return Contribution(
        column=term.column,
        value=term.value,
        shown=term.shown,
        count=term.count,
        log_odds=log_odds,
        of=term.behind[0],
        against=term.behind[1],
        low=term.spread[0] if told else None,
        high=term.spread[1] if told else None,
        note=note,
    )
