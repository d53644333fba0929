"""Draw random rows: a class from the prior, then each column from its likelihood (document 003)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from naively._kernels.types import Array
from naively.data.columns import MAX_EXACT_INTEGER
from naively.data.kinds import SECONDS_OF_A_DAY, Kind
from naively.data.labelled import Label
from naively.errors import InputError
from naively.model.counted_numbers import integer_columns
from naively.model.decide import position_of

if TYPE_CHECKING:
    import pyarrow as pa

    from naively.model.model import Model


def sample(model: Model, n: int, of: Label | None = None, seed: int | None = None) -> pa.Table:
    """Return n random rows with the columns of the data, and the class of each in a last column.

    Numbers are whole if all that were counted are, and dates are days if all were. A column that the model does not use
    is empty. If missing values are evidence, they are as frequent as in training.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if n < 0:
        raise InputError(f"n={n}: the number of rows is zero or more.")
    generator = np.random.default_rng(seed)
    if of is None:
        probability = np.exp(model.log_prior)
        codes = generator.choice(len(model.classes), size=n, p=probability / probability.sum())
    else:
        codes = np.full(n, position_of(of, model.classes), dtype=np.intp)
    integers = integer_columns(model)
    columns: dict[str, Any] = {}
    is_present: dict[str, Array] = {}
    for block, parameters in zip(model.chosen.schema.blocks, model.parameters, strict=True):
        for i, (name, values) in enumerate(
            zip(block.names, block.family.sample(parameters, codes, generator), strict=True)
        ):
            if block.role == "presence":
                is_present[name] = values
            elif block.role == "value":
                columns[name] = _arrow_array(values, block.kind(i), name in integers)
    for name in model.schema.names:
        if name not in columns:
            columns[name] = pa.nulls(n)
        elif name in is_present:
            columns[name] = pc.if_else(pa.array(is_present[name]), columns[name], pa.scalar(None, columns[name].type))
    target = model.target if model.target not in columns else f"{model.target}_"
    classes = pa.array([model.classes[code] for code in codes.tolist()])
    return pa.table([*(columns[name] for name in model.schema.names), classes], names=[*model.schema.names, target])


def _arrow_array(values: Array, kind: Kind, is_whole: bool) -> Any:
    """Return values as an Arrow array of the kind that was counted; whole numbers and days if `is_whole`."""
    import pyarrow as pa

    if is_whole and kind in ("number", "date") and values.dtype.kind == "f":
        numbers = np.round(values / SECONDS_OF_A_DAY if kind == "date" else values)
        is_missing = ~(np.abs(numbers) <= MAX_EXACT_INTEGER)
        days_or_numbers = pa.array(np.where(is_missing, 0, numbers).astype(np.int64), mask=is_missing)
        return days_or_numbers.cast(pa.int32()).cast(pa.date32()) if kind == "date" else days_or_numbers
    if kind == "date":
        return pa.array(np.round(values).astype("datetime64[s]"))
    if kind == "number" and values.dtype == np.bool_:
        return pa.array(values.astype(np.int64))
    return pa.array(values.tolist() if values.dtype == object else values)
