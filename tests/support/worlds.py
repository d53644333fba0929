"""Small worlds: known distributions to draw training rows and fresh rows from, 324 kinds of them.

    rows 20, 600, 20,000 × type of column × 1 to 3 columns × few or many kinds of rows × each row 1, 2 or 10 times

The columns are independent given the class, so the textbook is right up to its smoothing and its families, and tuning
has little to gain: the worlds show what it can lose.
"""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

import naively

ROWS = (20, 600, 20_000)
TYPES = ("boolean", "category", "number", "count", "text", "mixed")
MAX_LOSS_NATS = 50.0  # of a row, so that a single one does not decide
MAX_REPEATED_ROWS = 6_000  # of more rows, copies are given by weight=

Draw = Callable[[NDArray[np.intp], np.random.Generator], NDArray[Any]]


@dataclass(frozen=True)
class World:
    """One kind of world."""

    n_rows: int
    type: str
    n_columns: int
    many: bool
    copies: int

    def __str__(self) -> str:
        kinds = "many" if self.many else "few"
        return f"{self.n_rows}-{self.type}-{self.n_columns}-{kinds}-x{self.copies}"


def every_world() -> Iterator[World]:
    """Yield the 324 kinds."""
    for n_rows, kind, n_columns, many, copies in product(ROWS, TYPES, (1, 2, 3), (False, True), (1, 2, 10)):
        yield World(n_rows, kind, n_columns, many, copies)


def compare_with_textbook(world: World, seed: int, n_fresh: int = 2_000) -> tuple[float, float, float]:
    """Return the log-loss of the tuned model and of the textbook on fresh rows, and the one that `fit` reports."""
    tuned, fresh, truth = fit_world(world, seed, n_fresh)
    losses = [mean_loss(model, fresh, truth) for model in (tuned, tuned.with_tuning(None))]
    report = {} if tuned.tuning is None else tuned.tuning.report
    return losses[0], losses[1], report.get("log_loss", np.nan)


def compare_tables(world: World, seed: int, n_fresh: int = 2_000) -> tuple[float, float]:
    """Return the log-loss with tables of columns and of the columns alone on fresh rows."""
    model, fresh, truth = fit_world(world, seed, n_fresh, together=True)
    loss = mean_loss(model, fresh, truth)
    is_used = model.tuning is not None and model.tuning.table_weights
    return loss, mean_loss(model.without_tables(), fresh, truth) if is_used else loss


def fit_world(
    world: World, seed: int, n_fresh: int, together: bool = False
) -> tuple[naively.Model, dict[str, Any], NDArray[Any]]:
    """Return the model of rows of a world, fresh rows, and their labels."""
    random = np.random.default_rng([seed, zlib.crc32(str(world).encode())])
    share = random.uniform(0.25, 0.75)
    kinds = ("number", "category", "boolean", "count")
    types = kinds[: world.n_columns + 1] if world.type == "mixed" else (world.type,) * world.n_columns
    n_copies_of_type = 8 if world.many and world.type == "boolean" else 1
    draws = [draw_column(kind, world.many, random) for kind in types for _ in range(n_copies_of_type)]

    def rows(n: int) -> tuple[dict[str, Any], NDArray[Any]]:
        label = (random.random(n) < share).astype(np.intp)
        label[: min(n, 4)] = np.arange(min(n, 4)) % 2
        return {f"c{j}": draw(label, random) for j, draw in enumerate(draws)}, np.where(label, "yes", "no")

    (x, y), (fresh, truth) = rows(world.n_rows), rows(n_fresh)
    weight = None
    if world.n_rows * world.copies <= MAX_REPEATED_ROWS:
        x, y = {name: np.repeat(column, world.copies) for name, column in x.items()}, np.repeat(y, world.copies)
    elif world.copies > 1:
        weight = np.full(world.n_rows, float(world.copies))
    columns: Any = {name: naively.Text() for name in x} if world.type == "text" else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return naively.fit(x, y, columns=columns, weight=weight, n_jobs=1, together=together), fresh, truth


def mean_loss(model: naively.Model, x: Any, y: NDArray[Any]) -> float:
    """Return the log-loss of rows."""
    log_posterior = model.log_posterior(x)
    codes = np.searchsorted(np.asarray(model.classes), y)
    return float(np.minimum(-log_posterior[np.arange(len(y)), codes], MAX_LOSS_NATS).mean())


def draw_column(kind: str, many: bool, random: np.random.Generator) -> Draw:
    """Return a function that draws a column for class codes; its parameters are drawn now."""
    if kind == "boolean":
        p = random.uniform(0.1, 0.9, 2)
        return lambda label, random: random.random(len(label)) < p[label]
    if kind == "category":
        shares = random.dirichlet(np.full(40 if many else 3, 1.0), 2)
        return lambda label, random: np.array([f"v{k}" for k in _draw_codes(shares, label, random)])
    if kind == "number":
        centre, deviation, is_log = random.normal(0, 1, 2), random.uniform(0.5, 1.5, 2), random.random() < 0.3
        return lambda label, random: _draw_numbers(random.normal(centre[label], deviation[label]), many, is_log)
    if kind == "count":
        rate = random.uniform(0.5, 2.0, 2) * (20 if many else 1)
        return lambda label, random: random.poisson(rate[label])
    words = random.dirichlet(np.full(300, 0.3), 2)
    texts = [_draw_texts(words, np.full(50, c), random) for c in range(2)]
    if many:
        return lambda label, random: _draw_texts(words, label, random)
    return lambda label, random: np.array([texts[c][random.integers(50)] for c in label], dtype=object)


def _draw_codes(shares: NDArray[Any], label: NDArray[np.intp], random: np.random.Generator) -> list[int]:
    edges = np.cumsum(shares, axis=1)[label]
    codes = np.minimum((random.random(len(label))[:, None] > edges).sum(axis=1), shares.shape[1] - 1)
    return [int(code) for code in codes]


def _draw_numbers(x: NDArray[Any], many: bool, is_log: bool) -> NDArray[Any]:
    x = np.exp(x) if is_log else x
    return x if many else np.round(x)


def _draw_texts(words: NDArray[Any], label: NDArray[np.intp], random: np.random.Generator) -> NDArray[Any]:
    lengths = random.poisson(6, len(label)) + 1
    edges = np.cumsum(words, axis=1)
    texts = []
    for c, length in zip(label.tolist(), lengths.tolist(), strict=True):
        codes = np.searchsorted(edges[c], random.random(length) * edges[c, -1])
        texts.append(" ".join(f"w{k}" for k in codes))
    return np.array(texts, dtype=object)
