"""The kinds of columns, and which numbers a family accepts: checked once, before counting and before scoring."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NoReturn

import numpy as np
from numpy.typing import NDArray

from naively._kernels.cells import column_range
from naively.data.views import Numbers, Piece, is_sparse
from naively.errors import InputError

Kind = Literal["number", "boolean", "string", "date", "unknown"]

SECONDS_OF_A_DAY = 86_400  # dates are counted as seconds
Use = Kind | Literal["text", "identifier"]  # how a column is used by default: strings are values unless they are these
Support = Literal["real", "positive", "non-negative", "count", "binary", "any"]

# Smallest and largest number of each column, and whether all of its numbers are whole.
Range = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]

MAX_COUNT = 1e300  # its product with the logarithm of any probability is still finite
REQUIREMENTS: Mapping[Support, str] = {
    "positive": "numbers above 0",
    "non-negative": "numbers from 0 to 1e300",
    "count": "whole numbers from 0 to 1e300",
    "binary": "0, 1 or a boolean",
}


def check_support(x: Numbers, support: Support, names: Sequence[str], family: str) -> None:
    """Refuse a column that holds a number to which the family gives no probability."""
    if support in ("real", "any"):
        return
    for place, piece in x.placed():
        if any(is_bad.any() for is_bad, _ in _faults(_range(piece), support)):
            for columns, strip in Numbers((piece,)).dense():
                _refuse(_range(strip), support, names[place][columns], family)


def refuse_infinite(name: str) -> NoReturn:
    """Raise InputError for a column that holds an infinity."""
    raise InputError(f"column {name!r} holds an infinity: replace it, or mark it as missing.")


def _refuse(limits: Range, support: Support, names: Sequence[str], family: str) -> None:
    low, high, _ = limits
    for is_bad, what in _faults(limits, support):
        if is_bad.any():
            column = int(np.argmax(is_bad))
            if np.isinf(low[column]) or np.isinf(high[column]):
                refuse_infinite(names[column])
            value = {"low": f"{low[column]:g}", "high": f"{high[column]:g}"}.get(what, "a fraction")
            raise InputError(
                f"column {names[column]!r} holds {value}, but {family} needs {REQUIREMENTS[support]}: "
                "correct it, mark it as missing, or choose another family."
            )


def _faults(limits: Range, support: Support) -> list[tuple[NDArray[np.bool_], str]]:
    """Return what may be wrong with each column, and whether the smallest or largest number or a fraction is."""
    low, high, is_whole = limits
    faults = [(np.isinf(high), "high"), (np.isinf(low), "low")]
    if support == "positive":
        return [*faults, (low <= 0, "low")]
    faults += [(low < 0, "low"), (high > (1.0 if support == "binary" else MAX_COUNT), "high")]
    return [*faults, (~is_whole, "fraction")] if support in ("count", "binary") else faults


def _range(piece: Piece) -> Range:
    """Return the range of each column, or of a sparse matrix as a whole."""
    low, high, is_whole, _ = column_range(piece.data[:, None] if is_sparse(piece) else piece)
    if is_sparse(piece) and len(piece.data) < piece.shape[0] * piece.shape[1]:
        low, high = np.minimum(low, 0.0), np.maximum(high, 0.0)
    is_empty = ~(low <= high)
    return np.where(is_empty, 0.5, low), np.where(is_empty, 0.5, high), is_whole | is_empty
