"""Exported SQL returns the posteriors of the model, in each database, for strange names and values."""

from __future__ import annotations

import datetime
import math
import sqlite3
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.support.databases import ALL, POSTGRES, Rows, needs_postgresql, query
from tests.support.exported import (
    BIG,
    N_ROWS,
    N_ROWS_OF_MANY_CLASSES,
    STRANGE,
    assert_same_posterior,
    draw_labels,
    draw_model,
    draw_table,
)

import naively
from naively import Binned, Categorical, Gaussian, Poisson, Tuning
from naively.export.dialects import DIALECTS

on_each_database = pytest.mark.parametrize("database", ALL)
CLASSES: Sequence[tuple[Any, ...]] = (
    ("no", "yes"),
    ("it's", 'a "b"\\', "größe; --"),
    (False, True),
    (1, 2, 30),
    (0.5, 1.5),
)
CHARACTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
TEXTS = st.text(CHARACTERS, min_size=1, max_size=8)


def scores(rows: Rows) -> NDArray[np.float64]:
    """Return the log posteriors of rows that begin with their number and the prediction."""
    return np.array([[np.nan if x is None else x for x in row[2:]] for row in sorted(rows)])


def assert_same(database: str, model: naively.Model, table: dict[str, list[Any]], name: str = "data") -> None:
    n = len(next(iter(table.values())))
    numbered = {"number of the row": list(range(n)), **table}
    rows = query(database, model.to_sql(database, name, keys=["number of the row"], log=True), numbered, name)
    assert_same_posterior(scores(rows), model.log_posterior(table))
    rows = query(database, model.to_sql(database, name, keys=["number of the row"]), numbered, name)
    with np.errstate(divide="ignore"):
        assert_same_posterior(np.log(scores(rows)), model.log_posterior(table))
    predictions = [row[1] for row in sorted(rows)]
    margin = np.diff(np.sort(model.log_posterior(table))[:, -2:])[:, 0] if len(model.classes) > 1 else np.ones(n)
    expected = model.predict(table).tolist()
    assert [p for p, m in zip(predictions, margin, strict=True) if m > 1e-9] == [
        e for e, m in zip(expected, margin, strict=True) if m > 1e-9
    ]


@on_each_database
@pytest.mark.parametrize("tune", [False, True])
@pytest.mark.parametrize("classes", CLASSES, ids=str)
def test_posteriors_are_those_of_the_model(database: str, classes: tuple[Any, ...], tune: bool) -> None:
    table = draw_table(draw_labels(N_ROWS, classes, seed=5), classes, seed=6, unseen=True)
    assert_same(database, draw_model(classes, tune), table)


@on_each_database
def test_a_hundred_classes(database: str) -> None:
    classes = tuple(f"class {k}" for k in range(100))
    n_rows = min(N_ROWS_OF_MANY_CLASSES, 20_000 if database == "spark" else N_ROWS)  # no answer for 100,000
    table = draw_table(draw_labels(n_rows, classes, seed=5), classes, seed=6, unseen=True)
    assert_same(database, draw_model(classes, tune=False, n=5000), table)


@pytest.mark.parametrize("log", [False, True])
def test_the_query_grows_with_the_number_of_classes_not_with_its_square(log: bool) -> None:
    def n_additions(n_classes: int) -> int:
        classes = tuple(f"class {k}" for k in range(n_classes))
        table = {"sky": ["sun", "rain"] * n_classes}
        return naively.fit(table, [c for c in classes for _ in "ab"], tune=False).to_sql("duckdb", log=log).count(" + ")

    assert n_additions(80) < 2.2 * n_additions(40)


@on_each_database
def test_weights_offsets_and_the_length_of_a_row(database: str) -> None:
    classes = ("no", "yes")
    model, table = draw_model(classes, tune=False), draw_table(draw_labels(500, classes, 5), classes, 6, unseen=True)
    tuning = Tuning({"yes": 0.7}, {"word1": 0.8, "few": 0.0, "visits": 0.3}, {"word1": 0.6}, default_weight=0.5)
    assert_same(database, model.with_tuning(tuning).with_prior({"no": 0.1, "yes": 0.9}), table)


