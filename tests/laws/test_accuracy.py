"""Accuracy: moments compared with exact fractions, NIST's certified values and R; a million columns."""

from __future__ import annotations

import functools
import math
import operator
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse
from tests.support.data_sets import DATA_SETS, needs_data_set, optional_data_set, read_csv

import naively as nb
from naively.statistics import Moments

NIST = ["Lew", "Lottery", "Mavro", "Michelso", "NumAcc1", "NumAcc2", "NumAcc3", "NumAcc4"]
needs_votes = needs_data_set("tables/vote.csv")

# NIST's NumAcc sets by their definition: the first number, and then two numbers in turn.
NUM_ACC: dict[str, list[float]] = {
    "NumAcc1": [10000001.0, 10000003.0, 10000002.0],
    "NumAcc2": [1.2] + [1.1, 1.3] * 500,
    "NumAcc3": [1000000.2] + [1000000.1, 1000000.3] * 500,
    "NumAcc4": [10000000.2] + [10000000.1, 10000000.3] * 500,
}


def nist(name: str) -> tuple[list[float], float, float]:
    """Return the data of a NIST file, and the certified mean and standard deviation."""
    text = (DATA_SETS / "nist" / f"{name}.dat").read_text().splitlines()
    start = next(i for i, line in enumerate(text) if line.startswith("----")) + 1
    certified = [float(line.split(":")[1].split()[0]) for line in text[:start] if line.startswith("Sample ")]
    return [float(line) for line in text[start:] if line.strip()], certified[0], certified[1]


def exact(x: list[float]) -> tuple[Fraction, Fraction]:
    """Return the mean, and the variance with denominator n."""
    numbers = [Fraction(v) for v in x]
    mean = sum(numbers, Fraction(0)) / len(numbers)
    return mean, sum(((v - mean) ** 2 for v in numbers), Fraction(0)) / len(numbers)


def correct_digits(computed: float, wanted: Fraction) -> float:
    error = abs(Fraction(computed) - wanted) / abs(wanted)
    return 17.0 if error == 0 else -math.log10(error)


def column(x: Any, label: str = "a") -> nb.Model:
    x = np.asarray(x)
    return nb.fit(x.reshape(-1, 1), [label] * len(x), columns="gaussian", n_jobs=1, tune=False)


def assert_accurate(model: nb.Model, x: list[float], label: str = "a") -> None:
    """Assert 15.5 correct digits in mean and variance of one class."""
    mean, variance = exact(x)
    stats = model.statistics[0]
    assert isinstance(stats, Moments)
    at = model.classes.index(label)
    assert correct_digits(stats.mean[at, 0], mean) >= 15.5
    assert correct_digits(stats.squares[at, 0] / stats.weight[at, 0], variance) >= 15.5


def numbers(name: str) -> list[float]:
    return nist(name)[0]


@pytest.mark.parametrize("name", NUM_ACC)
def test_files_agree_with_their_definition(name: str) -> None:
    assert nist(name)[0] == NUM_ACC[name]


@pytest.mark.parametrize("name", NIST)
def test_certified_values(name: str) -> None:
    """Decimals are not doubles: 10000000.1 has 9 digits left behind the mean. Our error is that of the data."""
    x, mean, deviation = nist(name)
    fitted = nb.fit(np.reshape(x, (-1, 1)), [0] * len(x), columns=nb.Gaussian(ddof=1), tune=False).parameters[0]
    assert fitted.mean[0, 0] == pytest.approx(mean, rel=1e-15)
    assert math.sqrt(fitted.variance[0, 0]) == pytest.approx(deviation, rel=1e-8 if name[-1] in "34" else 1e-13)


@pytest.mark.parametrize("name", NIST)
def test_moments_of_all_rows_at_once(name: str) -> None:
    assert_accurate(column(numbers(name)), numbers(name))


@pytest.mark.parametrize("name", NIST)
def test_moments_row_by_row(name: str) -> None:
    x = numbers(name)
    assert_accurate(functools.reduce(operator.add, (column([v]) for v in x)), x)


