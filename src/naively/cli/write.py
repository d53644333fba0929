"""Write rows to a file that gets its name when it is complete, to a device, or to standard output."""

import io
import os
import stat
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

import pyarrow as pa

from naively.data.files import write
from naively.data.files.paths import COMPRESSIONS
from naively.store.write import atomic_write


def write_tables(tables: Iterable[pa.Table], output: str, kind: str) -> None:
    """Write tables with the same columns to a file, completely or not at all, or to standard output ("-").

    A reader of standard output that stops early (head) is not an error.
    """
    with _open_output(output) as file:
        write.write_tables(tables, file, kind)


def write_predictions(
    pairs: Iterable[write.Pair], output: str, kind: str, numbers: Collection[str], keep: Sequence[str] = ()
) -> None:
    """Write rows and the columns to add, as `write_tables` does; see `naively.data.files.write.write_rows`."""
    folder = None if output == "-" or is_device(output) else Path(os.path.realpath(output)).parent
    with _open_output(output) as file:
        write.write_rows(pairs, file, kind, numbers, folder, keep)


@contextmanager
def _open_output(output: str) -> Iterator[IO[bytes]]:
    """Yield the open output: standard output, a device, or a file that gets its name when it is complete.

    A file is compressed if its name ends so.
    """
    if output == "-":
        try:
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    elif is_device(output):
        with Path(output).open("wb") as file:
            yield file
    else:
        compression: Any = COMPRESSIONS.get(Path(output).suffix.lower())
        with atomic_write(output) as unfinished, unfinished.open("wb") as file:
            if compression is None:
                yield file
            else:
                with pa.CompressedOutputStream(cast("io.IOBase", file), compression) as stream:
                    yield cast("IO[bytes]", stream)


def is_device(output: str) -> bool:
    """Return whether the output is a pipe or a device such as /dev/null, which is written to and not replaced."""
    try:
        mode = Path(output).stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
