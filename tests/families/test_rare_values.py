"""Rare values of a column share one cell: by hand, by refitting, in explanations, tables, samples and files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naively
from naively.data.views import Codes
from naively.errors import InputError
from naively.families import Categorical
from naively.families.base import Leaving, NotCountedError, refit_without_each_row
from naively.statistics import ValueCounts

CITY = ["ulm", "ulm", "ulm", "bonn", "bonn", "jena", "köln", "kiel", None]
LABEL = ["x", "x", "y", "y", "y", "x", "y", "x", "x"]


def fitted(min_rows: int = 2, **settings: Any) -> naively.Model:
    family = Categorical(min_rows=min_rows, **settings)
    return naively.fit({"city": CITY}, LABEL, columns={"city": family}, tune=False)


def test_by_hand() -> None:
    model = fitted()  # ulm 2 1, bonn 0 2, and three rare cities: 2 1
    table = model.tables()["city"]
    assert table.values == ("bonn", "ulm", "3 rare values")
    np.testing.assert_array_equal(table.counts, [[0, 2], [2, 1], [2, 1]])
    np.testing.assert_allclose(table.probability, [[1 / 7, 3 / 7], [3 / 7, 2 / 7], [3 / 7, 2 / 7]])
    prior = np.log([4 / 9, 5 / 9]) if model.class_counts[0] == 4 else np.log(model.class_counts / 9)
    for city in ("jena", "köln", "a new city"):
        np.testing.assert_allclose(model.log_joint({"city": [city]})[0] - prior, np.log([3 / 7, 2 / 7]))
    np.testing.assert_allclose(model.log_joint({"city": [None]})[0], prior)


def test_no_rare_value_is_the_textbook() -> None:
    plain, grouped = fitted(0), fitted(1)
    rows = {"city": [*CITY, "new"]}
    np.testing.assert_array_equal(plain.log_joint(rows), grouped.log_joint(rows))


@given(
    values=st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=25),
    seed=st.integers(0, 1000),
    min_rows=st.integers(0, 5),
    n_classes=st.integers(1, 3),
    is_weighted=st.booleans(),
    alpha=st.sampled_from([0.0, 0.5, 1.0]),
)
def test_leave_one_out_equals_refitting(
    values: list[str], seed: int, min_rows: int, n_classes: int, is_weighted: bool, alpha: float
) -> None:
    generator = np.random.default_rng(seed)
    n = len(values)
    column = np.array([value if generator.random() > 0.1 else None for value in values], dtype=object)
    known = tuple(sorted({value for value in column if value is not None}))
    codes = np.array([[-1 if value is None else known.index(value)] for value in column], dtype=np.int32)
    x = Codes((codes,), (known,))
    label = generator.integers(0, n_classes, n).astype(np.int32)
    weight = generator.integers(1, 8, n) / 2 if is_weighted else np.ones(n)
    statistic = ValueCounts.count(x, label, weight if is_weighted else None, n_classes)
    family, classes = Categorical(alpha=alpha, min_rows=min_rows), tuple(range(n_classes))
    leaving = Leaving.of(label, weight, np.ones(n))
    exact, refitted = np.zeros((2, n, 1, n_classes))
    family.leave_one_out(x, statistic, classes, None, leaving, exact)
    refit_without_each_row(family, x, statistic, classes, None, leaving, refitted)
    np.testing.assert_allclose(exact, refitted, rtol=1e-12, atol=1e-12)


def test_a_row_of_weight_three_is_three_rows() -> None:
    weight = np.array([1.0, 3, 1, 2, 1, 1])
    table, label = {"city": ["ulm", "bonn", "jena", "köln", "köln", "kiel"]}, ["x", "y", "x", "x", "y", "y"]
    rows = {"city": np.repeat(table["city"], weight.astype(int))}
    columns = {"city": Categorical(min_rows=3)}
    weighted = naively.fit(table, label, columns=columns, weight=weight, tune=False)
    written_out = naively.fit(rows, np.repeat(label, weight.astype(int)), columns=columns, tune=False)
    assert weighted.tables()["city"].values == written_out.tables()["city"].values == ("bonn", "köln", "3 rare values")
    np.testing.assert_array_equal(weighted.log_joint(table), written_out.log_joint(table))


def test_a_row_that_was_not_counted_is_refused() -> None:
    x = Codes((np.array([[0], [0], [1]], dtype=np.int32),), (("a", "b"),))
    statistic = ValueCounts.count(x, np.array([0, 0, 1], np.int32), None, 2)
    leaving = Leaving.of(np.array([1, 1, 1]), np.ones(3), np.ones(3))
    with pytest.raises(NotCountedError):
        Categorical(min_rows=2).leave_one_out(x, statistic, (0, 1), None, leaving, np.zeros((3, 1, 2)))


def test_explanations_name_the_group_and_add_up() -> None:
    model = fitted()
    rows = {"city": ["jena", "a new city", "ulm"]}
    for explanation, log_odds in zip(
        model.explain(rows, of="y", against="x", leave_out=False), model.log_odds(rows, "y"), strict=True
    ):
        assert explanation.total == pytest.approx(log_odds)
    shown = [explanation.contributions[0].shown for explanation in model.explain(rows, leave_out=False)]
    assert shown == ["jena (one of 3 rare values)", "a new city (one of 3 rare values)", "ulm"]


def test_nomogram_has_one_mark_for_the_group() -> None:
    from naively.explanation.nomogram import make_nomogram

    [axis] = make_nomogram(fitted()).axes
    assert axis.marks == ("bonn", "ulm", "3 rare values")


def test_samples_have_rare_values() -> None:
    cities = fitted().sample(300, seed=0).column("city").to_pylist()
    assert {"jena", "köln", "kiel"} <= set(cities)


def test_weights_files_and_exports(tmp_path: Path) -> None:
    tuning = naively.Tuning({"x": 0.25}, {"city": 0.5}, families={"city": Categorical(min_rows=2)})
    model = naively.fit({"city": CITY}, LABEL, tune=False).with_tuning(tuning)
    model.save(tmp_path / "m")
    rows = {"city": ["jena", "new", "ulm", None]}
    np.testing.assert_allclose(naively.load(tmp_path / "m").posterior(rows), model.posterior(rows))
    plain = fitted()
    expected = (
        np.log(plain.class_counts / 9) + [0.25, 0.0] + 0.5 * (plain.log_joint(rows) - np.log(plain.class_counts / 9))
    )
    posterior = np.exp(expected) / np.exp(expected).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.posterior(rows), posterior)
    [block] = model.to_dict()["blocks"]
    [scores] = block["columns"]
    np.testing.assert_allclose(scores["other"], 0.5 * np.log([3 / 7, 2 / 7]))
    linear = plain.linear(of="y")
    weights = dict(zip(linear.features, linear.weights.tolist(), strict=True))
    [jena] = [weight for name, weight in weights.items() if "jena" in name]
    assert jena == pytest.approx(np.log(2 / 3))


def test_settings_that_do_not_fit_are_refused() -> None:
    for settings in (
        {"min_rows": -1},
        {"min_rows": 1.5},
        {"min_rows": 2, "shared": True},
        {"min_rows": 2, "alpha": {"a": 1}},
    ):
        with pytest.raises(InputError, match="min_rows"):
            Categorical(**settings)


def test_tuning_groups_identifiers_that_say_nothing() -> None:
    generator = np.random.default_rng(2)
    n = 600
    label = generator.integers(0, 2, n)
    street = [f"street {k}" for k in generator.zipf(1.3, n) % 200]
    sky = np.where(generator.random(n) < 0.8, label, 1 - label)
    model = naively.fit({"street": street, "sky": np.array(["sun", "rain"])[sky].tolist()}, label.tolist())
    table = model.tables()["street"]
    assert "rare values" in str(table.values[-1])
    assert len(table.values) < len(set(street)) / 2
