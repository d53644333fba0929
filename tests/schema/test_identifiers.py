"""A column of strings that is an identifier in the first 65,536 rows of large data is not counted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import naively
from naively import Automatic, Categorical
from naively.families import AutoString, Identifier
from naively.schema.schema import Schema

N = 65_536


def batches(n: int, start: int = 0) -> Iterator[Any]:
    rows = np.arange(start, start + n)
    for part in np.array_split(rows, 3):
        names = [f"user-{i}" for i in part.tolist()]
        classes = np.where(part % 3 == 0, "a", "b").tolist()
        yield pa.table({"id": names, "x": (part % 7).astype(float).tolist(), "y": classes})


def families(model: naively.Model) -> dict[str, Any]:
    return dict(model.schema.families())


def test_an_identifier_is_recorded_and_not_counted() -> None:
    model = naively.fit(batches(N), "y", tune=False)
    assert families(model)["id"] == Identifier()
    assert model.chosen.left_out["id"] == "an identifier, nearly every row has its own"
    assert Schema.from_json(model.schema.to_json()) == model.schema
    few = naively.fit(batches(N - 1), "y", tune=False)
    assert families(few)["id"] == AutoString()
    assert few.chosen.left_out == model.chosen.left_out


def test_identifiers_are_counted_if_a_family_is_given() -> None:
    model = naively.fit(batches(N), "y", columns={"id": Categorical()}, tune=False)
    assert families(model)["id"] == Categorical()
    model = naively.fit(batches(N), "y", columns={"id": Automatic("value")}, tune=False)
    assert families(model)["id"] == AutoString(missing="value")


def test_a_mostly_empty_column_is_counted() -> None:
    ids = [f"user-{i}" if i % 10 == 0 else None for i in range(N)]
    model = naively.fit({"id": ids, "x": np.arange(N) % 7}, np.arange(N) % 2, tune=False)
    assert families(model)["id"] == AutoString()


def test_identifiers_add_to_columns_that_were_counted() -> None:
    large, small = naively.fit(batches(N), "y", tune=False), naively.fit(batches(300, N), "y", tune=False)
    for model in (large + small, small + large):
        assert families(model)["id"] == Identifier()
        assert int(model.class_weights.rows.sum()) == N + 300
    assert int((large.update(batches(300, N), "y")).class_weights.rows.sum()) == N + 300
    numbers = naively.fit({"id": [1, 2, 3, 4], "x": [1.0, 2, 3, 4]}, ["a", "b", "a", "b"], tune=False)
    with pytest.raises(naively.SchemaError, match="'id'"):
        _ = large + numbers
