"""Samples of whole numbers are whole, and samples of days are days."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naively


@given(st.lists(st.integers(-1000, 1000), min_size=4, max_size=60), st.booleans())
def test_whole_numbers_stay_whole(numbers: list[int], with_fraction: bool) -> None:
    values = [*numbers, numbers[0] + 0.5] if with_fraction else numbers
    labels = ["a" if i % 2 else "b" for i in range(len(values))]
    model = naively.fit({"x": values, "z": np.arange(len(values)) / 7}, labels, tune=False)
    drawn = model.sample(20, seed=1)["x"]
    if with_fraction or pa.types.is_null(drawn.type):  # a constant column is not used
        return
    assert pa.types.is_integer(drawn.type)


@pytest.mark.parametrize("n", [20, 200])  # Gaussian, binned
def test_days_stay_days(n: int) -> None:
    days = np.datetime64("2020-01-01") + (np.arange(n) * 37) % 900
    labels = ["a" if i % 3 else "b" for i in range(n)]
    by_day = naively.fit({"day": days}, labels, tune=False).sample(10, seed=2)
    assert pa.types.is_date(by_day["day"].type)
    years = [day.as_py().year for day in by_day["day"]]
    assert min(years) > 2010
    times = naively.fit({"day": days.astype("datetime64[s]") + 3601}, labels, tune=False).sample(10, seed=2)
    assert pa.types.is_timestamp(times["day"].type)
