"""Anything → a checked table of columns. Input is checked here, once."""

from naively.data.files.batches import ReadProgress, rebatch
from naively.data.files.csv import OtherTypeError
from naively.data.files.paths import is_path
from naively.data.files.read import categories_of, read_files
from naively.data.joining import concatenated
from naively.data.labelled import LabelledRows, is_stream, labelled_batches, read_labelled
from naively.data.missing import completed, refuse_lacking
from naively.data.read import read
from naively.data.row_hash import row_hashes
from naively.data.strings import ArrowStrings, ListOfStrings
from naively.data.table import Column, ColumnTable, MatrixTable, Table

__all__ = [
    "ArrowStrings",
    "Column",
    "ColumnTable",
    "LabelledRows",
    "ListOfStrings",
    "MatrixTable",
    "OtherTypeError",
    "ReadProgress",
    "Table",
    "categories_of",
    "completed",
    "concatenated",
    "is_path",
    "is_stream",
    "labelled_batches",
    "read",
    "read_files",
    "read_labelled",
    "rebatch",
    "refuse_lacking",
    "row_hashes",
]
