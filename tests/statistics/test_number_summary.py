"""NumberSummary: moments that the histogram tells are those of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from naively.statistics import Moments, Numbers, NumberSummary
from naively.statistics.number_summary import MIN_ROWS

N = 3 * MIN_ROWS

COLUMNS: dict[str, Any] = {
    "ages": lambda rng: rng.integers(17, 91, N).astype(float),
    "prices": lambda rng: np.round(rng.lognormal(3, 1, N), 1),
    "far from zero": lambda rng: 1e9 + rng.integers(0, 7, N) / 8,
    "years since 1970 in seconds": lambda rng: rng.integers(0, 50, N) * 31_556_952.0,
    "one value": lambda rng: np.full(N, 0.1),
    "an outlier": lambda rng: np.where(np.arange(N) == 5, 1e12, rng.integers(-3, 4, N) / 3),
    "infinite and huge": lambda rng: rng.choice([1.0, 2.0, np.inf, -np.inf, 1e200], N),
    "all different": lambda rng: rng.normal(size=N),
    "whole numbers of a byte": lambda rng: rng.integers(0, 100, N).astype(np.int32),
}


def drawn(name: str) -> tuple[NDArray[Any], NDArray[np.int32]]:
    rng = np.random.default_rng(7)
    x = COLUMNS[name](rng)
    if x.dtype.kind == "f":
        x[rng.random(N) < 0.05] = np.nan
    return x, rng.integers(0, 3, N).astype(np.int32)


@pytest.mark.parametrize("name", COLUMNS)
def test_moments_of_the_histogram_are_those_of_the_rows(name: str) -> None:
    x, label = drawn(name)
    squarable = np.where(np.abs(x) <= 1e150, x, np.nan)
    by_rows = Moments.count(squarable, label, None, 3)
    counted = NumberSummary.count(Numbers((x[:, None],)), label, None, 3).moments
    np.testing.assert_array_equal(counted.rows, by_rows.rows)
    np.testing.assert_array_equal(counted.weight, by_rows.weight)
    np.testing.assert_array_equal(counted.mean, by_rows.mean)
    np.testing.assert_allclose(counted.squares, by_rows.squares, rtol=1e-15)


def test_exact_and_rounded_columns_keep_their_places() -> None:
    columns = [drawn(name)[0] for name in COLUMNS if name != "infinite and huge"]
    label = drawn("ages")[1]
    together = NumberSummary.count(Numbers(tuple(x[:, None] for x in columns)), label, None, 3)
    for j, x in enumerate(columns):
        alone = NumberSummary.count(Numbers((x[:, None],)), label, None, 3)
        np.testing.assert_array_equal(together.moments.mean[:, j], alone.moments.mean[:, 0])
        np.testing.assert_allclose(together.moments.squares[:, j], alone.moments.squares[:, 0], rtol=1e-15)


def test_what_was_counted_can_be_taken_away_again() -> None:
    x, label = drawn("an outlier")
    total = NumberSummary.count(Numbers((x[:, None],)), label, None, 3)
    part = NumberSummary.count(Numbers((x[:100, None],)), label[:100], None, 3)
    rest = NumberSummary.count(Numbers((x[100:, None],)), label[100:], None, 3)
    left = total - part
    np.testing.assert_array_equal(left.moments.mean, rest.moments.mean)
    np.testing.assert_allclose(left.moments.squares, rest.moments.squares, rtol=1e-15)


def test_rows_with_weights_are_not_summed_by_cells() -> None:
    x, label = drawn("ages")
    weight = np.random.default_rng(8).random(N)
    counted = NumberSummary.count(Numbers((x[:, None],)), label, weight, 3).moments
    np.testing.assert_array_equal(counted.state, Moments.count(x, label, weight, 3).state)
