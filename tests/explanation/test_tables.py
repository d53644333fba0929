"""The tables of a model: a prediction computed by hand from them is that of the model, for every family."""

from __future__ import annotations

import json
import math
from datetime import date, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import naively
from naively.explanation.tables import ColumnTable
from naively.model.calibrate import EvidenceKey, Tuning
from naively.statistics import Moments

CLASSES = ("a", "b", "c")


def rows_of_every_kind(n: int = 240) -> tuple[dict[str, list[Any]], list[str]]:
    generator = np.random.default_rng(0)
    code = generator.integers(0, 3, n)
    words = ["sun", "rain", "fog", "hail"]
    data: dict[str, list[Any]] = {
        "sky": [words[(c + k) % 4] for c, k in zip(code, generator.integers(0, 3, n), strict=True)],
        "age": (20 + 15 * code + 10 * generator.random(n)).round(3).tolist(),
        "visits": generator.poisson(1 + code).tolist(),
        "wait": generator.exponential(1 / (1 + code)).round(4).tolist(),
        "price": np.exp(generator.normal(code, 0.5)).round(4).tolist(),
        "height": generator.normal(code, 1).round(4).tolist(),
        "member": (generator.random(n) < (code + 1) / 4).astype(int).tolist(),
        "day": [
            date(2020, 1, 1) + timedelta(days=int(40 * c + d))
            for c, d in zip(code, generator.integers(0, 90, n), strict=True)
        ],
    }
    data["age"][::7] = [None] * len(data["age"][::7])
    return data, [CLASSES[c] for c in code]


FAMILIES = {
    "sky": naively.Categorical(alpha=0.5),
    "age": naively.Binned(missing="value"),
    "visits": naively.Poisson(),
    "wait": naively.Exponential(),
    "price": naively.LogNormal(),
    "height": naively.Gaussian(),
    "member": naively.Bernoulli(a=2, b=3),
    "day": naively.Binned(),
}


def by_hand(table: ColumnTable, value: Any, c: int) -> float:
    """Return log p(value | c) from the numbers of a table, by the textbook."""
    if table.values:
        for v, known in enumerate(table.values):
            is_bin = isinstance(known, tuple)
            if is_bin:
                low, high = known
                number = value.isoformat() if isinstance(value, date) else value  # as dates are written
                is_value = (low is None or low <= number) and (high is None or number < high)
            else:
                is_value = known == value
            if is_value:
                n, alpha = table.counts[v, c], table.learnt.alpha[v, c]
                return math.log((n + alpha) / (table.learnt.totals[c] + table.learnt.total_alpha[c]))
        raise AssertionError((table.column, value))
    numbers = {name: float(x[c]) for name, x in table.parameters.items()}
    if "rate" in numbers and table.family.startswith("Poisson"):
        return float(value * math.log(numbers["rate"]) - numbers["rate"] - math.lgamma(value + 1))
    if "rate" in numbers:
        return float(math.log(numbers["rate"]) - numbers["rate"] * value)
    is_log = "mean of log" in numbers
    end = " of log" if is_log else ""
    x = math.log(value) if is_log else value
    mean, deviation = numbers[f"mean{end}"], numbers[f"deviation{end}"]
    log_p = -0.5 * math.log(2 * math.pi) - math.log(deviation) - 0.5 * ((x - mean) / deviation) ** 2
    return log_p - (x if is_log else 0.0)


