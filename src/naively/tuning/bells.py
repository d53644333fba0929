"""Bells or bins: whether numeric columns are Gaussian or Binned.

A bell has two numbers for each class, bins have many: bells are the simpler ones, and stay unless they lose. First all
columns together, then each by itself, under a weight of its own: a bell that does not fit says too much, and would be
blamed for it under a weight that all columns share. They need not lose by more than chance: where tails are long a few
rows decide, the error of the difference is large, and bells would stay that do harm.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from naively.families import AutoNumber, Binned, Family, Gaussian
from naively.tuning.features import EACH

if TYPE_CHECKING:
    from naively.schema.schema import Block
    from naively.tuning.features import Features
    from naively.tuning.loo_scores import Bench
    from naively.tuning.search import Search

__all__ = ["bells"]


def bells(search: Search, open_columns: set[str]) -> None:
    """Choose, for the columns whose family was not given and whose numbers are all in the moments."""
    chosen = [
        i
        for i, block in enumerate(search.features.blocks)
        if isinstance(block.family, (Binned, Gaussian)) and _squared(search.bench, block, open_columns)
    ]
    if not chosen:
        return
    other = _swapped(search, chosen)
    kinds = {type(search.features.blocks[i].family) for i in chosen}
    if kinds == {Binned}:  # else some are bells by rule already, and the others are tried one by one
        bins = search.features
        search.features, search.losses = other, search.judged_apart(other)
        search.take_if_better(bins, search.judged_apart(bins), errors=0.0)
        other = bins if search.features is other else other
    else:
        search.losses = search.judged_apart(search.features)
    if search.features.narrow and len(chosen) <= EACH:
        for i in chosen:
            features = search.features.with_block(i, other.blocks[i], other.evidence[i])
            search.take_if_better(features, search.judged_apart(features), errors=0.0)
    search.losses = search.judged(search.features)


def _swapped(search: Search, chosen: list[int]) -> Features:
    """Bells instead of bins, and bins instead of bells."""
    features = search.features
    for kind in dict.fromkeys(_other(features.blocks[i].family) for i in chosen):
        of_kind = [i for i in chosen if _other(search.features.blocks[i].family) == kind]
        blocks = [replace(search.features.blocks[i], family=kind) for i in of_kind]
        for i, block, evidence in zip(of_kind, blocks, search.evidence(blocks), strict=True):
            features = features.with_block(i, block, evidence)
    return features


def _other(family: Family) -> Family:
    return Gaussian(missing=family.missing) if isinstance(family, Binned) else Binned(missing=family.missing)


def _squared(bench: Bench, block: Block, open_columns: set[str]) -> bool:
    """Whether all numbers of a block's columns are in the moments, so that a bell is possible."""
    for counted, statistic in zip(bench.model.schema.blocks, bench.model.statistics, strict=True):
        if isinstance(counted.family, AutoNumber) and block.names[0] in counted.names:
            place = {name: j for j, name in enumerate(counted.names)}
            order = [place[name] for name in block.names]
            whole: Any = statistic
            rows = np.bincount(whole.histogram.column, whole.histogram.cells.rows, minlength=len(counted.names))
            return bool((whole.moments.rows.sum(axis=0) == rows)[order].all()) and block.names[0] in open_columns
    return False
