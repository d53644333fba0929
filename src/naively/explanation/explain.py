"""Explain predictions: the prior and one contribution per column or word, whose sum is the log-odds of the model.

    log P(of | x) − log P(against | x) = log π_of/π_against + b_of − b_against + Σ_j w_j (e_j,of − e_j,against)   (1)

e_jc is the evidence of column j for class c. The offsets b, added to the prior, and the weights w are those of
the tuning, 0 and 1 without one. Where a probability is zero the evidence is −∞, and one such line decides. A row that
is impossible in both classes is left with the prior, as in `Model.log_odds`; its contributions are then zero.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np

from naively._kernels.types import Floats
from naively.data.labelled import Classes, Label
from naively.data.read import TableLike
from naively.errors import InputError
from naively.explanation.counterfactual import Counterfactual, find_counterfactual
from naively.explanation.explanation import Contribution, Explanation
from naively.families.evidence import Pair, RowView, Term
from naively.model.count import View, views_of
from naively.model.decide import log_odds_against, position_of
from naively.model.model import Model
from naively.model.score import read_rows
from naively.schema.schema import Block
from naively.statistics import Statistic


def explain(
    model: Model,
    X: TableLike,
    of: Label | None = None,
    against: Label | None = None,
    top: int | None = None,
    changes: bool = True,
) -> list[Explanation]:
    """Explain the prediction for each row. See `Model.explain`."""
    if top is not None and top < 0:
        raise InputError(f"top={top}: the number of contributions to keep is zero or more.")
    table = read_rows(model, X)
    log_posterior = model.log_posterior(table)
    blocks = [
        ExplainedBlock.of(model, *block, view, table.n_rows)
        for block, view in zip(scored_blocks(model), views_of(table, model.chosen.schema), strict=True)
    ]
    explanations = []
    for row in range(table.n_rows):
        order = np.argsort(-log_posterior[row], kind="stable").tolist()
        pair, counterfactual = class_pair(model, of, against, order), None
        if changes:
            alternatives = (b.block.family.alternatives(b.row(row), b.parameters, order[1]) for b in blocks)
            candidates = list(chain.from_iterable(alternatives))
            counterfactual = find_counterfactual(model, table, row, log_posterior[row], candidates)
        explanations.append(_explain_row(model, blocks, row, log_posterior[row], pair, top, counterfactual))
    return explanations


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
    cache: dict[str, object] = field(default_factory=dict)

    @classmethod
    def of(
        cls, model: Model, block: Block, statistic: Statistic, parameters: Any, view: View, n_rows: int
    ) -> ExplainedBlock:
        """Look up the weights of a block."""
        block_of_rows = cls(block, statistic, parameters, view, model.classes)
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

    def row(self, i: int) -> RowView:
        """Return one row for the family."""
        x = self.view.rows(i, i + 1)
        return RowView(x, self.block.names, self.block.kinds, self.classes, self.weight, self.cache)

    def terms(self, i: int, pair: Pair) -> list[Term]:
        """Return the weighted terms of a row."""
        terms = self.block.family.terms(self.row(i), self.statistic, self.parameters, pair)
        if self.factor is not None:
            factor = float(self.factor[i if len(self.factor) > 1 else 0])
            return [term.times(factor) for term in terms]
        if self.weight is None:
            return terms
        weight = dict(zip(self.block.names, self.weight.tolist(), strict=True))
        return [term.times(weight.get(term.column, 1.0)) for term in terms]


def _explain_row(
    model: Model,
    blocks: Sequence[ExplainedBlock],
    row: int,
    log_posterior: Floats,
    pair: Pair,
    top: int | None,
    counterfactual: Counterfactual | None,
) -> Explanation:
    """Return the explanation of one row between two classes."""
    terms_by_block = [block.terms(row, pair) for block in blocks]
    terms = [term for terms in terms_by_block for term in terms]
    terms += [Term(name, None, "", note=f"not used: {reason}") for name, reason in model.chosen.left_out.items()]
    log_prior = model.log_prior
    is_impossible = all(
        log_prior[c] == -np.inf or any(term.scores[side] == -np.inf for term in terms) for side, c in enumerate(pair)
    )
    start = log_prior if is_impossible else log_prior + model.weighted_blocks.offset
    labels = model.classes[pair[0]], model.classes[pair[1]]
    lines = sorted((_contribution(term, labels, is_impossible) for term in terms), key=lambda line: -abs(line.log_odds))
    n_shown = len(lines) if top is None else min(top, len(lines))
    texts = {}
    for block, block_terms in zip(blocks, terms_by_block, strict=True):
        pieces = block.block.family.pieces(block.row(row), block_terms)
        if pieces is not None:
            texts[block.block.names[0]] = pieces
    return Explanation(
        of=labels[0],
        against=labels[1],
        answer=model.classes[int(log_posterior.argmax())],
        prior=float(log_odds_against(start[None], log_prior, *pair)[0]),
        contributions=tuple(lines[:n_shown]),
        total=float(log_odds_against(log_posterior[None], log_prior, *pair)[0]),
        posterior=dict(zip(model.classes, np.exp(log_posterior).tolist(), strict=True)),
        rest=math.fsum(line.log_odds for line in lines[n_shown:]),
        n_rest=len(lines) - n_shown,
        counterfactual=counterfactual,
        texts=texts or None,
    )


def _contribution(term: Term, labels: tuple[Label, Label], is_impossible: bool) -> Contribution:
    """Return the difference of a term between two classes; zero if the row is impossible in both."""
    zero_in = [str(label) for label, score in zip(labels, term.scores, strict=True) if score == -np.inf]
    has_interval = all(map(math.isfinite, term.interval)) and not zero_in
    return Contribution(
        column=term.column,
        value=term.value,
        shown=term.shown,
        count=term.count,
        log_odds=0.0 if is_impossible or len(zero_in) == 2 else term.log_odds,
        counts=term.counts[0],
        counts_against=term.counts[1],
        low=term.interval[0] if has_interval else None,
        high=term.interval[1] if has_interval else None,
        note=f"impossible under {' and '.join(zero_in)}" if zero_in else term.note,
    )
