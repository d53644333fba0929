"""Labels and weights, checked once: class codes with the sorted list of classes, and positive weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively import _kernels as kernels
from naively.errors import InputError

__all__ = ["Labels", "are_texts", "as_array", "missing_labels", "read_labels", "read_weight", "refuse_missing"]

Label = str | int | float | bool
Labels = tuple[tuple[Label, ...], NDArray[np.int32]]
FIRST = 2**14  # rows


def are_texts(y: Any) -> bool:
    """Whether labels are a list of strings: then none is missing, and they are read as they are."""
    return isinstance(y, (list, tuple)) and set(map(type, y)) == {str}


def read_labels(y: Any, n_rows: int | None = None) -> Labels:
    """The classes, sorted, and the class code of each row."""
    if are_texts(y) and n_rows in (None, len(y)):
        return _coded(y)
    values = as_array(y)
    if values.ndim != 1:
        raise InputError(f"labels have shape {values.shape}: give one label per row, in one dimension.")
    if n_rows is not None and len(values) != n_rows:
        raise InputError(f"{n_rows} rows but {len(values)} labels: give one label per row.")
    if not len(values):
        raise InputError("no rows: at least one row with a label is needed.")
    if values.dtype.kind in "iub":
        return _whole(values)
    if values.dtype.kind == "f":
        refuse_missing(missing_labels(values))
        classes, codes = np.unique(values, return_inverse=True)
        return tuple(classes.tolist()), codes.astype(np.int32)
    return _objects(values.tolist())


def as_array(y: Any) -> NDArray[Any]:
    """Labels as an array, missing ones still to be seen."""
    if isinstance(y, np.ndarray):
        return y
    if isinstance(y, (list, tuple)):
        return _object_array(y)
    if hasattr(y, "to_pylist"):  # Arrow
        return _object_array(y.to_pylist())
    if hasattr(y, "to_numpy"):  # pandas, polars, narwhals
        array = y.to_numpy()
        return _object_array(array.tolist()) if array.dtype.kind not in "iubfU" else array
    return np.asarray(y)


def _object_array(values: Any) -> NDArray[Any]:
    out = np.empty(len(values), dtype=object)
    out[:] = list(values)
    return out


def _whole(values: NDArray[Any]) -> Labels:
    """Integers and booleans: by counting if their range is small, else by sorting."""
    restore: type[int] = bool if values.dtype.kind == "b" else int
    values = values.astype(np.int8) if restore is bool else values
    narrow = kernels.narrow_labels(values)
    if narrow is not None and narrow[2] - narrow[1] < max(1024, min(len(values), 2**22)):
        shifted, low, high = narrow
        there = kernels.count_labels(shifted[:FIRST], high - low + 1) > 0
        if not there.all():  # as a rule the first rows show all classes
            there = kernels.count_labels(shifted, high - low + 1) > 0
        place = (np.cumsum(there) - 1).astype(np.int32)
        classes = tuple(restore(v + low) for v in np.flatnonzero(there).tolist())
        return classes, shifted if there.all() else place[shifted]
    distinct, codes = np.unique(values, return_inverse=True)
    return tuple(restore(v) for v in distinct.tolist()), codes.astype(np.int32)


def _objects(values: list[Any]) -> Labels:
    """Anything else, one by one: strings, or Python numbers in a list."""
    if are_texts(values):
        return _coded(values)
    refuse_missing(_missing(values))
    plain = [v.item() if isinstance(v, np.generic) else v for v in values]
    types = set(map(type, plain))
    if types - {str} and types - {bool} and types - {int, float}:
        names = ", ".join(sorted(t.__name__ for t in types))
        raise InputError(f"labels of type {names}: use strings, integers or booleans, and only one of these.")
    return _coded(plain)


def _coded(values: Sequence[Any]) -> Labels:
    classes = tuple(sorted(set(values)))
    place = {label: code for code, label in enumerate(classes)}
    return classes, np.fromiter(map(place.__getitem__, values), dtype=np.int32, count=len(values))


def missing_labels(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Which labels are missing."""
    if values.dtype.kind == "f":
        return np.asarray(np.isnan(values))
    if values.dtype.kind in "iubU":
        return np.zeros(len(values), dtype=np.bool_)
    return _missing(values.tolist())


def _missing(values: list[Any]) -> NDArray[np.bool_]:
    if are_texts(values):
        return np.zeros(len(values), dtype=np.bool_)
    return np.fromiter((_is_missing(v) for v in values), dtype=np.bool_, count=len(values))


def _is_missing(value: Any) -> bool:
    if value is None:
        return True
    if isinstance(value, (str, bool, int)):
        return False
    try:
        return bool(value != value)
    except TypeError:  # pandas' NA has no truth value
        return True


def refuse_missing(missing: NDArray[np.bool_]) -> None:
    """Refuse labels of which some are missing."""
    if missing.any():
        first = int(np.argmax(missing))
        raise InputError(
            f"{int(missing.sum())} of {len(missing)} labels are missing, the first in row {first}: "
            "leave those rows out, or give them a label."
        )


def read_weight(weight: Any, n_rows: int) -> NDArray[np.float64] | None:
    """Weights as float64, or None if every row counts once."""
    if weight is None:
        return None
    try:
        array = np.ascontiguousarray(weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("weights must be numbers, one per row.") from None
    if array.shape != (n_rows,):
        raise InputError(f"weights have shape {array.shape}: give one number for each of {n_rows} rows.")
    bad = ~(np.isfinite(array) & (array >= 0))
    if bad.any():
        first = int(np.argmax(bad))
        raise InputError(f"the weight of row {first} is {array[first]}: weights are finite and zero or more.")
    if not array.any():
        raise InputError("all weights are zero: at least one row must count.")
    return array
