"""The Federalist Papers as counts of words, shipped with the package; README.md explains how they were made."""

import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import TypedDict


@dataclass(frozen=True)
class Paper:
    """One paper: number, author if known, status ("known", "disputed" or "joint"), and the count of each word.

    >>> paper = read_papers()[9]
    >>> paper.number, paper.author, paper.status, paper.counts["faction"]
    (10, 'Madison', 'known', 16)
    """

    number: int
    author: str | None
    status: str
    counts: Mapping[str, int]


@dataclass(frozen=True)
class Word:
    """A stop word: its count in the papers of each author, and the log-odds for Hamilton of one occurrence."""

    word: str
    hamilton: int
    madison: int
    log_odds: float


class _Shipped(TypedDict):
    papers: list[dict[str, object]]
    stop_words: list[str]


def read_papers() -> list[Paper]:
    """Return all 85 papers, in order."""
    return [Paper(**paper) for paper in _read_shipped()["papers"]]  # type: ignore[arg-type]


def read_stop_words() -> list[str]:
    """Return the 123 English stop words that occur in any paper."""
    return _read_shipped()["stop_words"]


def table(papers: Sequence[Paper], words: Sequence[str]) -> dict[str, list[int]]:
    """Return a table of counts with a row per paper and a column per word."""
    return {word: [paper.counts.get(word, 0) for paper in papers] for word in words}


def _read_shipped() -> _Shipped:
    with files("naively.demos").joinpath("federalist_counts.json.gz").open("rb") as file:
        shipped: _Shipped = json.loads(gzip.decompress(file.read()))
    return shipped
