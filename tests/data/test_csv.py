"""Rows of CSV: zero bytes, long cells, quotes without an end. Errors name the line."""

from __future__ import annotations

from pathlib import Path

import pytest

import naively
from naively.data.files.read import read_files

ROWS = 120_000
COLUMNS = {"codes": lambda i: f"value_{i % 9}", "strings": lambda i: f"an identifier {i}"}


@pytest.mark.parametrize("raw", [False, True])
@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_the_error_names_the_line_of_a_zero_byte(name: str, raw: bool, encoding: str, tmp_path: Path) -> None:
    lines = [f"{i},{COLUMNS[name](i)},{'yes' if i % 2 else 'no'}" for i in range(ROWS)]
    lines[ROWS - 5] = "7,bro\0ken,yes"
    (tmp_path / "d.csv").write_bytes(("n,x,play\n" + "\n".join(lines) + "\n").encode(encoding))
    with pytest.raises(naively.InputError, match=rf"d\.csv, line {ROWS - 3}: holds a zero byte"):
        list(read_files(tmp_path / "d.csv", raw=raw))


def test_a_file_without_zero_bytes_is_read(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("x,play\n,yes\na,no\nNA,yes\n")
    assert sum(batch.num_rows for batch in read_files(tmp_path / "d.csv")) == 3


@pytest.mark.parametrize("n_words", [30_000, 400_000, 1_200_000])  # 0.2, 2 and 7 MB
def test_long_cells_are_read_and_no_row_twice(tmp_path: Path, n_words: int) -> None:
    """A row that is longer than a block makes the reader begin again, with larger blocks."""
    path = tmp_path / "long.csv"
    rows = ["short", *["rain, sun"] * 150_000, "long " * n_words, "last"]
    path.write_text("text;day\n" + "".join(f"{text};{i}\n" for i, text in enumerate(rows)))
    batches = list(read_files(path, raw=True))
    assert [text for batch in batches for text in batch.column("text").to_pylist()] == rows
    assert [day for batch in batches for day in batch.column("day").to_pylist()] == [str(i) for i in range(len(rows))]


def test_a_row_without_an_end_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "open.csv"
    path.write_text('text\nshort\n"' + "no end\n" * 6_000_000)
    with pytest.raises(naively.InputError, match="close all quotes"):
        list(read_files(path, raw=True))
    path.write_text("x" * 200_000 + ",text\n1,2\n")
    with pytest.raises(naively.InputError, match="line 1: cannot be read as names"):
        list(read_files(path, raw=True))
