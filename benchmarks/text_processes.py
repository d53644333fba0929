"""Processes that stand ready to do a piece of work each, all at once: what a machine gives to those who share nothing.

They are forked once, before anything is measured: a fork makes every page of the parent one that must be copied when
it is written to, and whoever runs next would pay for that.
"""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Callable, Sequence


class Standing:
    """One process for each piece of work; `run` has all of them done once, `spent` is their processor time so far."""

    def __init__(self, work: Sequence[Callable[[], object]]) -> None:
        """Start them; they wait."""
        self.spent = 0.0
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
        """Only the first n of them, if asked to."""
        some = self._processes[:n]
        for _, order, _ in some:
            os.write(order, b"+")
        for _, _, answer in some:
            self.spent += struct.unpack("d", os.read(answer, 8))[0]

    def end(self) -> None:
        """Wait for all of them to leave."""
        for _, order, answer in self._processes:  # all of them first: a process has those of its elders open, too
            os.close(order)
            os.close(answer)
        for process, _, _ in self._processes:
            os.waitpid(process, 0)
