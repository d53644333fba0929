"""Score counted rows as if they had not been counted: one by one, or a group of rows at a time.

    log p₋ᵢ(xᵢ, c) = log π₋ᵢ_c + Σ_j log p₋ᵢ(xᵢⱼ | c)                                         (1)

The index ₋ᵢ means: estimated from all statistics minus those of row i. Nothing is counted again: statistics subtract.
Bins, vocabulary and families are those of all rows, because they are structure and not counts. With groups or folds
they are estimated again without the group.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from naively.data.labelled import Label, LabelledRows, LabelsLike, WeightLike, read_labelled
from naively.data.read import TableLike
from naively.data.table import Table
from naively.errors import InputError, LostDigitsWarning
from naively.families.base import Leaving, NotCountedError
from naively.model.calibrate import EvidenceKey
from naively.model.count import count_like, views_of
from naively.model.merge import with_classes
from naively.schema.schema import Block

if TYPE_CHECKING:
    from naively.model.model import Model

__all__ = ["LeaveOneOut", "evidence_columns", "leave_one_out", "smallest_hashes"]

MAX_NUMBERS_AT_A_TIME = 2**22  # of a (row, column, class) table: 32 MB


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    """Scores of rows by a model that has not counted them: log joint (row, class), evidence (row, column, class).

    `rows` are the positions of the rows in the data. `keys` are those of the evidence, as in a Tuning. Columns that
    share one distribution are one piece of evidence, named by the first column. The evidence is not calibrated.
    """

    classes: tuple[Label, ...]
    keys: tuple[EvidenceKey, ...]
    rows: NDArray[np.intp]
    label: NDArray[np.int32]
    weight: NDArray[np.float64]
    log_prior: NDArray[np.float64]
    evidence: NDArray[np.float64]

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the evidence: "age", or "age present" for whether there is a value."""
        return tuple(map(str, self.keys))

    @property
    def log_joint(self) -> NDArray[np.float64]:
        """Return equation (1), (row, class)."""
        return np.asarray(self.log_prior + self.evidence.sum(axis=1))

    @property
    def log_posterior(self) -> NDArray[np.float64]:
        """Return uncalibrated log posteriors (row, class); the prior where every class is impossible."""
        joint = self.log_joint
        impossible = np.isneginf(joint).all(axis=1)
        joint[impossible] = self.log_prior[impossible]
        top = joint.max(axis=1, keepdims=True)
        return np.asarray(joint - top - np.log(np.exp(joint - top).sum(axis=1, keepdims=True)))


def leave_one_out(
    model: Model,
    X: TableLike,
    y: LabelsLike,
    weight: WeightLike = None,
    groups: LabelsLike = None,
    folds: int | None = None,
    sample: int | None = None,
) -> LeaveOneOut:
    """Score rows that the model has counted as if they had not been. See `Model.leave_one_out`.

    >>> from naively import fit
    >>> sky, play = {"sky": ["sun", "sun", "rain", "rain"]}, ["yes", "yes", "no", "yes"]
    >>> left_out = leave_one_out(fit(sky, play), sky, play)
    >>> left_out.classes[0], np.exp(left_out.log_posterior[:, 0]).round(3).tolist()      # the only "no" is row 2
    ('no', [0.25, 0.25, 0.0, 0.571])
    """
    labelled = read_labelled(X, y, weight, like=model, keep_all=True)
    is_known = labelled.in_classes(model.classes)
    labelled = labelled.where(is_known).without_empty_classes()
    table, label, weights = labelled.table, labelled.label_in(model.classes), labelled.weights
    if groups is not None and folds is not None:
        raise InputError("Give groups= or folds=, not both.")
    if folds is not None and not (isinstance(folds, int) and folds >= 2):
        raise InputError(f"folds={folds!r}: give a whole number of at least 2.")
    if groups is not None:
        group: NDArray[Any] | None = _codes(groups, len(is_known))[is_known]
    else:
        hashes = table.row_hashes(model.schema.names) if folds else None
        group = None if hashes is None or folds is None else (hashes % np.uint64(folds)).astype(np.intp)
    rows = np.arange(table.n_rows)
    if sample is not None and sample < table.n_rows:
        rows = smallest_hashes(table.row_hashes(model.schema.names), sample)
    log_prior = np.empty((len(rows), len(model.classes)))
    columns = evidence_columns(model)
    evidence = np.zeros((len(rows), len(columns), len(model.classes)))
    result = LeaveOneOut(model.classes, columns, rows, label[rows], weights[rows], log_prior, evidence)
    if group is None:
        _one_by_one(model, table.take(rows) if len(rows) < table.n_rows else table, result)
    else:
        _by_group(model, table, label, weights, group, result)
    return replace(result, rows=np.flatnonzero(is_known)[rows])


def smallest_hashes(hashes: NDArray[np.uint64], size: int) -> NDArray[np.intp]:
    """Return the positions of the rows with the smallest hashes, in the order of the data."""
    return np.sort(np.argsort(hashes, kind="stable")[:size])


