"""Limits of the server: each is a setting."""

from __future__ import annotations

from dataclasses import dataclass

MB = 1_000_000


@dataclass(frozen=True)
class Limits:
    """What one request or all of them together may use.

    Parameters
    ----------
    body_bytes
        The size of a request, unless it is a file to predict, which is a stream.
    rows
        The rows of a request, unless it is a file to predict.
    explained_rows
        The rows of a request to explain.
    cell_bytes
        The size of one value, in UTF-8.
    file_bytes
        The size of a file to predict. It takes this space on the disk, and not in memory.
    line_bytes
        The size of one line of a file to predict.
    seconds
        The time for a request; for a stream, the time without progress.
    connections
        Open connections. One more gets the status 503 with Retry-After.
    files
        Files that are predicted at the same time; others wait.
    """

    body_bytes: int = 16 * MB
    rows: int = 10_000
    explained_rows: int = 100
    cell_bytes: int = 1 * MB
    file_bytes: int = 10_000 * MB
    line_bytes: int = 16 * MB
    seconds: float = 30.0
    connections: int = 256
    files: int = 2
