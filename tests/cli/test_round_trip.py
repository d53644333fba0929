"""The columns of the user come out of `naively predict` as they went in, in every format, from files and pipes."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import naively
from naively.cli.main import main
from naively.data.files.paths import MISSING_CELLS

OUTPUTS = st.sampled_from(["o.csv", "o.jsonl", "o.parquet", "o.csv.gz", "o.jsonl.gz", "o.jsonl.bz2", "-"])
COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress}
DECOMPRESSORS: dict[str, Callable[[bytes], bytes]] = {".gz": gzip.decompress, ".bz2": bz2.decompress}
NUMBERS = ["7", "-0", "0", "1000", "1.50", "1e3", "-2.5E+2", "007", "+1", ".5", "123456789012345678", "NA", "", " 3 "]
CODES = ["001", "01234", "12345", "1", "2.0", "1e5", "true", "2024-11-13", "NA", "", "null", "x", "١", "inf", "-"]
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\ufeff"), max_size=6)
KEYS = ("size", "code", "id", "free")  # the model knows the first two: a number and a string


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "m.naively"
    rows = {"size": [1.5, 2.25, 7.0, 3.0] * 5, "code": ["A7", "B7", "A7", "12"] * 5, "play": ["yes", "no"] * 10}
    naively.fit(rows, "play", tune=False).save(path)
    return path


def predict(model: Path, name: str, content: bytes, output: str, is_piped: bool) -> bytes:
    """Run the command on this content; return what it writes, decompressed."""
    with tempfile.TemporaryDirectory() as folder:
        given_path, out = Path(folder) / name, Path(folder) / output
        given_path.write_bytes(content)
        is_json = name.startswith("d.jsonl")
        target = ["--format", "jsonl" if is_json else "csv"] if output == "-" else ["-o", str(out)]
        source = "-" if is_piped else str(given_path)
        result = CliRunner().invoke(main, ["predict", str(model), source, *target], input=content if is_piped else None)
        assert result.exit_code == 0, (result.output, result.exception)
        written = result.stdout_bytes if output == "-" else out.read_bytes()
        assert sorted(p.name for p in Path(folder).iterdir()) == sorted({name, *([] if output == "-" else [output])})
        return DECOMPRESSORS.get(out.suffix, bytes)(written)


def format_of(output: str, default: str) -> str:
    return default if output == "-" else output.split(".")[1]


def rows_of_csv(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode(), newline="")))


def is_json_number(cell: str) -> bool:
    try:
        return type(json.loads(cell)) in (int, float) and cell == cell.strip()
    except ValueError:
        return False


@settings(deadline=None)
@given(data=st.data())
def test_cells_of_csv_stay_as_they_are(model: Path, data: st.DataObject) -> None:
    cells = st.fixed_dictionaries(
        {
            "size": st.sampled_from(["7", "1.50", "1e3", "-0", "NA", ""]) if data.draw(st.booleans()) else
            st.sampled_from([n for n in NUMBERS if n != "+1"]),
            "code": st.sampled_from(CODES) | TEXT,
            "id": st.sampled_from(["1", "20", "300"]) if data.draw(st.booleans()) else st.sampled_from(CODES + NUMBERS),
            "free": TEXT | st.sampled_from(CODES),
        }
    )  # fmt: skip
    rows = data.draw(st.lists(cells, min_size=1, max_size=8))
    suffix, output = data.draw(st.sampled_from(list(COMPRESSORS))), data.draw(OUTPUTS)
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, KEYS, delimiter=data.draw(st.sampled_from(",;\t")), lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(rows)
    content = COMPRESSORS[suffix](text.getvalue().encode())
    written = predict(model, f"d.csv{suffix}", content, output, data.draw(st.booleans()))
    kind = format_of(output, "csv")
    if kind == "csv":
        assert [{name: row[name] for name in KEYS} for row in rows_of_csv(written)] == rows
        return
    if kind == "jsonl":
        lines = [
            json.loads(line, parse_int=Verbatim, parse_float=Verbatim) for line in written.decode().split("\n")[:-1]
        ]
        for row, line in zip(rows, lines, strict=True):
            assert list(line) == [*KEYS, "prediction"]
            for name in KEYS:
                is_missing = row[name] == "" or (name == "size" and row[name] in MISSING_CELLS)
                is_number = name == "size" and is_json_number(row[name])
                expected = None if is_missing else Verbatim(row[name]) if is_number else row[name]
                assert (line[name], type(line[name])) == (expected, type(expected))
        return
    table = pq.read_table(io.BytesIO(written))
    for name in KEYS:
        column, cells_of_column = table[name].to_pylist(), [row[name] for row in rows]
        for value, cell in zip(column, cells_of_column, strict=True):
            if value is None:
                assert cell in MISSING_CELLS
            elif isinstance(value, int):
                assert str(value) == cell
            elif isinstance(value, float):
                assert is_json_number(cell)
                assert float(cell) == value
            else:
                assert value == cell
        present = [cell for cell in cells_of_column if cell not in MISSING_CELLS]
        if present and all(cell in ("1", "20", "300", "7", "1000", "0") for cell in present):
            assert table.schema.field(name).type == pa.int64()
        if any(cell in ("007", "01234", "001") for cell in present):
            assert table.schema.field(name).type == pa.string()


class Verbatim(str):
    """A number of JSON as it is written."""


TOKENS = {
    "size": ["7", "1000", "1.50", "1e3", "-0.0", "null"],
    "code": ['"001"', '"A7"', '"2024-11-13"', '"na\\u00efve"', "null", '"{"'],
    "id": ["1", "1000", "123456789012345678", "null"],
    "price": ["1", "1.0", "2.50", "null"],
    "free": ['"x"', '"2024-11-13 00:00:00"', '"001"', "null", '", "', '"]}"'],
    "is_new": ["true", "false", "null"],
    "list": ["[1, 2.50]", "[]", "null"],
    "nested": ['{"a": 1, "b": "2024-01-01"}', '{"b": null}', "null"],
}


@settings(deadline=None)
@given(data=st.data())
def test_json_lines_stay_as_they_are(model: Path, data: st.DataObject) -> None:
    names = data.draw(st.permutations(list(TOKENS)))
    n_rows = data.draw(st.integers(1, 8))
    space, comma = data.draw(st.sampled_from(["", " ", "\t"])), data.draw(st.sampled_from([",", ", ", " ,  "]))
    rows: list[dict[str, str]] = []
    for i in range(n_rows):
        used = names if i == 0 else [name for name in names if data.draw(st.booleans())]
        rows.append({name: data.draw(st.sampled_from(TOKENS[name])) for name in used})
    lines = ["{" + space + comma.join(f'"{n}":{space}{v}' for n, v in row.items()) + space + "}" for row in rows]
    content = data.draw(st.sampled_from(["\n", "\r\n", "\n\n", " \n", " "])).join(lines)
    suffix, output = data.draw(st.sampled_from(list(COMPRESSORS))), data.draw(OUTPUTS)
    content_bytes = COMPRESSORS[suffix](content.encode())
    written = predict(model, f"d.jsonl{suffix}", content_bytes, output, data.draw(st.booleans()))
    kind = format_of(output, "jsonl")
    if kind == "jsonl":
        out = written.decode().split("\n")[:-1]
        assert len(out) == len(lines)
        for line, new in zip(lines, out, strict=True):
            assert new.startswith(line[:-1].rstrip())
            assert list(json.loads(new)) == [*json.loads(line), "prediction"]
    elif kind == "csv":
        for row, cells in zip(rows, rows_of_csv(written), strict=True):
            assert list(cells) == [*names, "prediction"]
            for name in names:
                token = row.get(name, "null")
                expected = "" if token == "null" else json.loads(token) if token[0] == '"' else token
                if token[0] in "[{":
                    assert json.loads(cells[name]) == json.loads(token)
                else:
                    assert cells[name] == expected
    else:
        table = pq.read_table(io.BytesIO(written))
        assert set(table.column_names) == {*names, "prediction"}
        for name in names:
            values = [json.loads(row.get(name, "null")) for row in rows]
            assert [_without_nulls(value) for value in table[name].to_pylist()] == [*map(_without_nulls, values)]
            if values and all(type(value) in (int, type(None)) for value in values) and any(values):
                assert table.schema.field(name).type == pa.int64()


def _without_nulls(value: Any) -> Any:
    """Return a struct without its missing fields: Parquet has the same fields in all rows."""
    return {k: v for k, v in value.items() if v is not None} if isinstance(value, dict) else value


COLUMNS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "size": (pa.float64(), [1.5, 1000.0, None]),
    "code": (pa.string(), ["001", "1", "2024-11-13", 'a,"b"', "", None]),
    "id": (pa.int64(), [1, 2**60 + 1, None]),
    "small": (pa.int8(), [1, -3, None]),
    "flag": (pa.bool_(), [True, False, None]),
    "list": (pa.list_(pa.int64()), [[1, 2], [], None]),
    "large": (pa.large_string(), ["x", "007", None]),
    "day": (pa.date32(), [19_000, None]),
    "kind": (pa.dictionary(pa.int32(), pa.string()), ["a", "b", None]),
}


@settings(deadline=None)
@given(data=st.data())
def test_columns_with_types_keep_them(model: Path, data: st.DataObject) -> None:
    n_rows = data.draw(st.integers(1, 6))
    columns = {
        name: pa.array(data.draw(st.lists(st.sampled_from(values), min_size=n_rows, max_size=n_rows)), kind)
        for name, (kind, values) in COLUMNS.items()
    }
    table = pa.table(columns)
    buffer, suffix = io.BytesIO(), data.draw(st.sampled_from(["parquet", "feather"]))
    pq.write_table(table, buffer) if suffix == "parquet" else pa.feather.write_feather(table, buffer)
    output = data.draw(OUTPUTS)
    written = predict(model, f"d.{suffix}", buffer.getvalue(), output, data.draw(st.booleans()))
    kind = format_of(output, "csv")
    if kind == "parquet":
        out = pq.read_table(io.BytesIO(written)).drop_columns(["prediction"])
        assert out.schema.types == table.schema.types
        assert out.to_pylist() == table.to_pylist()
        return
    for i, row in enumerate(table.to_pylist()):
        if kind == "jsonl":
            line = json.loads(written.decode().split("\n")[i])
            expected = {name: str(value) if name == "day" and value else value for name, value in row.items()}
            assert {name: line[name] for name in row} == expected
            assert type(line["id"]) in (int, type(None))
        else:
            cells = rows_of_csv(written)[i]
            for name, value in row.items():
                text = {"true": True, "false": False}.get(cells[name], cells[name])
                assert (value is None and text == "") or str(text) == str(value) or float(str(text)) == value
