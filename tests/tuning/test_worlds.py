"""A tuned model is never worse than the textbook by more than chance, whatever classes, units and copies are like.

Nor is a model with tables of columns worse than without them, by the same rule.

The rule of the sweep, fixed beforehand. A kind of world is *suspect* if on the first seeds the mean difference of the
log-loss on fresh rows, tuned less textbook, is above 0.001 nats and above the 95 % quantile of Student's t. A suspect
is worse if on 24 other seeds the difference is above 0.001 nats and above the 99.9 % quantile. No world may be worse.
A tenth of the kinds are tried with few seeds unless NAIVELY_SOAK=1.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
from scipy import stats
from tests.support.worlds import World, compare_tables, compare_with_textbook, every_world, mean_loss

import naively

SOAK = bool(os.environ.get("NAIVELY_SOAK"))
WORLDS = list(every_world()) if SOAK else list(every_world())[3::11]
FIRST_SEEDS = range(8) if SOAK else range(4)
MIN_DIFFERENCE_NATS = 0.001
Comparison = Callable[
    [World, int], tuple[float, ...]
]  # the log-loss of what is tested, and of what it is compared with
RANDOM = np.random.default_rng(3)


def is_worse(compare: Comparison, world: World, seeds: Iterable[int], confidence: float) -> bool:
    losses = np.array([compare(world, seed)[:2] for seed in seeds])
    difference = losses[:, 0] - losses[:, 1]
    error = difference.std(ddof=1) / np.sqrt(len(difference))
    quantile = stats.t.ppf(confidence, len(difference) - 1)
    return bool(difference.mean() > max(MIN_DIFFERENCE_NATS, quantile * error))


def is_worse_on_other_seeds(compare: Comparison, world: World) -> bool:
    is_suspect = is_worse(compare, world, FIRST_SEEDS, 0.95)
    return is_suspect and is_worse(compare, world, range(1000, 1024), 0.999)


@pytest.mark.parametrize("world", WORLDS, ids=str)
def test_tuning_is_not_worse_than_the_textbook(world: World) -> None:
    assert not is_worse_on_other_seeds(compare_with_textbook, world)


@pytest.mark.parametrize("world", [world for world in WORLDS if world.type != "text"], ids=str)
def test_tables_are_not_worse_than_the_columns_alone(world: World) -> None:
    assert not is_worse_on_other_seeds(compare_tables, world)


def titanic_like(n: int) -> tuple[dict[str, Any], np.ndarray[Any, Any]]:
    y = RANDOM.random(n) < 0.4
    table = {
        "sex": np.where(RANDOM.random(n) < np.where(y, 0.7, 0.2), "f", "m"),
        "fare": np.exp(RANDOM.normal(y, 1.0)),
        "age": np.round(RANDOM.normal(30, 12, n)),
        "class": RANDOM.integers(1, 4, n).astype(str),
    }
    return table, y


@pytest.mark.parametrize("n", [40, 300])
def test_names_of_classes_do_not_matter(n: int) -> None:
    table, y = titanic_like(n)
    reports = []
    for no, yes in [("no", "yes"), ("yes", "no"), ("a", "b"), ("0", "1"), ("zz", "aaaa")]:
        model = naively.fit(table, np.where(y, yes, no))
        assert model.tuning is not None
        reports.append([model.tuning.report["log_loss"], *(model.posterior(table)[:, model.classes.index(yes)])])
    np.testing.assert_allclose(reports, np.repeat(reports[:1], 5, axis=0), rtol=1e-6)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("unit", [1000.0, 2.54, 1e-6])
def test_units_of_a_small_table_do_not_matter(seed: int, unit: float) -> None:
    """Families, weights and folds are those of the ranks, so the posterior is the same in any unit."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, 100)
    table = {"x": random.normal(size=100) + y, "z": random.normal(size=100), "c": random.choice(list("uvw"), 100)}
    changed = table | {"x": unit * table["x"]}
    one, other = naively.fit(table, y), naively.fit(changed, y)
    np.testing.assert_allclose(one.posterior(table), other.posterior(changed), atol=1e-4)
    x = np.stack([table["x"], table["z"]], axis=1)
    one, other = naively.fit(x, y), naively.fit(x * [unit, 1.0], y)
    np.testing.assert_allclose(one.posterior(x), other.posterior(x * [unit, 1.0]), atol=1e-4)


