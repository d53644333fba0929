"""Files that were cut short: how much is missing, and a copy that SQLite opens nevertheless.

The header of a SQLite file says how many pages there are (bytes 28 to 31) and how large they are (bytes 16 and 17,
where 1 is 65,536). SQLite refuses a file with fewer; filled up with zeros it is opened, and only what lay there is
damaged.
"""

from __future__ import annotations

import shutil
import struct
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from naively.errors import InputError

__all__ = ["lengths", "padded", "what_is_missing"]

MOST = 1 << 40  # bytes that are believed of a header: what is filled up is a hole, and takes no room


def lengths(path: Path) -> tuple[int, int]:
    """How many bytes there are, and how many there should be; the latter is 0 if the header does not say."""
    with path.open("rb") as file:
        start = file.read(32)
    there = path.stat().st_size
    if len(start) < 32:
        return there, 0
    (size,), (pages,) = struct.unpack_from(">H", start, 16), struct.unpack_from(">I", start, 28)
    wanted = pages * (65536 if size == 1 else size)
    return there, wanted if size == 1 or (size >= 512 and size & (size - 1) == 0 and wanted <= MOST) else 0


def what_is_missing(path: str | Path) -> str:
    """What is missing at the end of a file, if anything is."""
    try:
        there, wanted = lengths(Path(path).resolve())
    except OSError:
        return ""
    return f"it is cut short: {there:,} of {wanted:,} bytes are there" if there < wanted else ""


@contextmanager
def padded(path: str | Path) -> Iterator[Path]:
    """A copy with what lies beside it, as long as its header says; gone when the block ends."""
    with tempfile.TemporaryDirectory(prefix="naively-") as folder:
        try:
            found = Path(path).resolve(strict=True)
            copy = Path(folder) / found.name
            shutil.copyfile(found, copy)
            for end in ("-wal", "-journal"):
                if Path(f"{found}{end}").exists():
                    shutil.copyfile(f"{found}{end}", f"{copy}{end}")
            there, wanted = lengths(copy)
            if there < wanted:
                with copy.open("r+b") as file:
                    file.truncate(wanted)
        except (OSError, RuntimeError) as error:
            raise InputError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error}).") from None
        yield copy
