"""Reading ahead: the next batches are read by a thread of their own while the last ones are counted."""

from __future__ import annotations

import queue
import threading
from collections.abc import Generator, Iterator
from contextlib import closing
from typing import Any

__all__ = ["ahead"]

BATCHES = 2  # read and waiting, of 4 MB of CSV or 65,536 rows each; more would take memory that is cold


def ahead(batches: Generator[Any]) -> Iterator[Any]:
    """The same batches; whatever the reader raises is raised here, and it is closed when nobody asks for more.

    >>> list(ahead(x * x for x in range(4)))
    [0, 1, 4, 9]
    """
    waiting: queue.Queue[tuple[Any, BaseException | None, bool]] = queue.Queue(BATCHES)
    enough = threading.Event()

    def read() -> None:
        # Opened, read and closed by one thread, as SQLite asks for.
        try:
            with closing(batches):
                for batch in batches:
                    waiting.put((batch, None, False))
                    if enough.is_set():
                        return
            waiting.put((None, None, True))
        except BaseException as error:  # whatever it is, it belongs to the one who asked
            waiting.put((None, error, True))

    reader = threading.Thread(target=read, name="naively-reader", daemon=True)
    reader.start()
    try:
        while True:
            batch, error, done = waiting.get()
            if error is not None:
                raise error
            if done:
                return
            yield batch
    finally:
        enough.set()
        while reader.is_alive():  # it may be waiting for room
            try:
                waiting.get(timeout=0.01)
            except queue.Empty:
                continue
