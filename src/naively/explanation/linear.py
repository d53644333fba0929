"""The linear form of the log-odds between two classes.

    log P(of | x) − log P(against | x) = b + Σ_j w_j x_j                    (1)

Source: document 004, (5.28)–(5.31). Linear in the columns for Bernoulli, Multinomial and Complement; in one 0/1
feature per value ("column=value") for Categorical.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from naively.errors import InputError
from naively.families import LinearPart
from naively.model.calibrate import weighted_blocks
from naively.model.decide import position_of

if TYPE_CHECKING:
    from naively.model.model import Model

__all__ = ["Linear", "linear_form"]


@dataclass(frozen=True, eq=False)
class Linear:
    """Weights, one per feature, and the bias; unpacks as `weights, bias`."""

    weights: NDArray[np.float64]
    bias: float
    features: tuple[str, ...]
    of: Any
    against: Any

    def __iter__(self) -> Iterator[Any]:
        return iter((self.weights, self.bias))


def linear_form(model: Model, of: Any = None, against: Any = None) -> Linear:
    """Equation (1), from the families' shares and the prior."""
    first, second = _pair(model, of, against)
    prior = model.log_prior
    if not np.isfinite(prior[[first, second]]).all():
        raise InputError("linear() has no finite bias here: a class has prior probability zero.")
    features: dict[str, float] = {}
    bias = float(prior[first] - prior[second])
    parts = []
    calibrated = weighted_blocks(model)
    bias += float(calibrated.offset[first] - calibrated.offset[second])
    for block, fitted, factor in zip(calibrated.schema.blocks, calibrated.parameters, calibrated.factors, strict=True):
        part = block.family.linear(fitted, block.names, first, second)
        weight, exponent = factor or (1.0, 0.0)
        if exponent:
            raise InputError(
                f"column {block.names[0]!r} is tuned to count less per word in long texts, which is not linear: "
                "use with_tuning(None) or tune=False."
            )
        parts.append(LinearPart(part.features, weight * part.weights, weight * part.bias))
        bias += weight * part.bias
    order = {name: i for i, name in enumerate(model.schema.names)}
    for part in parts:
        features.update(zip(part.features, part.weights.tolist(), strict=True))
    names = sorted(features, key=lambda f: order.get(f, order.get(f.rsplit("=", 1)[0], len(order))))
    weights = np.array([features[name] for name in names])
    return Linear(weights, bias, tuple(names), model.classes[first], model.classes[second])


def _pair(model: Model, of: Any, against: Any) -> tuple[int, int]:
    """Two classes; by default the last against the other, if there are two."""
    n = len(model.classes)
    if n < 2:
        raise InputError("linear() compares two classes, and the model has one.")
    first = position_of(of, model.classes)
    if against is None and n > 2:
        raise InputError(
            f"with {n} classes, the odds against all others together are not linear: name one with against=."
        )
    second = (1 - first) if against is None else position_of(against, model.classes)
    if first == second:
        raise InputError(f"of= and against= are the same class, {model.classes[first]!r}.")
    return first, second
