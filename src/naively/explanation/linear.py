"""The linear form of the log-odds between two classes.

    log P(of | x) − log P(against | x) = b + Σ_j w_j x_j                    (1)

It is linear in the columns for Bernoulli, Multinomial and Complement, and in one 0/1 feature per value ("column=value")
for Categorical. Where a missing value is evidence, "column present" is a 0/1 feature. The form holds for rows without
missing values.
Source: Bishop, Pattern Recognition and Machine Learning (2006), section 4.2.3; document 004, (5.28)–(5.31).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from naively._kernels.types import Floats
from naively.data.labelled import Label
from naively.data.plain import CellValue
from naively.errors import InputError
from naively.explanation.explain import class_pair
from naively.model.model import Model


@dataclass(frozen=True, eq=False)
class Linear:
    """Weights, one per feature, and the bias; unpacks as `weights, bias`. No two features have the same name."""

    weights: Floats
    bias: float
    features: tuple[str, ...]
    of: Label
    against: Label

    def __iter__(self) -> Iterator[Any]:
        return iter((self.weights, self.bias))


def linear_form(model: Model, of: Label | None = None, against: Label | None = None) -> Linear:
    """Return equation (1), by default of the last class; with more than two classes name the other one."""
    n_classes = len(model.classes)
    if against is None and n_classes > 2:
        raise InputError(
            f"with {n_classes} classes, the odds against all others together are not linear: name one with against=."
        )
    first, second = class_pair(model, model.classes[-1] if of is None else of, against, range(n_classes))
    prior = model.log_prior
    if not np.isfinite(prior[[first, second]]).all():
        raise InputError("linear() has no finite bias here: a class has prior probability zero.")
    model = model if model.weighted_blocks.tables is None else model.without_tables()
    weighted = model.weighted_blocks
    bias = float(prior[first] - prior[second]) + float(weighted.offset[first] - weighted.offset[second])
    features: list[tuple[str, CellValue, str]] = []
    weights: list[float] = []
    for block, parameters, factor in zip(weighted.schema.blocks, weighted.parameters, weighted.factors, strict=True):
        part = block.family.linear(parameters, block.names, first, second)
        weight, exponent = factor or (1.0, 0.0)
        if exponent:
            raise InputError(
                f"column {block.names[0]!r} is tuned to count less per word in long texts, which is not linear: "
                "use with_tuning(None) or tune=False."
            )
        bias += weight * part.bias
        features += [(column, value, block.role) for column, value in part.features]
        weights += (weight * part.weights).tolist()
    position = {name: i for i, name in enumerate(model.schema.names)}
    order = sorted(range(len(features)), key=lambda i: position[features[i][0]])
    names = feature_names([features[i] for i in order])
    return Linear(np.array([weights[i] for i in order]), bias, names, model.classes[first], model.classes[second])


def feature_names(features: Sequence[tuple[str, CellValue, str]]) -> tuple[str, ...]:
    """Return a name for each column, value and role; all quoted if two would have the same name.

    >>> feature_names([("rain", None, "value"), ("rain", None, "presence"), ("sky", "blue", "value")])
    ('rain', 'rain present', 'sky=blue')
    >>> feature_names([("a=b", "c", "value"), ("a", "b=c", "value")])
    ("'a=b'='c'", "'a'='b=c'")
    """
    for as_text in (str, repr):
        names = tuple(
            as_text(column) + (" present" if role == "presence" else "" if value is None else f"={as_text(value)}")
            for column, value, role in features
        )
        if len(set(names)) == len(names):
            break
    return names
