"""What scikit-learn refuses is refused in its words, though nobody looks for it in a pass of its own."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.naive_bayes as peer

import naively

NAMES = ["MultinomialNB", "ComplementNB", "BernoulliNB"]
FORMS = [np.asarray, sp.csr_matrix, sp.csr_array, sp.csc_matrix]


def said_by(call: Any) -> str:
    """The error of a call, or nothing."""
    try:
        call()
    except ValueError as error:
        return str(error)
    return ""


def spoilt(value: float, n: int = 300) -> Any:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 3, (n, 300)).astype(np.float64)  # too large to be looked at beforehand
    x[7, 3] = value
    return x


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, -1.0, 0.5, 1e6])
def test_odd_entries(name: str, form: Any, value: float) -> None:
    x, label = spoilt(value), np.arange(300) % 3
    weight = (np.arange(300) != 7).astype(np.float64)  # a row without weight is looked at all the same
    ours, theirs = getattr(naively, name)(), getattr(peer, name)()
    assert said_by(lambda: ours.fit(form(x), label)) == said_by(lambda: theirs.fit(form(x), label))
    if value != -1.0:  # scikit-learn looks for negative counts only after the rows without weight are gone
        assert said_by(lambda: ours.fit(form(x), label, weight)) == said_by(lambda: theirs.fit(form(x), label, weight))
    for model in (ours, theirs):
        model.fit(spoilt(1.0), label)
    before = ours.class_count_
    expected = said_by(lambda: theirs.partial_fit(form(x), label))
    assert said_by(lambda: ours.partial_fit(form(x), label)) == expected
    if expected:
        np.testing.assert_array_equal(ours.class_count_, before)
    for ask in ("predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba"):
        said = said_by(lambda ask=ask: getattr(ours, ask)(form(x)))
        assert said == said_by(lambda ask=ask: getattr(theirs, ask)(form(x)))
