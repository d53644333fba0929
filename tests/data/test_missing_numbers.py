"""NaN in a column of strings or dates is a missing value, also where no row has a value, as pandas writes it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import naively
from naively.errors import SchemaError
from naively.model.predict_batches import predict_batches

ROWS: dict[str, list[Any]] = {
    "cabin": ["C1", None, "C2", None, "C1", "C2"],
    "note": ["cheap pills", None, "lunch at noon", "cheap", "lunch", "pills"],
    "day": [*map(pd.Timestamp, ("2024-01-02", "2024-02-03", "2024-03-04", "2024-04-05", "2024-05-06", "2024-06-07"))],
    "age": [20.0, 30.0, None, 40.0, 50.0, 25.0],
}
LABELS = ["a", "b", "a", "b", "a", "b"]


@pytest.fixture(scope="module")
def model() -> naively.Model:
    return naively.fit(ROWS, LABELS, columns={"note": naively.Text(), "cabin": naively.Categorical(missing="value")})


def test_rows_without_any_value(model: naively.Model) -> None:
    expected = model.posterior([{"cabin": None, "note": None, "day": None, "age": 33.0}])
    nan = float("nan")
    row = {"cabin": nan, "note": nan, "day": nan, "age": 33.0}
    frame = pd.DataFrame({name: [value] for name, value in row.items()})
    for X in (row, [row], frame, frame.iloc[0], pl.DataFrame(row), frame.astype({"cabin": "float32"})):
        assert np.array_equal(model.posterior(X), expected)
    for X in (frame, pl.DataFrame(row)):
        (table,) = predict_batches(model, [X], proba=True)
        assert [table["p_a"][0].as_py(), table["p_b"][0].as_py()] == pytest.approx(expected[0].tolist(), rel=1e-12)
    counts = model.update(frame, ["a"]).class_counts
    assert counts.tolist() == [4.0, 3.0]
    assert model.forget(pd.DataFrame(ROWS).iloc[1], "b").class_counts.tolist() == [3.0, 2.0]


def test_numbers_are_still_refused(model: naively.Model) -> None:
    with pytest.raises(SchemaError, match="column 'cabin' is of type number"):
        model.posterior({"cabin": [1.0, float("nan")], "note": ["a", "b"], "day": [None, None], "age": [1, 2]})


def test_a_pandas_row_of_the_training_data_is_one_row(model: naively.Model) -> None:
    for i in range(len(LABELS)):
        row = pd.DataFrame(ROWS).iloc[i]
        assert np.array_equal(model.posterior(row), model.posterior(ROWS)[[i]])
        assert model.explain(row)[0].is_left_out