def evidence_columns(model: Model) -> tuple[EvidenceKey, ...]:
    """Return the keys of the evidence, as in a Tuning; a joint block has the key of its first column.

    Columns that the model drops are included: without some rows they may not be dropped.
    """
    counted = {name: None for block in model.schema.blocks for name in _pieces(block)}
    chosen = {name: None for block in model.chosen.schema.blocks for name in _pieces(block)}
    presence = {
        EvidenceKey((name,), "presence"): None
        for block in model.schema.blocks
        for name in block.names
        if block.family.missing == "value"
    }
    return tuple(counted | chosen | presence)


def _pieces(block: Block) -> tuple[EvidenceKey, ...]:
    names = block.names[:1] if block.family.joint else block.names
    return tuple(EvidenceKey((name,), block.role) for name in names)


def _codes(groups: LabelsLike, n_rows: int) -> NDArray[np.intp]:
    values = np.asarray(groups if not hasattr(groups, "to_pylist") else groups.to_pylist())
    if values.shape != (n_rows,):
        raise InputError(f"groups has shape {values.shape}: give one value for each of the {n_rows} rows.")
    return np.unique(values.astype(str) if values.dtype == object else values, return_inverse=True)[1]


def _one_by_one(model: Model, table: Table, result: LeaveOneOut) -> None:
    """Let each row leave its class with its weight; a row of weight zero was never counted."""
    leaves = result.weight > 0
    result.log_prior[:] = _log_prior_without(model, result.label, result.weight, leaves)
    leaving = Leaving.of(result.label, result.weight, leaves)
    _add_evidence(model, table, leaving, result.keys, result.evidence)


def _by_group(
    model: Model,
    table: Table,
    label: NDArray[np.int32],
    weight: NDArray[np.float64],
    group: NDArray[Any],
    result: LeaveOneOut,
) -> None:
    """Score each group of rows by the model without the group."""
    for g in np.unique(group[result.rows]):
        in_group = group == g
        counted = in_group & (weight > 0)
        scored = np.flatnonzero(in_group[result.rows])
        rest = model
        if counted.any():
            rows = LabelledRows(table.where(counted), model.classes, label[counted], weight[counted])
            part = count_like(model, rows)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", LostDigitsWarning)  # a refit of the remaining rows has no more digits
                rest = with_classes(model - part, model.classes)
        rows_to_score = result.rows[scored]
        zeros, evidence = np.zeros(len(scored)), np.zeros((len(scored), *result.evidence.shape[1:]))
        _add_evidence(
            rest, table.take(rows_to_score), Leaving.of(label[rows_to_score], zeros, zeros), result.keys, evidence
        )
        result.evidence[scored] = evidence
        result.log_prior[scored] = rest.log_prior


def _log_prior_without(
    model: Model, label: NDArray[np.int32], weight: NDArray[np.float64], leaves: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return the class prior without each row, computed once for each class and weight."""
    weights, of_weight = np.unique(weight, return_inverse=True)
    keys, key_index = np.unique(of_weight * np.int64(len(model.classes)) + label, return_inverse=True)
    log_priors = []
    for c, w in zip(keys % len(model.classes), weights[keys // len(model.classes)], strict=True):
        rest = model.class_weights.weight.copy()
        rest[int(c)] = max(rest[int(c)] - w, 0.0) if model.class_weights.rows[int(c)] > 1 or w == 0 else 0.0
        log_priors.append(model.prior.log_probability(model.classes, rest))
    return np.asarray(np.array(log_priors)[key_index], dtype=np.float64).reshape(len(label), len(model.classes))


def _add_evidence(
    model: Model,
    table: Table,
    leaving: Leaving,
    columns: Sequence[EvidenceKey],
    out: NDArray[np.float64],
) -> None:
    """Add the evidence of every block, a chunk of rows at a time."""
    schema = model.chosen.schema
    position = {name: j for j, name in enumerate(columns)}
    views = views_of(table, schema)
    for block, view, statistic in zip(schema.blocks, views, model.chosen.statistics, strict=True):
        family, pieces = block.family, _pieces(block)
        target = np.array([position[name] for name in pieces], dtype=np.intp)
        structure = family.structure(statistic)
        in_place = np.array_equal(target, np.arange(len(columns)))
        for span in _spans(len(leaving.label), len(pieces) * len(model.classes)):
            evidence = out[span] if in_place else np.zeros((span.stop - span.start, len(pieces), len(model.classes)))
            part = view if len(evidence) == len(leaving.label) else view.rows(span.start, span.stop)
            try:
                family.leave_one_out(part, statistic, model.classes, structure, leaving.part(span), evidence)
            except NotCountedError as error:
                raise InputError(_refusal(error, model, block.names, span.start)) from None
            if not in_place:
                out[span, target] += evidence


def _refusal(error: NotCountedError, model: Model, names: Sequence[str], start: int) -> str:
    """Return the message for a row that the model has not counted."""
    is_known = error.column is not None and error.column < len(names)
    column = f" in column {names[error.column or 0]!r}" if is_known else ""
    return (
        f"row {start + error.row} is not among the rows this model was fitted on: without it, class "
        f"{model.classes[error.class_position]!r} would have {error.remainder}{column}. Pass the same rows, labels and "
        "weights that you passed to fit()."
    )


def _spans(n_rows: int, width: int) -> Iterator[slice]:
    step = max(64, MAX_NUMBERS_AT_A_TIME // max(1, width))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))
