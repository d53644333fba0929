"""How many threads the core may use."""

from __future__ import annotations

import os

from naively.errors import InputError

__all__ = ["threads"]


def threads(n_jobs: int | None) -> int:
    """The number of threads: all cores that this process may use, unless said otherwise."""
    if n_jobs is None or n_jobs < 0:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs == 0:
        raise InputError("n_jobs=0: give the number of threads, or None for all cores.")
    return n_jobs
