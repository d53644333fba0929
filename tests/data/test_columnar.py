"""Strings of Parquet are read as codes if they repeat, unless a type is given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from naively.data.files.read import read_files

CODES = pa.dictionary(pa.int32(), pa.string())


@pytest.mark.parametrize(
    ("types", "coded"),
    [
        ({}, {"often"}),
        ({"often": "string"}, set()),
        ({"often": "string", "once": "string"}, set()),
        ({"once": CODES}, {"often", "once"}),
        ({"often": pa.string(), "once": CODES}, {"once"}),
    ],
)
def test_strings_that_repeat_are_codes(types: dict[str, Any], coded: set[str], tmp_path: Path) -> None:
    pq.write_table(pa.table({"often": ["a", "b"] * 50, "once": [str(i) for i in range(100)]}), tmp_path / "d.parquet")
    [batch] = read_files(tmp_path / "d.parquet", types)
    assert {field.name for field in batch.schema if pa.types.is_dictionary(field.type)} == coded
