"""How well a model predicts rows before it learns them: the first rows of an update, each scored as a new row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from naively.data.labelled import LabelledRows
from naively.data.names import counted
from naively.errors import collect_warnings
from naively.evaluation.evaluate import losses
from naively.evaluation.intervals import Estimate, mean, share
from naively.evaluation.scored_rows import score_labelled
from naively.families.evidence import Z
from naively.model.model import Model

MAX_ROWS_BEFORE = 20_000  # estimates a share of 0.9 to within 0.002 (one standard error)


@dataclass(frozen=True)
class PredictedBefore:
    """How well rows were predicted before they were learnt.

    Parameters
    ----------
    rows
        The number of rows that were scored: the first 20,000, without those of a class that was new.
    accuracy, log_loss
        With 95 % intervals. A row that the model had learnt before is scored by leave-one-out.
    prior_accuracy, prior_log_loss
        The same by the class prior alone.
    expected_log_loss
        What the tuning expected for new rows; None if it is not known.
    expected_error
        Its standard error.
    """

    rows: int
    accuracy: Estimate
    log_loss: Estimate
    prior_accuracy: float
    prior_log_loss: float
    expected_log_loss: float | None = None
    expected_error: float = 0.0

    @property
    def is_worse_than_expected(self) -> bool:
        """Whether the log-loss is above what the tuning expected, by more than chance (95 %)."""
        if self.expected_log_loss is None or self.rows < 2:
            return False
        half_width = np.hypot(self.log_loss.high - self.log_loss.value, Z * self.expected_error)
        return bool(self.log_loss.value - half_width > self.expected_log_loss)

    def __str__(self) -> str:
        if self.rows == 1:
            is_right = "right" if self.accuracy.value == 1 else "wrong"
            return (
                f"predicted before: {is_right}, with a probability of {np.exp(-self.log_loss.value):.4g} for its class"
            )
        a, loss = self.accuracy, self.log_loss
        expected = "" if self.expected_log_loss is None else f", expected {self.expected_log_loss:.4f}"
        return (
            f"predicted before ({counted(self.rows, 'row')}): accuracy {a.value:.4f} ({a.low:.4f} – {a.high:.4f}), "
            f"class shares {self.prior_accuracy:.4f};\nlog-loss {loss.value:.4f} ({loss.low:.4f} – {loss.high:.4f})"
            f"{expected}, class shares {self.prior_log_loss:.4f}"
        )


@dataclass
class FirstRows:
    """The first rows of batches that pass, to be scored by the model that does not have them yet."""

    batches: list[LabelledRows] = field(default_factory=list)
    n_rows: int = 0

    def follow(self, batches: Iterable[LabelledRows]) -> Iterator[LabelledRows]:
        """Yield the batches, and keep their first rows."""
        for rows in batches:
            n_rows = min(rows.n_rows, MAX_ROWS_BEFORE - self.n_rows)
            if n_rows > 0:
                first = rows if n_rows == rows.n_rows else rows.take(np.arange(n_rows)).without_empty_classes()
                self.batches.append(first)
                self.n_rows += n_rows
            yield rows

    def evaluate(self, model: Model) -> PredictedBefore | None:
        """Return how well a model predicts the rows; None if it has none of their classes, or only one class."""
        classes = {label for rows in self.batches for label in rows.classes}
        if classes.isdisjoint(model.classes) or len(model.classes) < 2:
            return None
        with collect_warnings():  # the update issues them too
            scored = score_labelled(model, self.batches, skip_unknown=True)
        if not scored.is_scored.any():
            return None
        posterior = np.exp(scored.log_posterior[scored.is_scored])
        label, weight = scored.label[scored.is_scored], scored.weight[scored.is_scored]
        prior = np.broadcast_to(np.exp(model.log_prior), posterior.shape)
        report = {} if model.tuning is None or model.prior.given or model.prior.uniform else model.tuning.report
        return PredictedBefore(
            len(label),
            share(posterior.argmax(axis=1) == label, weight),
            mean(losses(posterior, label), weight, least=0.0),
            float(np.average(prior.argmax(axis=1) == label, weights=weight)),
            float(np.average(losses(prior, label), weights=weight)),
            report.get("log_loss"),
            report.get("log_loss_error", 0.0),
        )
