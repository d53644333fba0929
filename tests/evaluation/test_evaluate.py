"""Evaluation against scikit-learn and hand computations; odd data; printed tables; refusals."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

import naively as nb
from naively.evaluation import Evaluation
from naively.evaluation.curves import calibration, calibration_error
from naively.evaluation.intervals import area, mean, share


def scores(n: int, k: int, seed: int = 0) -> tuple[Any, Any, Any]:
    """Return random log posteriors that favour the true class, labels and weights."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, k, n)
    logits = rng.normal(size=(n, k)) + 1.5 * (label[:, None] == np.arange(k))
    posterior = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    return np.log(posterior), label, rng.integers(1, 9, n) / 4


@pytest.mark.parametrize("k", [2, 3, 7])
@pytest.mark.parametrize("weighted", [False, True])
def test_metrics_agree_with_scikit_learn(k: int, weighted: bool) -> None:
    log_posterior, label, weight = scores(400, k)
    w = weight if weighted else None
    evaluation = Evaluation.of(log_posterior, label, tuple("abcdefg"[:k]), w)
    posterior, best = np.exp(log_posterior), log_posterior.argmax(axis=1)
    assert evaluation.accuracy.value == pytest.approx(metrics.accuracy_score(label, best, sample_weight=w))
    balanced = metrics.balanced_accuracy_score(label, best, sample_weight=w)
    assert evaluation.balanced_accuracy.value == pytest.approx(balanced)
    assert evaluation.log_loss.value == pytest.approx(metrics.log_loss(label, posterior, sample_weight=w))
    assert evaluation.brier.value == pytest.approx(_brier(label, posterior, w))
    np.testing.assert_allclose(evaluation.confusion, metrics.confusion_matrix(label, best, sample_weight=w))
    for c, one in enumerate(evaluation.by_class):
        observed = label == c
        assert one.auc.value == pytest.approx(metrics.roc_auc_score(observed, posterior[:, c], sample_weight=w))
        average = metrics.average_precision_score(observed, posterior[:, c], sample_weight=w)
        assert one.average_precision == pytest.approx(average)
        assert one.precision.value == pytest.approx(metrics.precision_score(observed, best == c, sample_weight=w))
        assert one.recall.value == pytest.approx(metrics.recall_score(observed, best == c, sample_weight=w))
        assert len(one.roc) <= 101
        assert one.roc[0].tolist() == [0, 0]
        assert one.roc[-1].tolist() == pytest.approx([1, 1])
        assert metrics.auc(*one.roc.T) == pytest.approx(one.auc.value, abs=0.02)


def _brier(label: Any, posterior: Any, weight: Any) -> float:
    if posterior.shape[1] == 2:
        return float(metrics.brier_score_loss(label, posterior[:, 1], sample_weight=weight))
    each = np.square(posterior - (label[:, None] == np.arange(posterior.shape[1]))).sum(axis=1)
    return float(np.average(each, weights=weight))


def test_lift_is_the_log_loss_of_the_prior_less_that_of_the_model() -> None:
    log_posterior, label, _ = scores(300, 3)
    shares = np.bincount(label) / 300
    evaluation = Evaluation.of(log_posterior, label, "abc")
    assert evaluation.lift.value == pytest.approx(-(shares * np.log(shares)).sum() - evaluation.log_loss.value)
    other = Evaluation.of(log_posterior, label, "abc", log_prior=np.log([0.2, 0.3, 0.5]))
    assert other.lift.value == pytest.approx(-np.log([0.2, 0.3, 0.5])[label].mean() - evaluation.log_loss.value)
    assert Evaluation.of(np.log(np.tile(shares, (300, 1))), label, "abc").lift.value == pytest.approx(0.0)


def test_a_weight_of_two_equals_the_row_twice() -> None:
    log_posterior, label, _ = scores(60, 3)
    weight = np.where(np.arange(60) % 3 == 0, 2.0, 1.0)
    twice = np.repeat(np.arange(60), weight.astype(int))
    one = Evaluation.of(log_posterior, label, "abc", weight, min_probability=0.6).to_dict()
    two = Evaluation.of(log_posterior[twice], label[twice], "abc", min_probability=0.6).to_dict()
    for name in ("accuracy", "balanced_accuracy", "log_loss", "brier", "calibration_error", "lift"):
        assert one[name]["value"] == pytest.approx(two[name]["value"])
    assert one["coverage"]["share"]["value"] == pytest.approx(two["coverage"]["share"]["value"])
    assert one["confusion"] == two["confusion"]


