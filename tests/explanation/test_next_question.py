"""The next question equals an enumeration of all values that shares no code with it."""

from __future__ import annotations

from math import exp, fsum, lgamma, log, pi
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from tests.families.test_toy_family import Geometric

import naively as nb
from naively.families.base import quantiles_of_grid
from naively.statistics import Moments

GENERATOR = np.random.default_rng(11)
N = 240
CODE = GENERATOR.integers(0, 3, N)
CLASSES = ("a", "b", "c")
LABEL = [CLASSES[c] for c in CODE]
DATA: dict[str, Any] = {
    "kind": ["xyzw"[k] for k in (CODE + GENERATOR.integers(0, 2, N)) % 4],
    "coin": (GENERATOR.random(N) < 0.2 + CODE / 4).tolist(),
    "bins": np.round(GENERATOR.normal(CODE, 1), 2).tolist(),
    "normal": GENERATOR.normal(CODE, 10.0**CODE).tolist(),  # of very different widths
    "size": np.exp(GENERATOR.normal(CODE, 1)).tolist(),
    "wait": GENERATOR.exponential(1 + CODE).tolist(),
    "visits": GENERATOR.poisson(1 + 2 * CODE).tolist(),
    "many": GENERATOR.poisson(4000 + 50 * CODE).tolist(),
    "tries": GENERATOR.geometric(0.3 + CODE / 5).tolist(),
    "words": [["tea milk", "milk jam", "jam jam"][c] for c in CODE],
}
FAMILIES = {
    "kind": nb.Categorical(),
    "coin": nb.Bernoulli(),
    "bins": nb.Binned(),
    "normal": nb.Gaussian(),
    "size": nb.LogNormal(),
    "wait": nb.Exponential(),
    "visits": nb.Poisson(),
    "many": nb.Poisson(),
    "tries": Geometric(),
    "words": nb.Text(),
}
TUNING = nb.Tuning({"a": 0.3, "b": -0.4}, {"kind": 0.5, "normal": 1.5, "visits": 0.0}, default_weight=0.7)
ASKED = [name for name in FAMILIES if name != "words"]


def by_class(name: str) -> list[list[Any]]:
    return [[x for x, c in zip(DATA[name], CODE, strict=True) if c == k] for k in range(3)]


def normal_log(x: float, mean: float, variance: float) -> float:
    return -0.5 * log(2 * pi * variance) - (x - mean) ** 2 / (2 * variance)


def mean_and_variance(numbers: list[float]) -> tuple[float, float]:
    mean = fsum(numbers) / len(numbers)
    return mean, fsum((x - mean) ** 2 for x in numbers) / len(numbers)


def log_likelihood(model: nb.Model, name: str, x: Any) -> list[float]:
    """Return log p(x | c) from the counts, by the equation of the family."""
    groups = by_class(name)
    if name == "kind":
        return [log((group.count(x) + 1) / (len(group) + 4)) for group in groups]
    if name == "coin":
        return [log((group.count(bool(x)) + 1) / (len(group) + 2)) for group in groups]
    if name == "bins":
        cuts = cuts_of(model)
        b, n_bins = sum(cut <= x for cut in cuts), len(cuts) + 1
        return [log((sum(sum(cut <= v for cut in cuts) == b for v in g) + 1) / (len(g) + n_bins)) for g in groups]
    if name == "normal":
        return [normal_log(x, *mean_and_variance(group)) for group in groups]
    if name == "size":
        return [normal_log(log(x), *mean_and_variance([log(v) for v in group])) - log(x) for group in groups]
    if name == "wait":
        mean = fsum(DATA[name]) / N
        rates = [(len(group) + 1) / (fsum(group) + mean) for group in groups]
        return [log(rate) - rate * x for rate in rates]
    if name in ("visits", "many"):
        rates = [(sum(group) + 0.5) / (len(group) + 1) for group in groups]
        return [x * log(rate) - rate - lgamma(x + 1) for rate in rates]
    q = [(len(group) + 1) / (len(group) + sum(group) + 2) for group in groups]
    return [log(p) + x * log(1 - p) for p in q]


def cuts_of(model: nb.Model) -> list[float]:
    blocks = zip(model.chosen.schema.blocks, model.parameters, strict=True)
    return next(fitted.cuts.tolist() for block, fitted in blocks if block.names == ("bins",))


def posterior(model: nb.Model, row: dict[str, Any], tuning: nb.Tuning | None) -> list[float]:
    scores = [log(len(group) / N) for group in by_class("kind")]
    for name, x in row.items():
        weight = 1.0 if tuning is None else {"kind": 0.5, "normal": 1.5, "visits": 0.0}.get(name, 0.7)
        scores = [s + weight * term for s, term in zip(scores, log_likelihood(model, name, x), strict=True)]
    if tuning is not None:
        scores = [s + b for s, b in zip(scores, (0.3, -0.4, 0.0), strict=True)]
    top = max(scores)
    total = fsum(exp(s - top) for s in scores)
    return [exp(s - top) / total for s in scores]