@pytest.mark.parametrize("name", NIST)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_moments_merged_from_random_parts(name: str, seed: int) -> None:
    x = np.array(numbers(name))
    part = np.random.default_rng(seed).integers(0, 7, len(x))
    parts = [x[part == p] for p in range(7) if (part == p).any()]
    assert_accurate(functools.reduce(operator.add, map(column, parts)), x.tolist())


def test_float32_is_summed_in_float64() -> None:
    x = np.array(NUM_ACC["NumAcc3"], dtype=np.float32)
    assert_accurate(column(x), x.astype(np.float64).tolist())


def test_another_class_1e8_away() -> None:
    x = [v - 1000000.0 for v in NUM_ACC["NumAcc3"]]
    far = [1e8 + 0.1, 1e8 + 0.2]
    model = nb.fit(np.reshape([*far, *x], (-1, 1)), ["far"] * 2 + ["a"] * len(x), columns="gaussian", tune=False)
    assert_accurate(model, x)
    assert_accurate(column(far, "far") + column(x), x)


def test_the_first_value_is_far_away() -> None:
    """The first value of a class is where its sums are centred; 1e8 off, no digit may be lost."""
    x = [1e8, *(v - 1000000.0 for v in NUM_ACC["NumAcc3"])]
    assert_accurate(column(x), x)
    assert_accurate(column([1e8]) + column(x[1:]), x)


def test_an_outlier_counted_first_and_then_forgotten() -> None:
    x = [v - 1000000.0 for v in NUM_ACC["NumAcc3"]]
    assert_accurate(column([1e9, *x]) - column([1e9]), x)
    assert_accurate(column([1e9]) + column(x) - column([1e9]), x)


def test_an_outlier_left_out_of_one_part() -> None:
    x = NUM_ACC["NumAcc4"]
    half = len(x) // 2
    total = column([*x[:half], -1e9, *x[half:]])
    assert_accurate(total - column([-1e9, *x[half:]]), x[:half])


def test_lost_digits_are_reported() -> None:
    with pytest.warns(nb.LostDigitsWarning, match="x0.*count the remaining rows again"):
        _ = column([1e120, 1.0, 2.0]) - column([1e120])


def test_weighted_moments() -> None:
    x, weight = [0.1, 0.7, 1e6 + 0.3], [0.3, 2.5, 1e-3]
    stats = nb.fit(np.reshape(x, (-1, 1)), [0, 0, 0], columns="gaussian", weight=weight, tune=False).statistics[0]
    assert isinstance(stats, Moments)
    pairs = [(Fraction(w), Fraction(v)) for v, w in zip(x, weight, strict=True)]
    mean = sum((w * v for w, v in pairs), Fraction(0)) / sum((w for w, _ in pairs), Fraction(0))
    assert correct_digits(stats.mean[0, 0], mean) >= 15
    assert correct_digits(stats.squares[0, 0], sum((w * (v - mean) ** 2 for w, v in pairs), Fraction(0))) >= 15


def vote() -> tuple[dict[str, list[str | None]], list[str]]:
    rows = read_csv(optional_data_set("tables/vote.csv"))
    label = [row.pop("Class") for row in rows]
    return {name: [row[name] or None for row in rows] for name in rows[0]}, label


@needs_votes
def test_votes_agree_with_r() -> None:
    """R, e1071 1.7: naiveBayes(Class ~ ., vote), missing values left out."""
    x, label = vote()
    model = nb.fit(x, label, columns=nb.Categorical(alpha=0), tune=False)
    figures = [1.0292087e-07, 5.8204151e-08, 5.6849366e-03, 0.99857985, 0.96667198, 0.81214298]
    np.testing.assert_allclose(model.posterior(x)[:6, 0], figures, rtol=1e-8)
    assert confusion(model, x, label) == [[238, 13], [29, 155]]


@needs_votes
def test_smoothed_votes_agree_with_r() -> None:
    """The same with laplace = 3."""
    x, label = vote()
    assert confusion(nb.fit(x, label, columns=nb.Categorical(alpha=3), tune=False), x, label) == [[237, 12], [30, 156]]