def test_wilson_by_hand() -> None:
    """8 of 10: the interval of Wilson (1927) is 0.4902 to 0.9433."""
    evaluation = share(np.repeat([True, False], [8, 2]), np.ones(10))
    assert evaluation == pytest.approx((0.8, 0.4902, 0.9433), abs=1e-4)
    assert share(np.ones(5, bool), np.ones(5)).high == 1.0
    assert share(np.zeros(5, bool), np.ones(5)).low == 0.0


def test_intervals_cover_the_truth() -> None:
    """About 95 % of 400 intervals contain the truth."""
    rng = np.random.default_rng(3)
    inside = [0, 0, 0]
    for _ in range(400):
        hit, x = rng.random(80) < 0.7, rng.normal(size=80)
        low, high = share(hit, np.ones(80))[1:]
        inside[0] += low <= 0.7 <= high
        low, high = mean(x, np.ones(80))[1:]
        inside[1] += low <= 0.0 <= high
        auc = metrics.roc_auc_score(np.repeat([0, 1], 40), x + np.repeat([0, 1], 40))
        low, high = area(float(auc), 40, 40)[1:]
        inside[2] += low <= 0.7602499389065233 <= high  # Φ(1/√2)
    assert all(0.92 <= n / 400 <= 0.98 for n in inside), inside


def test_calibration_error_by_hand() -> None:
    """Ten rows with probability 0.8 and ten with 0.6, of each of which 6 are observed: half of 0.2."""
    probability = np.repeat([0.8, 0.6], 10)
    observed = np.tile(np.repeat([True, False], [6, 4]), 2)
    assert calibration_error(probability, observed, np.ones(20)).value == pytest.approx(0.1)
    bins = calibration(probability, observed, np.ones(20))
    assert [(b.weight, round(b.probability, 3), b.observed.value) for b in bins] == [(10, 0.6, 0.6), (10, 0.8, 0.6)]


def test_bins_have_equal_mass_and_do_not_depend_on_the_order() -> None:
    rng = np.random.default_rng(4)
    probability = rng.random(3000)
    observed = rng.random(3000) < probability
    bins = calibration(probability, observed, np.ones(3000))
    assert [b.weight for b in bins] == [200.0] * 15
    assert calibration_error(probability, observed, np.ones(3000)).value < 0.04
    order = rng.permutation(3000)
    again = calibration(probability[order], observed[order], np.ones(3000))
    np.testing.assert_allclose([b.probability for b in again], [b.probability for b in bins])


def test_thresholds_against_scikit_learn() -> None:
    log_posterior, label, _ = scores(500, 2)
    p = np.exp(log_posterior[:, 1])
    evaluation = Evaluation.of(log_posterior, label, ("ham", "spam"), precision=0.9).thresholds
    assert evaluation is not None
    for line in evaluation.table:
        answer = p > line.threshold
        if answer.any():
            assert line.precision == pytest.approx(metrics.precision_score(label, answer))
        assert line.recall == pytest.approx(metrics.recall_score(label, answer))
        assert line.answered == pytest.approx(answer.mean())
    precision, recall, _ = metrics.precision_recall_curve(label, p)
    assert evaluation.best is not None
    assert evaluation.best.precision >= 0.9
    assert evaluation.best.recall == pytest.approx(recall[precision >= 0.9].max())


def test_threshold_of_least_cost() -> None:
    log_posterior, label, _ = scores(500, 2)
    p = np.exp(log_posterior[:, 1])
    evaluation = Evaluation.of(log_posterior, label, ("ham", "spam"), costs=5).thresholds
    assert evaluation is not None
    assert evaluation.best is not None
    every = [5 * ((p <= t) & (label == 1)).mean() + ((p > t) & (label == 0)).mean() for t in [0.0, *p]]
    assert evaluation.best.cost == pytest.approx(min(every))
    table = Evaluation.of(log_posterior, label, ("ham", "spam"), costs=[[0, 1], [5, 0]]).thresholds
    assert table is not None
    assert table.best == evaluation.best


def test_min_probability() -> None:
    model = nb.fit({"sky": ["sun"] * 9 + ["rain"] * 9}, ["yes"] * 8 + ["no"] * 10, columns=nb.Categorical())
    rows = {"sky": ["sun", "rain", None]}
    posterior = model.posterior(rows).max(axis=1)
    assert (posterior >= 0.8).tolist() == [True, True, False]
    answers = model.predict(rows, min_probability=0.8)
    assert answers.dtype == object
    assert answers.tolist() == ["yes", "no", None]
    assert model.predict(rows, min_probability=0.1).tolist() == model.predict(rows).tolist()
    evaluation = model.evaluate(rows, ["no", "no", "yes"], min_probability=0.8)
    assert evaluation.coverage is not None
    assert evaluation.coverage.share.value == pytest.approx(2 / 3)
    assert evaluation.coverage.error.value == pytest.approx(1 / 2)
    none_covered = model.evaluate(rows, ["no", "no", "yes"], min_probability=1.0).coverage
    assert none_covered is not None
    assert math.isnan(none_covered.error.value)


