"""How many threads the core may use, and NumPy's matrices."""

from __future__ import annotations

import os
from functools import cache
from typing import Any

from naively.errors import InputError

__all__ = ["one_thread", "threads"]


def threads(n_jobs: int | None) -> int:
    """The number of threads: all cores that this process may use, unless said otherwise."""
    if n_jobs is None or n_jobs < 0:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs == 0:
        raise InputError("n_jobs=0: give the number of threads, or None for all cores.")
    return n_jobs


def one_thread() -> Any:
    """A context in which NumPy multiplies matrices on one thread: small ones are sooner done, and sums are the same."""
    return _libraries().limit(limits=1, user_api="blas")


@cache
def _libraries() -> Any:
    """What NumPy has loaded; to look for it takes longer than many a model."""
    from threadpoolctl import ThreadpoolController  # comes with scikit-learn

    return ThreadpoolController()
