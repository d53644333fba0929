"""Strings that look like numbers or dates: nothing is guessed (1,234 is a thousand to some), but said."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["hints_about"]

LOOKED_AT, MOST = 200, 0.9  # values of a column, and the share of them that must look so

_FORMS = (
    (
        re.compile(r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}([ T].*)?|\d{1,2}[. -]+[^\W\d]{3,9}[., -]+\d{2,4}.*"),
        "dates",
        "write dates as 2020-12-31 to have them ordered in time",
    ),
    (
        re.compile(r"[$€£¥]?\s*[+-]?[$€£¥]?\d[\d.,'’\u00a0\u202f ]*\s*(%|[$€£¥]|EUR|USD)?"),
        "numbers",
        "write numbers as 1234.5, without thousands, signs of money or %, to have them counted as numbers",
    ),
)


def hints_about(batch: pa.RecordBatch) -> Iterator[str]:
    """A sentence for each column of strings whose first values look like something else."""
    import pyarrow as pa

    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        array: Any = column
        if pa.types.is_dictionary(array.type):
            array = array.dictionary
        if not pa.types.is_string(array.type):
            continue
        values = [value for value in array[: 4 * LOOKED_AT].to_pylist() if value is not None][:LOOKED_AT]
        found = _form_of(values)
        if found is not None:
            what, advice = found
            odd = next((value for value in values if not value.replace(".", "").isdigit()), values[0])
            yield f"column {name!r} holds text that looks like {what}, such as {odd!r}: {advice}."


def _form_of(values: list[str]) -> tuple[str, str] | None:
    """What most values look like, and what to do.

    >>> _form_of(["0,16", "12,5"])[0], _form_of(["31/12/2020"])[0], _form_of(["$1,200.50", "$7"])[0]
    ('numbers', 'dates', 'numbers')
    >>> _form_of(["A7", "B12"]) is None, _form_of([]) is None
    (True, True)
    """
    for form, what, advice in _FORMS:
        if values and _share(form, values) >= MOST:
            return what, advice
    return None


def _share(form: re.Pattern[str], values: Iterable[str]) -> float:
    matched = [form.fullmatch(value.strip()) is not None for value in values]
    return sum(matched) / len(matched)
