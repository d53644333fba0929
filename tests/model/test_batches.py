"""Counting batches and adding them gives the same as counting all rows at once."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import naively
from naively.data.files import batches


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("sorted_by_class", [False, True])
def test_a_stream_is_counted_like_a_table(weighted: bool, sorted_by_class: bool, monkeypatch: Any) -> None:
    """Classes appear late, lists of values change, one column has no value at first, another is text."""
    monkeypatch.setattr(batches, "MAX_ROWS", 50)
    rng = np.random.default_rng(11)
    n = 600
    label = np.sort(rng.integers(0, 4, n)) if sorted_by_class else rng.integers(0, 4, n)
    words = np.array(["rain falls on the plain again", "the sun is out and it is warm", "snow will come tonight, late"])
    table = pa.table(
        {
            "number": pa.array(np.round(rng.normal(size=n), 1), mask=rng.random(n) < 0.1),
            "late": pa.array(rng.normal(size=n), mask=np.arange(n) < 400),
            "value": pa.array(np.array(["x", "y", "z"])[rng.integers(0, 3, n)]),
            "yes": pa.array(rng.random(n) < 0.5),
            "text": pa.array([f"{words[k]} {i}" for i, k in enumerate(rng.integers(0, 3, n).tolist())]),
            "weight": pa.array(rng.integers(1, 9, n) / 8),
            "label": pa.array(np.array(["a", "b", "c", "d"])[label]),
        }
    )
    rows = table if weighted else table.drop_columns(["weight"])
    weight = "weight" if weighted else None
    bounds = [*range(0, n, 37), n]
    parts = (rows.slice(a, b - a) for a, b in itertools.pairwise(bounds))
    in_batches = naively.fit(parts, "label", weight=weight, tune=False)
    at_once = naively.fit(iter([rows]), "label", weight=weight, tune=False)
    rest = in_batches - at_once
    assert rest.class_weights.rows.sum() == 0
    np.testing.assert_allclose(in_batches.posterior(table), at_once.posterior(table), rtol=1e-12)
