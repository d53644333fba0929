"""Calibration: a Tuning, what it does to the evidence of each column, and how it is written down.

    log p(c | x) ∝ log π_c + b_c + Σ_j w_j · L_j^(−β_j) · e_jc                              (1)

e_jc is what column j says of class c (its log-likelihood), w_j ≥ 0 the weight of the column, b_c the offset of the
class; for texts and blocks of counts, L_j is the number of known words in the row and β_j says how much less a long
text is worth than its words one by one. Without a Tuning w = 1 and b = β = 0: the textbook. The sum stays a sum over
columns and words, so that explanations are exact. Which numbers are good is found in `tuning`, by leave-one-out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from naively.errors import InputError
from naively.families import Family, Presence
from naively.schema.choose import Chosen, split
from naively.schema.family_json import family_from_json, family_to_json
from naively.schema.schema import Block, Schema

if TYPE_CHECKING:
    from naively.model.model import Model

__all__ = ["Calibrated", "Tuning", "calibrate", "column_key"]


@dataclass(frozen=True)
class Tuning:
    """Numbers of equation (1) and the families chosen with them; a small value beside the statistics.

    `weights` and `exponents` are by column (a block of counts goes by its first column, whether a column has a value at
    all by `column_key`), `common` is the weight of a column that is not named; a class that is not named has offset 0.
    `families` are those chosen instead of what the rules say. `rows` were looked at, and `report` is what
    leave-one-out, cross-fitted, says of predictions.
    """

    offsets: Mapping[Any, float] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)
    exponents: Mapping[str, float] = field(default_factory=dict)
    families: Mapping[str, Family] = field(default_factory=dict)
    common: float = 1.0
    rows: int = 0
    report: Mapping[str, float] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash((self.common, self.rows, len(self.weights)))

    def offset(self, classes: Sequence[Any]) -> NDArray[np.float64]:
        """b_c, per class."""
        return np.array([self.offsets.get(label, 0.0) for label in classes], dtype=np.float64)

    def weight(self, block: Block) -> NDArray[np.float64]:
        """w_j for each column of a block, one for a joint block."""
        names = block.names[:1] if block.family.joint else block.names
        return np.array([self.weights.get(column_key(block.family, name), self.common) for name in names])

    def to_json(self) -> str:
        """The tuning as JSON."""
        found = {
            "offsets": [[label, b] for label, b in self.offsets.items()],
            "weights": dict(self.weights),
            "exponents": dict(self.exponents),
            "families": {name: family_to_json(family) for name, family in self.families.items()},
            "common": self.common,
            "rows": self.rows,
            "report": dict(self.report),
        }
        return json.dumps(found, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Tuning:
        """The inverse; whatever is no tuning is refused.

        >>> tuning = Tuning({"ham": 0.5}, {"age": 0.25}, common=0.5, rows=100)
        >>> Tuning.from_json(tuning.to_json()) == tuning
        True
        """
        try:
            found = json.loads(text)
            numbers = [_numbers(found[name]) for name in ("weights", "exponents", "report")]
            offsets = {label: _number(b) for label, b in found["offsets"]}
            families = {str(name): family_from_json(family) for name, family in found["families"].items()}
            rows = found["rows"]
            if type(rows) is not int or rows < 0 or any(w < 0 for w in numbers[0].values()):
                raise ValueError("rows and weights are not negative")
            return cls(offsets, numbers[0], numbers[1], families, _number(found["common"]), rows, numbers[2])
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError) as error:
            raise InputError(f"this is not a tuning in JSON ({type(error).__name__}: {error}).") from None


def _number(found: Any) -> float:
    if isinstance(found, bool) or not isinstance(found, (int, float)) or not np.isfinite(found):
        raise ValueError(f"{str(found)[:40]} is no finite number")
    return float(found)


def _numbers(found: Any) -> dict[str, float]:
    return {str(name): _number(value) for name, value in found.items()}


def column_key(family: Family, name: str) -> str:
    """What a column's evidence goes by in a Tuning: its name, or "NAME present" for having a value at all."""
    return f"{name} present" if isinstance(family, Presence) else name


@dataclass(frozen=True, eq=False)
class Calibrated:
    """What posteriors are computed by: blocks, their parameters, and for each block a factor of its evidence.

    A factor of None is 1: the weights are in the parameters, or there are none.
    """

    schema: Schema
    parameters: tuple[Any, ...]
    factors: tuple[tuple[float, float] | None, ...]
    offset: NDArray[np.float64]


def calibrate(chosen: Chosen, parameters: Sequence[Any], classes: Sequence[Any], tuning: Tuning | None) -> Calibrated:
    """Equation (1) as blocks: weights go into the parameters of families that can take them, else into factors."""
    if tuning is None:
        none = (None,) * len(chosen.schema.blocks)
        return Calibrated(chosen.schema, tuple(parameters), none, np.zeros(len(classes)))
    found: list[tuple[Block, Any, tuple[float, float] | None]] = []
    for block, statistic, fitted in zip(chosen.schema.blocks, chosen.statistics, parameters, strict=True):
        weight = tuning.weight(block)
        exponent = tuning.exponents.get(block.names[0], 0.0) if len(block.names) else 0.0
        scaled = block.family.weighted(fitted, weight) if len(weight) else fitted
        if scaled is not None:
            found.append((block, scaled, None))
        elif len(set(weight.tolist())) == 1:
            found.append((block, fitted, (float(weight[0]), exponent)))
        else:
            for part, of_part, w in split(block, statistic, weight):
                found.append((part, part.family.estimate(of_part, classes), (w, 0.0)))
    schema = Schema(chosen.schema.names, tuple(block for block, _, _ in found))
    return Calibrated(schema, tuple(p for _, p, _ in found), tuple(f for _, _, f in found), tuning.offset(classes))


def weighted_blocks(model: Model) -> Calibrated:
    """Return what the posteriors of a model are computed from."""
    return model._blocks
