"""A zero byte beyond the first megabyte of a CSV is an error that names the line, for all types of the column."""

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
