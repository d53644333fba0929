"""Arrays as few bytes, for the model file: docs/file_format.md, "Payloads"."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from naively import _core

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def pack_arrays(arrays: Sequence[NDArray[Any]], few: int, many: int) -> tuple[bytes, bytes, bytes]:
    """JSON that describes the arrays, the bytes of those that are in the body, and of those that lie apart from it.

    Arrays of up to `few` numbers stand in the JSON; arrays of bytes from `many` on lie apart. They are float64, int64,
    int32, uint8 or bool.

    >>> import numpy as np
    >>> pack_arrays([np.array([0.5, 2.0]), np.array([7, 8, 9])], 2, 100)
    (b'[["f8",[2],[0.5,2.0]],["i8",[3],"whole",1]]', b'\\x0e\\x10\\x12', b'')
    """
    return _core.pack_arrays(arrays, few, many)
