"""Arrays packed into few bytes for the model file: docs/file_format.md, "Payloads"."""

from __future__ import annotations

from collections.abc import Sequence

from naively import _core
from naively._kernels.types import Array


def pack_arrays(arrays: Sequence[Array], max_inline: int, min_separate: int) -> tuple[bytes, bytes, bytes]:
    """Return JSON that describes the arrays, the bytes of those in the body, and of those that are stored separately.

    Arrays of up to `max_inline` numbers are written into the JSON; arrays of at least `min_separate` bytes are
    separate. They are float64, int64, int32, uint8 or bool.

    >>> import numpy as np
    >>> pack_arrays([np.array([0.5, 2.0]), np.array([7, 8, 9])], 2, 100)
    (b'[["f8",[2],[0.5,2.0]],["i8",[3],"whole",1]]', b'\\x0e\\x10\\x12', b'')
    """
    return _core.pack_arrays(arrays, max_inline, min_separate)
