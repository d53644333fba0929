"""Naive Bayes computed slowly and exactly, as a reference for the library; the two share no code.

Counts and probabilities are fractions, logarithms and densities have 60 digits. A distribution is a dict from value to
probability; a value that it does not name has the factor 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import prod
from typing import Any, TypeVar

import mpmath
import numpy as np

MP = mpmath.mp.clone()
MP.dps = 60

V = TypeVar("V")
Distribution = Mapping[V, Fraction]


def log(p: Fraction) -> Any:
    """Return log p, −∞ for zero."""
    return MP.log(p.numerator) - MP.log(p.denominator) if p else -MP.inf


def real(p: Fraction) -> Any:
    """Return a fraction as a number of 60 digits."""
    return MP.mpf(p.numerator) / p.denominator


def class_prior(labels: Sequence[V], alpha: Fraction = Fraction(0)) -> dict[V, Fraction]:
    """Return (N_c + α) / (N + αC) for each class."""
    classes = sorted(set(labels))  # type: ignore[type-var]
    return {c: (labels.count(c) + alpha) / (len(labels) + alpha * len(classes)) for c in classes}


def distribution(values: Sequence[V], alpha: Mapping[V, Fraction]) -> dict[V, Fraction]:
    """Return (N_k + α_k) / (N + Σ α) for the values that alpha names."""
    total = len(values) + sum(alpha.values())
    return {value: Fraction(values.count(value) + a) / total for value, a in alpha.items()}


def columns(
    rows: Sequence[Sequence[V]], labels: Sequence[Any], label: Any, alphas: Sequence[Mapping[V, Fraction]]
) -> list[dict[V, Fraction]]:
    """Return the distribution of each column in one class."""
    in_class = [row for row, c in zip(rows, labels, strict=True) if c == label]
    return [distribution([row[j] for row in in_class], alpha) for j, alpha in enumerate(alphas)]


def bernoulli(
    rows: Sequence[Sequence[int]], labels: Sequence[Any], label: Any, a: Any = 0, b: Any = 0
) -> list[dict[int, Fraction]]:
    """Return P(x_j = 1 | c) = (n_jc + a) / (N_c + a + b), and P(x_j = 0 | c), for each column."""
    return columns(rows, labels, label, [{0: Fraction(b), 1: Fraction(a)}] * len(rows[0]))


def multinomial(
    rows: Sequence[Sequence[int]], labels: Sequence[Any], label: Any, alpha: Sequence[Fraction], unseen: bool = False
) -> dict[int, Fraction]:
    """Return θ_k = (N_kc + α_k) / (N_c + Σ α); from all rows if class c has no word; with unseen words on request."""
    in_all_classes = [sum(column) for column in zip(*rows, strict=True)]
    in_class = [
        sum(column) for column in zip(*(r for r, c in zip(rows, labels, strict=True) if c == label), strict=True)
    ]
    counts = in_class if any(in_class) else in_all_classes
    total = sum(counts) + sum(alpha)
    return {k: (n + alpha[k]) / total for k, n in enumerate(counts) if in_all_classes[k] or unseen}


def product(row: Sequence[V], of: Sequence[Distribution[V]]) -> Fraction:
    """Return ∏_j p_j(x_j)."""
    return prod((p.get(x, Fraction(1)) for x, p in zip(row, of, strict=True)), start=Fraction(1))


def product_of_words(counts: Sequence[int], of: Distribution[int]) -> Fraction:
    """Return ∏_k θ_k^{x_k}, one factor after the other."""
    words = [k for k, n in enumerate(counts) for _ in range(n)]
    return prod((of.get(word, Fraction(1)) for word in words), start=Fraction(1))


def normalised(joint: Sequence[Fraction], prior: Sequence[Fraction]) -> list[Fraction]:
    """Apply Bayes' rule; return the prior if every class is impossible."""
    total = sum(joint)
    return [p / total for p in joint] if total else list(prior)


def gaussian(x: float, mean: Fraction, variance: Fraction) -> Any:
    """Return the logarithm of the normal density."""
    return -MP.log(2 * MP.pi * real(variance)) / 2 - real((Fraction(x) - mean) ** 2 / (2 * variance))


def mean_and_variance(values: Sequence[float]) -> tuple[Fraction, Fraction]:
    """Return the mean and the variance with denominator N."""
    exact = [Fraction(x) for x in values]
    mean = sum(exact, Fraction(0)) / len(exact)
    return mean, sum(((x - mean) ** 2 for x in exact), Fraction(0)) / len(exact)


def assert_close(computed: Any, exact: Any, tolerance: float = 1e-12, least: float = 0.0) -> None:
    """Assert that numbers agree except for their last digits, relative to the exact ones or to `least`."""
    numbers, wanted = np.asarray(computed, dtype=np.float64), list(_leaves(exact))
    assert numbers.size == len(wanted)
    for f, e in zip(numbers.ravel().tolist(), wanted, strict=True):
        if MP.isinf(e):
            assert f == float(e)
        else:
            assert abs(MP.mpf(f) - e) <= tolerance * max(abs(e), least), (f, MP.nstr(e, 20))


def assert_logs_close(computed: Any, exact: Any, tolerance: float = 1e-12) -> None:
    """Assert that logarithms agree: as numbers if they are large, else as the logarithms of equal numbers."""
    assert_close(computed, exact, tolerance, least=1.0)


def _leaves(exact: Any) -> Iterator[Any]:
    if isinstance(exact, (list, tuple)):
        for part in exact:
            yield from _leaves(part)
    else:
        yield real(exact) if isinstance(exact, Fraction) else MP.mpf(exact)


def assert_most_probable(computed: Sequence[Any], classes: Sequence[Any], joint: Sequence[Sequence[Fraction]]) -> None:
    """Assert that each prediction has the largest joint probability, except for ties in the last digits."""
    for answer, row in zip(computed, joint, strict=True):
        assert row[list(classes).index(answer)] >= max(row) * (1 - Fraction(1, 10**12))
