"""Predict a stream: batches in, the same rows out with their predictions and probabilities."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from naively._kernels.types import Codes32
from naively.data.columns import arrow_array
from naively.data.convert import convert_columns
from naively.data.files.batches import arrow_tables, rebatch
from naively.data.frames import table_of_frame
from naively.data.labelled import Label, class_array
from naively.data.names import warn_missing_columns
from naively.data.table import Table
from naively.errors import InputError
from naively.model.decide import Rule, Thresholds, decision_rule
from naively.model.model import Model
from naively.model.score import predict_positions, predict_with_posterior

if TYPE_CHECKING:
    import pyarrow as pa

    from naively.data.columns import ArrowArray

N_ROWS = 65_536  # predicted at a time


def predict_batches(
    model: Model,
    batches: Iterable[Any],
    *,
    proba: bool = False,
    top: int | None = None,
    prompt: bool = False,
    odds: float | None = None,
    threshold: Thresholds | None = None,
    costs: ArrayLike | None = None,
    of: Label | None = None,
    min_probability: float | None = None,
) -> Generator[pa.Table]:
    """Yield the rows of all batches, in order, with the column `prediction`.

    Parameters
    ----------
    model
        The model.
    batches
        Arrow batches, frames or mappings. A column of the model that they do not have says nothing, with a warning.
    proba
        Whether to add the probability of every class, as `p_CLASS`.
    top
        Add the k most probable classes and their probabilities, as `top_1`, `p_top_1`, …
    prompt
        Whether each batch is predicted as soon as it is there; by default 65,536 rows are collected.
    odds, threshold, costs, of, min_probability
        As in `Model.predict`.

    >>> from naively import fit
    >>> model = fit({"sky": ["sun", "sun", "rain"]}, ["yes", "yes", "no"])
    >>> [rows] = predict_batches(model, [{"day": [1, 2], "sky": ["rain", None]}])
    >>> rows.to_pydict()
    {'day': [1, 2], 'sky': ['rain', None], 'prediction': ['no', 'yes']}
    """
    rule = decision_rule(model.classes, odds, threshold, costs, of, min_probability)
    for table, results in predict_tables(model, batches, rule, proba, top, prompt):
        for name, values in zip(results.column_names, results.columns, strict=True):
            table = table.append_column(name, values)
        yield table


def predict_tables(
    model: Model,
    batches: Iterable[Any],
    rule: Rule | None,
    proba: bool = False,
    top: int | None = None,
    prompt: bool = False,
) -> Iterator[tuple[pa.Table, pa.Table]]:
    """Yield the rows of all batches, and the columns that `predict_batches` adds to them."""
    import pyarrow as pa

    classes = arrow_array(class_array(model.classes))
    warned: set[str] = set()
    n_rows = 0
    for table in arrow_tables(batches) if prompt else rebatch(batches, N_ROWS):
        rows = as_trained(model, table, warned, n_rows)
        n_rows += table.num_rows
        results: dict[str, Any] = {}
        if not (proba or top):
            results["prediction"] = _take(classes, predict_positions(model, rows, rule))
        else:
            positions, posterior = predict_with_posterior(model, rows, rule)
            results["prediction"] = _take(classes, positions)
            if proba:
                results |= {f"p_{label}": arrow_array(posterior[:, c]) for c, label in enumerate(model.classes)}
            order = np.argsort(-posterior, axis=1, kind="stable")[:, : top or 0]
            for k in range(order.shape[1]):
                kth = order[:, k].astype(np.int32)
                results[f"top_{k + 1}"] = _take(classes, kth)
                results[f"p_top_{k + 1}"] = arrow_array(posterior[np.arange(len(kth)), kth])
        for name in results:
            if name in table.column_names:
                raise InputError(f"the data already has a column {name!r}: rename it.")
        yield table, pa.table(results)


def as_trained(model: Model, table: pa.Table, warned: set[str], first_row: int = 0) -> Table:
    """Return the columns of the model, with text cells converted to the types that it was trained with.

    Parameters
    ----------
    model
        The model.
    table
        Some rows.
    warned
        The missing columns that were warned about; new ones are added.
    first_row
        The number of rows before the table, so that an error can name the row.
    """
    given = set(table.column_names)
    columns = table.select([name for name in model.schema.names if name in given])
    exact = set(model.schema.coded_numbers())
    columns = convert_columns(columns, model.schema.kinds(), first_row, exact, are_cells=True)
    rows, absent = table_of_frame(columns).with_absent_columns(model.schema.names)
    unreported = [name for name in dict.fromkeys(model._used_columns) if name in absent and name not in warned]
    warned.update(unreported)
    warn_missing_columns(unreported)
    return rows


def _take(classes: ArrowArray, positions: Codes32) -> ArrowArray:
    """Return the classes at these positions; missing where a position is −1."""
    import pyarrow as pa

    if (positions < 0).any():
        return classes.take(pa.array(positions, pa.int64(), mask=positions < 0))
    return classes.take(arrow_array(positions.astype(np.int64)))
