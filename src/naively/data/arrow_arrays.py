"""NumPy arrays as Arrow arrays and back, without copies that are not needed.

`pyarrow.array` imports pandas wherever that is installed: a second, in which many rows could have been answered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from naively import _kernels as kernels
from naively._kernels import Gapped

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["arrow_array", "arrow_strings", "filled_codes", "filled_numbers", "gapped"]


def arrow_array(x: NDArray[Any]) -> Any:
    """Numbers, booleans or strings, none of them missing.

    >>> arrow_array(np.array(["no", "yes"])).to_pylist(), arrow_array(np.array([True, False])).to_pylist()
    (['no', 'yes'], [True, False])
    """
    import pyarrow as pa

    kind = x.dtype.kind
    if kind in "UO" and all(isinstance(value, str) for value in x.tolist()):
        return arrow_strings(x.tolist())
    if kind == "b":
        bits = np.packbits(x, bitorder="little")
        return pa.Array.from_buffers(pa.bool_(), len(x), [None, pa.py_buffer(bits.tobytes())])
    if kind in "if" and x.dtype.itemsize == 8:
        known = pa.float64() if kind == "f" else pa.int64()
        return pa.Array.from_buffers(known, len(x), [None, pa.py_buffer(x.tobytes())])
    return pa.array(x)


def arrow_strings(values: list[str]) -> pa.Array[Any]:
    """Strings; 64-bit offsets only where they are needed."""
    import pyarrow as pa

    plain = [value.encode() for value in values]
    ends = np.cumsum([0, *map(len, plain)])
    small = int(ends[-1]) < 2**31
    offsets = ends.astype(np.int32 if small else np.int64).tobytes()
    kind = pa.string() if small else pa.large_string()
    return pa.Array.from_buffers(kind, len(plain), [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(plain))])


def filled_numbers(array: Any) -> NDArray[np.float64]:
    """An Arrow column of numbers as float64, NaN where one is missing.

    >>> import pyarrow as pa
    >>> filled_numbers(pa.chunked_array([[1, None], [3]])).tolist()
    [1.0, nan, 3.0]
    """
    out = np.empty(len(array))
    start = 0
    for chunk in getattr(array, "chunks", [array]):
        kernels.fill_numbers(*gapped(chunk), out[start : start + len(chunk)])
        start += len(chunk)
    return out


def filled_codes(array: Any) -> NDArray[np.int32]:
    """The codes of an Arrow dictionary column, −1 where a value is missing."""
    if not hasattr(array, "chunks"):
        codes = gapped(array.indices)
        if codes.valid is None and codes.values.dtype == np.int32:
            return codes.values
    out = np.empty(len(array), np.int32)
    start = 0
    for chunk in getattr(array, "chunks", [array]):
        kernels.fill_codes(*gapped(chunk.indices), out[start : start + len(chunk)])
        start += len(chunk)
    return out


def gapped(array: Any) -> Gapped:
    """The values of an Arrow array where they lie, the bitmap of its gaps, and which bit is that of the first row."""
    valid, data = array.buffers()
    start, n = array.offset, len(array)
    if not n:
        return Gapped(np.zeros(0, np.int32))
    values = np.frombuffer(data, array.type.to_pandas_dtype(), n, start * (array.type.bit_width // 8))
    if valid is None or not array.null_count:
        return Gapped(values)
    return Gapped(values, np.frombuffer(valid, np.uint8), start)
