"""How far the reading of files has come, where their sizes tell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from naively.data.files.paths import DataFile

__all__ = ["Meter"]


class Meter:
    """Asked by whoever waits; told by the readers, which run in a thread of their own."""

    def __init__(self) -> None:
        """Nothing is known yet."""
        self._total = self._before = 0
        self._size = 0
        self._share: Callable[[], float] | None = None

    def expect(self, files: Sequence[DataFile]) -> None:
        """These files will be read."""
        self._total = sum(file.path.stat().st_size for file in files)

    def begin(self, file: DataFile) -> None:
        """The file before is read, and this one begins; how far it has come is not known yet."""
        self._before, self._size, self._share = self._before + self._size, file.path.stat().st_size, None

    def follow(self, stream: Any, file: DataFile) -> None:
        """The file is read through this stream, whose place tells how far, unless it is compressed."""
        if file.compression is None:
            self._share = lambda: stream.tell() / max(1, self._size)

    def rows(self, done: int, of: int) -> None:
        """So many rows of the file are read."""
        self._share = lambda: done / max(1, of)

    def share(self) -> float | None:
        """The share of all bytes that has been read, or None if that is not known."""
        if not self._total or self._share is None:
            return None
        try:
            return min(1.0, (self._before + self._size * self._share()) / self._total)
        except (ValueError, OSError):  # closed in the meantime
            return None
