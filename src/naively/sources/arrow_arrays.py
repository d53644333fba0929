"""NumPy arrays as Arrow arrays without `pyarrow.array`, which imports pandas wherever that is installed: a second.

The answer to one row is given in less time than that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["arrow_array", "arrow_strings"]


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
