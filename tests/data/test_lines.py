"""Blocks of whole lines, and CSV and JSON lines from a file or a stream that is still open."""

import io
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naively.data.files.bad_rows import BadRows
from naively.data.files.csv import read_csv_lines
from naively.data.files.lines import line_blocks, read_json_lines
from naively.data.files.paths import Files
from naively.data.files.read import read_files
from naively.errors import InputError

LONG = 2**53 + 1


@given(st.lists(st.text(st.sampled_from('ab"\n,'), max_size=12)), st.booleans(), st.booleans())
def test_blocks_hold_all_lines(parts: list[str], has_quotes: bool, prompt: bool) -> None:
    content = "".join(parts).encode()
    n_lines, read = 0, b""
    for n_lines_before, block in line_blocks("x", b"", io.BytesIO(content), has_quotes=has_quotes, prompt=prompt):
        assert n_lines_before == n_lines
        n_lines, read = n_lines + block.count(b"\n"), read + block
    assert read == content


def test_a_quote_in_a_json_string_does_not_delay_its_row() -> None:
    output, stream = os.pipe()
    with os.fdopen(output, "rb") as reader, os.fdopen(stream, "wb") as writer:
        writer.write(b'{"size": "5\\" pipe"}\n')
        writer.flush()
        rows = read_json_lines("x", b"", reader, prompt=True)
        assert next(rows).to_pydict() == {"size": ['5" pipe']}
        rows.close()


def test_long_integers_are_the_same_in_the_first_block_and_in_a_file(tmp_path: Path) -> None:
    content = f'{{"id": {LONG}}}\n{{"id": 0.5}}\n'.encode()
    (tmp_path / "long.jsonl").write_bytes(content)
    from_file = pa.Table.from_batches(read_files(tmp_path / "long.jsonl"))
    from_stream = pa.Table.from_batches(read_json_lines("x", content[:25], io.BytesIO(content[25:]), prompt=True))
    assert from_file.to_pydict() == from_stream.to_pydict() == {"id": [float(np.float64(LONG)), 0.5]}


def test_long_integers_of_csv_in_a_stream_are_the_nearest_numbers() -> None:
    stream = io.BytesIO(f"id,y\n{LONG},a\n1,b\n".encode())
    rows = pa.Table.from_batches(read_csv_lines(b"", stream, Files("-"), {}, False, BadRows()))
    assert rows.to_pydict() == {"id": [float(LONG), 1.0], "y": ["a", "b"]}


def test_raw_lines_that_are_not_utf_8_are_named() -> None:
    stream = io.BytesIO(b'{"a": "x"}\n{"a": "y"}\n{"a": "\xff"}\n')
    with pytest.raises(InputError, match=r"^x, line 3: is not UTF-8"):
        list(read_json_lines("x", b"", stream, raw=True))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"null\n", "line 1: is not a JSON object"),
        (b'null{"a": 1}\n', "line 1: is not a JSON object"),
        (b'{"a": 1}\n{"b\xff": 2}\n', "line 2: is not UTF-8"),
        (b'{"a":' * 30_000 + b"1" + b"}" * 30_000, "inside each other"),
        (b'{"a": [[], ' + b"[[]," * 30_000 + b"1" + b"]" * 30_001 + b"}", "inside each other"),
    ],
)
@pytest.mark.parametrize("raw", [True, False])
def test_what_would_end_the_process_in_the_reader_is_refused(
    content: bytes, words: str, raw: bool, tmp_path: Path
) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(content)
    with pytest.raises(InputError, match=words):
        list(read_files(path, raw=raw))


def test_brackets_in_texts_are_no_nesting(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a": "' + "[{" * 500 + '\\""}\n{"a": null}\n')
    assert sum(batch.num_rows for batch in read_files(path)) == 2
