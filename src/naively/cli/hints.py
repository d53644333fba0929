"""Strings that look like numbers or dates: nothing is guessed (1,234 is a thousand to some), but said.

A few words among numbers make a column text; then the first of them is named.
"""

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
        if odd_one := _among_numbers(array.drop_null()):
            row = _first_row(column, odd_one)
            yield (
                f"column {name!r} holds {odd_one!r} in row {row:,} (the header not counted) among numbers, and is read "
                "as text: mend such cells, or leave them empty, to have numbers."
            )
            continue
        values = [value for value in array[: 4 * LOOKED_AT].to_pylist() if value is not None][:LOOKED_AT]
        found = _form_of(values)
        if found is not None:
            what, advice = found
            odd = next((value for value in values if not value.replace(".", "").isdigit()), values[0])
            yield f"column {name!r} holds text that looks like {what}, such as {odd!r}: {advice}."


def _among_numbers(strings: Any) -> str | None:
    """The first string that is no number, where nine in ten or more are.

    >>> import pyarrow as pa
    >>> _among_numbers(pa.array([*map(str, range(20)), "about 7"])), _among_numbers(pa.array(["1", "a"]))
    ('about 7', None)
    """
    values = strings.to_pylist()
    odd = [value for value in values if not _is_number(value)]
    return odd[0] if odd and len(odd) <= (1 - MOST) * len(values) else None


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return "_" not in value  # which Python allows


def _first_row(column: Any, value: str) -> int:
    """Where a string stands first in a column, counted from 1."""
    import pyarrow as pa
    import pyarrow.compute as pc

    strings = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
    return int(pc.index(strings, pa.scalar(value, strings.type)).as_py()) + 1


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
