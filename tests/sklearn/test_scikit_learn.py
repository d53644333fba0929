"""The checks and tests of scikit-learn, run on our estimators."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

import naively

ESTIMATORS = [
    naively.NaiveBayes(),
    naively.NaiveBayes(tune=False),
    naively.BernoulliNB(),
    naively.CategoricalNB(),
    naively.ComplementNB(),
    naively.GaussianNB(),
    naively.MultinomialNB(),
]
HERE = Path(__file__).parent

# These tests call private methods of scikit-learn that our classes do not have.
TESTS_OF_PRIVATE_METHODS = {
    "test_gnb_check_update_with_no_data": "GaussianNB._update_mean_variance",
    "test_alpha_vector": "MultinomialNB._check_alpha",
    "test_check_alpha": "BernoulliNB._check_alpha",
}


@parametrize_with_checks(ESTIMATORS)  # type: ignore[untyped-decorator]
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_check_estimator(estimator: Any, check: Any) -> None:
    check(estimator)


def test_scikit_learns_own_tests_pass_with_our_classes() -> None:
    others = " and ".join(f"not {name}" for name in TESTS_OF_PRIVATE_METHODS)
    options = ["-p", "rebind", "-p", "no:cacheprovider", "-q", "-c", os.devnull, "-k", others]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "--pyargs", "sklearn.tests.test_naive_bayes"],
        env={**os.environ, "PYTHONPATH": str(HERE)},
        capture_output=True,
        text=True,
        check=False,
    )
    summary = run.stdout.strip().splitlines()[-1]
    assert run.returncode == 0, run.stdout[-3000:]
    passed = re.search(r"(\d+) passed", summary)
    assert passed is not None
    assert int(passed[1]) >= 83, summary
    assert "failed" not in summary


NAMES = ("BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "MultinomialNB", "NaiveBayes")


@pytest.mark.parametrize("name", NAMES)
def test_estimators_explain_and_evaluate_what_they_predict(name: str) -> None:
    rows = np.random.default_rng(2).integers(0, 3, (120, 4))
    labels = np.array(["a", "b", "c"])[rows[:, :2].sum(axis=1) % 3]
    is_new = rows.sum(axis=1) % 2 == 1  # no new row is a counted one
    new, truth = rows[is_new], labels[is_new]
    estimator = getattr(naively, name)().fit(rows[~is_new], labels[~is_new])
    explanations, predicted = estimator.explain(new, top=2), estimator.predict(new)
    assert [explanation.answer for explanation in explanations] == predicted.tolist()
    posterior = [list(explanation.posterior.values()) for explanation in explanations]
    np.testing.assert_allclose(posterior, estimator.predict_proba(new), atol=1e-12)
    evaluation = estimator.evaluate(new, truth, np.full(len(new), 2.0))
    assert evaluation.weight == 2 * len(new)
    assert evaluation.accuracy.value == pytest.approx((predicted == truth).mean())
    for method, arguments in (("explain", (new,)), ("evaluate", (new, truth))):
        with pytest.raises(NotFittedError):
            getattr(getattr(naively, name)(), method)(*arguments)
