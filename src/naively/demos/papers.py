"""The Federalist Papers as counts of words, shipped with the package; README.md tells how they were made."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

__all__ = ["Paper", "read_papers", "read_stop_words", "table"]


@dataclass(frozen=True)
class Paper:
    """One paper: its number, its author if he is known, "known", "disputed" or "joint", and how often it has each word.

    >>> paper = read_papers()[9]
    >>> paper.number, paper.author, paper.status, paper.counts["faction"]
    (10, 'Madison', 'known', 16)
    """

    number: int
    author: str | None
    status: str
    counts: Mapping[str, int]


def read_papers() -> list[Paper]:
    """All 85 papers, in order."""
    return [Paper(**paper) for paper in _shipped()["papers"]]


def read_stop_words() -> list[str]:
    """The 123 of the 175 English stop words of document 002 that any paper has."""
    return list(_shipped()["stop_words"])


def table(papers: Sequence[Paper], words: Sequence[str]) -> dict[str, list[int]]:
    """A row per paper and a column per word."""
    return {word: [paper.counts.get(word, 0) for paper in papers] for word in words}


def _shipped() -> Any:
    with files("naively.demos").joinpath("federalist_counts.json.gz").open("rb") as file:
        return json.loads(gzip.decompress(file.read()))
