"""Files in any state give a model, or an error that names file and line."""

import contextlib
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import naively
from naively import InputError, LeftOutWarning
from naively.data.files.read import read_files


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


LATE = 450_000


@pytest.mark.parametrize(("late", "family"), [("2.5", "AutoNumber"), ("abc", "AutoString"), ("1e3", "AutoNumber")])
def test_a_late_cell_of_another_type_is_not_lost(late: str, family: str, tmp_path: Path) -> None:
    rows = "".join(f"{i % 7},{i % 100000},{'ab'[i % 2]}\n" for i in range(LATE))
    path = write(tmp_path / "a.csv", f"x,z,y\n{rows}{late},{1},a\n".encode())
    assert path.stat().st_size > 4 << 20  # the reader's block
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = naively.fit(path, "y", tune=False)
    families = {name: type(f).__name__ for name, f in model.schema.families()}
    assert families == {"x": family, "z": "AutoNumber"}
    assert int(model.class_weights.rows.sum()) == LATE + 1
    assert f"a.csv, line {LATE + 2}: column 'x' is '{late}'" in str(caught[0].message)


def test_a_column_whose_values_start_late(tmp_path: Path) -> None:
    rows = "".join(f",{i},{'ab'[i % 2]},{'some words here':>40}\n" for i in range(100_000))
    path = write(tmp_path / "a.csv", f"x,z,y,t\n{rows}3.5,1,a,\n4,1,b,\n".encode())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LeftOutWarning)
        model = naively.fit(path, "y", tune=False)
    assert type(dict(model.schema.families())["x"]).__name__ == "AutoNumber"
    only = naively.fit(write(tmp_path / "b.csv", b"x,z,y\n,1,a\n,2,b\n"), "y", tune=False)
    assert type(dict(only.schema.families())["x"]).__name__ == "NoValuesYet"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "bad.csv: the file is empty"),
        (b"\n\n  \n", "bad.csv: the file is empty"),
        (b"x,y\n", "bad.csv: has a header and no rows"),
        (b"x,y,x\n1,2,3\n", "bad.csv, line 1: column names that occur more than once: x"),
        (b"x,y\n1,a\n2,b,c\n", "bad.csv, line 3: 3 cells where the header has 2"),
        (b"x,y\n1,a\n2\n", "bad.csv, line 3: 1 cell where the header has 2"),
        (b'x,y\n"1\n\n",a\n2,b,c\n', "bad.csv, line 5: 3 cells"),
        (bytes(range(256)) * 20, "bad.csv: is not text"),
    ],
)
def test_the_error_names_a_messy_file(content: bytes, message: str, tmp_path: Path) -> None:
    path = write(tmp_path / "bad.csv", content)
    with pytest.raises(InputError, match=message):
        naively.fit(path, "y", tune=False)


@pytest.mark.parametrize("name", ["bad.parquet", "bad.feather", "bad.sqlite", "bad.jsonl", "bad.csv.gz", "bad.duckdb"])
@pytest.mark.parametrize(
    "content", [b"nonsense", b"PAR1nonsense", b"ARROW1\0\0nonsense", b"SQLite format 3\0", b"\x1f\x8b12"]
)
def test_the_error_names_a_file_of_nonsense(name: str, content: bytes, tmp_path: Path) -> None:
    path = write(tmp_path / name, content)
    with pytest.raises(InputError, match=name):
        naively.fit(path, "y", tune=False)


@given(st.binary(max_size=200))
def test_any_bytes_give_a_model_or_an_input_error(content: bytes) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder) / "a.csv", b"x,y\n1,a\n" + content)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LeftOutWarning)
            with contextlib.suppress(InputError):
                naively.fit(path, "y", tune=False)


def test_missing_cells_and_quoted_numbers(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", b'n,q,m,y\nNA,"1",1,a\n2,"2",x,b\n,"",2,a\nNaN,"4",y,b\n')
    model = naively.fit(path, "y", tune=False)
    kinds = {name: type(family).__name__ for name, family in model.schema.families()}
    assert kinds == {"n": "AutoNumber", "q": "AutoNumber", "m": "AutoString"}


def test_labels_that_are_integers_stay_integers(tmp_path: Path) -> None:
    assert naively.fit(write(tmp_path / "a.csv", b"x,y\n1,0\n2,1\n"), "y", tune=False).classes == (0, 1)


def test_ten_thousand_columns(tmp_path: Path) -> None:
    names = ",".join(f"c{i}" for i in range(10_000))
    rows = "".join(f"{'ab'[i]},{','.join(['1', '2'] * 5000)}\n" for i in range(2))
    assert (
        len(naively.fit(write(tmp_path / "a.csv", f"y,{names}\n{rows}".encode()), "y", tune=False).schema.names)
        == 10_000
    )


def test_no_such_file(tmp_path: Path) -> None:
    for where, message in [("none.csv", "there is no such file"), ("*.none", "no file matches it")]:
        with pytest.raises(InputError, match=message):
            naively.fit(tmp_path / where, "y", tune=False)
    with pytest.raises(InputError, match="the folder is empty"):
        list(read_files(tmp_path))
    with pytest.raises(InputError, match="is no SQLite, DuckDB or Excel file"):
        list(read_files(f"{write(tmp_path / 'a.csv', b'x')}::t"))


def test_raw_cells_are_not_changed(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", b"id,x\n007,1.50\n008,NA\n")
    [batch] = read_files(path, raw=True)
    assert batch.to_pydict() == {"id": ["007", "008"], "x": ["1.50", "NA"]}