def entropy(p: list[float]) -> float:
    return -fsum(x * log(x) for x in p if x > 0)


def values_by_class(model: nb.Model, name: str) -> list[list[tuple[Any, float]]]:
    """Return values with p(v | c), for each class."""
    groups = by_class(name)
    z = [NormalDist().inv_cdf((k + 0.5) / 32) for k in range(32)]
    if name == "normal":
        moments = [mean_and_variance(group) for group in groups]
        return [[(mean + u * variance**0.5, 1 / 32) for u in z] for mean, variance in moments]
    if name == "size":
        moments = [mean_and_variance([log(v) for v in group]) for group in groups]
        return [[(exp(mean + u * variance**0.5), 1 / 32) for u in z] for mean, variance in moments]
    if name == "wait":
        mean = fsum(DATA[name]) / N
        rates = [(len(group) + 1) / (fsum(group) + mean) for group in groups]
        return [[(-log(1 - (k + 0.5) / 32) / rate, 1 / 32) for k in range(32)] for rate in rates]
    if name == "bins":
        edges = [-np.inf, *cuts_of(model)]
        values: list[Any] = [min(v for v in DATA["bins"] if v >= low) for low in edges]
    elif name in ("visits", "tries"):
        values = list(range(how_many(model, name)))
    else:
        values = sorted(set(DATA[name]))
    shares = [[exp(s) for s in log_likelihood(model, name, v)] for v in values]
    totals = [fsum(share[c] for share in shares) for c in range(3)]
    return [[(v, share[c] / totals[c]) for v, share in zip(values, shares, strict=True)] for c in range(3)]


def how_many(model: nb.Model, name: str) -> int:
    """Return the number of usual counts: four standard deviations, or 99.5 % of every class."""
    groups = by_class(name)
    if name == "visits":
        rate = max((sum(group) + 0.5) / (len(group) + 1) for group in groups)
        return int(np.ceil(rate + 4 * rate**0.5)) + 2
    q = [(len(group) + 1) / (len(group) + sum(group) + 2) for group in groups]
    return max(next(n for n in range(1, 999) if 1 - (1 - p) ** n >= 0.995) for p in q)


def gain(model: nb.Model, row: dict[str, Any], name: str, tuning: nb.Tuning | None) -> float:
    """Return Σ_v p(v | x) [H(C | x) − H(C | x, v)]."""
    before = posterior(model, row, tuning)
    after = {
        v: entropy(posterior(model, {**row, name: v}, tuning))
        for values in values_by_class(model, name)
        for v, _ in values
    }
    return fsum(
        p_c * share * (entropy(before) - after[v])
        for p_c, values in zip(before, values_by_class(model, name), strict=True)
        for v, share in values
    )


ROWS: list[dict[str, Any]] = [{}, {"kind": "y"}, {"coin": True, "normal": 2.5, "wait": 0.2}, {"bins": 1.0, "tries": 2}]


@pytest.mark.parametrize("tuning", [None, TUNING], ids=["plain", "tuned"])
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_equals_an_enumeration(row: dict[str, Any], tuning: nb.Tuning | None) -> None:
    model = nb.fit(DATA, LABEL, columns=FAMILIES, tune=False).with_tuning(tuning)
    answer = model.next_question(row)
    assert answer.entropy == pytest.approx(entropy(posterior(model, row, tuning)), abs=1e-12)
    gains = {question.column: question.gain for question in answer.questions}
    assert set(gains) == {name for name in ASKED if name not in row}
    for name in set(gains) - {"many"}:  # a Poisson of large counts has quantiles of its grid
        assert gains[name] == pytest.approx(gain(model, row, name, tuning), abs=1e-12), name
    assert list(gains.values()) == sorted(gains.values(), reverse=True)
    assert dict(answer.not_asked) == {"words": "it is a text"}


def test_quantiles_are_close_to_the_integral() -> None:
    model = nb.fit(DATA, LABEL, columns=FAMILIES, tune=False)
    before = posterior(model, {}, None)
    points = np.linspace(-12, 12, 20_001)  # logarithms of the size
    expected = 0.0
    for x in points.tolist():
        joint = [p * exp(s + x) for p, s in zip(before, log_likelihood(model, "size", exp(x)), strict=True)]
        after = entropy([p / fsum(joint) for p in joint])
        expected += fsum(joint) * (entropy(before) - after) * (points[1] - points[0])
    gains = {question.column: question.gain for question in model.next_question({}).questions}
    assert gains["size"] == pytest.approx(expected, rel=0.02)


