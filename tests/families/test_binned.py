"""Binned: bins and probabilities worked by hand, edges of the number line, and real columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from tests.support.data_sets import DATA_SETS, needs_data_set, optional_data_set, read_csv

import naively as nb
from naively.families.binned import BinnedParameters, shown_cuts
from naively.statistics import CountPlan, Histogram, Numbers


def fitted(x: Any, label: Any, alpha: float = 1.0, n_classes: int = 2, cap: int = 4096) -> BinnedParameters:
    stats = Histogram.count(np.asarray(x), np.asarray(label), None, n_classes, plan=CountPlan(cap))
    return nb.Binned(alpha).estimate(stats, tuple(range(n_classes)))


def scored(x: Any, parameters: BinnedParameters, n_classes: int = 2) -> Any:
    out = np.zeros((len(x), n_classes))
    nb.Binned().log_likelihood(Numbers.of(np.asarray(x, np.float64)), parameters, out)
    return np.exp(out)


def test_by_hand() -> None:
    """Six rows below and six above: the cut is midway, and Laplace adds one row to each bin."""
    parameters = fitted([1, 2, 3, 4, 5, 6, 10, 11, 12, 13, 14, 15.0], [0] * 6 + [1] * 5 + [0])
    assert parameters.cuts.tolist() == [8.0]
    np.testing.assert_allclose(scored([-9.0, 8.0, 1e99], parameters), [[7 / 9, 1 / 7], [2 / 9, 6 / 7], [2 / 9, 6 / 7]])


def test_noise_is_one_bin_and_no_evidence() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(3000, 20))
    parameters = fitted(x, rng.integers(0, 2, 3000))
    assert len(parameters.cuts) <= 1
    assert (scored(x[:5, :], parameters)[:, 0] > 0.2).all()


def test_two_humps_that_a_gaussian_cannot_see() -> None:
    rng = np.random.default_rng(1)
    outer = rng.choice([-3.0, 3.0], 500) + rng.normal(0, 0.5, 500)
    x, label = np.concatenate([outer, rng.normal(0, 0.5, 500)])[:, None], np.repeat(["out", "in"], 500)
    model = nb.fit(x, label, columns=nb.Binned(), tune=False)
    assert (np.asarray(model.predict(x)) == label).mean() > 0.99
    assert len(model.parameters[0].cuts) == 2


def test_infinities_have_bins_of_their_own_if_seen() -> None:
    parameters = fitted([-np.inf, -np.inf, 1.0, 2.0, np.inf], [0, 0, 0, 1, 1])
    assert parameters.cuts.tolist() == [-np.finfo(np.float64).max, np.inf]
    likelihood = scored([-np.inf, -1e308, 1e308, np.inf, np.nan], parameters)
    np.testing.assert_allclose(likelihood[:, 0], [3 / 6, 2 / 6, 2 / 6, 1 / 6, 1])
    np.testing.assert_allclose(likelihood[:, 1], [1 / 5, 2 / 5, 2 / 5, 2 / 5, 1])


def test_infinities_never_seen_fall_into_the_open_ends() -> None:
    parameters = fitted(np.arange(20.0), [0] * 10 + [1] * 10)
    np.testing.assert_array_equal(scored([-np.inf, np.inf], parameters), scored([0.0, 19.0], parameters))


def test_only_infinities_say_nothing_about_finite_numbers() -> None:
    parameters = fitted([-np.inf, np.inf, np.inf], [0, 1, 1])
    np.testing.assert_array_equal(scored([0.0], parameters), [[1.0, 1.0]])
    np.testing.assert_allclose(scored([-np.inf], parameters), [[2 / 3, 1 / 4]])


def test_a_class_without_data_in_the_column_has_the_pooled_estimate() -> None:
    x = np.concatenate([np.arange(20.0), [np.nan]])
    parameters = fitted(x, [0] * 10 + [1] * 10 + [2], n_classes=3)
    np.testing.assert_allclose(scored([3.0], parameters, 3), [[11 / 12, 1 / 12, 11 / 22]])


@pytest.mark.parametrize("x", [[np.nan] * 4, [7.0] * 4, [7.0, np.nan, np.nan, np.nan]])
def test_missing_values_and_constants_add_nothing(x: list[float]) -> None:
    parameters = fitted(x, [0, 0, 1, 1])
    np.testing.assert_array_equal(scored([7.0, -3.0, np.nan, np.inf], parameters), np.ones((4, 2)))


def test_one_row_and_one_class() -> None:
    np.testing.assert_array_equal(scored([5.0, 6.0], fitted([5.0], [0], n_classes=1), 1), np.ones((2, 1)))
    model = nb.fit({"x": [1.0, 2.0]}, ["a", "a"], columns=nb.Binned(), tune=False)
    np.testing.assert_array_equal(model.posterior({"x": [0.0]}), [[1.0]])


def test_alpha_zero_is_maximum_likelihood() -> None:
    parameters = fitted(np.arange(20.0), [0] * 10 + [1] * 10, alpha=0.0)
    np.testing.assert_array_equal(scored([1.0, 15.0], parameters), np.eye(2))
    with pytest.raises(nb.InputError, match="alpha=-1"):
        nb.Binned(alpha=-1)


@given(
    st.lists(st.tuples(st.floats(allow_nan=False) | st.integers(-3, 3).map(float), st.integers(0, 2)), max_size=60),
    st.sampled_from([2, 5, 4096]),
)
def test_every_value_falls_into_the_bin_that_counted_it(rows: list[tuple[float, int]], cap: int) -> None:
    """Even where neighbouring floats, subnormals or the largest numbers are parted, or the level has risen."""
    x, label = np.array([r[0] for r in rows], np.float64), np.array([r[1] for r in rows], np.int32)
    stats = Histogram.count(x, label, None, 3, plan=CountPlan(cap))
    parameters = nb.Binned().estimate(stats, (0, 1, 2))
    assert (np.diff(parameters.cuts) > 0).all()
    bins = np.searchsorted(parameters.cuts, x, side="right")
    total = np.bincount(label, minlength=3)
    for c in np.flatnonzero(total):
        counts = np.bincount(bins[label == c], minlength=len(parameters.cuts) + 1)
        seen = np.bincount(bins, minlength=len(parameters.cuts) + 1) > 0
        wanted = np.log((counts + 1) / (total[c] + seen.sum()))
        np.testing.assert_allclose(parameters.log_probability[seen, c], wanted[seen], rtol=1e-12, atol=1e-12)


@given(st.integers(1, 6), st.integers(0, 99))
def test_weight_and_order_and_columns_do_not_matter(times: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, label = rng.integers(0, 9, (40, 3)).astype(float), rng.integers(0, 2, 40)
    x[:, 0] += 3 * label
    order = rng.permutation(40)
    repeated = fitted(np.repeat(x, times, axis=0), np.repeat(label, times))
    weighted = Histogram.count(x[order], label[order], np.full(40, float(times)), 2)
    again = nb.Binned().estimate(weighted, (0, 1))
    np.testing.assert_array_equal(repeated.cuts, again.cuts)
    np.testing.assert_array_equal(repeated.log_probability, again.log_probability)
    for j in range(3):
        alone = fitted(np.repeat(x[:, j], times), np.repeat(label, times))
        np.testing.assert_array_equal(alone.cuts, repeated.column_cuts(j))
        np.testing.assert_array_equal(alone.log_probability, repeated.log_probability[repeated.column_bins(j)])


def test_sparse_and_frame_and_array_score_alike() -> None:
    rng = np.random.default_rng(3)
    label = rng.integers(0, 3, 500)
    x = rng.poisson(label[:, None] + 0.5, (500, 70)).astype(float)
    parameters = fitted(x, label, n_classes=3)
    outs = [np.zeros((500, 3)) for _ in range(3)]
    pieces: list[tuple[Any, ...]] = [(x,), tuple(x[:, [j]] for j in range(70)), (sp.csr_array(x[:, :66]), x[:, 66:])]
    for out, arrays in zip(outs, pieces, strict=True):
        nb.Binned().log_likelihood(Numbers(arrays), parameters, out)
    np.testing.assert_array_equal(outs[0], outs[1])
    np.testing.assert_allclose(outs[0], outs[2], rtol=1e-12)


def test_samples_follow_the_bins_and_the_values_seen() -> None:
    x = np.concatenate([np.arange(10.0), np.arange(10.0), np.arange(100, 110.0), [np.inf]])
    label = np.repeat([0, 0, 1, 1], [10, 10, 10, 1])
    parameters = fitted(x, label)
    drawn = nb.Binned().sample(parameters, np.repeat([0, 1], 20_000), np.random.default_rng(4))[0]
    assert set(drawn) <= set(x)
    assert np.mean(drawn[:20_000] < 50) == pytest.approx(21 / 23, abs=0.01)
    assert np.mean(drawn[20_000:] == np.inf) == pytest.approx(2 / 14, abs=0.01)
    gaps = nb.Binned().sample(fitted([np.nan], [0]), np.zeros(3, np.intp), np.random.default_rng(4))[0]
    assert np.isnan(gaps).all()


def test_samples_of_joined_keys_lie_within_the_range() -> None:
    rng = np.random.default_rng(5)
    x = rng.normal(10, 1, 5000)
    drawn = nb.Binned().sample(fitted(x, x > 10, cap=64), np.ones(1000, np.intp), rng)[0]
    assert np.quantile(drawn, [0.1, 0.5, 0.9]) == pytest.approx(np.quantile(x[x > 10], [0.1, 0.5, 0.9]), abs=0.2)


def test_in_a_model_with_other_columns_dates_and_missing_values() -> None:
    table: dict[str, Any] = {
        "when": np.array(["2024-01-01", "2024-01-02", "NaT", "2024-06-01", "2024-06-02"] * 4, "datetime64[s]"),
        "size": [2**53 + 1, 2, 3, None, 5] * 4,
        "colour": ["red", "blue", "red", None, "blue"] * 4,
    }
    label = ["a", "a", "a", "b", "b"] * 4
    model = nb.fit(table, label, columns={"when": nb.Binned(), "size": "numeric"}, tune=False)
    assert list(model.predict(table)) == label
    rest = model - nb.fit(
        {name: values[:5] for name, values in table.items()},
        label[:5],
        columns={("when", "size"): nb.Binned()},
        tune=False,
    )
    assert list(rest.predict(table)) == label
    assert model.sample(7, seed=1).num_rows == 7


def read_columns(path: Path, columns: list[str], target: str) -> tuple[Any, Any]:
    rows = read_csv(path)
    return np.array([[float(row[c]) for c in columns] for row in rows]), np.array([row[target] for row in rows])


@needs_data_set("tables/adult.csv")
def test_bins_of_adult() -> None:
    """Income rises from the twenties to the fifties and then falls; forty hours are a bin's edge."""
    x, income = read_columns(optional_data_set("tables/adult.csv"), ["age", "hours-per-week"], "income")
    parameters = nb.fit(x, income, columns=nb.Binned(), tune=False).parameters[0]
    age, hours = parameters.column_cuts(0), parameters.column_cuts(1)
    assert 5 <= len(age) <= 20
    assert 18 < age[0] < 24
    assert 60 < age[-1] < 75
    odds = parameters.log_probability[parameters.column_bins(0)] @ [-1, 1]
    assert np.argmax(odds) not in (0, len(odds) - 1)
    assert 39.5 in hours
    assert 41.5 in hours


def test_bins_separate_the_species_of_iris() -> None:
    names = ["sepal_length", "sepal_width", "petal_length", "petal_width"]
    x, label = read_columns(DATA_SETS / "iris.csv", names, "species")
    half = np.random.default_rng(0).permutation(150)
    model = nb.fit(x[half[:100]], label[half[:100]], columns=nb.Binned(), tune=False)
    assert (np.asarray(model.predict(x[half[100:]])) == label[half[100:]]).mean() >= 0.9


@pytest.mark.parametrize("scale", [1.0, -1.0, 1e-7, 1e9, 1e-310, 1e305])
def test_shown_cuts_divide_the_counted_numbers_as_the_cuts_do(scale: float) -> None:
    random = np.random.default_rng(5)
    label = random.integers(0, 3, 900)
    x = (random.normal(size=900).round(3) + label) * scale
    parameters = fitted(x[:, None], label, n_classes=3)
    cuts, shown = parameters.column_cuts(0), shown_cuts(parameters, 0, "number")
    assert len(cuts)
    np.testing.assert_array_equal(np.searchsorted(cuts, x, side="right"), np.searchsorted(shown, x, side="right"))
    assert any(float(f"{cut:.4g}") == cut for cut in shown.tolist())
