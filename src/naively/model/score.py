"""Score rows: the log prior, the offsets and the weighted evidence of every block, (row, class)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from naively import _kernels as kernels
from naively._kernels.threads import on_own_threads
from naively.data.kinds import refuse_infinite
from naively.errors import ImpossibleRowsWarning, warn_user
from naively.families.base import times
from naively.families.gaussian import InfiniteValueError
from naively.model.columns import View, read_rows
from naively.model.columns import views as views_of
from naively.model.decide import Decision

if TYPE_CHECKING:
    from naively.model.calibrate import WeightedBlocks
    from naively.model.model import Model

Floats = NDArray[np.float64]

MAX_SCORES = 2**21  # in a table of scores that is only needed for a decision: 16 MB
MIN_ROWS = 1024  # of such a table, if there are many classes


def score(blocks: WeightedBlocks, views: Sequence[View], log_prior: Floats, n_rows: int) -> Floats:
    """Return log π_c + b_c + Σ_j w_j · L_j^(−β_j) · e_jc, (row, class); `views` are the columns of each block."""
    scores = kernels.same_rows(log_prior + blocks.offset, n_rows)
    parts = zip(blocks.schema.blocks, views, blocks.parameters, blocks.factors, strict=True)
    for block, view, parameters, factor in parts:
        try:
            if factor is None:
                block.family.log_likelihood(view, parameters, scores)
                continue
            weight, exponent = factor
            length = np.zeros(n_rows) if exponent else None
            evidence = np.zeros_like(scores)
            block.family.log_likelihood(view, parameters, evidence, length)
        except InfiniteValueError as error:
            refuse_infinite(block.names[error.column])
        scores += times(
            weight if length is None else (weight * np.maximum(length, 1.0) ** -exponent)[:, None], evidence
        )
    return scores


def score_rows(model: Model, X: Any, blocks: WeightedBlocks) -> Floats:
    """Return the scores of all rows, (row, class)."""
    table = read_rows(model, X)
    return score(blocks, views_of(table, blocks.schema), model.log_prior, table.n_rows)


@on_own_threads
def decide_rows(model: Model, X: Any, decision: Decision) -> NDArray[np.int32]:
    """Return the position of each row's class, −1 for none; rows are scored in chunks, which take little memory."""
    table = read_rows(model, X)
    blocks, n_rows = model._blocks, table.n_rows
    views = views_of(table, blocks.schema)
    positions = np.empty(n_rows, dtype=np.int32)
    step = max(MIN_ROWS, MAX_SCORES // max(1, len(model.classes)))
    n_impossible = 0
    for start in range(0, max(1, n_rows), step):
        stop = min(start + step, n_rows)
        part = views if n_rows <= step else [view.rows(start, stop) for view in views]
        scores = score(blocks, part, model.log_prior, stop - start)
        n_impossible += decision.decide(scores, model.log_prior, positions[start:stop])
    warn_of_impossible_rows(n_impossible, n_rows)
    return positions


def most_probable(model: Model, X: Any) -> NDArray[np.int32]:
    """Return the position of the most probable class of each row."""
    return decide_rows(model, X, Decision(model.classes))


@on_own_threads
def decide_with_posterior(model: Model, X: Any, decision: Decision) -> tuple[NDArray[np.int32], Floats]:
    """Return the position of each row's class, −1 for none, and the posteriors, (row, class), from one scoring."""
    scores = score_rows(model, X, model._blocks)
    positions = np.empty(len(scores), dtype=np.int32)
    decision.decide(scores.copy() if decision.has_rule else scores, model.log_prior, positions)
    warn_of_impossible_rows(kernels.normalise(scores, model.log_prior, 1), len(scores))
    return positions, scores


def warn_of_impossible_rows(n_impossible: int, n_rows: int) -> None:
    """Warn if some rows have probability zero in every class."""
    if n_impossible:
        warn_user(
            f"{n_impossible} of {n_rows} rows are impossible under every class (a probability of zero in each); they "
            "get the class prior. Smooth the model (alpha > 0, a and b > 0) to tell such rows apart.",
            ImpossibleRowsWarning,
        )