@pytest.mark.parametrize("n", [40, 100, 250])
@pytest.mark.parametrize("unit", [1000.0, 2.54, 1e-3])
def test_units_of_few_values_do_not_matter(n: int, unit: float) -> None:
    """Grades, counts, halves and yes-or-no: in another unit they are not whole, and as much evidence."""
    random = np.random.default_rng(n)
    y = random.integers(0, 2, n)
    table = {
        "grade": random.integers(1, 4, n) + y,
        "count": random.poisson(1 + y),
        "half": random.integers(2, 7, n) / 2,
        "below zero": np.round(random.normal(y)),
        "yes": (random.random(n) < 0.3 + 0.4 * y).astype(float),
    }
    changed = {name: unit * x for name, x in table.items()}
    one, other = naively.fit(table, y), naively.fit(changed, y)
    assert one.chosen.families() == other.chosen.families()
    np.testing.assert_allclose(one.posterior(table), other.posterior(changed), atol=1e-4)


def test_grades_are_gaussian_if_that_is_better() -> None:
    """Neighbours among grades are alike; categories do not know that."""

    def rows(n: int, random: np.random.Generator) -> tuple[dict[str, Any], Any]:
        y = random.integers(0, 2, n)
        return {f"grade{j}": np.clip(np.round(random.normal(4 + 2 * y, 1.5)), 0, 9) for j in range(3)}, y

    differences = []
    for seed in range(8):
        random = np.random.default_rng(seed)
        (x, y), (fresh, truth) = rows(120, random), rows(2000, random)
        model, categories = naively.fit(x, y), naively.fit(x, y, columns=dict.fromkeys(x, "categorical"))
        differences.append(mean_loss(model, fresh, truth) - mean_loss(categories, fresh, truth))
    assert np.mean(differences) < -0.01


@pytest.mark.parametrize("n_codes", [3, 8])
@pytest.mark.parametrize("seed", range(4))
def test_codes_stay_categories(n_codes: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, 200)
    edges = np.cumsum(random.dirichlet(np.ones(n_codes), (3, 2)), axis=2)[:, :, :-1]
    table = {f"code{j}": (random.random(200)[:, None] > edges[j][y]).sum(axis=1) for j in range(3)}
    assert all("Categorical" in family for family in naively.fit(table, y).chosen.families().values())


@pytest.mark.parametrize("unit", [1000.0, 1e-6, 0.3])
@pytest.mark.parametrize("decimals", [1, 9])
def test_units_do_not_matter(unit: float, decimals: int) -> None:
    y = RANDOM.integers(0, 2, 500)
    x = np.round(RANDOM.normal(y, 1.0), decimals)
    one, other = (naively.fit({"x": u * x, "again": u * x}, y, columns="gaussian") for u in (1.0, unit))
    difference = one.posterior({"x": x, "again": x}) - other.posterior({"x": unit * x, "again": unit * x})
    assert abs(difference).mean() < 0.02  # the folds differ


@pytest.mark.parametrize("copies", [2, 10])
def test_a_copied_corpus_keeps_its_tuning(copies: int) -> None:
    words = np.array([f"w{k}" for k in range(200)])
    y = RANDOM.integers(0, 2, 300)
    texts = [" ".join(RANDOM.choice(words[60 * c : 60 * c + 140], 12)) for c in y]
    once = naively.fit(texts, y).tuning
    with pytest.warns(naively.TuningWarning, match=f"multiples of up to {copies}"):
        again = naively.fit(texts * copies, np.tile(y, copies)).tuning
    assert once is not None
    assert again is not None
    assert again.rows == once.rows
    assert again.report["log_loss"] == pytest.approx(once.report["log_loss"], abs=0.1)
    for key in once.weights:
        assert again.weights[key] == pytest.approx(once.weights[key], rel=0.5)


