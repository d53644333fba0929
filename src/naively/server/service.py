"""The models that are served. What a request reads of a model is one snapshot, which is replaced as a whole."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import ParamSpec, TypeVar

from naively.errors import collect_warnings
from naively.server.limits import Limits
from naively.server.problems import Problem
from naively.server.served import ServedModel

P = ParamSpec("P")
T = TypeVar("T")

WORKERS = 4  # threads for what takes long


@dataclass
class Service:
    """The models by name, the settings, and the threads for what takes long.

    Parameters
    ----------
    models
        The models by name.
    limits
        The limits.
    learn
        Whether models may be changed.
    pool_path
        A file of rows to label.
    test_path
        A file of rows to evaluate models on.
    """

    models: Mapping[str, ServedModel]
    limits: Limits = field(default_factory=Limits)
    learn: bool = False
    pool_path: str | None = None
    test_path: str | None = None

    def __post_init__(self) -> None:
        """Make the threads, which start when they are needed."""
        self.file_slots = asyncio.Semaphore(self.limits.files)
        self._workers = ThreadPoolExecutor(WORKERS, thread_name_prefix="naively-worker")

    def __iter__(self) -> Iterator[ServedModel]:
        return iter(self.models.values())

    def get(self, name: str) -> ServedModel:
        """Return the model of this name; Problem if there is none."""
        try:
            return self.models[name]
        except KeyError:
            raise Problem(404, f"there is no model {name!r}: GET /v2/models lists them.") from None

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call a function in a worker thread, and wait for it at most as long as a request may take."""
        future = asyncio.get_running_loop().run_in_executor(self._workers, lambda: _quietly(function, *args, **kwargs))
        try:
            return await asyncio.wait_for(asyncio.shield(future), self.limits.seconds)
        except TimeoutError:
            future.add_done_callback(lambda done: done.cancelled() or done.exception())  # its error is of no use now
            raise Problem(
                503, f"this took more than {self.limits.seconds:g} seconds: send fewer rows.", {"Retry-After": "10"}
            ) from None

    def start(self) -> None:
        """Start the thread of every model."""
        for served in self:
            served.start()

    def stop(self) -> None:
        """Write what is under way, and close all files."""
        for served in self:
            served.stop()
        self._workers.shutdown(cancel_futures=True)


def _quietly(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call a function; its warnings are of no use to a program that answers."""
    with collect_warnings():
        return function(*args, **kwargs)


def names_of(paths: list[Path]) -> dict[str, Path]:
    """Return the models by name: the stem of the file. ValueError if two have the same."""
    names: dict[str, Path] = {}
    for path in paths:
        if path.stem in names:
            raise ValueError(f"{path} and {names[path.stem]} would both be called {path.stem!r}: rename one.")
        names[path.stem] = path
    return names
