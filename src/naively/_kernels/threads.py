"""How many threads the core and NumPy's matrices may use.

A public call sets the number once, by `use_threads`. Kernels read it, so that nothing in between passes it on.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from naively.errors import InputError

_P = ParamSpec("_P")
_R = TypeVar("_R")

_threads: ContextVar[int] = ContextVar("naively_threads", default=1)


def threads(n_jobs: int | None) -> int:
    """Return the number of threads: `n_jobs`, or all cores that this process may use."""
    if n_jobs is None or n_jobs < 0:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs == 0:
        raise InputError("n_jobs=0: give the number of threads, or None for all cores.")
    return n_jobs


def thread_count(n_jobs: int | None = None) -> int:
    """Return `n_jobs` if it is given, else the number that `use_threads` has set (1 outside of it)."""
    return _threads.get() if n_jobs is None else n_jobs


@contextmanager
def use_threads(n_jobs: int | None) -> Iterator[None]:
    """Let kernels use this many threads inside the block; None is all cores."""
    token = _threads.set(threads(n_jobs))
    try:
        yield
    finally:
        _threads.reset(token)


class HasThreads(Protocol):
    """An object that says how many threads its methods may use."""

    @property
    def n_jobs(self) -> int | None:
        """The number of threads; None is all cores."""


_S = TypeVar("_S", bound=HasThreads)


def on_own_threads(method: Callable[Concatenate[_S, _P], _R]) -> Callable[Concatenate[_S, _P], _R]:
    """Run a method with the number of threads that its object names in `n_jobs`."""

    @wraps(method)
    def run(self: _S, /, *args: _P.args, **options: _P.kwargs) -> _R:
        token = _threads.set(threads(self.n_jobs))
        try:
            return method(self, *args, **options)
        finally:
            _threads.reset(token)

    return run


def one_thread() -> Any:
    """Return a context in which NumPy multiplies matrices on one thread: faster for small ones, and reproducible."""
    return _libraries().limit(limits=1, user_api="blas")


@cache
def _libraries() -> Any:
    """Find the libraries that NumPy has loaded; this takes longer than fitting a small model, so do it once."""
    from threadpoolctl import ThreadpoolController  # comes with scikit-learn

    return ThreadpoolController()
