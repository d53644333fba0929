"""Spark: the executors count what `fit` counts, bit for bit, and errors are those of `fit`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.support.engines import assert_same_counts, mixed_table, text_table

import naively
from naively.engines import spark as engine

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore:.*:DeprecationWarning:pyspark"),
]
TABLES = {"mixed": mixed_table(600), "texts": text_table(300)}


def local(table: pa.Table, model: naively.Model, **settings: Any) -> naively.Model:
    with pytest.warns(naively.LeftOutWarning):
        return naively.fit(table, "y", schema=model.schema, **settings)


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("n_partitions", [1, 2, 7, 100])
def test_fit_is_the_local_fit(spark: Any, name: str, n_partitions: int) -> None:
    df = spark.createDataFrame(TABLES[name]).repartition(n_partitions)
    with pytest.warns(naively.LeftOutWarning, match="rows have no 'y' and were left out") as issued:
        model = naively.fit(df, "y")
    assert len([w for w in issued if w.category is naively.LeftOutWarning]) == 1
    expected = local(TABLES[name], model)
    assert_same_counts(model, expected)
    assert model.tuning == expected.tuning
    assert model.target == "y"


def test_partitions_of_one_class_and_empty_ones(spark: Any) -> None:
    df = spark.createDataFrame(TABLES["mixed"]).repartition(12, "y")  # most are empty; one has no label
    with pytest.warns(naively.LeftOutWarning):
        model = naively.spark.fit(df, "y", tune=False, prior="uniform")
    assert_same_counts(model, local(TABLES["mixed"], model, tune=False))
    assert model.prior == naively.ClassPrior.of("uniform", model.classes)


def test_small_parts_that_exceed_a_result(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small parts come with their sizes, unless all of them exceed one result; then executors add them first."""
    too_large: list[bool] = []

    def observed(query: Any) -> Any:
        result = query_unless_too_large(query)
        too_large.append(result is None)
        return result

    query_unless_too_large = engine._unless_too_large
    monkeypatch.setattr(engine, "_unless_too_large", observed)
    random = np.random.default_rng(1)
    texts = [" ".join(f"{word:x}" for word in random.integers(0, 2**60, 40)) for _ in range(2000)]
    table = pa.table({"text": texts, "y": ["a", "b"] * 1000})
    schema = naively.infer_schema(table, "y")
    model = naively.spark.fit(spark.createDataFrame(table).repartition(40), "y", schema=schema, tune=False)
    assert too_large == [True, False]
    assert_same_counts(model, naively.fit(table, "y", schema=schema, tune=False))


