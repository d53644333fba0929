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


@pytest.mark.parametrize(
    "family",
    [naively.Gaussian(), naively.Multinomial(), naively.Complement(), naively.Categorical(shared=True)],
    ids=str,
)
@pytest.mark.parametrize("late", [None, naively.Automatic(), naively.Automatic(missing="value")], ids=str)
def test_a_column_may_get_its_first_value_in_an_update(family: naively.Family, late: Any) -> None:
    """The other columns form a block in another order than in the data; missing values of the late column count."""
    columns = {("b", "a"): family} | ({} if late is None else {"late": late})
    first: dict[str, list[Any]] = {"a": [1, 2, 3, 4], "late": [None] * 4, "b": [2, 1, 0, 2]}
    more: dict[str, list[Any]] = {"a": [1, 2, 3, 5], "late": ["u", "v", None, "w"], "b": [1, 1, 3, 0]}
    rows = {name: [*first[name], *more[name]] for name in first}
    labels = ["x", "y", "x", "y"]
    model = naively.fit(first, labels, columns=columns, tune=False)
    at_once = naively.fit(rows, labels * 2, columns=columns, tune=False)
    updated = model.update(more, labels)
    assert updated.schema == at_once.schema
    np.testing.assert_array_equal(updated.log_joint(rows), at_once.log_joint(rows))
    np.testing.assert_array_equal(updated.forget(first, labels).class_counts, [2.0, 2.0])