@pytest.mark.parametrize("is_tuned", [False, True])
def test_a_prediction_by_hand_is_that_of_the_model(is_tuned: bool) -> None:
    X, y = rows_of_every_kind()
    model = naively.fit(X, y, columns=FAMILIES, tune=False)
    if is_tuned:
        weights: dict[EvidenceKey | str, float] = {
            "sky": 0.5,
            "age": 1.25,
            EvidenceKey(("age",), "presence"): 0.1,
            "visits": 0.0,
        }
        model = model.with_tuning(Tuning({"a": 0.3, "c": -0.2}, weights, default_weight=0.75))
    tables = model.tables()
    assert set(tables) == {*X, "age present"}
    for i in range(12):
        row = {name: values[i] for name, values in X.items()}
        scores = np.log(tables.prior) + tables.offset
        for column, table in tables.items():
            value = row[column.removesuffix(" present")]
            if column == "age present":
                value = value is not None
            if value is not None:
                scores = scores + table.weight * np.array([by_hand(table, value, c) for c in range(3)])
        posterior = np.exp(scores - scores.max())
        posterior /= posterior.sum()
        np.testing.assert_allclose(posterior, model.posterior({k: [v] for k, v in row.items()})[0], rtol=1e-9)


def test_probabilities_are_counts_and_pseudo_counts() -> None:
    model = naively.fit({"sky": ["sun", "sun", "rain", "sun"]}, ["yes", "yes", "no", "no"], tune=False)
    table = model.tables()["sky"]
    assert table.values == ("rain", "sun")
    assert table.counts.tolist() == [[1, 0], [1, 2]]
    np.testing.assert_allclose(table.probability, [[2 / 4, 1 / 4], [2 / 4, 3 / 4]])
    np.testing.assert_allclose(table.log_odds, np.log([1 / 2, 3 / 2]))
    np.testing.assert_allclose(model.tables(of="no")["sky"].log_odds, -np.log([1 / 2, 3 / 2]))


def test_words_of_a_text_are_by_frequency() -> None:
    texts, labels = ["a a a b", "a c", "b b d", "d"], ["x", "x", "y", "y"]
    model = naively.fit({"t": texts}, labels, columns={"t": naively.Text()}, tune=False)
    table = model.tables(top=2)["t"]
    assert table.values == ("a", "b")
    assert table.counts.tolist() == [[4, 0], [1, 2]]
    assert table.learnt.n_values == 4
    np.testing.assert_allclose(table.probability, [[5 / 10, 1 / 8], [2 / 10, 3 / 8]])
    assert table.parameters["texts"].tolist() == [2, 2]
    assert "and 2 more" in str(table)
    assert len(model.tables(top=None)["t"].values) == 4


@pytest.mark.parametrize("family", [naively.Multinomial(), naively.Multinomial(alpha=0.5), naively.Complement()])
def test_tokens_of_a_block_are_a_table_each(family: Any) -> None:
    X = np.array([[3, 0, 1], [1, 1, 0], [0, 2, 2]])
    model = naively.fit(X, ["a", "a", "b"], columns=family, tune=False)
    tables = model.tables()
    scores = sum(X[0, j] * tables[f"x{j}"].log_odds[0] for j in range(3))
    expected = model.log_odds(X[:1])[0] - np.log(tables.prior[1] / tables.prior[0])
    assert scores == pytest.approx(expected)
    if family.is_likelihood:
        total = sum(float(tables[f"x{j}"].probability[0, 0]) for j in range(3))
        assert total == pytest.approx(1)


def test_a_family_without_a_table_of_its_own_has_what_was_counted() -> None:
    class Plain(naively.Gaussian):
        learnt = naively.families.Family.learnt

    model = naively.fit(
        {"x": [1.0, 2.0, 4.0, 8.0]}, ["a", "a", "b", "b"], columns={"x": naively.Gaussian()}, tune=False
    )
    statistic, parameters = model.chosen.statistics[0], model.parameters[0]
    assert isinstance(statistic, Moments)
    learnt = Plain().learnt(statistic, parameters, 0, model.classes)
    assert learnt.parameters["mean"].tolist() == [1.5, 6.0]


def test_dates_are_dates() -> None:
    X, y = rows_of_every_kind()
    text = str(naively.fit(X, y, columns=FAMILIES, tune=False).tables()["day"])
    assert "below 2020-" in text
    gaussian = naively.fit({"day": X["day"]}, y, columns={"day": naively.Gaussian()}, tune=False)
    assert "mean       2020-" in str(gaussian.tables()["day"])
    assert " days" in str(gaussian.tables()["day"])