def confusion(model: nb.Model, x: Any, label: list[str]) -> list[list[int]]:
    predicted = model.predict(x).tolist()
    pairs: list[tuple[Any, Any]] = list(zip(predicted, label, strict=True))
    return [[pairs.count((p, t)) for t in model.classes] for p in model.classes]


MILLION = 1_000_000


def exact_log(numerator: float, denominator: float) -> Any:
    return mpmath.log(mpmath.mpf(numerator) / mpmath.mpf(denominator))


def assert_close(computed: NDArray[np.float64], wanted: list[Any]) -> None:
    """1e-12 of the size of the log joint."""
    for value, true in zip(computed.tolist(), wanted, strict=True):
        assert math.isfinite(value)
        assert abs(value - true) <= 1e-12 * abs(true)


def test_a_million_boolean_columns() -> None:
    """Columns repeat every 3; class 0 has the rows 1 1 0 and 1 0 0, class 1 the row 0 0 1."""
    row = np.tile([1, 1, 0, 1, 0, 0, 0, 0, 1], MILLION // 3 + 1).reshape(-1, 3, 3)
    x = np.ascontiguousarray(row.transpose(1, 0, 2).reshape(3, -1)[:, :MILLION]).astype(np.uint8)
    model = nb.fit(x, [0, 0, 1], columns=nb.Bernoulli(), n_jobs=2, tune=False)
    each = [MILLION // 3 + (k < MILLION % 3) for k in range(3)]
    with mpmath.workdps(40):
        ones = [[(3, 4), (2, 4), (1, 4)], [(1, 3), (1, 3), (2, 3)]]
        wanted = []
        for (n, d), (one, two, three) in zip([(2, 3), (1, 3)], ones, strict=True):
            wanted.append(
                exact_log(n, d)
                + each[0] * exact_log(*one)
                + each[1] * exact_log(*two)
                + each[2] * exact_log(three[1] - three[0], three[1])
            )
        assert_close(model.log_joint(x[:1])[0], wanted)
        assert_close(model.log_joint(sparse.csr_array(x[:1]))[0], wanted)
    np.testing.assert_allclose(model.posterior(x).sum(axis=1), 1)


def test_a_million_words() -> None:
    """Word k occurs k mod 3 times in the text of class 0, and once in that of class 1 if k is even."""
    k = np.arange(MILLION)
    x = sparse.csr_array(np.stack([k % 3, (k % 2 == 0).astype(np.int64)]).astype(np.float64))
    model = nb.fit(x, ["a", "b"], columns=nb.Multinomial(alpha=0.5, unseen="smooth"), n_jobs=2, tune=False)
    ask = sparse.csr_array(np.full((1, MILLION), 2.0))
    with mpmath.workdps(40):
        wanted = []
        for counts in ((k % 3).tolist(), (k % 2 == 0).astype(int).tolist()):
            total = sum(counts) + MILLION / 2
            wanted.append(
                exact_log(1, 2) + sum(2 * counts.count(n) * exact_log(n + 0.5, total) for n in sorted(set(counts)))
            )
        assert_close(model.log_joint(ask)[0], wanted)
    np.testing.assert_allclose(model.posterior(ask).sum(axis=1), 1)


def test_a_million_numbers() -> None:
    """Column k has the values 0, k mod 3 + 1 in class 0, and 5, 7 in class 1; scored at 1."""
    k = np.arange(MILLION) % 3 + 1.0
    zero = np.zeros(MILLION)
    model = nb.fit(np.stack([zero, k, zero + 5, zero + 7]), [0, 0, 1, 1], columns="gaussian", n_jobs=2, tune=False)
    with mpmath.workdps(40):
        wanted = [exact_log(1, 2), exact_log(1, 2)]
        for top in (1, 2, 3):
            columns = int((k == top).sum())
            for c, (mean, variance) in enumerate([(top / 2, top * top / 4), (6, 1)]):
                density = (mpmath.log(2 * mpmath.pi * variance) + (1 - mpmath.mpf(mean)) ** 2 / variance) / 2
                wanted[c] -= columns * density
        assert_close(model.log_joint(zero[None, :] + 1)[0], wanted)
    np.testing.assert_allclose(model.posterior(zero[None, :]).sum(axis=1), 1)
