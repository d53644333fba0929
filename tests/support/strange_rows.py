"""Rows that a model has never seen, put together from what it has."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from tests.support.strategies import Rows

import naively as nb


def quiet(ask: Any) -> Any:
    """Rows that are impossible everywhere are part of the game here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", nb.ImpossibleRowsWarning)
        return ask()


def strangers(drawn: Rows, seed: int) -> dict[str, list[Any]]:
    """Rows put together from the cells of all rows, with gaps and values never seen."""
    generator = np.random.default_rng(seed)
    new: dict[str, list[Any]] = {}
    for name, values in drawn.x.items():
        seen = [value for value in values if value is not None]
        odd = ["never"] if isinstance(next(iter(seen), None), str) else []
        new[name] = [
            None if k < 0.2 else (odd + seen or [None])[int(k * 97) % len(odd + seen or [0])]
            for k in generator.random(6)
        ]
    return new
