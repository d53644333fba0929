"""Compare two models on the same rows: the difference of each figure, with an interval for paired rows.

Rows that are hard for one model are hard for the other, so intervals of the difference are narrower than those of the
figures. With t_i the term of row i in a mean, or its influence g (agreement.py) on F1 and MCC:

    difference     figure(B) − figure(A) ± z √(variance of (t_i(B) − t_i(A)) / n)                               (1)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from naively._kernels.types import Bools, Floats, Index
from naively.data.labelled import LabelsLike, WeightLike
from naively.data.names import counted, listed
from naively.data.plain import JsonObject, as_plain
from naively.data.read import TableLike
from naively.errors import InputError
from naively.evaluation import agreement
from naively.evaluation.evaluate import Evaluation, confusion_of, losses, squares
from naively.evaluation.intervals import Estimate, mean
from naively.evaluation.render_text import comparison_as_text
from naively.evaluation.scored_rows import ScoredRows, score_rows
from naively.model.model import Model, ModelLike

COMPARED = ("accuracy", "balanced_accuracy", "f1", "mcc", "log_loss", "brier")


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two evaluations on the same rows.

    Attributes
    ----------
    rows
        The number of rows that both models have scored.
    a, b
        The evaluations.
    difference
        The figure of b less that of a, with its interval, by the name of the figure.
    """

    rows: int
    a: Evaluation
    b: Evaluation
    difference: Mapping[str, Estimate]

    def to_dict(self) -> JsonObject:
        """Return plain data that JSON can hold."""
        return {
            "rows": self.rows,
            "a": self.a.to_dict(),
            "b": self.b.to_dict(),
            "difference": {name: as_plain(value) for name, value in self.difference.items()},
        }

    def __str__(self) -> str:
        return comparison_as_text(self)

    def __repr__(self) -> str:
        losses = " and ".join(f"{e.log_loss.value:.4f}" for e in (self.a, self.b))
        return f"<Comparison of two models on {counted(self.rows, 'row')}: log-loss {losses}>"

    def _repr_html_(self) -> str:
        from naively.evaluation.render_html import comparison_as_html

        return comparison_as_html(self)


def compare(a: ModelLike, b: ModelLike, X: TableLike, y: LabelsLike = None, weight: WeightLike = None) -> Comparison:
    """Compare two models on rows whose class is known; rows that a model has counted are scored by leave-one-out.

    Parameters
    ----------
    a, b
        Models with the same classes, or their files. They may use different columns.
    X, y, weight
        Rows, labels and weights, as in `Model.evaluate`; not a stream, because they are read twice.

    >>> from naively import fit
    >>> rows = {"sky": ["sun", "sun", "rain", "rain"] * 5, "wind": ["calm", "gusty"] * 10}
    >>> play = ["yes", "yes", "no", "no"] * 5
    >>> by_wind = fit({"wind": rows["wind"]}, play)
    >>> round(compare(by_wind, fit(rows, play), rows, play).difference["accuracy"].value, 2)
    1.0
    """
    a, b = Model.of(a), Model.of(b)
    if a.classes != b.classes:
        raise InputError(
            f"the models have different classes: {listed(map(repr, a.classes), 4)} and "
            f"{listed(map(repr, b.classes), 4)}. Compare models of the same classes."
        )
    of_a, of_b = score_rows(a, X, y, weight), score_rows(b, X, y, weight)
    if len(of_a.label) != len(of_b.label):
        raise InputError("the rows cannot be read twice: give a table or files, not a stream.")
    keep = of_a.is_scored & of_b.is_scored
    parts = [np.exp(scored.log_posterior[keep]) for scored in (of_a, of_b)]
    label, weights = of_a.label[keep], of_a.weight[keep]
    terms = [_terms(posterior, label, weights) for posterior in parts]
    first, second = (_evaluation(model, scored, keep, weights) for model, scored in ((a, of_a), (b, of_b)))
    difference = {}
    for name in COMPARED:
        value = getattr(second, name).value - getattr(first, name).value
        spread = mean(terms[1][name] - terms[0][name], weights)
        half = (spread.high - spread.low) / 2
        difference[name] = Estimate(value, value - half, value + half)
    return Comparison(int(keep.sum()), first, second, difference)


def _evaluation(model: Model, scored: ScoredRows, keep: Bools, weight: Floats) -> Evaluation:
    evaluation = Evaluation.of(
        scored.log_posterior[keep], scored.label[keep], model.classes, weight, log_prior=model.log_prior
    )
    return replace(evaluation, n_counted=scored.n_counted, origin=scored.origin)


def _terms(posterior: Floats, label: Index, weight: Floats) -> dict[str, Floats]:
    """Return the term or the influence of each row on each figure."""
    predicted = posterior.argmax(axis=1)
    confusion = confusion_of(label, predicted, weight, posterior.shape[1])
    shares = confusion / confusion.sum()
    figures = {"balanced_accuracy": agreement.balanced_accuracy, "f1": agreement.macro_f1, "mcc": agreement.mcc}
    return {
        "accuracy": (predicted == label).astype(np.float64),
        "log_loss": losses(posterior, label),
        "brier": squares(posterior, label),
        **{name: figure(shares)[1][label, predicted] for name, figure in figures.items()},
    }
