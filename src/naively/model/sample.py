"""Generating examples: draw a class from the prior, then each column from its likelihood (document 003)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from naively.data.kinds import Kind
from naively.errors import InputError
from naively.families import Presence
from naively.model.decide import position_of

if TYPE_CHECKING:
    import pyarrow as pa

    from naively.model.model import Model

__all__ = ["sample"]


def sample(model: Model, n: int, label: Any = None, seed: int | None = None) -> pa.Table:
    """n rows with the columns of the data, and the class of each in a last column.

    A column that is left out of the model is empty; where gaps are evidence, values are missing as often as they were.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if n < 0:
        raise InputError(f"n={n}: the number of rows is zero or more.")
    generator = np.random.default_rng(seed)
    if label is None:
        probability = np.exp(model.log_prior)
        codes = generator.choice(len(model.classes), size=n, p=probability / probability.sum())
    else:
        codes = np.full(n, position_of(label, model.classes), dtype=np.intp)
    columns: dict[str, Any] = {}
    there: dict[str, NDArray[Any]] = {}
    for block, fitted in zip(model.chosen.schema.blocks, model.parameters, strict=True):
        drawn = block.family.sample(fitted, codes, generator)
        if isinstance(block.family, Presence):
            there |= dict(zip(block.names, drawn, strict=True))
            continue
        for i, (name, values) in enumerate(zip(block.names, drawn, strict=True)):
            columns[name] = _arrow(values, block.kind(i))
    for name in model.schema.names:
        if name not in columns:
            columns[name] = pa.nulls(n)
        elif name in there:
            columns[name] = pc.if_else(pa.array(there[name]), columns[name], pa.scalar(None, columns[name].type))
    target = model.target if model.target not in columns else f"{model.target}_"
    classes = pa.array([model.classes[code] for code in codes.tolist()])
    names = [*model.schema.names, target]
    return pa.table([*(columns[name] for name in model.schema.names), classes], names=names)


def _arrow(values: NDArray[Any], kind: Kind) -> Any:
    """Drawn values as an Arrow array of the kind that was counted."""
    import pyarrow as pa

    if kind == "date":
        return pa.array(np.round(values).astype("datetime64[s]"))
    if kind == "number" and values.dtype == np.bool_:
        return pa.array(values.astype(np.int64))
    if values.dtype == object:
        return pa.array(values.tolist())
    return pa.array(values)