def test_bins_of_times_are_shown_at_times_that_divide_the_same_rows() -> None:
    seconds = np.random.default_rng(0).integers(0, 30 * 86_400, 600)
    times = np.datetime64("2024-01-01", "s") + seconds.astype("timedelta64[s]")
    labels = np.where((seconds > 10 * 86_400) ^ (np.arange(600) % 10 == 0), "late", "early")
    model = naively.fit({"time": times}, labels, columns={"time": naively.Binned()})
    table = model.tables()["time"]
    names = table.learnt.shown
    assert len(names) > 1
    edges = [np.datetime64(name.removesuffix(" and more").split(" to ")[0]) for name in names[1:]]
    assert names[0] == f"below {str(edges[0]).replace('T', ' ')}"
    counts = np.bincount(np.searchsorted(edges, times, side="right"), minlength=len(names))
    assert counts.tolist() == table.counts.sum(axis=1).tolist()


def test_means_of_times_have_the_precision_of_their_deviation() -> None:
    start = np.datetime64("2024-01-01T08:00", "s")
    minutes = start + (60 * np.arange(40)).astype("timedelta64[s]")
    table = str(naively.fit({"t": minutes}, ["a", "b"] * 20, columns={"t": naively.Gaussian()}, tune=False).tables())
    assert "2024-01-01 08:19" in table
    assert " hours" in table


def test_html_has_the_notes_of_the_text() -> None:
    values = [f"v{i}" for i in range(60)]
    table = naively.fit({"x": values * 2}, ["a"] * 60 + ["b"] * 60, columns=naively.Categorical(), tune=False).tables()[
        "x"
    ]
    *_, n_more, meaning = str(table).splitlines()
    assert n_more.startswith("and ")
    assert meaning.startswith("log-odds of b against a; p = (n + 1)")
    for note in (n_more, meaning):
        assert f">{note}</p>" in table._repr_html_()


def test_plain_data_and_arrow() -> None:
    X, y = rows_of_every_kind()
    tables = naively.fit(X, y, columns=FAMILIES).tables()
    for table in tables.values():
        assert json.loads(json.dumps(table.to_dict()))["column"] == table.column
        assert "<table" in table._repr_html_()
    arrow = tables.to_arrow()
    assert isinstance(arrow, pa.Table)
    sky = [row for row in arrow.to_pylist() if row["column"] == "sky" and row["value"] == "sun"]
    np.testing.assert_allclose(
        [row["probability"] for row in sky], tables["sky"].probability[tables["sky"].values.index("sun")]
    )
    assert repr(tables) == "<Tables of 9 columns, 3 classes>"
    assert str(tables).count("log-odds of c against a") == 5


@pytest.mark.parametrize("width", [40, 60, 100])
def test_the_value_stays_in_a_narrow_terminal(width: int) -> None:
    from rich.cells import cell_len

    values = [f"東京都のとても長い名前の区{i}番" for i in range(40)] * 3
    model = naively.fit(
        {"city": values}, ["a", "b", "b", "a", "c", "b"] * 20, columns={"city": naively.Categorical()}, tune=False
    )
    lines = model.tables()["city"].as_text(width).split("\n")
    table = lines[2:23]
    assert table[0].startswith("value")
    assert table[1].startswith("東京都")
    assert max(map(cell_len, table)) <= max(width, 50)
    assert "and 20 more" in lines


def test_an_unknown_column_is_refused() -> None:
    X, y = rows_of_every_kind()
    model = naively.fit({**X, "constant": [1] * len(y)}, y)
    with pytest.raises(naively.errors.InputError, match="the model has no column 'nothing'"):
        model.tables().of_column("nothing")
    with pytest.raises(naively.errors.InputError, match="does not use column 'constant'"):
        model.tables().of_column("constant")
