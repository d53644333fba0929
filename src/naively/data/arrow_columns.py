"""Columns of Arrow batches: counted where they lie, and turned into arrays only for whoever wants those."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively._kernels import Gapped
from naively.data.arrow_arrays import filled_codes, filled_numbers, gapped
from naively.data.table import Column
from naively.data.views import Values

__all__ = ["ArrowCodes", "ArrowNumbers"]


class ArrowNumbers(Column):
    """Numbers of which some are missing."""

    array: Any

    def __init__(self, name: str, array: Any) -> None:
        """An Arrow array in one piece, of numbers."""
        _set(self, name=name, kind="number", values=None, array=array)

    def __len__(self) -> int:
        return len(self.array)

    @cached_property
    def x(self) -> NDArray[Any]:
        """NaN where one is missing."""
        return filled_numbers(self.array)

    def numbers(self) -> Gapped:
        """The numbers where they lie, with their gaps."""
        return gapped(self.array)

    def known_numbers(self) -> NDArray[Any]:
        """Return the numbers that are not missing, in their own type."""
        return np.asarray(self.array.drop_null().to_numpy(zero_copy_only=False))


class ArrowCodes(Column):
    """Codes of a dictionary, and its values."""

    array: Any

    def __init__(self, name: str, array: Any, values: Values) -> None:
        """An Arrow array in one piece, of a dictionary without a gap in itself."""
        _set(self, name=name, kind="string", values=values, array=array)

    def __len__(self) -> int:
        return len(self.array)

    @cached_property
    def x(self) -> NDArray[np.int32]:
        """−1 where one is missing."""
        return filled_codes(self.array)

    def codes(self) -> tuple[Gapped, Values]:
        """The codes where they lie, with their gaps."""
        assert self.values is not None
        return gapped(self.array.indices), self.values


def _set(column: Column, **fields: Any) -> None:
    """All fields of a frozen column but x, which is made when it is asked for."""
    for name, value in fields.items():
        object.__setattr__(column, name, value)
