"""Time contenders fairly: in one process, in turns, so that other work on the machine slows all of them alike.

Seconds on a shared machine mean little. The ratio of two contenders in the same round means more. So `alternate` times
every contender once per round, and `ratios` compares them round by round.
"""

from __future__ import annotations

import gc
import resource
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from benchmarks.results import record


def alternate(peers: Mapping[str, Callable[[], object]], repeats: int) -> dict[str, list[float]]:
    """Return the seconds of every contender in every round, after one round that does not count."""
    seconds: dict[str, list[float]] = {name: [] for name in peers}
    for turn in range(repeats + 1):
        for name, peer in peers.items():
            gc.collect()
            start = time.perf_counter()
            peer()
            if turn:
                seconds[name].append(time.perf_counter() - start)
    return seconds


@dataclass(frozen=True, slots=True)
class Ratio:
    """How many times as long a contender takes: the median over the rounds, and the quartiles."""

    median: float
    low: float
    high: float

    @property
    def quartiles(self) -> tuple[float, float, float]:
        """Median, lower and upper quartile."""
        return self.median, self.low, self.high

    def __str__(self) -> str:
        return f"{self.median:.1f}× ({self.low:.1f}–{self.high:.1f})"


def report(work: str, peers: Mapping[str, Callable[[], object]], repeats: int) -> dict[str, Ratio]:
    """Print and record our time, and how many times as long each of the others takes. The first contender is ours."""
    seconds = alternate(peers, repeats)
    ours = next(iter(peers))
    compared = ratios(seconds, ours)
    line = "   ".join(f"{name} {ratio}" for name, ratio in compared.items())
    print(f"{work:<46} {1e3 * float(np.median(seconds[ours])):10.2f} ms   {line}", flush=True)
    record(work, seconds, ratios={name: ratio.quartiles for name, ratio in compared.items()})
    return compared


def extra_memory(work: Callable[[], object]) -> float:
    """Return the peak memory of a piece of work in megabytes, without what was in use before it."""
    page = resource.getpagesize()

    def resident() -> int:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * page

    gc.collect()
    before = peak = resident()
    done = threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.001):
            peak = max(peak, resident())

    watcher = threading.Thread(target=watch)
    watcher.start()
    result = work()
    peak = max(peak, resident())
    done.set()
    watcher.join()
    del result
    return (peak - before) / 2**20


def ratios(seconds: Mapping[str, list[float]], base: str) -> dict[str, Ratio]:
    """Divide the time of every other contender by that of the base, round by round.

    >>> str(ratios({"ours": [1.0, 2.0], "theirs": [3.0, 6.0]}, "ours")["theirs"])
    '3.0× (3.0–3.0)'
    """
    return {
        name: Ratio(*np.quantile(np.divide(times, seconds[base]), [0.5, 0.25, 0.75]).tolist())
        for name, times in seconds.items()
        if name != base
    }
