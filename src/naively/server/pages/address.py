"""The state of a page is its address: the row, the classes and the other settings are parameters of the query.

The value of column NAME is the parameter `v.NAME`. A name of more than 80 characters has the parameter `n.POSITION`
instead. A class is named by its text if that is unique, else as JSON, so that 1 and "1" differ.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from naively.data.labelled import Label
from naively.data.names import Names
from naively.data.plain import CellValue
from naively.data.read import read
from naively.data.table import Table
from naively.model.model import Model
from naively.server.problems import Problem

MAX_NAME = 80  # characters of a column name in an address
MAX_TEXT = 10_000  # characters of a value on a page
MAX_DIGITS = 9  # of a whole number in an address

Row = dict[str, str]  # the values that are known, as texts
Query = Sequence[tuple[str, str]]


def parameter_of(names: Names, column: str) -> str:
    """Return the parameter that holds the value of a column."""
    return f"v.{column}" if len(column) <= MAX_NAME else f"n.{names.index(column)}"


def row_of(names: Names, query: Iterable[tuple[str, str]]) -> Row:
    """Return the values that an address or a form gives; empty ones are missing."""
    row: Row = {}
    for key, text in query:
        if not text.strip():
            continue
        if len(text) > MAX_TEXT and key[:2] in ("v.", "n."):
            raise Problem(400, f"a value has {len(text):,} characters, more than a page can hold: send it to /v2.")
        if key.startswith("v."):
            name = key[2:]
            if name not in names:
                raise Problem(400, f"the model has no column {name!r}.")
            row[name] = text
        elif key.startswith("n."):
            position = whole_number(key[2:], "the number of a column")
            if position >= len(names):
                raise Problem(400, f"the model has no column number {position}.")
            row[names[position]] = text
    return row


def query_of_row(names: Names, row: Mapping[str, str]) -> Query:
    """Return the parameters of a row, in the order of the columns."""
    return [(parameter_of(names, name), row[name]) for name in names if name in row]


def table_of(model: Model, columns: Mapping[str, list[CellValue]]) -> Table:
    """Return one row as a table; a column that is not known says nothing."""
    table = read(columns) if columns else read({name: [None] for name in model.schema.names[:1]})
    return table.with_absent_columns(model.schema.names)[0]


def texts_of_classes(classes: Sequence[Label]) -> list[str]:
    """Return a text for each class, all different.

    >>> texts_of_classes(("1", 2, "")), texts_of_classes((1, "1"))
    (['1', '2', ''], ['1', '"1"'])
    """
    n_texts = Counter(map(str, classes))
    texts = [str(c) if n_texts[str(c)] == 1 else json.dumps(c, ensure_ascii=False) for c in classes]
    return texts if len(set(texts)) == len(texts) else [f"{i}: {text}" for i, text in enumerate(texts)]


def whole_number(text: str, what: str) -> int:
    """Return a number from 0 on."""
    if not (text.isascii() and text.isdecimal() and len(text) <= MAX_DIGITS):
        raise Problem(400, f"{what} is a whole number, not {text!r}.")
    return int(text)
