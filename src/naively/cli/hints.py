"""What `fit` reports about its data: rows, missing cells, and hints about text that looks like numbers or dates.

The reader does not guess (1,234 is a thousand in some countries), so `fit` prints a note. If a few words stand among
numbers, or days that no calendar has among days, the note names the first of them.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from naively.data.files.csv import is_number
from naively.data.files.paths import Files
from naively.data.files.places import places_of_rows
from naively.data.names import columns_named

MAX_VALUES = 200  # values of a column that are looked at
MIN_SHARE = 0.9  # share of them that must look alike

_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_FORMATS = (
    (
        re.compile(r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}([ T].*)?|\d{1,2}[. -]+[^\W\d]{3,9}[., -]+\d{2,4}.*"),
        "dates",
        "Dates are only recognised as 2020-12-31; others are treated as text.",
    ),
    (
        re.compile(r"[$€£¥]?\s*[+-]?[$€£¥]?\d[\d.,'’\u00a0\u202f ]*\s*(%|[$€£¥]|EUR|USD)?"),
        "numbers",
        "Numbers are only recognised as 1234.5 (1234,5 with --decimal ,), without thousands separators, currency signs "
        "or %.",
    ),
)


@dataclass
class BatchSummary:
    """What `fit` reports about the batches it has read."""

    files: Files
    ignore: frozenset[str]
    without_hints: frozenset[str]
    n_rows: int = 0
    n_missing: dict[str, int] = field(default_factory=dict)
    hints: tuple[str, ...] = ()

    def add(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the batches without the ignored columns, and add them to the summary."""
        for batch in batches:
            ignore = columns_named(sorted(self.ignore), batch.schema.names, "--ignore")
            batch = batch.select([name for name in batch.schema.names if name not in ignore])
            if not self.n_rows:
                others = [name for name in batch.schema.names if name not in self.without_hints]
                self.hints = tuple(hints_about(batch.select(others), self.files))
            self.n_rows += batch.num_rows
            for name, column in zip(batch.schema.names, batch.columns, strict=True):
                self.n_missing[name] = self.n_missing.get(name, 0) + column.null_count
            yield batch


def hints_about(batch: pa.RecordBatch, files: Files) -> Iterator[str]:
    """Yield a sentence for each text column whose first values look like something else."""
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        is_coded = pa.types.is_dictionary(column.type)
        array: Any = column.dictionary if is_coded else column  # type: ignore[attr-defined]
        if not pa.types.is_string(array.type):
            continue
        if word := _word_among_numbers(array.drop_null().to_pylist()):
            row = _first_row(column, word)
            yield (
                f"{places_of_rows(files, [row])[row]}: column {name!r} is {word!r} among numbers, so it is read as "
                "text. Correct such cells, leave them empty, or name them (--missing-values), to get numbers."
            )
            continue
        if day := _impossible_day(array.drop_null().to_pylist()):
            row = _first_row(column, day)
            yield (
                f"{places_of_rows(files, [row])[row]}: column {name!r} is {day!r}, which is not a day of the calendar, "
                "so the column is read as text. Correct such cells, or leave them empty, to get dates."
            )
            continue
        values = [value for value in array[: 4 * MAX_VALUES].to_pylist() if value is not None][:MAX_VALUES]
        for pattern, kind, advice in _FORMATS:
            if values and _share_like(pattern, values) >= MIN_SHARE:
                others = (v for v in values if not v.replace(".", "").isdigit() and not _DAY.match(v))
                example = next(others, values[0])
                yield f"column {name!r} is text that looks like {kind}, such as {example!r}. {advice}"
                break


def _word_among_numbers(values: list[str]) -> str | None:
    """Return the first string that is not a number, if at least nine in ten are numbers.

    >>> _word_among_numbers([*map(str, range(20)), "about 7"]), _word_among_numbers(["1", "a"])
    ('about 7', None)
    """
    words = [value for value in values if not is_number(value)]
    return words[0] if words and len(words) <= (1 - MIN_SHARE) * len(values) else None


def _impossible_day(values: list[str]) -> str | None:
    """Return the first string such as 2024-02-30, if all are written as days and most of them are days.

    >>> _impossible_day(["2024-02-29", "2024-02-30"]), _impossible_day(["2024-02-29", "30.2.2024"])
    ('2024-02-30', None)
    """
    if not all(map(_DAY.fullmatch, values)):
        return None
    impossible = [value for value in values if not _is_day(value)]
    return impossible[0] if impossible and len(impossible) <= len(values) / 2 else None


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _first_row(column: Any, value: str) -> int:
    """Return the position of the first row with this string."""
    strings = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
    return int(pc.index(strings, pa.scalar(value, strings.type)).as_py())


def _share_like(pattern: re.Pattern[str], values: list[str]) -> float:
    """Return the share of the values that have this format.

    >>> numbers = _FORMATS[1][0]
    >>> _share_like(numbers, ["0,16", "$1,200.50", "A7", "12 %"])
    0.75
    """
    return sum(pattern.fullmatch(value.strip()) is not None for value in values) / len(values)