@on_each_database
def test_impossible_rows_get_the_prior(database: str) -> None:
    train = {"a": ["u", "v", "w", "u"], "n": [0, 0, 3, 4], "b": [0, 1, 1, 1]}
    families = {"a": Categorical(alpha=0), "n": Poisson(a=0, b=0), "b": naively.Bernoulli(a=0, b=0)}
    model = naively.fit(train, ["x", "x", "y", "y"], columns=families, tune=False, prior={"x": 0.25, "y": 0.75})
    table: dict[str, list[Any]] = {
        "a": ["u", "v", "w", "v", None, "z"],
        "n": [0, 0, 2, 5, 1, 0],
        "b": [0, 1, 1, 0, None, 1],
    }
    with pytest.warns(naively.ImpossibleRowsWarning):
        expected, predicted = model.posterior(table), model.predict(table).tolist()
    rows = sorted(query(database, model.to_sql(database, keys=["i"]), {"i": list(range(6)), **table}))
    np.testing.assert_allclose([row[2:] for row in rows], expected, atol=1e-12)
    assert [row[1] for row in rows] == predicted


@on_each_database
def test_refused_values_have_no_posterior(database: str) -> None:
    train = {
        "g": [1.0, 2.0, 3.0, 5.0],
        "p": [1, 2, 0, 4],
        "b": [0, 0, 0, 1],
        "c": [0.5, 0.5, 0.5, 1.5],
        "l": [1.0, 2.0, 3.0, 1.0],
    }
    families = {"g": Gaussian(), "p": Poisson(), "b": naively.Bernoulli(), "c": Categorical(), "l": naively.LogNormal()}
    model = naively.fit(train, ["x", "x", "y", "y"], columns=families, tune=False)
    good = {"g": 2.0, "p": 1.0, "b": 1.0, "c": 0.5, "l": 2.0}
    bad = [("g", math.inf), ("g", -math.inf), ("p", -1.0), ("p", 0.5), ("p", math.inf), ("b", 2.0), ("b", 0.5)]
    bad += [("c", math.inf), ("l", 0.0), ("l", -3.0), ("l", math.inf)]
    table = {name: [value, math.nan, *(x if at == name else value for at, x in bad)] for name, value in good.items()}
    for at, x in bad:
        with pytest.raises(naively.InputError, match=at):
            model.posterior({name: [x if name == at else value] for name, value in good.items()})
    rows = sorted(query(database, model.to_sql(database, keys=["i"]), {"i": list(range(len(bad) + 2)), **table}))
    assert all(None not in row for row in rows[:2])
    assert all(row[1:] == (None, None, None) for row in rows[2:])


@on_each_database
def test_numbers_far_from_one(database: str) -> None:
    rng = np.random.default_rng(0)
    label = np.repeat(["x", "y"], 100)
    scale = {"tiny": 1e-140, "small": 1e-30, "large": 1e30, "huge": 1e140}
    train = {name: (s * (rng.normal(size=200) + (label == "y"))).tolist() for name, s in scale.items()}
    positive = {f"{name} wait": np.abs(values).tolist() for name, values in train.items()}
    families: dict[str, Any] = dict.fromkeys(train, Gaussian()) | dict.fromkeys(positive, naively.Exponential())
    model = naively.fit(train | positive, label.tolist(), columns=families, tune=False)
    x = [0.0, 1e-320, 1e-200, 1e-150, 1e-100, 1.0, 1e100, 1e150, 1e200, 1e300]
    table: dict[str, list[Any]] = {name: x + [-v for v in x] for name in train}
    for name, s in scale.items():  # beyond 1e290 times the mean, the model itself cannot tell the classes apart
        table[f"{name} wait"] = 2 * [v if v < 1e290 * s else s for v in x]
    for name in families:
        one = {other: values if other == name else [None] * 20 for other, values in table.items()}
        one = {other: [math.nan if v is None else v for v in values] for other, values in one.items()}
        assert_same(database, model, one)
    assert_same(database, model, train | positive)


@on_each_database
def test_integers_beyond_53_bits(database: str) -> None:
    values = [*BIG, 2**62 + 1, 7, -(2**60) - 1] * 10
    model = naively.fit(
        {"code": values}, ["x", "y", "x", "x", "y", "y", "x"] * 10, columns={"code": Categorical()}, tune=False
    )
    assert_same(database, model, {"code": [*values[:7], 2**53 + 9, 8, None]})


