"""Counted rows scored as if they had not been counted: one by one, or a group of them at a time.

    log p₋ᵢ(xᵢ, c) = log π₋ᵢ_c + Σ_j log p₋ᵢ(xᵢⱼ | c)                                         (1)

where ₋ᵢ says: estimated from all statistics minus those of row i. Nothing is counted again: statistics subtract.
Bins, vocabulary and the choice of families are those of all rows (they are structure, not counts); with groups or folds
these too are estimated anew without the group.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from naively import data as sources
from naively.data.labelled import read_labelled
from naively.errors import InputError, LostDigitsWarning
from naively.families import Presence
from naively.families.base import Leaving, NotCountedError
from naively.model import columns as local
from naively.model.calibrate import column_key
from naively.schema.schema import Block

if TYPE_CHECKING:
    from naively.model.model import Model

__all__ = ["LeaveOneOut", "evidence_columns", "leave_one_out", "smallest_hashes"]

CHUNK = 2**22  # numbers of a (row, column, class) table that are worked on at a time: 32 MB


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    """What a model says of rows that it has not seen: log joint (row, class), evidence (row, column, class).

    `rows` are their positions in the data, `columns` the names of the evidence; columns that are one distribution are
    one piece of evidence, named by the first of them. The evidence is not calibrated.
    """

    classes: tuple[Any, ...]
    columns: tuple[str, ...]
    rows: NDArray[np.intp]
    label: NDArray[np.int32]
    weight: NDArray[np.float64]
    log_prior: NDArray[np.float64]
    evidence: NDArray[np.float64]

    @property
    def log_joint(self) -> NDArray[np.float64]:
        """Equation (1), (row, class)."""
        return np.asarray(self.log_prior + self.evidence.sum(axis=1))

    @property
    def log_posterior(self) -> NDArray[np.float64]:
        """The logarithm of the posterior (row, class), not calibrated; the prior where every class is impossible."""
        joint = self.log_joint
        impossible = np.isneginf(joint).all(axis=1)
        joint[impossible] = self.log_prior[impossible]
        top = joint.max(axis=1, keepdims=True)
        return np.asarray(joint - top - np.log(np.exp(joint - top).sum(axis=1, keepdims=True)))


def leave_one_out(
    model: Model,
    X: Any,
    y: Any,
    weight: Any = None,
    groups: Any = None,
    folds: int | None = None,
    sample: int | None = None,
) -> LeaveOneOut:
    """Score rows that the model has counted as if they had not been; see `LeaveOneOut`.

    `groups`, one value per row, leaves all rows of a group out together; `folds` does so for so many groups by a hash
    of the rows' content, equal rows together. `sample` takes at most so many rows, those with the smallest hashes.

    >>> from naively import fit
    >>> sky, play = {"sky": ["sun", "sun", "rain", "rain"]}, ["yes", "yes", "no", "yes"]
    >>> left_out = leave_one_out(fit(sky, play), sky, play)
    >>> left_out.classes[0], np.exp(left_out.log_posterior[:, 0]).round(3).tolist()      # the only "no" is row 2
    ('no', [0.25, 0.25, 0.0, 0.571])
    """
    table, label, weights = _read(model, X, y, weight)
    if groups is not None and folds is not None:
        raise InputError("give groups= or folds=, not both.")
    if folds is not None and not (isinstance(folds, int) and folds >= 2):
        raise InputError(f"folds={folds!r}: give a whole number from 2 on.")
    if groups is not None:
        group: NDArray[Any] | None = _codes(groups, table.n_rows)
    else:
        hashes = sources.row_hashes(table, model.classes, label, model.schema.names) if folds else None
        group = None if hashes is None or folds is None else (hashes % np.uint64(folds)).astype(np.intp)
    rows = np.arange(table.n_rows)
    if sample is not None and sample < table.n_rows:
        rows = smallest_hashes(sources.row_hashes(table, model.classes, label, model.schema.names), sample)
    log_prior = np.empty((len(rows), len(model.classes)))
    columns = evidence_columns(model)
    evidence = np.zeros((len(rows), len(columns), len(model.classes)))
    result = LeaveOneOut(model.classes, columns, rows, label[rows], weights[rows], log_prior, evidence)
    if group is None:
        _one_by_one(model, _some(table, rows), result)
    else:
        _by_group(model, table, label, weights, group, result)
    return result


def smallest_hashes(hashes: NDArray[np.uint64], size: int) -> NDArray[np.intp]:
    """The rows with the smallest hashes, in the order of the data; which of several equal ones is all the same."""
    return np.sort(np.argsort(hashes, kind="stable")[:size])


def evidence_columns(model: Model) -> tuple[str, ...]:
    """The pieces of evidence, named as a Tuning names them; the first column stands for a block that is one.

    Columns that are left out of the model are among them: without some rows they may not be.
    """
    found = {name: None for block in model.schema.blocks for name in _pieces(block)}
    chosen = {name: None for block in model.chosen.schema.blocks for name in _pieces(block)}
    gaps = {
        column_key(Presence(), name): None
        for block in model.schema.blocks
        for name in block.names
        if block.family.missing == "value"
    }
    return tuple(found | chosen | gaps)


def _pieces(block: Block) -> tuple[str, ...]:
    names = block.names[:1] if block.family.joint else block.names
    return tuple(column_key(block.family, name) for name in names)


def _read(model: Model, X: Any, y: Any, weight: Any) -> tuple[sources.Table, NDArray[np.int32], NDArray[np.float64]]:
    rows = read_labelled(X, y, weight, like=model, keep_all=True)
    return rows.table, rows.label_in(model.classes), rows.weights


def _codes(groups: Any, n_rows: int) -> NDArray[np.intp]:
    found = np.asarray(groups if not hasattr(groups, "to_pylist") else groups.to_pylist())
    if found.shape != (n_rows,):
        raise InputError(f"groups have shape {found.shape}: give one value for each of {n_rows} rows.")
    return np.unique(found.astype(str) if found.dtype == object else found, return_inverse=True)[1]


def _some(table: sources.Table, rows: NDArray[np.intp]) -> sources.Table:
    if len(rows) == table.n_rows:
        return table
    keep = np.zeros(table.n_rows, dtype=np.bool_)
    keep[rows] = True
    return table.where(keep)


def _one_by_one(model: Model, table: sources.Table, result: LeaveOneOut) -> None:
    """Each row leaves the class that it was counted in, with its weight; one of weight zero was never there."""
    leaves = result.weight > 0
    result.log_prior[:] = _log_prior_without(model, result.label, result.weight, leaves)
    leaving = Leaving.of(result.label, result.weight, leaves)
    _add_evidence(model, table, leaving, result.columns, result.evidence)


def _by_group(
    model: Model,
    table: sources.Table,
    label: NDArray[np.int32],
    weight: NDArray[np.float64],
    group: NDArray[Any],
    result: LeaveOneOut,
) -> None:
    """Each group of rows scored by the model without it, in which nothing more has to leave."""
    for g in np.unique(group[result.rows]):
        whole = group == g
        counted = whole & (weight > 0)
        asked = np.flatnonzero(whole[result.rows])
        rest = model
        if counted.any():
            part = type(model).count(
                table.where(counted), label[counted], weight[counted], model.classes, model.schema, model.statistics
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", LostDigitsWarning)  # the rows are at hand: a refit would say no more
                rest = (model - part).with_classes(model.classes)
        chosen = np.zeros(len(group), dtype=np.bool_)
        chosen[result.rows[asked]] = True
        nothing, evidence = np.zeros(len(asked)), np.zeros((len(asked), *result.evidence.shape[1:]))
        leaving = Leaving.of(label[chosen], nothing, nothing)
        _add_evidence(rest, table.where(chosen), leaving, result.columns, evidence)
        result.evidence[asked] = evidence
        result.log_prior[asked] = rest.log_prior


def _log_prior_without(
    model: Model, label: NDArray[np.int32], weight: NDArray[np.float64], leaves: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """The class prior without each row, once for each class and weight."""
    weights, of_weight = np.unique(weight, return_inverse=True)
    keys, place = np.unique(of_weight * np.int64(len(model.classes)) + label, return_inverse=True)
    found = []
    for c, w in zip(keys % len(model.classes), weights[keys // len(model.classes)], strict=True):
        left = model.seen.weight.copy()
        left[int(c)] = max(left[int(c)] - w, 0.0) if model.seen.rows[int(c)] > 1 or w == 0 else 0.0
        found.append(model.prior.log_probability(model.classes, left))
    return np.asarray(np.array(found)[place], dtype=np.float64).reshape(len(label), len(model.classes))


def _add_evidence(
    model: Model,
    table: sources.Table,
    leaving: Leaving,
    columns: Sequence[str],
    out: NDArray[np.float64],
) -> None:
    """Add the evidence of every block, a chunk of rows at a time."""
    schema = model.chosen.schema
    place = {name: j for j, name in enumerate(columns)}
    views = local.views(table, schema)
    for block, view, statistic in zip(schema.blocks, views, model.chosen.statistics, strict=True):
        family, pieces = block.family, _pieces(block)
        at = np.array([place[name] for name in pieces], dtype=np.intp)
        structure = family.structure(statistic)
        alone = np.array_equal(at, np.arange(len(columns)))
        for some in _chunks(len(leaving), len(pieces) * len(model.classes)):
            found = out[some] if alone else np.zeros((some.stop - some.start, len(pieces), len(model.classes)))
            part = view if len(found) == len(leaving) else view.rows(some.start, some.stop)
            try:
                family.leave_one_out(part, statistic, model.classes, structure, leaving.part(some), found)
            except NotCountedError as error:
                raise InputError(_refusal(error, model, block.names, some.start)) from None
            if not alone:
                out[some, at] += found


def _refusal(error: NotCountedError, model: Model, names: Sequence[str], start: int) -> str:
    where = "" if error.column is None or error.column >= len(names) else f" in column {names[error.column]!r}"
    return (
        f"row {start + error.row} was not counted in this model: without it, class "
        f"{model.classes[error.class_position]!r} would have{where} {error.found}. Give the rows, labels and weights "
        "that the model was fitted with."
    )


def _chunks(n_rows: int, width: int) -> Iterator[slice]:
    step = max(64, CHUNK // max(1, width))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))
