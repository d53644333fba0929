"""Which numbers a family can be given: checked once, before counting and before scoring."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from naively import _kernels as kernels
from naively.data.views import Numbers, is_sparse
from naively.errors import InputError

__all__ = ["Kind", "Support", "check_support", "refuse_infinite"]

Kind = Literal["number", "boolean", "string", "date", "unknown"]
Support = Literal["real", "positive", "non-negative", "count", "binary", "any"]

Range = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]

LARGEST = 1e300  # times the logarithm of any probability this is still a number

_NEEDS: Mapping[Support, str] = {
    "positive": "numbers above 0",
    "non-negative": "numbers from 0 to 1e300",
    "count": "whole numbers from 0 to 1e300",
    "binary": "0, 1 or a boolean",
}


def check_support(x: Numbers, support: Support, names: Sequence[str], family: str) -> None:
    """Refuse a column that holds a number the family has no probability for."""
    if support in ("real", "any"):
        return
    for place, piece in x.placed():
        found = _range(piece)
        if any(bad.any() for bad, _ in _faults(*found, support)):
            found = _range_by_column(piece) if is_sparse(piece) else found
            _refuse(found, support, names[place.start : place.stop], family)


def _refuse(found: Range, support: Support, names: Sequence[str], family: str) -> None:
    low, high, _ = found
    for bad, what in _faults(*found, support):
        if not bad.any():
            continue
        column = int(np.argmax(bad))
        if np.isinf(low[column]) or np.isinf(high[column]):
            refuse_infinite(names[column])
        value = {"low": f"{low[column]:g}", "high": f"{high[column]:g}"}.get(what, "a fraction")
        raise InputError(
            f"column {names[column]!r} holds {value}, but {family} needs {_NEEDS[support]}: "
            "correct it, mark it as missing, or choose another family."
        )


def refuse_infinite(name: str) -> None:
    """Refuse an infinity, by the name of its column."""
    raise InputError(f"column {name!r} holds an infinity: replace it, or mark it as missing.")


def _faults(
    low: NDArray[np.float64], high: NDArray[np.float64], whole: NDArray[np.bool_], support: Support
) -> list[tuple[NDArray[np.bool_], str]]:
    infinite = [(np.isinf(high), "high"), (np.isinf(low), "low")]
    if support == "positive":
        return [*infinite, (low <= 0, "low")]
    most = 1.0 if support == "binary" else LARGEST
    faults = [*infinite, (low < 0, "low"), (high > most, "high")]
    if support in ("count", "binary"):
        faults.append((~whole, "fraction"))
    return faults


def _range(piece: Any) -> Range:
    """Smallest, largest, and whether all are whole: per column, or of a whole sparse matrix at once."""
    low, high, whole, _ = kernels.column_range(piece.data[:, None] if is_sparse(piece) else piece)
    if is_sparse(piece) and len(piece.data) < piece.shape[0] * piece.shape[1]:
        low, high = np.minimum(low, 0.0), np.maximum(high, 0.0)
    empty = ~(low <= high)
    return np.where(empty, 0.5, low), np.where(empty, 0.5, high), whole | empty


def _range_by_column(piece: Any) -> Range:
    """The same for each column of a sparse matrix; slower, and only needed to name the culprit."""
    by_column = piece.tocsc()
    parts = []
    for j in range(piece.shape[1]):
        stored = by_column.data[by_column.indptr[j] : by_column.indptr[j + 1]].astype(np.float64)
        column = stored if len(stored) == piece.shape[0] else np.append(stored, 0.0)
        parts.append(_range(column[:, None]))
    low, high, whole = (np.concatenate(part) for part in zip(*parts, strict=True))
    return low, high, whole
