"""Strings of Parquet are read as codes if they repeat, unless a type is given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import naively as nb
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


def test_the_index_of_pandas_is_not_a_column(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0] * 5, "y": ["a", "b"] * 10})
    frame.sort_values("y").to_parquet(tmp_path / "sorted.parquet")
    assert "__index_level_0__" in pq.read_schema(tmp_path / "sorted.parquet").names
    assert nb.fit(tmp_path / "sorted.parquet", "y").schema.names == ("x",)
    named = frame.set_index(pd.Index([3.0, 1.0, 4.0, 1.5] * 5, name="id"))
    named.to_parquet(tmp_path / "named.parquet")
    assert nb.fit(tmp_path / "named.parquet", "y").schema.names == ("x", "id")
