"""Cells of CSV that are read as strings: which of them are missing, and how their numbers are written.

A schema with such columns is marked, so that whoever reads its batches can tell them from strings of a format with
types, in which "NA" is a value.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from naively._kernels.text import NumberKinds, are_among, number_kinds
from naively.data.columns import ArrowStrings, fixed_width_array
from naively.data.files.paths import MISSING_CELLS, Files

if TYPE_CHECKING:
    import pyarrow as pa

    from naively.data.columns import ArrowColumn

MARK = b"naively"  # in the metadata of a schema
COMMA_NUMBER = r"^\s*[+-]?[0-9]*,[0-9]+([eE][+-]?[0-9]+)?\s*$"  # with a decimal comma


@dataclass(frozen=True)
class Cells:
    """How the cells of a file are written."""

    decimal: str = "."
    missing_values: Sequence[str] = MISSING_CELLS

    @classmethod
    def in_files(cls, files: Files) -> Cells:
        """Return how the cells of these files are written."""
        return cls(files.decimal, files.missing_values)

    @classmethod
    def marked(cls, schema: pa.Schema) -> Cells | None:
        """Return how the cells of a marked schema are written; None if its columns have types."""
        mark = (schema.metadata or {}).get(MARK)
        if mark is None:
            return None
        decimal, missing_values = json.loads(mark)
        return cls(decimal, tuple(missing_values))

    def mark(self) -> dict[bytes, bytes]:
        """Return the metadata that marks a schema."""
        return {MARK: json.dumps([self.decimal, list(self.missing_values)]).encode()}

    def with_missing(self, column: ArrowColumn) -> ArrowColumn:
        """Return strings with null for each cell that stands for a missing value."""
        import pyarrow as pa
        import pyarrow.compute as pc

        chunks = getattr(column, "chunks", [column])
        are_missing = [are_among(ArrowStrings("", chunk).texts(), self.missing_values) for chunk in chunks]
        if not any(map(np.any, are_missing)):
            return column
        is_missing = fixed_width_array(np.concatenate(are_missing))
        cells: ArrowColumn = pc.if_else(is_missing, pa.nulls(1, column.type)[0], column)
        return cells

    def number_kinds(self, column: ArrowColumn) -> NumberKinds:
        """Return whether the strings of a column that are not missing are integers, or numbers."""
        column = self.with_points(column)
        chunks = getattr(column, "chunks", [column])
        kinds = NumberKinds()
        for chunk in chunks:
            kinds = kinds.combined_with(number_kinds(ArrowStrings("", chunk).texts(), self.missing_values))
        return kinds

    def with_points(self, column: ArrowColumn) -> ArrowColumn:
        """Return strings with the numbers among them written with a decimal point."""
        import pyarrow.compute as pc

        if self.decimal == ".":
            return column
        is_number = pc.match_substring_regex(column, COMMA_NUMBER)
        cells: ArrowColumn = pc.if_else(is_number, pc.replace_substring(column, ",", "."), column)
        return cells
