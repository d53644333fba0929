"""Tables and models for the tests of the export: every kind of column, strange names and values."""

from __future__ import annotations

import datetime
import math
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import naively
from naively import Binned, Categorical, Complement, Exponential, Gaussian, LogNormal, Multinomial, Poisson

Floats = NDArray[np.float64]
Table = dict[str, list[Any]]

N_ROWS, N_ROWS_OF_MANY_CLASSES = (100_000, 100_000) if os.environ.get("NAIVELY_SOAK") else (2_000, 300)
TOLERANCE = 1e-9
STRANGE = (
    "it's",
    'a "b"',
    "back\\slash",
    "end\\",
    "';--",
    "x; DROP TABLE t",
    "line\nbreak",
    "größe",
    "你好",
    "${x}",
    "%s",
    "r.c1",
    " ",
    "A",
    "a",
)
UNSEEN = ("never", "'", "\\'", "Größe")
TOWNS = tuple(f"town{k}'s" for k in range(80))
BIG = tuple(2**53 + k for k in range(4))
SKY, TOWN, WAIT, SIZE = "sky \"; \\ '", "town; --", "wait\nlong", "größe"
COLUMNS: Mapping[Any, Any] = {
    SKY: Categorical(),
    TOWN: Categorical(missing="value"),
    WAIT: Exponential(),
    SIZE: Gaussian(missing="value"),
    "income": LogNormal(),
    "visits": Poisson(),
    "few": Categorical(),
    "many": Categorical(),
    "flag": naively.Bernoulli(),
    "bit": naively.Bernoulli(missing="value"),
    "stripes": Binned(),
    "edges": Binned(missing="value"),
    "when": Binned(),
    ("left", "right"): Categorical(shared=True),
    ("word1", "word2", "word3"): Multinomial(),
    ("share1", "share2"): Complement(fractional=True),
}


def draw_labels(n: int, classes: Sequence[Any], seed: int) -> list[Any]:
    """Draw a class for each row."""
    return [classes[k] for k in np.random.default_rng(seed).integers(0, len(classes), n).tolist()]


def draw_table(label: Sequence[Any], classes: Sequence[Any], seed: int, unseen: bool = False) -> Table:
    """Draw rows that depend on their class, with missing values; on demand with values that training has not."""
    rng = np.random.default_rng(seed)
    n, c = len(label), np.array([classes.index(one) % 7 for one in label]) / 3.0
    sky = np.minimum((rng.random(n) ** (1 + c) * len(STRANGE)).astype(int), len(STRANGE) - 1)
    words = rng.poisson(np.stack([1 + c, 2 - c / 3, 1 + 0 * c], axis=1))
    start = datetime.datetime(2020, 1, 1, 12)
    table: dict[str, list[Any]] = {
        SKY: [STRANGE[k] for k in sky],
        TOWN: [TOWNS[k] for k in (rng.random(n) ** (1 + c) * 80).astype(int)],
        WAIT: rng.exponential(1e7 * (1 + c)).tolist(),
        SIZE: (1e7 + c + rng.normal(size=n)).tolist(),
        "income": np.exp(rng.normal(size=n) + c).tolist(),
        "visits": rng.poisson(1 + c).tolist(),
        "few": (rng.integers(0, 4, n) * (1 + (c > 0.5))).tolist(),
        "many": ((rng.random(n) ** (1 + c) * 50).astype(int) / 4).tolist(),
        "flag": (rng.random(n) < 0.2 + 0.3 * (c > 0.5)).tolist(),
        "bit": (rng.random(n) < 0.6 - 0.2 * (c > 0.5)).astype(int).tolist(),
        "stripes": (2 * rng.integers(0, 40, n) + (np.floor(3 * c) % 2) + rng.random(n)).tolist(),
        "edges": np.round(rng.normal(size=n) + c, 2).tolist(),
        "when": [start + datetime.timedelta(days=float(d)) for d in np.round(100 * (rng.random(n) + c), 3)],
        "left": [STRANGE[k] for k in rng.permutation(sky)],
        "right": [STRANGE[k] for k in sky],
        **{f"word{j + 1}": words[:, j].tolist() for j in range(3)},
        "share1": np.round(rng.random(n) * (1 + c), 3).tolist(),
        "share2": np.round(rng.random(n), 3).tolist(),
    }
    for name, values in table.items():
        for i in np.flatnonzero(rng.random(n) < 0.1).tolist():
            values[i] = None
        if unseen and isinstance(values[0] or values[1] or values[2], str):
            for i in np.flatnonzero(rng.random(n) < 0.05).tolist():
                values[i] = UNSEEN[i % len(UNSEEN)]
        if name in (WAIT, SIZE, "income", "edges", "share1", "stripes", "many"):
            for i in np.flatnonzero(rng.random(n) < 0.05).tolist():
                values[i] = math.nan
    if unseen:
        for i in np.flatnonzero(rng.random(n) < 0.05).tolist():
            table["edges"][i] = (math.inf, -math.inf, 1e300, -1e-300)[i % 4]
            table["many"][i], table["few"][i] = 99.5, 77
    return table


def draw_model(classes: Sequence[Any], tune: bool, n: int = 3000) -> naively.Model:
    """Fit a model with one column or more of each family."""
    label = draw_labels(n, classes, seed=1)
    return naively.fit(draw_table(label, classes, seed=2), label, columns=COLUMNS, tune=tune)


def assert_same_posterior(actual: Floats, expected: Floats) -> None:
    """Compare log posteriors; below −700 a probability is too small to compare."""
    assert actual.shape == expected.shape
    assert not np.isnan(expected).any()
    is_possible = expected > -700
    np.testing.assert_allclose(actual[is_possible], expected[is_possible], rtol=0, atol=TOLERANCE)
    assert (actual[~is_possible] < -699).all()