@on_each_database
def test_dates_without_a_time(database: str) -> None:
    days = [datetime.date(1969, 12, 20) + datetime.timedelta(days=k) for k in range(60)]
    model = naively.fit({"day": days}, ["x"] * 30 + ["y"] * 30, columns={"day": Binned()}, tune=False)
    assert_same(database, model, {"day": [*days, None]})


@on_each_database
@given(
    st.lists(TEXTS, min_size=3, max_size=3, unique_by=str.casefold),
    st.lists(TEXTS, min_size=2, max_size=2, unique=True),
    st.sets(TEXTS, min_size=2, max_size=40),
)
def test_names_and_values_stay_in_their_place(
    database: str, names: list[str], classes: list[str], values: set[str]
) -> None:
    cells = [*sorted(values), *STRANGE]
    train: dict[str, list[Any]] = {names[0]: cells, names[1]: [float(len(v)) for v in cells]}
    label = [classes[0], classes[1]] * (len(cells) // 2) + classes[: len(cells) % 2]
    columns = {names[0]: Categorical(), names[1]: Binned()}
    model = naively.fit(train, label, columns=columns, tune=False)
    if database == "spark" and any("${" in name for name in [*names, *classes]):
        return  # is refused by name
    sql = model.to_sql(database, names[2], keys=["number of the row"])
    rows = sorted(query(database, sql, {"number of the row": list(range(len(cells))), **train}, names[2]))
    np.testing.assert_allclose([row[2:] for row in rows], model.posterior(train), atol=1e-12)
    assert {row[1] for row in rows} <= set(classes)


@pytest.mark.parametrize("database", ALL)
@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=20))
def test_numbers_are_read_back_exactly(database: str, numbers: list[float]) -> None:
    sql = "SELECT " + ", ".join(DIALECTS[database].number(x) for x in numbers)
    (row,) = query(database, sql, {"i": [1]})
    assert list(row) == numbers


def test_sqlite_refuses_text_in_a_column_of_numbers() -> None:
    model = naively.fit({"x": list(range(100))}, ["a"] * 50 + ["b"] * 50, columns={"x": Binned()}, tune=False)
    rows = query("sqlite", model.to_sql("sqlite"), {"x": [1, "1", "one", b"1", None]})
    assert [row[0] for row in rows] == ["a", None, None, None, "a"]


def test_sqlite_compares_case() -> None:
    """The column of the test table ignores case; the query does not."""
    model = naively.fit({"x": ["a", "a", "A", "A"]}, ["x", "x", "y", "y"], columns={"x": Categorical()}, tune=False)
    rows = query("sqlite", model.to_sql("sqlite"), {"x": ["a", "A"]})
    assert [row[0] for row in rows] == ["x", "y"]


@pytest.mark.parametrize("database", sorted(DIALECTS))
def test_what_cannot_be_written_is_refused_by_name(database: str) -> None:
    label = ["x", "y"]
    for name, value, message in (("", "a", "rename"), ("a\0b", "a", "rename"), ("c", "a\0b", "NUL")):
        model = naively.fit({name: [value, "b"]}, label, columns={name: Categorical()}, tune=False)
        with pytest.raises(naively.InputError, match=message) as caught:
            model.to_sql(database)
        assert "column" in str(caught.value)
    model = naively.fit({"c": ["a", "b"]}, label, columns={"c": Categorical()}, tune=False)
    with pytest.raises(naively.InputError, match="prediction"):
        model.to_sql(database, keys=["prediction"])
    with pytest.raises(naively.InputError, match="rename"):
        model.to_sql(database, "")
    with pytest.raises(naively.InputError, match="duckdb, postgresql, sqlite, spark"):
        model.to_sql("oracle")


def test_names_that_a_database_does_not_tell_apart() -> None:
    model = naively.fit(
        {"A": ["u", "v"], "a": ["v", "u"]}, ["x", "y"], columns={"A": Categorical(), "a": Categorical()}, tune=False
    )
    with pytest.raises(naively.InputError, match="'A' and 'a' are one name in DuckDB"):
        model.to_sql("duckdb")
    assert '"A"' in model.to_sql("postgresql")


