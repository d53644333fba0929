"""Files of every format, folders, databases and streams give the same statistics as a table in memory."""

import bz2
import gzip
import io
import json
import sqlite3
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naively
from naively import InputError, LeftOutWarning, Model
from naively.data.files.read import read_files
from naively.statistics import Moments

ROWS = 3000


def example(n: int = ROWS, seed: int = 0) -> pa.Table:
    """Numbers, strings, booleans and text, with missing values."""
    r = np.random.default_rng(seed)

    def with_missing(values: list[Any]) -> list[Any]:
        return [None if is_missing else value for value, is_missing in zip(values, r.random(n) < 0.1, strict=True)]

    words = np.array(["cheap", "pills", "lunch", "noon", "offer", "team"])
    return pa.table(
        {
            "age": with_missing(r.normal(40, 9, n).tolist()),
            "visits": with_missing(r.poisson(4, n).tolist()),
            "job": with_missing(r.choice(["cook", "späher", "a, b", 'the "boss"'], n).tolist()),
            "offer": with_missing((r.random(n) < 0.5).tolist()),
            "note": [" ".join([f"id{i}", *r.choice(words, 4)]) for i in range(n)],
            "label": r.choice(["ham", "spam"], n).tolist(),
        }
    )


def as_csv(table: pa.Table, **options: Any) -> bytes:
    import csv

    out = io.StringIO()
    writer = csv.writer(out, **({"lineterminator": "\n"} | options))
    writer.writerow(table.column_names)
    spelt = {None: "", True: "true", False: "false"}
    plain = [[spelt.get(v, v) if v is None or isinstance(v, bool) else v for v in c.to_pylist()] for c in table.columns]
    writer.writerows(zip(*plain, strict=True))
    return out.getvalue().encode()


def assert_same(a: Model, b: Model) -> None:
    """Compare counts bit for bit, and moments, which are sums about another shift, up to rounding."""
    assert a.classes == b.classes
    assert dict(a.schema.families()) == dict(b.schema.families())
    rest = a - b
    assert not rest.class_weights.rows.any()
    for one, two in zip(rest.statistics, a.statistics, strict=True):
        if isinstance(one, Moments):
            assert not one.rows.any()
        else:
            for cells in (getattr(one, name, None) for name in ("cells", "missing", "lengths")):
                assert cells is None or not len(cells.index), type(two)
    table = example(50, seed=9).drop_columns(["label"])
    assert np.allclose(a.log_joint(table), b.log_joint(table), rtol=1e-13, atol=1e-12)


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return example()


@pytest.fixture(scope="module")
def model(table: pa.Table) -> Model:
    return naively.fit(table, "label", tune=False)


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def test_every_format_gives_the_same_statistics(table: pa.Table, model: Model, tmp_path: Path) -> None:
    csv = as_csv(table)
    zstd = pa.compress(csv, codec="zstd", asbytes=True)
    rows = "".join(f"{json.dumps(row)}\n" for row in table.to_pylist()).encode()
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=700)
    feather.write_feather(table, str(tmp_path / "a.feather"), chunksize=999)
    feather.write_feather(table, str(tmp_path / "b.arrow"), compression="uncompressed")
    paths = [
        write(tmp_path / "a.csv", csv),
        write(tmp_path / "a.csv.gz", gzip.compress(csv)),
        write(tmp_path / "a.csv.bz2", bz2.compress(csv)),
        write(tmp_path / "a.csv.zst", zstd),
        write(tmp_path / "a.tsv", as_csv(table, delimiter="\t")),
        write(tmp_path / "b.csv", as_csv(table, delimiter=";")),
        write(tmp_path / "w.csv", as_csv(table, lineterminator="\r\n")),
        write(tmp_path / "q.csv", as_csv(table, quoting=1)),
        write(tmp_path / "bom.csv", b"\xef\xbb\xbf" + csv),
        write(tmp_path / "u16.csv", csv.decode().encode("utf-16")),
        write(tmp_path / "latin.csv", csv.decode().encode("latin-1")),
        write(tmp_path / "noname", csv),
        write(tmp_path / "a.jsonl", rows),
        write(tmp_path / "a.jsonl.gz", gzip.compress(rows)),
        tmp_path / "a.parquet",
        tmp_path / "a.feather",
        tmp_path / "b.arrow",
    ]
    for path in paths:
        assert_same(naively.fit(path, "label", tune=False), model)
        assert_same(naively.fit(str(path), "label", tune=False), model)


def test_databases(table: pa.Table, model: Model, tmp_path: Path) -> None:
    import duckdb

    plain = table.drop_columns(["offer"])
    model = naively.fit(plain, "label", tune=False)
    with sqlite3.connect(tmp_path / "d.db") as connection:
        connection.execute("CREATE TABLE people (age REAL, visits INTEGER, job TEXT, note TEXT, label TEXT)")
        rows = zip(*(c.to_pylist() for c in plain.columns), strict=True)
        connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?)", rows)
    connection.close()
    with duckdb.connect(str(tmp_path / "d.duckdb")) as duck:
        duck.register("given", plain)
        duck.execute("CREATE TABLE people AS SELECT * FROM given")
    for name in ("d.db", "d.duckdb"):
        for query in ("", "::people", "::SELECT * FROM people ORDER BY note"):
            result = naively.fit(f"{tmp_path / name}{query}", "label", tune=False)
            assert result.class_counts.tolist() == model.class_counts.tolist()
            assert_same_counts(result, model)
        with pytest.raises(InputError, match=r"there is no table 'cats'.* it has people"):
            naively.fit(f"{tmp_path / name}::cats", "label", tune=False)
        with pytest.raises(InputError, match=name):
            naively.fit(f"{tmp_path / name}::SELECT nonsense FROM people", "label", tune=False)


