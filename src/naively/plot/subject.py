"""What a picture is drawn of: a model, its file, an estimator, an evaluation, or labels with probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard, cast

import numpy as np

from naively._kernels.types import Floats
from naively.data.labelled import LabelsLike
from naively.data.read import TableLike
from naively.errors import InputError
from naively.evaluation.scored_rows import score_rows
from naively.model.model import Model, ModelLike, is_estimator
from naively.plot.style import short_name

if TYPE_CHECKING:
    from naively.evaluation import Evaluation

    Judged = ModelLike | Evaluation | Sequence[object]
    Rows = TableLike | Floats


def is_model(subject: object) -> TypeGuard[ModelLike]:
    """Return whether a picture is drawn of a model, of a model file, or of an estimator."""
    return isinstance(subject, (Model, str, Path)) or is_estimator(subject)


def about(subject: object, target: str | None) -> str:
    """Return the beginning of a title: what is predicted, if it is given or a model knows it."""
    if target is None and is_model(subject):
        target = Model.of(subject).target
    return f"{short_name(target)}: " if target else ""


def labels_and_posterior(
    subject: object, second: object, third: object
) -> tuple[Sequence[object], Floats, Sequence[object]]:
    """Return labels, probabilities and classes: as they are given, or of a model with rows and their labels.

    Rows that the model has counted are scored by leave-one-out.
    """
    if is_model(subject):
        model = Model.of(subject)
        if second is None:
            raise InputError("give the rows, and their labels, after the model: they are what the picture is about.")
        scored = score_rows(model, cast(TableLike, second), cast(LabelsLike, third))
        labels = [model.classes[c] for c in scored.label[scored.is_scored].tolist()]
        return labels, np.exp(scored.log_posterior[scored.is_scored]), model.classes
    if second is None or third is None:
        raise InputError("give labels, probabilities and classes; a model, rows and labels; or an evaluation.")
    return cast(Sequence[object], subject), np.asarray(second), cast(Sequence[object], third)
