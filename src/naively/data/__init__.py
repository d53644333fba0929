"""Anything → a checked table of columns. Input is checked here, once."""

from naively.data.files.csv import GAPS
from naively.data.files.meter import Meter
from naively.data.files.read import OtherTypeError, categories_of, is_path, read_files
from naively.data.joining import concatenated
from naively.data.labelled import Part, gathered, is_stream, parts
from naively.data.labels import Labels, are_texts, read_labels, read_weight
from naively.data.missing import completed, refuse_lacking, with_labels
from naively.data.read import read, split_target
from naively.data.row_hash import row_hashes
from naively.data.strings import ArrowStrings, ListOfStrings
from naively.data.table import Column, ColumnTable, MatrixTable, Table

__all__ = [
    "GAPS",
    "ArrowStrings",
    "Column",
    "ColumnTable",
    "Labels",
    "ListOfStrings",
    "MatrixTable",
    "Meter",
    "OtherTypeError",
    "Part",
    "Table",
    "are_texts",
    "categories_of",
    "completed",
    "concatenated",
    "gathered",
    "is_path",
    "is_stream",
    "parts",
    "read",
    "read_files",
    "read_labels",
    "read_weight",
    "refuse_lacking",
    "row_hashes",
    "split_target",
    "with_labels",
]
