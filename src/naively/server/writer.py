"""One thread per model file: it writes entries, takes up changes of other processes, and replaces the snapshot."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeVar

from naively.data.kinds import Kind
from naively.errors import InputError, collect_warnings
from naively.model.model import Model
from naively.server.problems import Problem
from naively.store.ledger import Ledger

T = TypeVar("T")

POLL_SECONDS = 0.5  # a change by another process is taken up after this time
WAIT_SECONDS = 20.0  # a change waits this long while another process writes


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A model, warmed, and its version: the number of entries in its file."""

    model: Model
    version: int

    @cached_property
    def kinds(self) -> dict[str, Kind]:
        """The kind of each column at training."""
        return self.model.schema.kinds()

    @cached_property
    def types(self) -> dict[str, type]:
        """For columns of numbers, booleans and strings the type of Python of values that need not be converted."""
        types: dict[Kind, type] = {"number": float, "boolean": bool, "string": str}
        return {name: types[kind] for name, kind in self.kinds.items() if kind in types}

    @cached_property
    def exact(self) -> frozenset[str]:
        """The columns of numbers that are counted by value, so that large integers stay exact."""
        return frozenset(self.model.schema.coded_numbers())


class Writer:
    """The only thread that writes to a model file.

    Changes that wait are written one after the other, each as its own entry, and then become visible together. A caller
    is answered when its change is on the disk and in the snapshot.
    """

    def __init__(self, path: Path) -> None:
        """Read the file."""
        self.path = path
        self._ledger = Ledger(path, wait=WAIT_SECONDS)
        self._inode = _inode(path)
        self._queue: queue.SimpleQueue[tuple[Callable[[Ledger], Any], Future[Any]] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self.snapshot = self._read(None)
        self.problem: str | None = None  # why the file cannot be read at present

    def submit(self, change: Callable[[Ledger], T]) -> Future[T]:
        """Call a function with the ledger in the thread; its result is ready when the snapshot includes it."""
        self.start()
        future: Future[T] = Future()
        self._queue.put((change, future))
        return future

    def start(self) -> None:
        """Start the thread, unless it runs."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name=f"naively-{self.path.stem}", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Finish what waits, end the thread and close the file."""
        if self._thread is not None:
            self._queue.put(None)
            self._thread.join()
            self._thread = None
        self._ledger.close()

    def _run(self) -> None:
        is_running = True
        while is_running:
            reports: list[Callable[[], None]] = []
            for job in self._take():
                if job is None:
                    is_running = False
                    continue
                change, future = job
                if not future.set_running_or_notify_cancel():
                    continue
                try:
                    self._follow_file()
                    with collect_warnings():
                        reports.append(partial(future.set_result, change(self._ledger)))
                except BaseException as error:  # belongs to the caller
                    reports.append(partial(future.set_exception, error))
            self._refresh()
            for report in reports:
                report()

    def _take(self) -> list[tuple[Callable[[Ledger], Any], Future[Any]] | None]:
        """Wait for the next change, for at most `POLL_SECONDS`, and return all that wait."""
        jobs = []
        try:
            jobs.append(self._queue.get(timeout=POLL_SECONDS))
            while True:
                jobs.append(self._queue.get_nowait())
        except queue.Empty:
            return jobs

    def _refresh(self) -> None:
        """Replace the snapshot if the file has changed; keep it while the file cannot be read."""
        try:
            self._follow_file()
            self.snapshot = self._read(self.snapshot)
            self.problem = None
        except (InputError, OSError) as error:
            self.problem = str(error)

    def _follow_file(self) -> None:
        """Open the file again if another one has its name now."""
        inode = _inode(self.path)
        if inode != self._inode:
            ledger = Ledger(self.path, wait=WAIT_SECONDS)
            self._ledger.close()
            self._ledger, self._inode = ledger, inode

    def _read(self, before: Snapshot | None) -> Snapshot:
        model = self._ledger.model()
        if before is not None and before.model is model:
            return before
        snapshot = Snapshot(model, self._ledger.version)
        warm(snapshot)
        return snapshot


def _inode(path: Path) -> tuple[int, int]:
    try:
        status = os.stat(path)
    except OSError as error:
        raise Problem(503, f"the file of the model cannot be read ({error.strerror}).") from None
    return status.st_dev, status.st_ino


def warm(snapshot: Snapshot) -> None:
    """Compute what predictions are made from, so that the first request need not."""
    model = snapshot.model
    _ = model.weighted_blocks, model.log_prior, model.used_columns
    _ = snapshot.kinds, snapshot.types, snapshot.exact
