"""Rows that a model was not fitted on, made from the cells of those that it was."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from tests.support.strategies import Rows

import naively as nb


def quiet(ask: Any) -> Any:
    """Call a function without warnings about impossible rows, which are expected here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", nb.ImpossibleRowsWarning)
        return ask()


def mixed_rows(drawn: Rows, seed: int) -> dict[str, list[Any]]:
    """Make rows from the cells of all rows, with missing values and values never seen."""
    rng = np.random.default_rng(seed)
    new: dict[str, list[Any]] = {}
    for name, values in drawn.x.items():
        seen = [value for value in values if value is not None]
        unseen = ["never"] if isinstance(next(iter(seen), None), str) else []
        new[name] = [
            None if k < 0.2 else (unseen + seen or [None])[int(k * 97) % len(unseen + seen or [0])]
            for k in rng.random(6)
        ]
    return new
