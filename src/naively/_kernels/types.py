"""Names for the types of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Floats = NDArray[np.float64]
Wholes = NDArray[np.int64]
Bools = NDArray[np.bool_]
Index = NDArray[np.intp]  # positions in an array
Hashes = NDArray[np.uint64]
Codes32 = NDArray[np.int32]  # class codes, positions of classes, numbers of tokens
