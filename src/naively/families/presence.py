"""Presence: whether a column has a value at all, as evidence of its own (`missing="value"`).

    value is there | c ~ Bernoulli(φ_jc),   φ_jc = (rows with a value + 1) / (rows + 2)      (1)

The column's family then speaks of the value, if there is one. Together they are one distribution over "missing" and
the values. Source: document 004's coin, with the rows that have a value as its heads.
"""

from __future__ import annotations

from dataclasses import dataclass

from naively.families.base import ALL_KINDS
from naively.families.bernoulli import Bernoulli

__all__ = ["Presence"]


@dataclass(frozen=True)
class Presence(Bernoulli):
    """A coin for each column: has the row a value there?"""

    kinds = ALL_KINDS
    role = "presence"
