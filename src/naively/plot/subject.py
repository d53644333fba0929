"""What a picture is drawn of: a model, an estimator with one inside, an evaluation, or labels with probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, cast

import numpy as np

from naively._kernels.types import Floats
from naively.data.labelled import LabelsLike
from naively.data.read import TableLike
from naively.errors import InputError
from naively.evaluation.scored_rows import score_rows
from naively.model.model import Model
from naively.plot.style import short_name


class Fitted(Protocol):
    """An estimator of `naively.sklearn` after `fit`."""

    model_: Model


if TYPE_CHECKING:
    from naively.evaluation import Evaluation

    Subject = Model | Fitted
    Judged = Model | Fitted | Evaluation | Sequence[object]
    Rows = TableLike | Floats


def is_estimator(subject: object) -> bool:
    """Return whether this is an estimator of `naively.sklearn`, fitted or not."""
    return hasattr(subject, "predict") and hasattr(subject, "get_params")


def model_of(subject: Subject) -> Model:
    """Return the model to draw: the one given, or that of an estimator."""
    if isinstance(subject, Model):
        return subject
    model = getattr(subject, "model_", None)
    if isinstance(model, Model):
        return model
    name = type(subject).__name__
    if is_estimator(subject):
        raise InputError(f"this {name} has no model to draw: fit an estimator of naively first.")
    raise InputError(f"a picture of a model needs a model or an estimator of naively, and this is a {name}.")


def about(subject: object, target: str | None) -> str:
    """Return the beginning of a title: what is predicted, if it is given or a model knows it."""
    if target is None and (isinstance(subject, Model) or is_estimator(subject)):
        target = model_of(cast("Subject", subject)).target
    return f"{short_name(target)}: " if target else ""


def labels_and_posterior(
    subject: object, second: object, third: object
) -> tuple[Sequence[object], Floats, Sequence[object]]:
    """Return labels, probabilities and classes: as they are given, or of a model with rows and their labels.

    Rows that the model has counted are scored by leave-one-out.
    """
    if isinstance(subject, Model) or is_estimator(subject):
        model = model_of(cast("Subject", subject))
        if second is None:
            raise InputError("give the rows, and their labels, after the model: they are what the picture is about.")
        scored = score_rows(model, cast(TableLike, second), cast(LabelsLike, third))
        labels = [model.classes[c] for c in scored.label[scored.is_scored].tolist()]
        return labels, np.exp(scored.log_posterior[scored.is_scored]), model.classes
    if second is None or third is None:
        raise InputError("give labels, probabilities and classes; a model, rows and labels; or an evaluation.")
    return cast(Sequence[object], subject), np.asarray(second), cast(Sequence[object], third)
