"""Score the rows of a table: log-likelihoods, with or without the weights of a tuning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from naively.data.kinds import refuse_infinite
from naively.families.base import times
from naively.families.gaussian import InfiniteValueError
from naively.model.columns import View
from naively.schema.schema import Block, Schema

if TYPE_CHECKING:
    from naively.model.calibrate import Calibrated


def score(schema: Schema, found: Sequence[View], parameters: Sequence[Any], out: NDArray[np.float64]) -> None:
    """Add the log-likelihood of each block to `out`, (row, class)."""
    for block, view, fitted in zip(schema.blocks, found, parameters, strict=True):
        _add(block, view, fitted, out)


def score_calibrated(calibrated: Calibrated, found: Sequence[View], out: NDArray[np.float64]) -> None:
    """Add the weighted log-likelihood of each block to `out`, (row, class)."""
    parts = zip(calibrated.schema.blocks, found, calibrated.parameters, calibrated.factors, strict=True)
    for block, view, fitted, factor in parts:
        if factor is None:
            _add(block, view, fitted, out)
            continue
        evidence = np.zeros_like(out)
        weight, exponent = factor
        if exponent == 0.0:
            _add(block, view, fitted, evidence)
            out += times(weight, evidence)
            continue
        length = np.zeros(len(out))
        _add(block, view, fitted, evidence, length)
        out += times((weight * np.maximum(length, 1.0) ** -exponent)[:, None], evidence)


def _add(
    block: Block, view: View, fitted: Any, out: NDArray[np.float64], length: NDArray[np.float64] | None = None
) -> None:
    try:
        block.family.log_likelihood(view, fitted, out, length)
    except InfiniteValueError as error:
        refuse_infinite(block.names[error.column])
