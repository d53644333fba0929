"""Tables of scores (row, class): their posteriors and most probable classes, and the calibration of two classes."""

from __future__ import annotations

import numpy as np

from naively import _core
from naively._kernels.threads import thread_count
from naively._kernels.types import Codes32, Floats

MAX_COLUMNWISE_CLASSES = 4  # with few classes NumPy is several times faster down the columns than along short rows


def repeat_row(row: Floats, n_rows: int) -> Floats:
    """Return a table (row, class) whose rows all equal `row`.

    >>> repeat_row(np.array([1.0, 2.0]), 2).tolist()
    [[1.0, 2.0], [1.0, 2.0]]
    """
    if n_rows == 1:
        return row[None].copy()
    out = np.empty((n_rows, len(row)))
    if len(row) > MAX_COLUMNWISE_CLASSES:
        out[:] = row
    else:
        for c, value in enumerate(row.tolist()):
            out[:, c] = value
    return out


def add_to_rows(out: Floats, row: Floats) -> None:
    """Add `row` to every row of a table.

    >>> table = np.array([[0.0, 1.0], [2.0, 3.0]])
    >>> add_to_rows(table, np.array([10.0, 20.0]))
    >>> table.tolist()
    [[10.0, 21.0], [12.0, 23.0]]
    """
    if len(row) > MAX_COLUMNWISE_CLASSES:
        out += row
        return
    for c, value in enumerate(row.tolist()):
        if value:
            out[:, c] += value


def normalise(log_joint: Floats, log_prior: Floats, kind: int, floor: float = 0.0, n_jobs: int | None = None) -> int:
    """Turn log joint probabilities (row, class), in place, into log posteriors (kind 0) or posteriors (kind 1).

    A row without a possible class (all −inf) gets the prior, which must be normalised. Return the number of such rows.
    A floor ε makes p into (1 − ε) p + ε / C, where C is the number of classes whose prior is not zero.

    >>> scores = np.array([[0.0, -1000.0]])
    >>> normalise(scores, np.log([0.5, 0.5]), 1, floor=0.1)
    0
    >>> scores.tolist()
    [[0.9500000000000001, 0.05]]
    """
    return _core.normalise(log_joint, log_prior, kind, floor, thread_count(n_jobs))


def best_class(log_joint: Floats, log_prior: Floats, out: Codes32, n_jobs: int | None = None) -> int:
    """Write the most probable class of every row, the first of several, to `out`.

    A row without a possible class gets that of the prior. Return the number of such rows.
    """
    return _core.best_class(log_joint, log_prior, out, thread_count(n_jobs))


def row_losses(
    scores: Floats, target: Floats, evidence: Floats, factor: float = 1.0, n_jobs: int | None = None
) -> Floats:
    """Return the log-loss of each row for scores (row, class) plus each table of evidence times a factor, (table, row).

    `target` is (row, class), and the targets of a row add up to 1; `evidence` is (table, row, class).

    >>> row_losses(np.zeros((1, 2)), np.array([[1.0, 0.0]]), np.log([[[3.0, 1.0]], [[1.0, 1.0]]])).round(3).tolist()
    [[0.288], [0.693]]
    """
    return _core.row_losses(scores, target, evidence, factor, thread_count(n_jobs))


def minimise_two_classes(
    base: Floats,
    evidence: Floats,
    target: Floats,
    row_weight: Floats,
    centre: Floats,
    strength: Floats,
    start: Floats,
    *,
    max_weight: float,
    tolerance: float,
    max_steps: int,
) -> tuple[Floats, Floats]:
    """Return the offset b₁ − b₀ and the weights from 0 to `max_weight` that minimise the penalised loss of two classes.

    `target` is (row, class): 1 for the class of the row, or less if that is in doubt. There is a problem for each line
    of `row_weight` (problem, row). The penalty is ½ Σ strength · (x − centre)², and `start` is where to begin; all are
    (problem, feature), and so is the result. The second result are the minima. See
    core/posterior/two_class_solver.hpp.
    """
    rows = base, evidence, target
    return _core.minimise_two_classes(rows, row_weight, centre, strength, start, max_weight, tolerance, max_steps)
