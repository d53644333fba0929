"""Memory that is freed and handed out again, split and moved together: no two arrays may ever share a page of it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from naively._kernels import Cells
from naively._kernels.token_logs import token_log_table

MEGABYTE = 1 << 20


def filled(megabytes: int, value: float) -> NDArray[np.float64]:
    """An array of the core's own, all of one value."""
    nothing = Cells(np.zeros(2, np.int64), np.zeros(0, np.int32), np.zeros((1, 0)), np.zeros(0, np.int64))
    return token_log_table(nothing, np.full(megabytes * MEGABYTE // 8, value), 1.0)[:, 0]


def take_and_drop(seed: int, steps: int = 60) -> int:
    """Arrays of many sizes come and go; returns how many were whole when they went."""
    generator = np.random.default_rng(seed)
    held: list[tuple[float, NDArray[np.float64]]] = []
    whole = 0
    for step in range(steps):
        value = float(1000 * seed + step)
        held.append((value, filled(int(generator.integers(1, 15)), value)))
        while len(held) > 5 or (held and step == steps - 1):
            value, array = held.pop(int(generator.integers(len(held))))
            whole += bool((array == value).all())
            del array
    return whole


def test_arrays_of_many_sizes_keep_what_was_written() -> None:
    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(take_and_drop, range(3))) == [60, 60, 60]
