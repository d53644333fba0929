"""The estimators in use: batches, forgetting, pickles, pipelines, searches, processes, threads."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn.naive_bayes
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

import naively
from naively.statistics import Moments, NumberSummary

COUNTS = np.random.default_rng(5).poisson(0.7, (120, 12))
LABEL = np.random.default_rng(6).integers(0, 3, 120)
NUMBERS = np.random.default_rng(7).normal(size=(120, 4)) + LABEL[:, None]

CASES: list[tuple[Any, NDArray[Any]]] = [
    (naively.NaiveBayes(tune=False), NUMBERS),
    (naively.GaussianNB(), NUMBERS),
    (naively.GaussianNB(), NUMBERS.astype(np.float32)),
    (naively.MultinomialNB(alpha=0.5), COUNTS),
    (naively.ComplementNB(norm=True), COUNTS),
    (naively.BernoulliNB(), COUNTS),
    (naively.CategoricalNB(), COUNTS),
    (naively.NaiveBayes(naively.Categorical(), tune=False), COUNTS),
]
IDS = [f"{type(estimator).__name__}-{x.dtype}" for estimator, x in CASES]


@pytest.mark.parametrize(("estimator", "x"), CASES, ids=IDS)
@pytest.mark.parametrize("cuts", [[60], [1, 2, 50], list(range(1, 120))])
def test_partial_fit_in_any_batches_equals_fit(estimator: Any, x: NDArray[Any], cuts: list[int]) -> None:
    at_once = clone(estimator).fit(x, LABEL)
    in_batches = clone(estimator)
    for rows in np.split(np.arange(len(x)), cuts):
        in_batches.partial_fit(x[rows], LABEL[rows], classes=[0, 1, 2])
    np.testing.assert_array_equal(at_once.model_.class_counts, in_batches.model_.class_counts)
    for a, b in zip(at_once.model_.statistics, in_batches.model_.statistics, strict=True):
        if isinstance(a, NumberSummary):
            np.testing.assert_array_equal(a.histogram.cells.keys, b.histogram.cells.keys)
            np.testing.assert_array_equal(a.histogram.cells.weight, b.histogram.cells.weight)
            a, b = a.moments, b.moments
        if isinstance(a, Moments):
            for one, two in zip(a.mean_and_squares(), b.mean_and_squares(), strict=True):
                np.testing.assert_allclose(one, two, rtol=1e-15)
        else:
            np.testing.assert_array_equal(a.cells.sums, b.cells.sums)
            np.testing.assert_array_equal(a.cells.rows, b.cells.rows)
    np.testing.assert_allclose(at_once.predict_proba(x), in_batches.predict_proba(x), rtol=1e-12)


@pytest.mark.parametrize(("estimator", "x"), CASES, ids=IDS)
def test_forget_reverses_partial_fit(estimator: Any, x: NDArray[Any]) -> None:
    before = clone(estimator).fit(x[:100], LABEL[:100])
    after = clone(estimator).fit(x[:100], LABEL[:100]).partial_fit(x[100:], LABEL[100:])
    after.forget(x[100:], LABEL[100:])
    np.testing.assert_allclose(before.predict_proba(x), after.predict_proba(x), rtol=1e-12)
    np.testing.assert_array_equal(before.classes_, after.classes_)


@pytest.mark.parametrize(("estimator", "x"), CASES, ids=IDS)
def test_pickle_clone_threads_and_processes(estimator: Any, x: NDArray[Any]) -> None:
    fitted = clone(estimator).fit(x, LABEL)
    expected = fitted.predict_proba(x)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict_proba(x), expected)
    fresh = clone(estimator).fit(x, LABEL)
    with ThreadPoolExecutor(8) as pool:
        for result in pool.map(lambda _: fresh.predict_proba(x), range(32)):
            np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_joblib(backend: str) -> None:
    run = joblib.Parallel(n_jobs=2, backend=backend)
    jobs = (joblib.delayed(_fit_and_score)(seed) for seed in range(4))
    assert run(jobs) == [_fit_and_score(seed) for seed in range(4)]


def _fit_and_score(seed: int) -> float:
    rows = np.random.default_rng(seed).permutation(len(NUMBERS))
    return float(naively.NaiveBayes(tune=False).fit(NUMBERS[rows[:80]], LABEL[rows[:80]]).score(NUMBERS, LABEL))


def test_pipeline_and_grid_search() -> None:
    mail = ["cheap pills now", "meeting at noon", "cheap offer", "lunch at noon?"] * 10
    label = ["spam", "ham", "spam", "ham"] * 10
    pipeline = make_pipeline(CountVectorizer(), naively.MultinomialNB())
    search = GridSearchCV(pipeline, {"multinomialnb__alpha": [0.1, 1.0]}, cv=3).fit(mail, label)
    assert search.predict(["cheap cheap pills"])[0] == "spam"
    assert cross_val_score(naively.NaiveBayes(tune=False), NUMBERS, LABEL, cv=3).mean() > 0.5


def test_calibrated_classifier() -> None:
    calibrated = CalibratedClassifierCV(naively.GaussianNB(), cv=3).fit(NUMBERS, LABEL)
    np.testing.assert_allclose(calibrated.predict_proba(NUMBERS).sum(axis=1), 1.0)


def test_predictions_have_the_type_of_the_labels() -> None:
    frame = pd.DataFrame({"size": [1.0, 2.0, None, 9.0], "colour": ["red", None, "blue", "blue"]})
    for labels in (["a", "a", "b", "b"], np.array([3, 3, 7, 7]), np.array([False, False, True, True])):
        fitted = naively.NaiveBayes(tune=False).fit(frame, labels)
        predicted = fitted.predict(frame)
        assert predicted.dtype == np.asarray(labels).dtype
        assert list(fitted.feature_names_in_) == ["size", "colour"]
        assert fitted.sample(3, seed=0).column_names[:2] == ["size", "colour"]


def test_new_classes_and_categories_are_accepted() -> None:
    nb = naively.NaiveBayes(tune=False)
    nb.partial_fit(pd.DataFrame({"c": ["x", "y"]}), ["a", "b"])
    nb.partial_fit(pd.DataFrame({"c": ["z"]}), ["new"])
    assert nb.classes_.tolist() == ["a", "b", "new"]
    assert nb.predict(pd.DataFrame({"c": ["z", "never seen"]})).tolist() == ["new", "a"]


def test_an_unknown_label_is_refused() -> None:
    for estimator in (naively.MultinomialNB(), naively.BernoulliNB(), naively.CategoricalNB(), naively.GaussianNB()):
        estimator.partial_fit(COUNTS[:10], LABEL[:10], classes=[0, 1, 2])
        before = estimator.model_
        with pytest.raises(ValueError, match="do not exist in the initial classes"):
            estimator.partial_fit(COUNTS[:2], [0, 9])
        assert estimator.model_ is before


def test_gaussian_is_finite_where_scikit_learn_is_not() -> None:
    constant = np.column_stack([np.ones(6), np.ones(6)])
    label = np.array([0, 0, 0, 1, 1, 1])
    np.testing.assert_allclose(naively.GaussianNB().fit(constant, label).predict_proba(constant), 0.5)
    far = naively.GaussianNB().fit(NUMBERS, LABEL).predict_proba(np.full((1, 4), 1e200))
    assert np.isfinite(far).all()


@pytest.mark.parametrize("unit", [1.0, 1000.0, 1e-6])
def test_gaussian_without_spread_and_smoothing_takes_the_pooled_variance(unit: float) -> None:
    x, label = unit * np.array([[1.0], [1.0], [2.0], [4.0], [6.0]]), np.array([0, 0, 1, 1, 1])
    fitted = naively.GaussianNB(var_smoothing=0.0).fit(x, label)
    np.testing.assert_allclose(fitted.var_.ravel() / unit**2, [8 / 5, 8 / 3])
    plain = naively.GaussianNB(var_smoothing=0.0).fit(x / unit, label)
    np.testing.assert_allclose(fitted.predict_proba(x), plain.predict_proba(x / unit), rtol=1e-9)


def test_normed_complement_of_one_feature_adds_nothing() -> None:
    fitted = naively.ComplementNB(norm=True).fit(COUNTS[:, :1], LABEL)
    np.testing.assert_array_equal(fitted.feature_log_prob_, 0.0)
    np.testing.assert_allclose(fitted.predict_proba(COUNTS[:, :1]), 1 / 3)


def test_rows_of_weight_zero_have_categories() -> None:
    weighted = naively.CategoricalNB().fit([[0], [1], [4]], [0, 1, 1], sample_weight=[1.0, 1.0, 0.0])
    assert weighted.n_categories_.tolist() == [5]
    assert weighted.partial_fit([[1], [6]], [0, 1], sample_weight=[1.0, 0.0]).n_categories_.tolist() == [7]
    with pytest.raises(ValueError, match="Negative"):
        naively.CategoricalNB().fit([[0], [-1]], [0, 1], sample_weight=[1.0, 0.0])


def test_sparse_equals_dense() -> None:
    for matrix in (sparse.csr_array(COUNTS), sparse.csc_array(COUNTS), sparse.coo_matrix(COUNTS)):
        for estimator in (naively.MultinomialNB(), naively.BernoulliNB(), naively.ComplementNB()):
            dense = clone(estimator).fit(COUNTS, LABEL).predict_proba(COUNTS)
            np.testing.assert_allclose(clone(estimator).fit(matrix, LABEL).predict_proba(matrix), dense, rtol=1e-12)


def test_html_representation_names_the_parameters() -> None:
    assert "columns" in naively.NaiveBayes(naively.Gaussian(), tune=False)._repr_html_()


@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB", "BernoulliNB", "CategoricalNB", "GaussianNB"])
def test_drop_ins_compute_the_numbers_of_scikit_learn(name: str) -> None:
    uneven = np.where(np.arange(len(LABEL)) % 7 == 0, 1, np.minimum(LABEL, 1))
    x = NUMBERS if name == "GaussianNB" else COUNTS
    ours, reference = (getattr(module, name)().fit(x, uneven) for module in (naively, sklearn.naive_bayes))
    np.testing.assert_allclose(ours.predict_proba(x), reference.predict_proba(x), rtol=1e-9)
    np.testing.assert_allclose(ours.predict_joint_log_proba(x), reference.predict_joint_log_proba(x), rtol=1e-9)
    for attribute in ("class_count_", "class_log_prior_", "feature_log_prob_", "feature_count_", "theta_", "var_"):
        if hasattr(reference, attribute):
            for a, b in zip(getattr(ours, attribute), getattr(reference, attribute), strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-9)


def test_the_name_of_a_series_is_the_target() -> None:
    rows = pd.DataFrame({"x": np.arange(20.0)})
    labels = pd.Series(["a", "b"] * 10, name="kind")
    estimator = naively.NaiveBayes().fit(rows, labels)
    assert estimator.model_.target == "kind"
    assert naively.NaiveBayes().fit(rows, labels.tolist()).model_.target == "class"
    assert estimator.predict(rows).tolist() == naively.NaiveBayes().fit(rows, labels.tolist()).predict(rows).tolist()
