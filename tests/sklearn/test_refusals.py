"""Entries that scikit-learn refuses are refused with its messages, without a separate pass over the data."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.naive_bayes as peer

import naively

NAMES = ["MultinomialNB", "ComplementNB", "BernoulliNB"]
FORMS = [np.asarray, sp.csr_matrix, sp.csr_array, sp.csc_matrix]


def error_of(call: Any) -> str:
    """Return the message of the error that a call raises, or an empty string."""
    try:
        call()
    except ValueError as error:
        return str(error)
    return ""


def with_entry(value: float, n: int = 300) -> Any:
    """Return a matrix of counts with one entry of this value."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 3, (n, 300)).astype(np.float64)  # too large to be checked before it is counted
    x[7, 3] = value
    return x


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, -1.0, 0.5, 1e6])
def test_odd_entries(name: str, form: Any, value: float) -> None:
    x, label = with_entry(value), np.arange(300) % 3
    weight = (np.arange(300) != 7).astype(np.float64)  # a row without weight is checked as well
    ours, reference = getattr(naively, name)(), getattr(peer, name)()
    assert error_of(lambda: ours.fit(form(x), label)) == error_of(lambda: reference.fit(form(x), label))
    if value != -1.0:  # scikit-learn checks for negative counts after it drops rows without weight
        expected = error_of(lambda: reference.fit(form(x), label, weight))
        assert error_of(lambda: ours.fit(form(x), label, weight)) == expected
    for model in (ours, reference):
        model.fit(with_entry(1.0), label)
    before = ours.class_count_
    expected = error_of(lambda: reference.partial_fit(form(x), label))
    assert error_of(lambda: ours.partial_fit(form(x), label)) == expected
    if expected:
        np.testing.assert_array_equal(ours.class_count_, before)
    for method in ("predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba"):
        for_ours = error_of(lambda method=method: getattr(ours, method)(form(x)))
        assert for_ours == error_of(lambda method=method: getattr(reference, method)(form(x)))
