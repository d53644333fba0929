"""Predictions as frames and series, with class names and index."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import naively
from naively.errors import InputError

FRAME = pd.DataFrame({"size": [1.0, 2.0, 8.0, 9.0], "sky": ["sun", "sun", "rain", None]}, index=["a", "b", "c", "d"])
LABELS = ["low", "low", "high", "high"]


@pytest.fixture
def model() -> naively.Model:
    return naively.fit(FRAME.assign(level=LABELS), "level", tune=False)


def test_posteriors_as_a_pandas_frame_keep_the_index(model: naively.Model) -> None:
    frame = model.posterior(FRAME, output="pandas")
    assert frame.columns.tolist() == ["high", "low"]
    assert frame.index.tolist() == ["a", "b", "c", "d"]
    np.testing.assert_array_equal(frame.to_numpy(), model.posterior(FRAME))
    np.testing.assert_array_equal(model.predict_proba(FRAME, output="pandas"), frame)


def test_predictions_as_a_series_have_the_name_of_the_target(model: naively.Model) -> None:
    series = model.predict(FRAME, output="pandas")
    assert (series.name, series.index.tolist(), series.tolist()) == ("level", ["a", "b", "c", "d"], LABELS)
    doubtful = model.predict(FRAME[["size"]].assign(size=5.1, sky=None), min_probability=0.99, output="pandas")
    assert doubtful.isna().all()


def test_polars(model: naively.Model) -> None:
    rows = pl.from_pandas(FRAME)
    frame, series = model.posterior(rows, output="polars"), model.predict(rows, output="polars")
    assert isinstance(frame, pl.DataFrame)
    assert frame.columns == ["high", "low"]
    np.testing.assert_array_equal(frame.to_numpy(), model.posterior(rows))
    assert (series.name, series.to_list()) == ("level", LABELS)


def test_other_rows_are_numbered(model: naively.Model) -> None:
    assert model.predict({"size": [1.0, 9.0], "sky": ["sun", None]}, output="pandas").index.tolist() == [0, 1]
    one_row = model.posterior(FRAME.loc["c"], output="pandas")
    assert one_row.index.tolist() == ["c"]


def test_classes_that_are_numbers_stay_numbers() -> None:
    model = naively.fit(FRAME, [0, 0, 1, 1], tune=False)
    assert list[object](model.posterior(FRAME, output="pandas").columns) == [0, 1]
    assert model.posterior(FRAME, output="polars").columns == ["0", "1"]


def test_another_container_is_refused(model: naively.Model) -> None:
    with pytest.raises(InputError, match='give "pandas" or "polars"'):
        model.predict(FRAME, output="arrow")  # type: ignore[call-overload]


def test_a_package_that_is_not_installed_is_named(model: naively.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("naively.data.frame_output.find_spec", lambda name: None)
    with pytest.raises(InputError, match="needs polars: pip install polars"):
        model.predict(FRAME, output="polars")
