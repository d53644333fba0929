"""Estimators with other libraries: frames as output, skops, scikit-learn's displays."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.inspection import DecisionBoundaryDisplay, PartialDependenceDisplay, partial_dependence
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import naively
from naively.errors import InputError
from naively.store.model_bytes import from_bytes, to_bytes

GENERATOR = np.random.default_rng(3)
LABEL = GENERATOR.integers(0, 3, 150)
NUMBERS = pd.DataFrame(
    GENERATOR.normal(size=(150, 2)) + LABEL[:, None], columns=["height", "width"], index=range(1000, 1150)
)
MIXED = NUMBERS.assign(
    text=[f"{'cheap' if c else 'lunch'} word{i % 9}" for i, c in enumerate(LABEL)],
    sky=np.where(LABEL == 1, "sun", "rain"),
)
ESTIMATORS = [naively.NaiveBayes(), naively.NaiveBayes(tune=False), naively.GaussianNB()]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_set_output(estimator: Any) -> None:
    plain = clone(estimator).fit(NUMBERS, LABEL)
    framed = clone(clone(estimator).set_output(predict="pandas")).fit(NUMBERS, LABEL)
    frame = framed.predict_proba(NUMBERS)
    assert isinstance(frame, pd.DataFrame)
    assert list[object](frame.columns) == [0, 1, 2]
    assert frame.index.equals(NUMBERS.index)
    np.testing.assert_array_equal(frame, plain.predict_proba(NUMBERS))
    assert framed.predict_log_proba(NUMBERS).columns.tolist() == [0, 1, 2]
    assert framed.predict(NUMBERS).index.equals(NUMBERS.index)
    assert framed.score(NUMBERS, LABEL) == plain.score(NUMBERS, LABEL)
    assert isinstance(framed.set_output(predict="polars").predict_proba(NUMBERS), pl.DataFrame)
    assert isinstance(framed.set_output().predict_proba(NUMBERS), pl.DataFrame)
    assert isinstance(framed.set_output(predict="default").predict(NUMBERS), np.ndarray)
    assert len(cross_val_score(framed.set_output(predict="pandas"), NUMBERS, LABEL, cv=3)) == 3
    with pytest.raises(ValueError, match='give "default"'):
        framed.set_output(predict="arrow")


def test_a_pipeline_with_frames_for_transformers_still_predicts() -> None:
    pipeline = make_pipeline(StandardScaler(), naively.GaussianNB()).set_output(transform="pandas")
    assert pipeline.fit(NUMBERS, LABEL).predict(NUMBERS).shape == (150,)


@pytest.mark.parametrize("tune", [False, True])
def test_skops_and_pickle_store_text(tune: bool) -> None:
    skops = pytest.importorskip("skops.io", reason="skops is not installed")
    fitted = naively.NaiveBayes({"text": naively.Text()}, tune=tune, n_jobs=1).fit(MIXED, LABEL)
    data = skops.dumps(fitted)
    types = skops.get_untrusted_types(data=data)
    assert not any("Model" in name or "statistics" in name for name in types)  # the model is data, not objects
    for restored in (skops.loads(data, trusted=types), pickle.loads(pickle.dumps(fitted))):
        np.testing.assert_array_equal(restored.predict_proba(MIXED), fitted.predict_proba(MIXED))
        assert restored.model_.tuning == fitted.model_.tuning
        assert restored.model_.n_jobs == 1
        restored.partial_fit(MIXED[:5], LABEL[:5])
        assert restored.model_.class_counts.sum() == 155


@pytest.mark.parametrize("name", ["BernoulliNB", "MultinomialNB", "ComplementNB", "CategoricalNB", "GaussianNB"])
def test_skops_stores_the_drop_ins(name: str) -> None:
    skops = pytest.importorskip("skops.io", reason="skops is not installed")
    x = np.random.default_rng(1).poisson(1.0, (150, 6))
    fitted = getattr(naively, name)().fit(x, LABEL)
    data = skops.dumps(fitted)
    types = skops.get_untrusted_types(data=data)
    assert set(types) <= {f"naively.sklearn.drop_ins.{name}", "numpy.dtype"}
    np.testing.assert_array_equal(skops.loads(data, trusted=types).predict_proba(x), fitted.predict_proba(x))


def test_bytes_that_are_not_a_model_are_refused() -> None:
    data = to_bytes(naively.fit(MIXED, LABEL.tolist(), tune=False))
    assert from_bytes(data).classes == (0, 1, 2)
    for damaged in (b"", data[:20], data[:-5], b"x" * 40, data.replace(b'"n_jobs": null', b'"n_jobs": "12"')):
        with pytest.raises(InputError, match="not a model"):
            from_bytes(damaged)


def test_importance_of_an_estimator() -> None:
    tuned = naively.NaiveBayes().fit(MIXED, LABEL)
    assert tuned.importance() == tuned.model_.importance()
    plain = naively.GaussianNB().fit(NUMBERS, LABEL)
    assert {column.column for column in plain.importance(NUMBERS, LABEL)} == {"x0", "x1"}


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_decision_regions_and_partial_dependence(estimator: Any) -> None:
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    matplotlib.use("agg")
    fitted = clone(estimator).fit(NUMBERS, LABEL)
    display = DecisionBoundaryDisplay.from_estimator(fitted, NUMBERS, response_method="predict", grid_resolution=8)
    assert set(np.unique(display.response)) <= {0, 1, 2}
    DecisionBoundaryDisplay.from_estimator(
        fitted, NUMBERS, response_method="predict_proba", class_of_interest=1, grid_resolution=8
    )
    dependence = PartialDependenceDisplay.from_estimator(
        fitted, NUMBERS, ["height"], target=2, grid_resolution=6, response_method="predict_proba"
    )
    mean = partial_dependence(fitted, NUMBERS, [0], grid_resolution=6, response_method="predict_proba")
    grid, averages = mean["grid_values"][0], mean["average"]
    for k, value in enumerate(grid):
        expected = fitted.predict_proba(NUMBERS.assign(height=value))[:, 2].mean()
        assert averages[2, k] == pytest.approx(expected)
    matplotlib.pyplot.close("all")
    assert dependence.axes_ is not None


def test_partial_dependence_of_a_category() -> None:
    fitted = naively.NaiveBayes(tune=False).fit(MIXED[["height", "sky"]], LABEL)
    result = partial_dependence(
        fitted, MIXED[["height", "sky"]], ["sky"], categorical_features=["sky"], response_method="predict_proba"
    )
    assert sorted(result["grid_values"][0].tolist()) == ["rain", "sun"]


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csc_array, sp.coo_matrix])
@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB", "BernoulliNB"])
def test_duplicate_entries_are_added_up(name: str, kind: Any) -> None:
    values, columns = np.array([1.0, 2.0, 3.0, 1.0, 1.0]), np.array([0, 0, 1, 2, 2])
    by_rows = sp.csr_matrix((values, columns, np.array([0, 3, 5])), shape=(2, 3))
    places = np.array([0, 0, 0, 1, 1]), columns
    stored: Any = by_rows if kind is sp.csr_matrix else kind((values, places), shape=(2, 3))
    n_stored, dense = stored.nnz, by_rows.toarray()
    ours, expected = (getattr(naively, name)().fit(x, ["a", "b"]) for x in (stored, dense))
    assert stored.nnz == n_stored
    np.testing.assert_array_equal(ours.feature_log_prob_, expected.feature_log_prob_)
    for x in (stored, dense):
        np.testing.assert_allclose(ours.predict_proba(x), expected.predict_proba(dense), rtol=1e-14)
    ours.partial_fit(stored, ["a", "b"])
    np.testing.assert_array_equal(ours.feature_log_prob_, expected.partial_fit(dense, ["a", "b"]).feature_log_prob_)
