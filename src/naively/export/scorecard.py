"""A scorecard: a model as plain data, everything that scoring needs and nothing else.

    log p(c | x) ∝ log π_c + b_c + Σ_blocks L^(−β) · Σ_j s_jc(x_j)                          (1)
    p(c | x) ← (1 − Σ_k f_k) p(c | x) + f_c                                                  (2)

π is the class prior, b the offsets of the tuning, and s_jc the score of a value (`families/scores.py`), which includes
the weight of its column. β is not zero only for blocks of counts that are tuned by the length of a row: L is the sum of
the row's counts, at least 1. f is the floor of the tuning, ε / C for each class whose prior is not zero.

A row that is impossible in every class gets the prior. A row with a value that the family
of its column refuses, such as a negative count, has no posterior.

Columns that are no evidence are left out. So are texts: a model with one is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from naively._kernels.types import Floats
from naively.data.kinds import Kind
from naively.data.labelled import Label
from naively.data.plain import JsonObject, as_plain
from naively.errors import InputError
from naively.families.scores import ColumnScores
from naively.model.model import Model

VERSION = 1
MAX_DISTANCE = 1e150  # in deviations, of a number that a Gaussian scores; its square is finite
MAX_NUMBER = 1e300  # that a row may have


@dataclass(frozen=True, slots=True)
class ScoredColumn:
    """A column, its type at training, the family that scores it, and its scores."""

    name: str
    kind: Kind
    family: str
    scores: ColumnScores

    def to_dict(self) -> JsonObject:
        """Return plain data."""
        scores = {field.name: as_plain(getattr(self.scores, field.name)) for field in fields(self.scores)}
        head = {"column": self.name, "type": self.kind, "family": self.family}
        return head | {"score": self.scores.form} | scores


@dataclass(frozen=True, slots=True)
class ScoredBlock:
    """Columns whose scores are added up, then multiplied by the length of the row to the power of −`exponent`."""

    columns: tuple[ScoredColumn, ...]
    exponent: float = 0.0


@dataclass(frozen=True, slots=True)
class Scorecard:
    """Equation (1) as plain data."""

    target: str
    classes: tuple[Label, ...]
    log_prior: Floats
    offset: Floats
    blocks: tuple[ScoredBlock, ...]
    floor: Floats

    @property
    def start(self) -> Floats:
        """The score of each class before any column is looked at."""
        return self.log_prior + self.offset

    @property
    def columns(self) -> Sequence[ScoredColumn]:
        """The scored columns of all blocks; a column may occur twice, with its value and with its presence."""
        return [column for block in self.blocks for column in block.columns]

    def to_dict(self) -> JsonObject:
        """Return plain data: dictionaries, lists, strings, numbers and booleans."""
        return {
            "format": "naively scorecard",
            "version": VERSION,
            "target": self.target,
            "classes": list(self.classes),
            "log_prior": self.log_prior.tolist(),
            "offset": self.offset.tolist(),
            "blocks": [
                {"exponent": block.exponent, "columns": [column.to_dict() for column in block.columns]}
                for block in self.blocks
            ],
            "floor": self.floor.tolist(),
        }


def scorecard_of(model: Model) -> Scorecard:
    """Return the scorecard of a model; refuse a column that cannot be written as plain data.

    >>> from naively import fit
    >>> model = fit({"sky": ["sun", "sun", "rain"]}, ["yes", "yes", "no"], tune=False)
    >>> [(column.name, column.scores.values) for column in scorecard_of(model).columns]
    [('sky', ('rain', 'sun'))]
    """
    if model.weighted_blocks.tables is not None:
        raise InputError(
            "a model that uses tables of columns cannot be exported: export model.without_tables(), the model of the "
            "columns alone, or fit without together=True (--together)."
        )
    weighted, plain, others = model.weighted_blocks, list[ScoredColumn](), list[ScoredBlock]()
    n_classes = len(model.classes)
    for block, parameters, factor in zip(weighted.schema.blocks, weighted.parameters, weighted.factors, strict=True):
        if not len(block.names):
            continue
        weight, exponent = factor or (1.0, 0.0)
        if not weight:
            continue
        family = type(block.family).__name__
        scores = block.family.column_scores(parameters, block.names, n_classes)
        columns = [
            ScoredColumn(name, block.kind(j), family, part.weighted(weight))
            for j, (name, part) in enumerate(zip(block.names, scores, strict=True))
            if part.is_evidence
        ]
        if exponent and block.family.has_length:
            others.append(ScoredBlock(tuple(columns), exponent))
        else:
            plain += columns
    order = {name: i for i, name in enumerate(model.schema.names)}
    plain.sort(key=lambda column: order[column.name])
    blocks = (ScoredBlock(tuple(plain)), *others)
    log_prior = np.asarray(model.log_prior)
    is_possible = ~np.isneginf(log_prior)
    floor = model.floor * is_possible / is_possible.sum()
    return Scorecard(model.target, model.classes, log_prior, weighted.offset, blocks, floor)
