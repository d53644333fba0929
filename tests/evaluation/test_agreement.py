"""F1 and MCC against scikit-learn; the gradient against differences; the coverage of the intervals by simulation."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
from sklearn import metrics

import naively as nb
from naively.evaluation import Evaluation, compare
from naively.evaluation.agreement import balanced_accuracy, estimate, f1_of, macro_f1, mcc

N_SIMULATIONS = 4000 if os.environ.get("NAIVELY_SOAK") else 400


def predictions(k: int, n: int = 300, seed: int = 0) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    label = rng.integers(0, k, n)
    return label, np.where(rng.random(n) < 0.7, label, rng.integers(0, k, n)), rng.integers(1, 9, n) / 4


@pytest.mark.parametrize("k", [2, 3, 6])
@pytest.mark.parametrize("weighted", [False, True])
def test_scikit_learn(k: int, weighted: bool) -> None:
    label, predicted, weight = predictions(k)
    w = weight if weighted else None
    p = metrics.confusion_matrix(label, predicted, sample_weight=w) / (weight.sum() if weighted else len(label))
    assert mcc(p)[0] == pytest.approx(metrics.matthews_corrcoef(label, predicted, sample_weight=w))
    assert macro_f1(p)[0] == pytest.approx(metrics.f1_score(label, predicted, average="macro", sample_weight=w))
    assert balanced_accuracy(p)[0] == pytest.approx(metrics.balanced_accuracy_score(label, predicted, sample_weight=w))
    each = metrics.f1_score(label, predicted, average=None, sample_weight=w)
    assert [f1_of(c)(p)[0] for c in range(k)] == pytest.approx(each)


@pytest.mark.parametrize("figure", [mcc, macro_f1, balanced_accuracy, f1_of(1)])
def test_gradient(figure: Any) -> None:
    label, predicted, _ = predictions(3)
    p = metrics.confusion_matrix(label, predicted) / len(label)
    gradient = figure(p)[1]
    for a, b in ((0, 0), (0, 1), (2, 1), (1, 1)):
        step = np.zeros_like(p)
        step[a, b], step[2, 2] = 1e-6, -1e-6
        slope = (figure(p + step)[0] - figure(p - step)[0]) / 2e-6
        assert slope == pytest.approx(gradient[a, b] - gradient[2, 2], abs=1e-7)


@pytest.mark.parametrize(("k", "accuracy", "n"), [(2, 0.9, 60), (2, 0.99, 100), (3, 0.8, 100), (5, 0.7, 200)])
def test_coverage(k: int, accuracy: float, n: int) -> None:
    rng = np.random.default_rng(1)
    p = (
        np.where(np.eye(k, dtype=np.bool_), accuracy, (1 - accuracy) / (k - 1))
        * rng.dirichlet(np.full(k, 3.0))[:, None]
    )
    for figure, least in ((mcc, -1.0), (macro_f1, 0.0), (f1_of(0), 0.0)):
        truth = figure(p)[0]
        samples = rng.multinomial(n, p.ravel(), N_SIMULATIONS).reshape(-1, k, k).astype(np.float64)
        intervals = [estimate(figure, sample, n, least) for sample in samples]
        assert 0.91 < np.mean([e.low <= truth <= e.high for e in intervals]) <= 1.0


def test_degenerate_tables() -> None:
    assert estimate(mcc, np.diag([20.0, 30.0]), 50, -1.0).value == 1.0
    assert 0.7 < estimate(mcc, np.diag([20.0, 30.0]), 50, -1.0).low < 1.0
    assert estimate(mcc, np.array([[20.0, 0], [30, 0]]), 50, -1.0).value == 0.0
    assert np.isnan(estimate(f1_of(2), np.diag([1.0, 1.0, 0.0]), 2).value)
    assert estimate(macro_f1, np.array([[5.0]]), 5).value == 1.0


def test_baseline_is_the_class_shares() -> None:
    log_posterior = np.log([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.3, 0.7]])
    evaluation = Evaluation.of(log_posterior, np.array([0, 1, 1, 1]), ("a", "b"))
    constant = np.full((4, 2), [0.25, 0.75])
    assert evaluation.baseline["accuracy"] == 0.75
    assert evaluation.baseline["balanced_accuracy"] == 0.5
    assert evaluation.baseline["mcc"] == 0.0
    assert evaluation.baseline["log_loss"] == pytest.approx(metrics.log_loss([0, 1, 1, 1], constant))
    assert evaluation.baseline["brier"] == pytest.approx(metrics.brier_score_loss([0, 1, 1, 1], constant[:, 1]))
    assert evaluation.baseline["calibration_error"] == pytest.approx(0.0)
    assert evaluation.baseline["f1"] == pytest.approx(metrics.f1_score([0, 1, 1, 1], [1] * 4, average="macro"))


class TestComparison:
    def data(self) -> tuple[Any, Any]:
        rng = np.random.default_rng(3)
        y = rng.integers(0, 2, 400)
        return {"good": rng.normal(size=400) + 2 * y, "weak": rng.normal(size=400) + 0.3 * y}, np.where(y, "b", "a")

    def test_difference_and_order(self) -> None:
        X, y = self.data()
        good, weak = (nb.fit({name: X[name]}, y) for name in ("good", "weak"))
        comparison = compare(weak, good, X, y)
        for name, difference in comparison.difference.items():
            a, b = getattr(comparison.a, name).value, getattr(comparison.b, name).value
            assert difference.value == pytest.approx(b - a)
            assert difference.low < difference.value < difference.high
        assert comparison.difference["mcc"].low > 0 > comparison.difference["log_loss"].high
        back = compare(good, weak, X, y)
        assert back.difference["f1"].low == pytest.approx(-comparison.difference["f1"].high)
        assert "more than chance" in str(comparison)
        assert comparison.to_dict()["rows"] == 400

    def test_intervals_are_paired(self) -> None:
        X, y = self.data()
        one, other = nb.fit({"good": X["good"]}, y), nb.fit(X, y)
        difference = compare(one, other, X, y).difference["log_loss"]
        loss = one.evaluate({"good": X["good"]}, y).log_loss
        assert difference.high - difference.low < 0.5 * (loss.high - loss.low)

    def test_other_classes(self) -> None:
        with pytest.raises(nb.InputError, match="different classes"):
            compare(nb.fit({"x": [1, 2]}, ["a", "b"]), nb.fit({"x": [1, 2]}, ["a", "c"]), {"x": [1]}, ["a"])
