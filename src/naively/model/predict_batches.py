"""Predict a stream: batches in, the same rows out with their predictions and probabilities."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from naively._kernels.types import Codes32, Floats
from naively.data.columns import arrow_array
from naively.data.files.paths import Where
from naively.data.labelled import Label, class_array
from naively.data.names import listed
from naively.errors import InputError, LeftOutWarning, warn_user
from naively.model.decide import Rule, Thresholds, decision_rule
from naively.model.model import Model, ModelLike
from naively.model.score import Follow, predict_positions, predict_with_posterior, read_like

if TYPE_CHECKING:
    import pyarrow as pa

    from naively.data.columns import ArrowArray
    from naively.data.table import Table

    Answer = Callable[[Table, pa.Table, Rule | None], tuple[Codes32, Floats, Mapping[str, ArrowArray]]]

N_ROWS = 65_536  # predicted at a time
PREDICTION = "prediction"  # the column, unless it has another name


def predict_batches(
    model: ModelLike,
    batches: Iterable[Any] | Where,
    *,
    proba: bool = False,
    top: int | None = None,
    name: str = PREDICTION,
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
        The model, or its file.
    batches
        Arrow batches, frames or mappings; or files. A column of the model that they do not have says nothing, with a
        warning. Columns of an earlier prediction are replaced, with a warning.
    proba
        Whether to add the probability of every class, as `p_CLASS`.
    top
        Add the k most probable classes and their probabilities, as `top_1`, `p_top_1`, …
    name
        The name of the column. If it is not `prediction`, the names of the other columns begin with it: `NAME_p_CLASS`.
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
    model = Model.of(model)
    rule = decision_rule(model.classes, odds, threshold, costs, of, min_probability)
    for table, results in predict_tables(model, batches, rule, proba, top, name, 0 if prompt else N_ROWS):
        for column, values in zip(results.column_names, results.columns, strict=True):
            table = table.append_column(column, values)
        yield table


def predict_tables(
    model: Model,
    batches: Iterable[Any] | Where,
    rule: Rule | None,
    proba: bool = False,
    top: int | None = None,
    name: str = PREDICTION,
    rows_at_once: int = N_ROWS,
    follow: Follow | None = None,
    answer: Answer | None = None,
) -> Iterator[tuple[pa.Table, pa.Table]]:
    """Yield the rows of all batches, and the columns that `predict_batches` adds to them.

    `rows_at_once` and `follow` as in `read_like`.

    A column of the rows that has the name of an added one is left out, with a warning.
    `answer` returns classes, posteriors and more columns, given the rows as the model reads them and as they are.
    """
    import pyarrow as pa

    classes = arrow_array(class_array(model.classes))
    prefix = "" if name == PREDICTION else f"{name}_"
    warned: set[str] = set()
    for table, rows in read_like(model, batches, rows_at_once, follow):
        results: dict[str, Any] = {}
        if not (proba or top or answer):
            results[name] = _take(classes, predict_positions(model, rows, rule))
        else:
            more: Mapping[str, ArrowArray] = {}
            if answer is None:
                positions, posterior = predict_with_posterior(model, rows, rule)
            else:
                positions, posterior, more = answer(rows, table, rule)
            results[name] = _take(classes, positions)
            if proba:
                results |= {f"{prefix}p_{label}": arrow_array(posterior[:, c]) for c, label in enumerate(model.classes)}
            if top:
                order = np.argsort(-posterior, axis=1, kind="stable").astype(np.int32)
                for k, kth in enumerate(order.T[:top], start=1):
                    results[f"{prefix}top_{k}"] = _take(classes, kth)
                    results[f"{prefix}p_top_{k}"] = arrow_array(posterior[np.arange(len(kth)), kth])
            results |= {prefix + column: x for column, x in more.items()}
        earlier = [column for column in table.column_names if column in results]
        _warn_of_earlier(model, [column for column in earlier if column not in warned])
        warned.update(earlier)
        yield table.drop_columns(earlier) if earlier else table, pa.table(results)


def _warn_of_earlier(model: Model, names: list[str]) -> None:
    """Warn that predictions replace columns of an earlier prediction; refuse to replace what the model reads."""
    read = {*model.schema.names, model.target}
    for name in names:
        if name in read:
            raise InputError(
                f"the data has a column {name!r}, which the model knows: give the prediction another name (--as NAME, "
                "name=…)."
            )
    if names:
        warn_user(f"the new predictions replace {listed(map(repr, names))} of the data.", LeftOutWarning)


def _take(classes: ArrowArray, positions: Codes32) -> ArrowArray:
    """Return the classes at these positions; missing where a position is −1."""
    import pyarrow as pa

    if (positions < 0).any():
        return classes.take(pa.array(positions, pa.int64(), mask=positions < 0))
    return classes.take(arrow_array(positions.astype(np.int64)))