def test_a_table_of_frequencies_is_its_rows() -> None:
    """Two columns of few values: kinds of rows with their numbers, by weight= or repeated."""
    table = {"a": np.repeat([True, False], 6), "b": np.tile(["p", "q", "r"], 4)}
    y, n = np.tile([0, 0, 0, 1, 1, 1], 2), np.array([310, 20, 55, 41, 70, 90, 15, 180, 33, 260, 97, 12])
    weighted = naively.fit(table, y, weight=n).tuning
    repeated = naively.fit({name: np.repeat(column, n) for name, column in table.items()}, np.repeat(y, n)).tuning
    assert weighted is not None
    assert repeated is not None
    assert weighted.report == pytest.approx(repeated.report)
    assert weighted.weights == pytest.approx(repeated.weights)


@pytest.mark.parametrize("seed", range(8))
def test_a_table_of_frequencies_of_many_values_is_its_rows(seed: int) -> None:
    """A value of one row of weight 9 is as frequent as one of nine rows: the same values share one cell."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, 300)
    kinds = np.stack([np.minimum(random.geometric(0.03, 300) + 7 * y, 200), random.integers(0, 3, 300) + y, y])
    once, n = np.unique(kinds, axis=1, return_counts=True)
    table, weighted = ({"x": [f"v{k}" for k in part[0]], "z": [f"u{k}" for k in part[1]]} for part in (kinds, once))
    one, other = naively.fit(table, y), naively.fit(weighted, once[2], weight=n)
    assert one.chosen.families() == other.chosen.families()
    np.testing.assert_allclose(other.posterior(weighted), one.posterior(weighted), atol=1e-6)


@pytest.mark.parametrize("n_columns", [1, 20])
def test_equal_columns_of_few_kinds_keep_their_evidence(n_columns: int) -> None:
    y = RANDOM.random(20_000) < 0.5
    x = RANDOM.random(20_000) < np.where(y, 0.9, 0.1)
    model = naively.fit({f"x{j}": x for j in range(n_columns)}, y)
    assert mean_loss(model, {f"x{j}": x for j in range(n_columns)}, y) < 0.34


@pytest.mark.parametrize("ngrams", [(1, 1), (1, 2)])
def test_mails_of_shared_campaigns_keep_their_words(ngrams: tuple[int, int]) -> None:
    """Many mails are sent several times: they are neither copies of a table nor without evidence."""
    words = np.array([f"w{k}" for k in range(3000)])

    def mails(n: int, campaigns: list[str], c: int) -> list[str]:
        own = [" ".join(RANDOM.choice(words[c * 800 : c * 800 + 2200], 40)) for _ in range(n // 2)]
        return own + [campaigns[k] for k in RANDOM.integers(0, len(campaigns), n - n // 2)]

    campaigns = [[" ".join(RANDOM.choice(words, 60)) for _ in range(25)] for _ in range(2)]
    texts = [text for c in range(2) for text in mails(400, campaigns[c], c)]
    fresh = [text for c in range(2) for text in mails(400, campaigns[c], c)]
    y = np.repeat(["ham", "spam"], 400)
    model = naively.fit({"mail": texts}, y, columns=naively.Text(ngrams=ngrams))
    assert mean_loss(model, {"mail": fresh}, y) < 0.2
    assert model.tuning is not None
    assert model.tuning.report["log_loss"] == pytest.approx(mean_loss(model, {"mail": fresh}, y), abs=0.08)


@pytest.mark.parametrize("n", [60, 1000])
def test_several_texts_are_not_overconfident(n: int) -> None:
    """Three texts that repeat each other, with words that come in bursts: the textbook counts everything thrice."""
    words = np.array([f"w{k}" for k in range(400)])
    shares = RANDOM.dirichlet(np.full(400, 0.5), 2)
    shares[1] = 0.7 * shares[0] + 0.3 * shares[1]

    def rows(n: int) -> tuple[dict[str, list[str]], Any]:
        y = RANDOM.integers(0, 2, n)
        texts = []
        for c in y:
            topic = RANDOM.dirichlet(20 * shares[c] + 0.002)  # a text has words of its own
            texts.append([" ".join(RANDOM.choice(words, k, p=topic)) for k in (5, 80, 30)])
        return {name: [text[j] for text in texts] for j, name in enumerate(("subject", "body", "foot"))}, y

    (x, y), (fresh, truth) = rows(n), rows(2000)
    model = naively.fit(x, y, columns={name: naively.Text() for name in x})
    held_out = mean_loss(model, fresh, truth)
    assert held_out < mean_loss(model.with_tuning(None), fresh, truth)
    assert model.tuning is not None
    assert model.tuning.report["log_loss"] == pytest.approx(held_out, abs=0.2 if n == 60 else 0.06)


@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("seed", range(8))
def test_few_numbers_of_a_class_are_no_certainty(n_classes: int, seed: int) -> None:
    """Below 30 rows numbers are Gaussian; two nearly equal ones must not cost hundreds of nats on fresh rows."""
    random = np.random.default_rng(seed)
    centre = random.normal(0, 1.5, n_classes)
    y = np.resize(np.arange(n_classes), 2 * n_classes + 3)
    truth = random.integers(0, n_classes, 500)
    model = naively.fit({"x": random.normal(centre[y], 1.0)}, y, tune=False)
    assert mean_loss(model, {"x": random.normal(centre[truth], 1.0)}, truth) < np.log(n_classes) + 1.5


@pytest.mark.parametrize("weight", [2.0, 10.0, 3.5])
def test_weighted_numbers_of_many_values(weight: float) -> None:
    """Bins of the other folds may cut through a key of the histogram."""
    y = RANDOM.integers(0, 2, 20_000)
    x = RANDOM.normal(y, 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", naively.TuningWarning)  # whole weights look like copies
        weighted = naively.fit({"x": x}, y, weight=np.full(20_000, weight)).tuning
    plain = naively.fit({"x": x}, y).tuning
    assert weighted is not None
    assert plain is not None
    assert weighted.report["log_loss"] == pytest.approx(plain.report["log_loss"], abs=0.02)


@pytest.mark.parametrize("weights", [(0.001, 1000.0), (0.5, 1000.0), (0.3, 0.7)])
@pytest.mark.parametrize("n", [25, 200])
@pytest.mark.parametrize("copies", [1, 2])
def test_weights_with_fractions_leave_with_their_rows(weights: tuple[float, float], n: int, copies: int) -> None:
    """They are not frequencies: a row of weight 1000 next to one of 0.5 is not 1000 rows, of which one could leave."""
    worlds, differences = (np.random.default_rng([5, seed]) for seed in range(6)), []
    for random in worlds:
        y, truth = (random.integers(0, 2, k) for k in (n, 1000))
        x, fresh = random.normal(y, 1.0), random.normal(truth, 1.0)
        weight = np.tile(random.choice(weights, n), copies)
        with warnings.catch_warnings(record=True) as reported:
            warnings.simplefilter("always")
            model = naively.fit({"x": np.tile(x, copies)}, np.tile(y, copies), weight=weight)
        assert [w.category for w in reported] == [naively.TuningWarning] * (copies > 1)
        tuned, textbook = (mean_loss(m, {"x": fresh}, truth) for m in (model, model.with_tuning(None)))
        differences.append(tuned - textbook)
    assert np.mean(differences) < 0.02