def test_few_parts_come_in_one_query(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The parts of a few partitions need no second query, though they are not small."""
    later: list[Any] = []

    def observed(rows: Any, budget: int) -> Any:
        later.extend(rows)
        return []

    monkeypatch.setattr(engine, "_runs_within", observed)
    monkeypatch.setattr(engine, "_result_bytes", lambda df: 2**21)
    random = np.random.default_rng(2)
    texts = [" ".join(f"{word:x}" for word in random.integers(0, 2**60, 40)) for _ in range(400)]
    table = pa.table({"text": texts, "y": ["a", "b"] * 200})
    schema = naively.infer_schema(table, "y")
    part = engine.count(spark.createDataFrame(table).repartition(2), schema, "y", tune=False)
    assert len(part.to_bytes()) > 2 * engine.SMALL_BYTES
    assert not later
    assert_same_counts(part.to_model(), naively.fit(table, "y", schema=schema, tune=False))


def test_a_class_and_a_word_that_one_partition_has(spark: Any) -> None:
    table = pa.table({"text": [f"same word{i}" for i in range(60)], "y": ["a", "b"] * 29 + ["only", None]})
    rows = spark.createDataFrame(table).repartition(6, "text")
    with pytest.warns(naively.LeftOutWarning, match="1 of 60 rows"):
        model = naively.fit(rows, "y", tune=False)
    assert model.classes == ("a", "b", "only")
    assert_same_counts(model, local(table, model, tune=False))


def test_parts_are_added_in_a_tree(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "FAN_IN", 2)
    monkeypatch.setattr(engine, "MAX_COLLECTED_BYTES", 0)
    table = TABLES["mixed"].append_column("w", pa.array(range(600), pa.int64()))
    df = spark.createDataFrame(table).repartition(5)
    with pytest.warns(naively.LeftOutWarning):
        model = naively.fit(df, "y", weight="w", columns={"town": naively.Categorical()})
    assert_same_counts(model, local(table, model, weight="w"))


@pytest.mark.parametrize("name", TABLES)
def test_words_and_values_are_added_by_key(spark: Any, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "MIN_SPLIT_KEYS", 2)
    df = spark.createDataFrame(TABLES[name]).repartition(3)
    with pytest.warns(naively.LeftOutWarning):
        model = naively.fit(df, "y")
    expected = local(TABLES[name], model)
    assert_same_counts(model, expected)
    assert model.tuning == expected.tuning


@pytest.mark.parametrize("max_keys", [100_000, 2])
def test_tables_of_columns_are_those_of_the_local_fit(
    spark: Any, max_keys: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The driver plans the tables by the first rows, as `fit` does; also where parts are added by key."""
    monkeypatch.setattr(engine, "MIN_SPLIT_KEYS", max_keys)
    random = np.random.default_rng(0)
    x, sky = random.normal(size=900), random.choice(["sun", "fog"], 900)
    label = np.where((x > 0) == (sky == "sun"), "a", "b").tolist()
    table = pa.table({"x": x.tolist(), "sky": sky.tolist(), "y": [*label[:850], *[None] * 50]})
    df = spark.createDataFrame(table)
    with pytest.warns(naively.LeftOutWarning):
        model = naively.fit(df.repartition(3), "y", schema=naively.infer_schema(table, "y", together=True))
    with pytest.warns(naively.LeftOutWarning):
        expected = naively.fit(table, "y", together=True)
    assert expected.tuning is not None
    assert any(expected.tuning.table_weights)
    assert_same_counts(model, expected)
    assert model.tuning == expected.tuning
    with pytest.warns(naively.LeftOutWarning) as issued:
        planned = naively.fit(df.coalesce(1), "y", together=True)
    assert len([w for w in issued if w.category is naively.LeftOutWarning]) == 1
    assert planned.schema == expected.schema
    assert planned.tuning == expected.tuning


def test_one_partition_of_many_words(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its part is divided by word and added to parts that are not."""
    monkeypatch.setattr(engine, "MIN_SPLIT_KEYS", 500)
    texts = [f"w{i} w{i + 1}" for i in range(1000)] + ["w1 w2 short", "w3 other"] * 10
    table = pa.table({"text": texts, "y": ["a", "b"] * 510})
    long, short = (spark.createDataFrame(rows) for rows in (table.slice(0, 1000), table.slice(1000)))
    model = naively.fit(long.coalesce(1).union(short.repartition(3)), "y", tune=False)
    assert_same_counts(model, naively.fit(table, "y", schema=model.schema, tune=False))


def test_few_labels_among_the_first_rows(spark: Any) -> None:
    """The schema is decided by rows that have a label, wherever they are."""
    table = pa.table({"x": ["none"] * 60 + ["1", "2"] * 10, "y": [None] * 60 + ["a", "b"] * 10})
    with pytest.warns(naively.LeftOutWarning, match="60 of 80 rows"):
        model = naively.fit(spark.createDataFrame(table).repartition(2), "y", tune=False)
    assert model.class_counts.tolist() == [10, 10]


def test_the_first_rows_come_from_the_first_partition(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "FIRST_ROWS", 64)

    def note_partition(batches: Any) -> Any:
        for batch in batches:
            (tmp_path / str(batch.column("part")[0])).touch()
            yield batch

    parts = [spark.createDataFrame(pa.table({"part": [i] * 100, "y": ["a", "b"] * 50})).coalesce(1) for i in range(3)]
    df = parts[0].union(parts[1]).union(parts[2])
    first = engine._first_rows(df.mapInArrow(note_partition, df.schema), "y")
    assert first.column("part").to_pylist() == [0] * 64
    assert [path.name for path in tmp_path.iterdir()] == ["0"]


def test_a_part_larger_than_a_result(spark: Any) -> None:
    """The words of all rows take more bytes than one query may return: they come in several."""
    random = np.random.default_rng(0)
    texts = [" ".join(f"{word:x}" for word in random.integers(0, 2**60, 40)) for _ in range(3000)]
    table = pa.table({"text": texts, "y": ["a", "b", "b"] * 1000})
    model = naively.fit(spark.createDataFrame(table).repartition(3), "y", tune=False)
    assert_same_counts(model, naively.fit(table, "y", schema=model.schema, tune=False))
    assert len(engine.model_to_bytes(model)) > 2**20


def test_predictions_are_those_of_the_model(spark: Any) -> None:
    table = TABLES["mixed"]
    with pytest.warns(naively.LeftOutWarning):
        model = naively.fit(table, "y")
    df = spark.createDataFrame(table).repartition(3).selectExpr("*", "array(count) as other", "far as `odd.name`")
    rows = naively.spark.predict(model, df, proba=True).toArrow()
    assert rows.column_names[-4:] == ["prediction", "p_a", "p_b", "p_c"]
    columns = rows.select(list(model.schema.names))
    assert rows["prediction"].to_pylist() == model.predict(columns).tolist()
    posterior = np.stack([rows[f"p_{c}"].to_numpy() for c in model.classes], axis=1)
    np.testing.assert_array_equal(posterior, model.posterior(columns))
    with pytest.raises(naively.InputError, match="a column 'prediction' already"):
        naively.spark.predict(model, df.withColumn("prediction", df["y"]))
    with pytest.raises(naively.InputError, match="'far'"):
        naively.spark.predict(model, df.withColumn("far", df["other"]))


def message_of(work: Any) -> str:
    with pytest.raises(naively.InputError) as caught:
        work()
    assert caught.value.__cause__ is None
    return str(caught.value)


def test_bad_rows_have_the_message_of_the_local_engine(spark: Any) -> None:
    table = pa.table({"x": [1.0] * 199 + [np.inf], "s": ["a", "b"] * 100, "y": [0, 1] * 100})
    df = spark.createDataFrame(table).repartition(4)
    columns = {"x": naively.Gaussian()}
    expected = message_of(lambda: naively.fit(table, "y", columns=columns))
    assert message_of(lambda: naively.fit(df, "y", columns=columns)) == expected
    assert "'x' holds an infinity" in expected


@pytest.mark.parametrize("bad", ["y", "s", "w"])
def test_one_bad_row_of_one_partition(spark: Any, bad: str) -> None:
    """A label or a value that is not valid Unicode, or a weight below zero, in a row that decides no schema."""
    table = pa.table({"s": ["a", "b"] * 100, "y": ["u", "v"] * 100, "w": [1.0] * 200})
    schema = naively.infer_schema(table, "y", weight="w")
    cell: Any = pa.array([-1.0]) if bad == "w" else pa.Array.from_buffers(pa.string(), 1, pa.array([b"\xff"]).buffers())
    rows: list[Any] = [column.chunk(0) for column in table.columns]
    position = table.column_names.index(bad)
    rows[position] = pa.concat_arrays([cell, rows[position].slice(1)])
    bad_table = pa.table(rows, table.column_names)
    expected = message_of(lambda: naively.fit(bad_table, "y", weight="w", schema=schema))
    value = "-1.0D" if bad == "w" else "cast(X'ff' as string)"
    odd = spark.createDataFrame(table.slice(0, 1)).selectExpr(
        *(f"{value} as {name}" if name == bad else name for name in table.column_names)
    )
    df = odd.union(spark.createDataFrame(table.slice(1)).repartition(3))
    assert message_of(lambda: naively.spark.fit(df, "y", weight="w", schema=schema)) == expected


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("cast(NULL as string) as y", "no rows to count: 200 in the data, 200 of them without a 'y'"),
        ("current_date() as y", "column 'y' holds dates"),
        ("1 as y; make_ym_interval(1, 2) as span", "column 'span' has type interval year to month"),
        ("1 as y; struct(x) as pair", "column 'pair' has type struct"),
        ("1 as y; -1.0 as w", "the weight of row 0 is -1.0"),
        ("1 as y; 0.0 as w", "all weights are zero"),
        ("1 as z", "there is no column 'y' to predict"),
    ],
)
def test_refusals_name_the_column(spark: Any, change: str, message: str) -> None:
    df = spark.range(200).selectExpr("cast(id as double) as x").selectExpr("x", *change.split("; "))
    weight = "w" if " as w" in change else None
    assert message in message_of(lambda: naively.fit(df, "y", weight=weight))


@pytest.mark.parametrize("change", ["missing", "other type"])
def test_a_frame_that_does_not_fit_the_schema_is_refused_by_name(spark: Any, change: str) -> None:
    schema = naively.infer_schema({"x": [1.0, 2.0] * 9, "s": ["a", "b"] * 9}, ["u", "v"] * 9)
    table = pa.table({"x": ["1", "2"] * 9, "s": ["a", "b"] * 9, "y": ["u", "v"] * 9})
    table = table.drop_columns("x") if change == "missing" else table
    expected = message_of(lambda: naively.fit(table, "y", schema=schema))
    assert "'x'" in expected
    df = spark.createDataFrame(table).repartition(2)
    assert message_of(lambda: naively.spark.fit(df, "y", schema=schema)) == expected


def test_a_spark_frame_is_never_collected(spark: Any) -> None:
    df = spark.createDataFrame(TABLES["texts"])
    model = naively.fit(["a b", "c"], ["u", "v"])
    with pytest.raises(naively.InputError, match="not collected"):
        model.predict(df)
    with pytest.raises(naively.InputError, match="names of columns"):
        naively.fit(df, ["a"] * 300)
    with pytest.raises(naively.InputError, match="needs a Spark DataFrame"):
        naively.spark.fit({"x": [1]}, "y")


def test_a_worker_killed_in_its_first_attempt(spark: Any, tmp_path: Path) -> None:
    table = TABLES["mixed"]
    flag = tmp_path / "killed"

    def kill_once(batches: Any) -> Any:
        for batch in batches:
            yield batch
            if not flag.exists():
                flag.touch()
                os.kill(os.getpid(), signal.SIGKILL)

    df = spark.createDataFrame(table).repartition(2)
    schema = naively.infer_schema(table, "y")
    with pytest.warns(naively.LeftOutWarning):
        model = naively.spark.fit(df.mapInArrow(kill_once, df.schema), "y", schema=schema)
    assert flag.exists()
    expected = local(table, model)
    assert_same_counts(model, expected)
    assert model.tuning == expected.tuning


def test_warnings_of_executors_are_issued_once(spark: Any) -> None:
    table = pa.table({"n": [2**60 + k for k in range(40)], "y": [0, 1] * 20})
    df = spark.createDataFrame(table).repartition(4)
    with pytest.warns(naively.LostDigitsWarning, match="'n'") as issued:
        naively.fit(df, "y", tune=False)
    assert len([w for w in issued if w.category is naively.LostDigitsWarning]) == 1


def test_without_the_extra_one_sentence_names_it() -> None:
    code = (
        "import sys; sys.modules['pyspark'] = None\n"
        "import naively\n"
        "try: naively.spark.NaiveBayes\n"
        "except naively.InputError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == 'naively.spark.NaiveBayes needs pyspark: pip install "naively[spark]".\n'