def test_posteriors_of_classes_with_long_or_similar_names_have_names_of_their_own() -> None:
    classes = ("Yes", "yes", "ü" * 40 + "a", "ü" * 40 + "b")
    model = naively.fit({"c": ["a", "b"] * 4}, classes * 2, columns={"c": Categorical()}, tune=False)
    for database, expected in (("duckdb", '"p_yes_2"'), ("postgresql", f'"p_{"ü" * 29}_2"')):
        assert expected in model.to_sql(database)
    assert all(len(row) == 5 for row in query("duckdb", model.to_sql("duckdb"), {"c": ["a"]}))


def test_more_lookup_tables_than_sqlite_joins() -> None:
    values = [f"v{k}" for k in range(40)]
    table = {f"c{j}": values for j in range(70)}
    model = naively.fit(table, ["x", "y"] * 20, columns=dict.fromkeys(table, Categorical()), tune=False)
    with pytest.raises(naively.InputError, match=r"column 'c60' .Categorical.: SQLite cannot join"):
        model.to_sql("sqlite")
    assert len(query("duckdb", model.to_sql("duckdb"), table)) == 40


@needs_postgresql
def test_postgresql_scores_in_parallel() -> None:
    """A lookup table in a step of its own would leave all work to one process."""
    from adbc_driver_postgresql import dbapi

    table = {"town": [f"town {k}" for k in range(60)] * 4, "size": [float(k % 7) for k in range(240)]}
    label = ["x", "y", "y"] * 80
    model = naively.fit(table, label, columns={"town": Categorical(), "size": Gaussian()}, tune=False)
    with dbapi.connect(str(POSTGRES)) as connection, connection.cursor() as cursor:  # is rolled back
        cursor.execute(
            "CREATE TABLE towns AS SELECT 'town ' || i % 60 AS town, 1e0 * i AS size FROM generate_series(1, 9) i"
        )
        for setting in ("parallel_setup_cost", "parallel_tuple_cost", "min_parallel_table_scan_size"):
            cursor.execute(f"SET {setting} = 0")
        cursor.adbc_statement.set_options(**{"adbc.postgresql.use_copy": "false"})  # a plan cannot be copied
        cursor.execute("EXPLAIN " + model.to_sql("postgresql", "towns"))
        plan = [line for (line,) in cursor.fetchall()]
    position = next(i for i, line in enumerate(plan) if "Gather" in line)
    assert any("Left Join" in line for line in plan[position:])


def test_a_model_of_many_columns_is_not_too_deep_for_sqlite() -> None:
    table = {f"c{j}": ["a", "b", None, "a"] for j in range(1500)}
    model = naively.fit(table, ["x", "y", "x", "x"], columns=dict.fromkeys(table, Categorical()), tune=False)
    rows = query("sqlite", model.to_sql("sqlite"), table)
    np.testing.assert_allclose([row[1:] for row in rows], model.posterior(table), atol=1e-9)


def test_a_table_in_a_schema_and_a_table_that_is_called_like_a_step() -> None:
    model = naively.fit({"c": ["a", "b"]}, ["x", "y"], columns={"c": Categorical()}, tune=False)
    assert 'FROM "sales"."people" AS t' in model.to_sql("postgresql", ("sales", "people"))
    assert [
        row[0] for row in query("sqlite", model.to_sql("sqlite", "naively_read"), {"c": ["b"]}, "naively_read")
    ] == ["y"]


def test_a_missing_column_is_an_error_in_sqlite() -> None:
    """SQLite takes a name in quotes that is not a column for a string."""
    model = naively.fit({"c": ["a", "b"]}, ["x", "y"], columns={"c": Categorical()}, tune=False)
    with pytest.raises(sqlite3.OperationalError, match="no such column"):
        query("sqlite", model.to_sql("sqlite"), {"other": ["a"]})


def test_one_class() -> None:
    model = naively.fit({"c": ["a", "b"]}, ["x", "x"], columns={"c": Categorical()}, tune=False)
    for database in ("duckdb", "sqlite"):
        assert query(database, model.to_sql(database), {"c": ["a", None]}) == [("x", 1.0), ("x", 1.0)]
