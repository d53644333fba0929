"""Worker processes that do a piece of work each at the same time: the gain from two cores that share nothing.

They are forked once, before anything is measured. After a fork, the first write to a page copies it, and the next
contender would pay for that.
"""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Callable, Sequence


class Workers:
    """One process for each piece of work; `run` does all of them once, `cpu_seconds` is their processor time."""

    def __init__(self, work: Sequence[Callable[[], object]]) -> None:
        """Start the processes, which wait for `run`."""
        self.cpu_seconds = 0.0
        self._processes = [self._start(piece) for piece in work]

    @staticmethod
    def _start(piece: Callable[[], object]) -> tuple[int, int, int]:
        orders, order = os.pipe()
        answer, answers = os.pipe()
        if process := os.fork():
            os.close(orders)
            os.close(answers)
            return process, order, answer
        os.close(order)
        os.close(answer)
        while os.read(orders, 1):
            start = time.process_time()
            piece()
            os.write(answers, struct.pack("d", time.process_time() - start))
        os._exit(0)

    def run(self, n: int | None = None) -> None:
        """Do the work of all processes, or of the first n."""
        processes = self._processes[:n]
        for _, order, _ in processes:
            os.write(order, b"+")
        for _, _, answer in processes:
            self.cpu_seconds += struct.unpack("d", os.read(answer, 8))[0]

    def end(self) -> None:
        """End all processes, and wait for them."""
        for _, order, answer in self._processes:  # all pipes first: later processes inherit those of earlier ones
            os.close(order)
            os.close(answer)
        for process, _, _ in self._processes:
            os.waitpid(process, 0)
