"""What can be asked of a model beside its answers, each question answered in a module of its own, loaded when asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from naively._kernels.threads import use_threads

if TYPE_CHECKING:
    import pyarrow as pa

    from naively.evaluation import Evaluation
    from naively.explanation import Explanation
    from naively.explanation.linear import Linear
    from naively.explanation.word_weights import Evidence
    from naively.model.model import Model
    from naively.tuning.leave_one_out import LeaveOneOut

__all__ = ["Questions"]


class Questions:
    """The questions; `Model` inherits them."""

    @property
    def _model(self) -> Model:
        return cast("Model", self)

    def linear(self, of: Any = None, against: Any = None) -> Linear:
        """Weights and bias of the log-odds between two classes, where the model is linear; see `linear.py`."""
        from naively.explanation.linear import linear_form

        return linear_form(self._model, of, against)

    def explain(
        self, X: Any, of: Any = None, against: Any = None, top: int | None = None, changes: bool = True
    ) -> list[Explanation]:
        """Each row's log-odds of `of` (the answer) against `against` (the runner-up), line by line; `explanation/`."""
        from naively.explanation import explain

        return explain(self._model, X, of, against, top, changes)

    def sample(self, n: int, label: Any = None, seed: int | None = None) -> pa.Table:
        """Plausible rows, of one class or of classes drawn from the prior; see `sampling.py`."""
        from naively.model.sample import sample

        return sample(self._model, n, label, seed)

    def evidence(self, column: str) -> Evidence:
        """What a column of text has learnt: `evidence("text").top("spam", 20)`; see `evidence.py`."""
        from naively.explanation.word_weights import evidence_of

        return evidence_of(self._model, column)

    def evaluate(self, X: Any, y: Any, weight: Any = None, **asked: Any) -> Evaluation:
        """Accuracy, log-loss, calibration and more on rows whose class is known; see `evaluation/` for what to ask."""
        from naively.evaluation import evaluate

        return evaluate(self._model, X, y, weight, **asked)

    def evaluate_training(
        self, X: Any, y: Any, weight: Any = None, *, groups: Any = None, time: Any = None, **asked: Any
    ) -> Evaluation:
        """The same on the rows that were counted, each as if it, or its group, had not been; see `training.py`."""
        from naively.evaluation.training import evaluate_training

        return evaluate_training(self._model, X, y, weight, groups, time, **asked)

    def tune(self, X: Any, y: Any, weight: Any = None) -> Model:
        """This model with smoothing, families and calibration chosen anew, by the rows that it has counted."""
        from naively.tuning.tune import tune

        with use_threads(self._model.n_jobs):
            return self._model.with_tuning(tune(self._model, X, y, weight))

    def leave_one_out(
        self,
        X: Any,
        y: Any,
        weight: Any = None,
        groups: Any = None,
        folds: int | None = None,
        sample: int | None = None,
    ) -> LeaveOneOut:
        """The rows that were counted, each scored as if it had not been; see `leave_one_out.py`."""
        from naively.tuning.leave_one_out import leave_one_out

        with use_threads(self._model.n_jobs):
            return leave_one_out(self._model, X, y, weight, groups, folds, sample)