def test_target_in_the_table() -> None:
    table = {"a": [1, 2, 8, 9, 2], "y": ["low", "low", "high", "high", "high"]}
    model = nb.fit(table, "y", columns={"a": nb.Gaussian()}, tune=False)
    evaluation = model.evaluate(table, "y", weight=[1, 1, 1, 1, 0])
    assert (evaluation.rows, evaluation.accuracy.value) == (4, 1.0)


@given(st.data())
def test_any_small_data(data: st.DataObject) -> None:
    n, k = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 4))
    posterior = np.array(
        data.draw(st.lists(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=k, max_size=k), min_size=n, max_size=n))
    )
    posterior[:, 0] += posterior.sum(axis=1) == 0
    posterior /= posterior.sum(axis=1, keepdims=True)
    label = np.array(data.draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n)))
    weight = np.array(data.draw(st.lists(st.sampled_from([0.0, 1.0, 2.5]), min_size=n, max_size=n)))
    weight[0] = 1.0
    with np.errstate(divide="ignore"):
        evaluation = Evaluation.of(np.log(posterior), label, range(k), weight, min_probability=0.7)
    plain = json.dumps(evaluation.to_dict(), allow_nan=False)
    assert json.loads(plain)["rows"] == int((weight > 0).sum())
    assert str(evaluation)
    assert evaluation.accuracy.low <= evaluation.accuracy.value <= evaluation.accuracy.high + 1e-12


def test_many_classes_are_abbreviated() -> None:
    log_posterior, label, _ = scores(2000, 200)
    evaluation = Evaluation.of(log_posterior, label, range(200))
    assert "… and 180 smaller classes" in str(evaluation)
    assert "most frequent errors" in str(evaluation)
    assert "roc" not in evaluation.to_dict()["classes"][0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_probability": 0.0}, "min_probability=0.0: a probability above 0"),
        ({"costs": 1, "precision": 0.9}, "not both"),
        ({"precision": 2.0}, "precision=2.0"),
        ({"costs": "dear"}, "costs='dear'"),
        ({"of": "z"}, "'z' is not a class of the model"),
    ],
)
def test_invalid_options_are_refused(options: dict[str, Any], message: str) -> None:
    model = nb.fit({"a": [1, 2]}, ["x", "y"], columns=nb.Categorical())
    with pytest.raises(nb.InputError, match=message):
        model.evaluate({"a": [1, 2]}, ["x", "y"], **options)


def test_unknown_classes_are_refused() -> None:
    model = nb.fit({"a": [1, 2, 3]}, ["x", "y", "z"], columns=nb.Categorical())
    with pytest.raises(nb.InputError, match="'w' is not a class of the model"):
        model.evaluate({"a": [1]}, ["w"])
    with pytest.raises(nb.InputError, match="between two classes, and there are 3"):
        model.evaluate({"a": [1]}, ["x"], costs=2)
    with pytest.raises(nb.InputError, match="not several"):
        model.predict({"a": [1]}, min_probability=0.5, odds=2)
    with pytest.raises(nb.InputError, match="min_probability=2"):
        model.predict({"a": [1]}, min_probability=2)


@pytest.mark.parametrize("share", [0.2, 0.8])
def test_f1_of_a_class_has_the_baseline_of_the_most_frequent_class(share: float) -> None:
    """If every row gets class c, its precision is its share p and its recall 1: F1 is 2p / (1 + p); else it is 0."""
    label = (np.arange(50) < 50 * share).astype(int)
    posterior = np.full((50, 2), 0.5)
    evaluation = Evaluation.of(np.log(posterior), label, ("no", "yes"))
    baseline = [2 * p / (1 + p) if p > 0.5 else 0.0 for p in (1 - share, share)]
    assert [metrics.f1_baseline for metrics in evaluation.by_class] == pytest.approx(baseline)
    line = next(line for line in str(evaluation).splitlines() if line.startswith("F1 of yes"))
    assert line.endswith(f"{baseline[1]:.4f}")
    assert evaluation.to_dict()["classes"][1]["f1_baseline"] == pytest.approx(baseline[1])
