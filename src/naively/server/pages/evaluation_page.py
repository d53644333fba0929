"""Evaluation: figures with intervals on test rows, or what tuning reported, and how many corrections were right."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path

from naively.data.plain import JsonObject
from naively.evaluation import Evaluation
from naively.model.model import Model
from naively.server.pages.page import Page

MAX_CLASSES = 12  # with a curve and a row of the confusion matrix
MAX_CACHED = 8
FIGURES = (
    ("accuracy", "Accuracy", "share of the rows whose most probable class is the true one", "percent"),
    ("balanced_accuracy", "Balanced accuracy", "mean over the classes of their recall", "percent"),
    ("log_loss", "Log-loss", "mean of −log P(true class), in nats: lower is better", "number"),
    ("brier", "Brier score", "mean squared error of the probabilities: lower is better", "number"),
    ("calibration_error", "Calibration error", "mean distance of probability and observed share", "percent"),
    ("lift", "Lift", "log-loss of the class prior alone, less that of the model", "number"),
)


class Evaluations:
    """Evaluations of models on the test rows, each computed once for a version."""

    def __init__(self) -> None:
        """Start without any."""
        self._cache: OrderedDict[tuple[str, int], Evaluation] = OrderedDict()

    async def of(self, page: Page, path: str) -> Evaluation:
        """Return the evaluation of the model of a page."""
        key = (page.served.name, page.snapshot.version)
        if key not in self._cache:
            self._cache[key] = await page.service.run(_evaluate, page.model, path)
            while len(self._cache) > MAX_CACHED:
                self._cache.popitem(last=False)
        return self._cache[key]


def _evaluate(model: Model, path: str) -> Evaluation:
    return model.evaluate(Path(path), model.target)


async def evaluation_page(page: Page, evaluations: Evaluations) -> JsonObject:
    """Return figures, curves and the confusion matrix; what tuning reported if there are no test rows."""
    corrections = list(getattr(page.served, "corrections", ()))
    data: JsonObject = {
        "test": None,
        "tuning": None,
        "corrections": {"n": len(corrections), "right": sum(corrections)} if corrections else None,
        "may_learn": page.served.may_learn,
    }
    if page.model.tuning is not None and page.model.tuning.report:
        data["tuning"] = {"rows": page.model.tuning.rows, **page.model.tuning.report}
    if page.service.test_path is not None:
        evaluation = await evaluations.of(page, page.service.test_path)
        data["test"] = _plain(evaluation, Path(page.service.test_path).name)
    return data


def _plain(evaluation: Evaluation, file: str) -> JsonObject:
    """Return the figures, and the curves of the most frequent classes."""
    plain = evaluation.to_dict()
    weight = evaluation.confusion.sum(axis=1)
    frequent = sorted(range(len(evaluation.classes)), key=lambda c: -weight[c])[:MAX_CLASSES]
    frequent.sort()
    return {
        "file": file,
        "rows": evaluation.rows,
        "figures": [
            {"name": key, "title": title, "meaning": meaning, "unit": unit, **plain[key]}
            for key, title, meaning, unit in FIGURES
        ],
        "calibration": plain["calibration"],
        "classes": [plain["classes"][c] for c in frequent],
        "n_classes": len(evaluation.classes),
        "confusion": {
            "classes": [evaluation.classes[c] for c in frequent],
            "weight": evaluation.confusion[frequent][:, frequent].tolist(),
        },
    }
