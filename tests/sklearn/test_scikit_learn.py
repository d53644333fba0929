"""The checks and tests of scikit-learn, run on our estimators."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
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