def test_quantiles_of_a_grid_are_those_of_the_family() -> None:
    levels = (np.arange(32) + 0.5) / 32
    model = nb.fit({"x": GENERATOR.normal(CODE, 1)}, LABEL, columns={"x": nb.Gaussian()}, tune=False)
    [statistic], [parameters] = model.chosen.statistics, model.parameters
    assert isinstance(statistic, Moments)
    default = quantiles_of_grid(nb.Gaussian(), statistic, parameters, 0, levels)
    assert default is not None
    error = default - nb.Gaussian().quantiles(statistic, parameters, 0, levels)
    assert float(np.abs(error).max()) < 0.02


def test_quantiles_of_bins_are_those_of_samples() -> None:
    x = GENERATOR.normal(CODE, 1).round(2)
    model = nb.fit({"x": x}, LABEL, columns={"x": nb.Binned()}, tune=False)
    [statistic], [parameters], [block] = model.chosen.statistics, model.parameters, model.chosen.schema.blocks
    levels = np.array([0.05, 0.5, 0.95])
    quantiles = block.family.quantiles(statistic, parameters, 0, levels)
    assert quantiles is not None
    for c, label in enumerate(CLASSES):
        drawn = np.asarray(model.sample(20_000, of=label, seed=3)["x"])
        share = [(drawn <= q).mean() for q in quantiles[:, c]]
        assert share == pytest.approx(levels, abs=0.02)


def test_costs_change_the_order_only() -> None:
    model = nb.fit(DATA, LABEL, columns=FAMILIES, tune=False)
    plain = model.next_question({"coin": True})
    best = plain.questions[0]
    dear = model.next_question({"coin": True}, costs={best.column: 1e6})
    assert dear.questions[-1].column == best.column
    assert dear.questions[-1].gain == best.gain
    assert dear.questions[-1].cost == 1e6
    for costs in ({"nothing": 1.0}, {"kind": 0.0}, {"kind": float("nan")}):
        with pytest.raises(nb.InputError, match=next(iter(costs))):
            model.next_question({}, costs=costs)


def test_a_missing_column_is_a_missing_value() -> None:
    model = nb.fit(DATA, LABEL, columns=FAMILIES, tune=False)
    expected = model.next_question({"kind": "y"})
    given = {name: [None] for name in DATA} | {"kind": ["y"]}
    assert model.next_question(given) == expected
    with pytest.raises(nb.InputError, match="one row"):
        model.next_question({"kind": ["x", "y"]})


def test_an_array_with_a_missing_number() -> None:
    X = np.stack([DATA["bins"], DATA["normal"]], axis=1)
    model = nb.fit(X, LABEL, columns={"x0": nb.Binned(), "x1": nb.Gaussian()}, tune=False)
    named = nb.fit({"x0": X[:, 0], "x1": X[:, 1]}, LABEL, columns={"x0": nb.Binned(), "x1": nb.Gaussian()}, tune=False)
    answer = model.next_question(np.array([[1.0, np.nan]]))
    assert [question.column for question in answer.questions] == ["x1"]
    assert answer.questions == named.next_question({"x0": 1.0}).questions


def test_joint_columns_and_dropped_ones_are_named() -> None:
    columns = {("tea", "milk"): nb.Multinomial()}
    table = {"tea": DATA["visits"], "milk": DATA["tries"], "one": ["same"] * N, "kind": DATA["kind"]}
    model = nb.fit(table, LABEL, columns=columns, tune=False)
    answer = model.next_question({})
    assert [question.column for question in answer.questions] == ["kind"]
    assert answer.not_asked["tea"] == "Multinomial has no list of its values"
    assert answer.not_asked["one"].startswith("not used: ")


def test_a_missing_value_that_is_evidence() -> None:
    kind = [None if c == 2 and i % 2 else x for i, (x, c) in enumerate(zip(DATA["kind"], CODE, strict=True))]
    model = nb.fit({"kind": kind, "coin": DATA["coin"]}, LABEL, columns={"kind": nb.Categorical(missing="value")})
    absent, missing = model.next_question({}), model.next_question({"kind": None, "coin": None})
    assert {question.column for question in absent.questions} == {"kind", "coin"}
    assert missing.entropy == pytest.approx(entropy(model.posterior({"kind": [None], "coin": [None]})[0].tolist()))
    assert absent.entropy != missing.entropy


def test_dates_and_plain_data() -> None:
    import datetime

    day = [datetime.date(2020, 1, 1) + datetime.timedelta(int(d)) for d in GENERATOR.normal(100 * CODE, 30)]
    model = nb.fit({"day": day, "coin": DATA["coin"]}, LABEL)
    answer = model.next_question({"coin": False})
    assert answer.questions[0].column == "day"
    assert answer.questions[0].gain > 0.1
    assert answer.to_dict()["questions"][0].keys() == {"column", "gain", "cost"}
