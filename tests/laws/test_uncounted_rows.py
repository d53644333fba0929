"""Forget rows that were never counted: refused where the counts prove it, else what is left is possible."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.strategies import GROUPS, SINGLE, rows

import naively as nb
from naively.statistics import Moments, Sums, TokenCounts

Column = list[float] | list[bool] | list[str] | list[int] | list[float | None]


@pytest.mark.parametrize(
    ("family", "counted", "forgotten", "left"),
    [
        (nb.Gaussian(), [1.0, 3.0, 5.0], [99.0], "2 rows of mean -45"),
        (nb.Gaussian(), [1.0, 3.0, 5.0], [5.0, 5.0], "1 rows of mean -1"),
        (nb.Gaussian(), [1.0, 3.0], [2.0], "1 rows of mean 2 and variance 2"),
        (nb.Gaussian(), [1.0], [2.0], "0 rows, but numbers of mean 1 are not those of mean 2"),
        (nb.Gaussian(), [4.0, 4.0, 4.0], [5.0], "2 rows of mean 3.5"),
        (nb.Gaussian(), [1.0, 3.0, 5.0], [None], "2 rows, but 3 values"),
        (nb.LogNormal(), [1.0, 3.0, 5.0], [99.0], "2 rows of mean -0.9"),
        (nb.Bernoulli(), [True, True, True], [False], "'x' present or missing in 3 of 2 rows"),
        (nb.Bernoulli(), [True, True, True], [False, False], "'x' present or missing in 3 of 1 rows"),
        (nb.Bernoulli(), [True, None, None], [True, True], "-1 rows"),
        (nb.Multinomial(), [2, 2, 2], [7], "2 rows of weight 2 with -1 occurrences"),
        (nb.Poisson(), [0, 2, 3], [9], "2 rows that add up to -4"),
        (nb.Exponential(), [1e-12, 2e-12], [1e-10], "1 rows that add up to -9"),
        (nb.Categorical(), ["u", "u", "v"], ["w"], "value 'w': -1 rows"),
        (nb.Categorical(), ["u", "u", "v"], [None], "2 rows, but 3 values"),
        (nb.Binned(), [1.0, 3.0, 5.0], [4.0], "value 4: -1 rows"),
        (nb.Binned(), [1.0, 3.0, 5.0], [None], "2 rows, but 3 values"),
    ],
)
def test_rows_that_were_never_counted_are_refused_by_column(
    family: nb.Family, counted: Column, forgotten: Column, left: str
) -> None:
    x = {"x": [*counted, counted[0]], "y": [1.0] * (len(counted) + 1)}
    columns = {"x": family, "y": nb.Gaussian()}
    model = nb.fit(x, ["a"] * len(counted) + ["b"], columns=columns, tune=False)
    with pytest.raises(nb.InputError, match=f"never counted: column 'x', class 'a' would be left with .*{left}"):
        model.forget({"x": forgotten, "y": [1.0] * len(forgotten)}, ["a"] * len(forgotten))


@pytest.mark.parametrize(
    ("texts", "forgotten"),
    [
        (["red cat", "red dog", "red cow"], "cat"),
        (["red cat cat", "red dog"], "red cat"),
        (["a b", "a c", "a d"], "b c"),  # no count below zero, but "a" would be in three of two texts
    ],
)
def test_texts_that_were_never_counted_are_refused(texts: list[str], forgotten: str) -> None:
    model = nb.fit([*texts, "sky"], ["x"] * len(texts) + ["y"], tune=False)
    with pytest.raises(nb.InputError, match="never counted: class 'x' would be left with"):
        model.forget([forgotten], ["x"])


@pytest.mark.parametrize(
    "family", [nb.Gaussian(), nb.Binned(), nb.Categorical(), nb.Bernoulli(), nb.Poisson()], ids=str
)
@pytest.mark.parametrize(("counted", "forgotten"), [(2.0, 1.0), (1.0, 2.0), (1.0, 4.0)])
def test_another_weight_is_refused(family: nb.Family, counted: float, forgotten: float) -> None:
    """The last row of a class leaves with all its weight, and no other row without any."""
    values = ["u", "v"] if isinstance(family, nb.Categorical) else [1, 0]
    model = nb.fit({"x": [values[0], *values]}, ["a", "a", "b"], weight=[1.0, counted, 1.0], columns=family, tune=False)
    without_other = model.forget({"x": values[:1]}, ["a"], [1.0])
    with pytest.raises(nb.InputError, match="never counted"):
        without_other.forget({"x": values[:1]}, ["a"], [forgotten])


@pytest.mark.parametrize("group", SINGLE, ids=lambda names: f"{GROUPS[names][0]}")
@given(data=st.data())
def test_what_is_left_is_possible(group: tuple[str, ...], data: st.DataObject) -> None:
    counted, others = data.draw(rows(groups=[group])), data.draw(rows(groups=[group], max_size=3))
    model = counted.fit()
    try:
        rest = model - others.fit()
    except nb.InputError:
        return
    n_rows = rest.class_weights.rows
    assert (n_rows >= 0).all()
    for statistic in rest.statistics:
        weight, present = statistic.rows_present(rest.class_weights)
        assert ((present >= 0) & (present <= n_rows[:, None])).all()
        assert (weight >= -1e-9).all()
        if isinstance(statistic, Moments):
            mean, squares = statistic.mean_and_squares()
            assert (np.abs(mean) <= 101).all()  # as all numbers are
            assert (squares <= 102**2 * statistic.weight).all()
            assert ((squares == 0) | (present > 1)).all()
        elif isinstance(statistic, Sums):
            assert (statistic.total >= 0).all()
        elif isinstance(statistic, TokenCounts):
            assert (statistic.documents() <= rest.class_weights.weight[:, None] + 1e-9).all()
