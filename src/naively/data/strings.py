"""Columns of strings: kept as they come, and turned into codes only if they are counted by value."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively._kernels.text import Strings
from naively.data.arrow_arrays import filled_codes
from naively.data.table import Column
from naively.data.views import Values

__all__ = ["ArrowStrings", "ListOfStrings"]

MANY = 1000


@dataclass(frozen=True, eq=False)
class ArrowStrings(Column):
    """An Arrow column of strings (utf8 or large utf8), read through its buffers."""

    array: Any = None

    def __len__(self) -> int:
        return len(self.array)

    @cached_property
    def coded(self) -> tuple[NDArray[np.int32], Values]:
        """Codes of the distinct strings, and the strings; many of them sorted, because Arrow sorts them soonest."""
        import pyarrow.compute as pc

        encoded = self.array.dictionary_encode()
        codes, dictionary = filled_codes(encoded), encoded.dictionary
        if len(dictionary) < MANY:
            return codes, tuple(dictionary.to_pylist())
        order = pc.sort_indices(dictionary)
        place = np.full(len(dictionary) + 1, -1, dtype=np.int32)  # the last is that of a gap
        place[order.to_numpy()] = np.arange(len(dictionary), dtype=np.int32)
        return place[codes], tuple(dictionary.take(order).to_pylist())

    def where(self, keep: NDArray[np.bool_]) -> ArrowStrings:
        """The rows that are to be kept."""
        import pyarrow as pa

        return ArrowStrings(self.name, self.kind, self.x, None, self.array.filter(pa.array(keep)))

    def take(self, order: NDArray[np.intp]) -> ArrowStrings:
        """The rows at these places."""
        return ArrowStrings(self.name, self.kind, self.x, None, self.array.take(order))

    def present(self) -> NDArray[np.bool_]:
        """Which rows have a value."""
        return np.asarray(self.array.is_valid().to_numpy(zero_copy_only=False))

    def texts(self) -> Strings:
        """The buffers, not copied."""
        import pyarrow as pa

        array = self.array
        valid, offsets, data = array.buffers()
        wide: Any = np.int64 if pa.types.is_large_string(array.type) else np.int32
        ends = np.frombuffer(offsets, dtype=wide)[array.offset : array.offset + len(array) + 1]
        return Strings(
            ends if len(ends) else np.zeros(1, wide),
            np.zeros(0, np.uint8) if data is None else np.frombuffer(data, dtype=np.uint8),
            np.frombuffer(valid, dtype=np.uint8) if valid is not None and array.null_count else None,
            array.offset,
        )


@dataclass(frozen=True, eq=False)
class ListOfStrings(Column):
    """A Python list of strings, None where one is missing; kept as a tuple, which nobody changes meanwhile."""

    strings: tuple[str | None, ...] = ()

    def __len__(self) -> int:
        return len(self.strings)

    @cached_property
    def coded(self) -> tuple[NDArray[np.int32], Values]:
        """Codes of the distinct strings, and the strings."""
        place: dict[Any, int] = {None: -1}
        for text in self.strings:
            place.setdefault(text, len(place) - 1)
        codes = np.fromiter((place[text] for text in self.strings), dtype=np.int32, count=len(self.strings))
        return codes, tuple(text for text in place if text is not None)

    def where(self, keep: NDArray[np.bool_]) -> ListOfStrings:
        """The rows that are to be kept."""
        return ListOfStrings(self.name, self.kind, self.x, None, tuple(compress(self.strings, keep.tolist())))

    def take(self, order: NDArray[np.intp]) -> ListOfStrings:
        """The rows at these places."""
        return ListOfStrings(self.name, self.kind, self.x, None, tuple(self.strings[i] for i in order.tolist()))

    def present(self) -> NDArray[np.bool_]:
        """Which rows have a value."""
        return np.fromiter((text is not None for text in self.strings), dtype=np.bool_, count=len(self.strings))

    def texts(self) -> tuple[str | None, ...]:
        """The strings themselves."""
        return self.strings
