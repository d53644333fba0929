"""Results as plain data that JSON can hold."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

CellValue = Any  # what a cell of a table holds: a number, a string, a boolean, a date, None, …
JsonObject = dict[str, Any]  # what JSON calls an object


def as_plain(value: Any) -> Any:
    """Return dataclasses and named tuples as dicts, sequences and arrays as lists, and NaN as None.

    >>> as_plain({"share": (0.5, float("nan")), "rows": np.arange(2)})
    {'share': [0.5, None], 'rows': [0, 1]}
    """
    if is_dataclass(value):
        return {field.name: as_plain(getattr(value, field.name)) for field in fields(value)}
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, Mapping):
        return {key: as_plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [as_plain(item) for item in value]
    return None if isinstance(value, float) and math.isnan(value) else value