def test_names_stay_in_their_place_in_duckdb(tmp_path: Path) -> None:
    import duckdb

    name = 'a "b"; DROP TABLE t; -- it\'s \\'
    with duckdb.connect(str(tmp_path / "d.duckdb")) as connection:
        quoted = name.replace('"', '""')
        connection.execute(f'CREATE TABLE "{quoted}" AS SELECT 1 AS "{quoted}"')
        connection.execute("CREATE TABLE t AS SELECT 2 AS x")
    for _ in range(2):
        assert pa.Table.from_batches(read_files(f"{tmp_path / 'd.duckdb'}::{name}")).to_pylist() == [{name: 1}]
        assert pa.Table.from_batches(read_files(f"{tmp_path / 'd.duckdb'}::t")).to_pylist() == [{"x": 2}]


def test_without_duckdb_the_message_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import duckdb

    duckdb.connect(str(tmp_path / "d.duckdb")).close()
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(InputError) as error:
        naively.fit(f"{tmp_path / 'd.duckdb'}::t", "y")
    assert str(error.value).endswith(': is a DuckDB file; install duckdb to read it (pip install "naively[duckdb]").')


def assert_same_counts(a: Model, b: Model) -> None:
    assert dict(a.schema.families()) == dict(b.schema.families())
    rest = a - b
    assert not rest.class_weights.rows.any()


@given(st.lists(st.integers(1, 900), min_size=1, max_size=8))
def test_any_batches_give_the_same_statistics(sizes: list[int]) -> None:
    all_rows = example(1000)

    def batches() -> Any:
        start = 0
        for size in sizes:
            yield all_rows.slice(start, size)
            start += size
        yield all_rows.slice(start)

    assert_same(naively.fit(batches(), "label", tune=False), naively.fit(all_rows, "label", tune=False))


def test_readers_and_iterators(table: pa.Table, model: Model) -> None:
    assert_same(naively.fit(table.to_reader(100), "label", tune=False), model)
    assert_same(naively.fit(iter(table.to_batches(77)), "label", tune=False), model)
    labels = table["label"].to_pylist()
    features = table.drop_columns("label")
    assert_same(naively.fit(iter(features.to_batches(77)), labels, tune=False), model)
    with pytest.raises(InputError, match="3000 rows but 1 labels"):
        naively.fit(iter(features.to_batches()), ["a"], tune=False)
    with pytest.raises(InputError, match="3000 rows but 3001 labels"):
        naively.fit(iter(features.to_batches()), [*labels, "ham"], tune=False)
    double = pa.table([pa.array([1]), pa.array([2]), pa.array(["a"])], names=["x", "x", "label"])
    with pytest.raises(InputError, match="occur more than once: x"):
        naively.fit(iter([double]), "label", tune=False)
    with pytest.raises(InputError, match="stream of int"):
        naively.fit(iter([1, 2]), "label", tune=False)


def test_a_file_of_more_than_one_batch(tmp_path: Path) -> None:
    all_rows = example(70_000)
    path = write(tmp_path / "a.csv", as_csv(all_rows))
    assert_same(naively.fit(path, "label", tune=False), naively.fit(all_rows, "label", tune=False))


def test_globs_folders_and_lists(table: pa.Table, model: Model, tmp_path: Path) -> None:
    write(tmp_path / "1.csv", as_csv(table.slice(0, 1000)))
    write(tmp_path / "2.csv", as_csv(table.slice(1000)))
    for where in (tmp_path, tmp_path / "*.csv", [tmp_path / "1.csv", tmp_path / "2.csv"]):
        assert_same(naively.fit(where, "label", tune=False), model)
    write(tmp_path / "3.csv", b"age,label\n1,ham\n")
    with pytest.raises(InputError, match=r"3\.csv: does not have the column 'job'"):
        naively.fit(tmp_path, "label", tune=False)


def test_folders_of_texts(tmp_path: Path) -> None:
    result = {"ham": ["lunch at noon", "meet the team"], "spam": ["cheap pills now", "cheap \xe9t\xe9 offer"]}
    for label, texts in result.items():
        (tmp_path / label).mkdir()
        for i, text in enumerate(texts):
            write(tmp_path / label / f"{i}.txt", text.encode("latin-1"))
    expected = [tmp_path / "ham", tmp_path / "spam"]
    for where in (tmp_path, expected, [p / "*.txt" for p in expected], str(tmp_path / "*" / "*.txt")):
        model = naively.fit(where, "class", tune=False)
        assert model.classes == ("ham", "spam")
        assert model.predict(["a cheap lunch", "cheap été"]).tolist()[1] == "spam"


def test_weights_and_missing_targets(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", b"x,w,y\n1,2,a\n5,1,\n9,1,b\n7,0,c\n,0.5,NA\n")
    with pytest.warns(LeftOutWarning, match="2 of 5 rows have no 'y'"):
        model = naively.fit(path, "y", weight="w", tune=False)
    assert model.classes == ("a", "b")
    assert model.class_counts.tolist() == [2.0, 1.0]
    with pytest.raises(InputError, match="no column 'z' to predict; the data has x, w, y"):
        naively.fit(path, "z", tune=False)
    with pytest.raises(InputError, match="no rows to count: 1 in the data, 1 of them without"):
        naively.fit(write(tmp_path / "b.csv", b"x,y\n1,\n"), "y", tune=False)
