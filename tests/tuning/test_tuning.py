"""Tuning: the evidence it looks at is leave-one-out, its choices are honest, and order and weights do not matter."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

import naively
from naively._kernels.text import Strings
from naively.data.labelled import read_labelled
from naively.data.read import read
from naively.data.table import MatrixTable
from naively.families import Complement, Multinomial, Text
from naively.model.calibrate import EvidenceKey, Tuning
from naively.tuning.loo_scores import LooScorer
from naively.tuning.sample import Sampler
from naively.tuning.solver import OFFSET_PENALTY, Problem, log_softmax, one_hot, standard_error_of_sum
from naively.tuning.tune import cross_fitted, tune_and_predict, tune_on, tuned

RANDOM = np.random.default_rng(11)


def sampled(model: naively.Model, x: Any, y: Any, limit: int = 10_000, weight: Any = None) -> Any:
    rows = read_labelled(x, y, weight)
    sampler = Sampler(limit)
    sampler.add(rows.table, rows.classes, rows.label, rows.weight)
    return sampler.sample(model.classes)


@given(st.lists(st.tuples(st.text("abcd ", max_size=12), st.integers(0, 2)), min_size=4, max_size=14))
@pytest.mark.parametrize("weight", [None, [0.5, 2.0, 1.0], [3.0, 1.0]])
@pytest.mark.parametrize(
    ("event", "binary"), [("multinomial", False), ("multinomial", True), ("complement", False), ("bernoulli", True)]
)
def test_words_are_left_out_as_the_family_does(
    event: Any, binary: bool, weight: list[float] | None, rows: list[tuple[str, int]]
) -> None:
    texts, label = [" ".join(text) for text, _ in rows], [c for _, c in rows]
    weights = None if weight is None else np.resize(weight, len(rows))
    family = Text(model=event, binary=binary and event != "bernoulli", alpha=0.5)
    model = naively.fit(texts, label, columns=family, weight=weights, tune=False)
    sample = sampled(model, texts, label, weight=weights)
    scorer = LooScorer(model, sample)
    is_usable = scorer.is_usable
    (block,) = model.schema.blocks
    view: Any = scorer.view(block)
    words = family.word_scorer(view, cast(Any, model.statistics[0]), scorer.leaving)
    evidence = words.evidence(event, binary, 0.5)
    np.testing.assert_allclose(evidence[is_usable], scorer.evidence(block)[0][is_usable], rtol=1e-9, atol=1e-9)
    if event != "bernoulli":
        length = np.zeros(len(sample))
        np.testing.assert_array_equal(scorer.evidence(block, length), scorer.evidence(block))
        np.testing.assert_array_equal(length, words.length(family.binary))


@pytest.mark.parametrize("family", [Text(), Text(binary=True, alpha=0.1)])
def test_tuning_and_predictions_together_are_those_of_each(family: Text) -> None:
    label = RANDOM.integers(0, 2, 700).tolist()
    texts = [" ".join(RANDOM.choice(list("abcdefgh"[c:] * 300), 400)) for c in label]  # more words than are searched
    model = naively.fit(texts, label, columns=family, tune=False)
    sample = sampled(model, texts, label)
    tuning, predictions = tune_and_predict(model, sample)
    assert tuning == tune_on(model, sample)
    for together, alone in zip(predictions, cross_fitted(model.with_tuning(tuning), sample), strict=True):
        np.testing.assert_array_equal(together, alone)


def test_words_that_are_cut_off_without_a_fold_are_neither_evidence_nor_length() -> None:
    label = (np.arange(200) % 2).tolist()
    texts = [" ".join([*RANDOM.choice(list("abcdef"[c:]), 6), f"word{RANDOM.integers(90)}"]) for c in label]
    family = Text(binary=True, alpha=0.1, min_count=3)
    model = naively.fit(texts, label, columns=family, tune=False)
    scorer = LooScorer(model, sampled(model, texts, label))
    (block,) = model.schema.blocks
    words = scorer.word_scorer(block)
    length, sample = np.zeros(len(scorer.sample)), scorer.sample
    np.testing.assert_allclose(words.evidence("multinomial", True, 0.1), scorer.evidence(block, length)[0], atol=1e-9)
    np.testing.assert_array_equal(length, words.length(True))
    (column,) = sample.table.texts([0]).columns
    every = [str(text) for text in (column.to_list() if isinstance(column, Strings) else column)]
    for fold in range(len(sample.ends) - 1):
        span = range(sample.ends[fold], sample.ends[fold + 1])
        others = Counter(w for i, text in enumerate(every) if i not in span for w in text.split())
        for i in span:
            assert length[i] == sum(others[w] >= 3 for w in set(every[i].split()))


def test_given_length_exponents_are_kept() -> None:
    label = RANDOM.integers(0, 2, 300).tolist()
    texts = [" ".join(RANDOM.choice(list("abcdefgh"[c:]), RANDOM.integers(1, 40))) for c in label]
    model = naively.fit({"x": texts}, label, columns={"x": Text(binary=True, alpha=0.1)}, tune=False)
    tuning, _ = tune_and_predict(model, sampled(model, {"x": texts}, label), Tuning(exponents={"x": 0.75}))
    assert list(tuning.exponents.values()) == [0.75]
    assert tuning.weights


@pytest.mark.parametrize("family", [Multinomial(alpha=0.25), Complement(alpha=0.25)])
@pytest.mark.parametrize("framed", [False, True])
def test_counts_are_left_out_as_the_family_does(family: Any, framed: bool) -> None:
    x = RANDOM.poisson(1.0, (40, 6))
    data: Any = {f"w{j}": x[:, j] for j in range(6)} if framed else x
    label = np.arange(40) % 3
    columns = {tuple(data): family} if framed else family
    model = naively.fit(data, label, columns=columns, tune=False)
    sample = sampled(model, data, label)
    scorer = LooScorer(model, sample)
    (block,) = model.schema.blocks
    view: Any = scorer.view(block)
    words = family.word_scorer(view, cast(Any, model.statistics[0]), scorer.leaving)
    event = "complement" if isinstance(family, Complement) else "multinomial"
    np.testing.assert_allclose(words.evidence(event, False, 0.25), scorer.evidence(block)[0], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_solution_is_the_minimum(n_classes: int) -> None:
    n, j = 80, 3
    evidence, label = RANDOM.normal(size=(j, n, n_classes)), RANDOM.integers(0, n_classes, n)
    evidence[0, np.arange(n), label] += 1.0
    base, weight = np.log(np.full((n, n_classes), 1 / n_classes)), RANDOM.random(n) + 0.5
    centre, strength = np.full(j, 0.7), np.array([0.5, 1.0, 2.0])
    problem = Problem(base, evidence, one_hot(label, n_classes), weight)
    solution = problem.solve(centre, strength)

    def objective(x: Any) -> float:
        b, w = x[:n_classes], x[n_classes:]
        log_posterior = log_softmax(base + b + np.tensordot(w, evidence, 1))
        loss = -weight @ log_posterior[np.arange(n), label]
        rho = OFFSET_PENALTY * (2 / n_classes) ** 0.5
        return float(loss + 0.5 * rho * b @ b + 0.5 * strength @ (w - centre) ** 2)

    bounds: Any = [(None, None)] * n_classes + [(0, 50)] * j
    oracle: Any = minimize(objective, np.ones(n_classes + j), method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-14})
    np.testing.assert_allclose(solution.weight, oracle.x[n_classes:], atol=2e-4)
    assert solution.objective <= oracle.fun + 1e-8


def frame(n: int) -> tuple[dict[str, Any], Any]:
    g = np.random.default_rng(n)
    y = g.integers(0, 2, n)
    x = g.normal(size=n) + y
    texts = [" ".join(g.choice(["tea", "milk"] if c else ["milk", "salt"], 3)) + f" w{i % 37}" for i, c in enumerate(y)]
    table = {"x": x, "again": x + 1e-3, "kind": g.choice(["p", "q", "r"], n), "note": texts}
    return table, y


def same(a: naively.Tuning, b: naively.Tuning) -> None:
    assert a.families == b.families
    assert a.exponents == b.exponents
    assert a.weights.keys() == b.weights.keys()
    np.testing.assert_allclose([a.weights[k] for k in a.weights], [b.weights[k] for k in a.weights], atol=1e-9)
    np.testing.assert_allclose(list(a.offsets.values()), list(b.offsets.values()), atol=1e-9)


def test_order_threads_containers_and_weights_do_not_matter() -> None:
    import pandas as pd

    table, y = frame(400)
    one = naively.fit(table, y, n_jobs=1).tuning
    order = RANDOM.permutation(400)
    shuffled = {name: [column[i] for i in order.tolist()] for name, column in table.items()}
    two = naively.fit(pd.DataFrame(shuffled), y[order], n_jobs=2).tuning
    assert one is not None
    assert two is not None
    same(one, two)
    del table["note"]  # repeated notes would be read as values
    weight = RANDOM.integers(1, 4, 400)
    weighted = naively.fit(table, y, weight=weight).tuning
    many = {name: np.repeat(np.asarray(column), weight) for name, column in table.items()}
    repeated = naively.fit(many, np.repeat(y, weight)).tuning
    assert weighted is not None
    assert repeated is not None
    same(weighted, repeated)


def test_batches_do_not_matter() -> None:
    import pyarrow as pa

    table, y = frame(300)
    full_table = pa.table({**table, "y": y})
    one = naively.fit(iter([full_table]), "y").tuning
    two = naively.fit(iter(full_table.to_batches(max_chunksize=17)), "y").tuning
    three = naively.fit(table, y).tuning
    for other in (two, three):
        assert one is not None
        assert other is not None
        same(one, other)


def test_a_column_given_twice_counts_less() -> None:
    table, y = frame(2000)
    model = naively.fit({"x": table["x"], "again": table["again"]}, y)
    assert model.tuning is not None
    assert 0.3 < model.tuning.weights[EvidenceKey(("x",))] < 0.75
    fresh, truth = frame(4001)
    p = model.posterior({"x": fresh["x"], "again": fresh["again"]})
    plain = model.with_tuning(None).posterior({"x": fresh["x"], "again": fresh["again"]})
    loss, textbook = (-np.log(q[np.arange(len(truth)), truth]).mean() for q in (p, plain))
    assert loss < textbook - 0.02
    assert abs(model.tuning.report["log_loss"] - loss) < 0.03


@pytest.mark.parametrize("seed", range(10))
def test_noise_stays_noise(seed: int) -> None:
    g = np.random.default_rng(seed)
    x, y = g.normal(size=(50, 600)), g.integers(0, 2, 50)
    model = naively.fit(x, y)
    share = np.bincount(y) / 50
    fresh, truth = g.normal(size=(400, 600)), g.integers(0, 2, 400)
    p = model.posterior(fresh)
    assert abs(-np.log(p[np.arange(400), truth] / share[truth]).mean()) < 0.02
    assert model.tuning is not None
    assert abs(model.tuning.report["log_loss"] + share @ np.log(share)) < 0.02


@pytest.mark.parametrize("strength", [0.15, 0.3, 0.6])
@pytest.mark.parametrize("seed", range(4))
def test_few_kinds_of_rows_that_come_often(strength: float, seed: int) -> None:
    """Three binary columns, 1,000 rows: at most 16 different ones. As good as the textbook, and known to be."""
    random = np.random.default_rng(seed)
    label = random.random(11_000) < 0.4
    x = {f"c{j}": random.random(11_000) < np.where(label, 0.5 + strength / (j + 1.2), 0.4) for j in range(3)}
    seen, fresh = slice(1000), slice(1000, None)
    losses = []
    for tune in (False, True):
        model = naively.fit({name: column[seen] for name, column in x.items()}, label[seen], tune=tune)
        posterior = model.posterior({name: column[fresh] for name, column in x.items()})
        losses.append(-np.log(posterior[np.arange(10_000), label[fresh].astype(int)]).mean())
    assert losses[1] < losses[0] + 0.005
    assert model.tuning is not None
    assert model.tuning.report["log_loss"] == pytest.approx(losses[1], abs=0.04)


def test_copies_are_one_observation_and_frequent_rows_many() -> None:
    """Rows by themselves err as they do; a row of weight 9 as nine, or as one if it leaves as a whole."""
    gain, ones = RANDOM.normal(size=50), np.ones(50)
    assert standard_error_of_sum(gain, ones, ones) == pytest.approx(np.sqrt(50) * gain.std())
    often = np.full(50, 9.0)
    assert standard_error_of_sum(9 * gain, often, ones) == pytest.approx(np.sqrt(450) * gain.std())
    assert standard_error_of_sum(9 * gain, often, often) == pytest.approx(9 * np.sqrt(50) * gain.std())


def before_floor(model: naively.Model) -> naively.Model:
    assert model.tuning is not None
    return model.with_tuning(replace(model.tuning, floor=0.0))


def test_the_prior_stays_the_users() -> None:
    table, y = frame(1000)
    rare = np.flatnonzero((y == 0) | (np.arange(1000) % 20 == 0))
    rare_rows = {name: [column[i] for i in rare.tolist()] for name, column in table.items()}
    model, empirical = (
        before_floor(naively.fit(rare_rows, y[rare], prior=prior)) for prior in ("uniform", "empirical")
    )
    shift = model.log_odds(table, of=1) - empirical.log_odds(table, of=1)
    n = np.bincount(y[rare])
    np.testing.assert_allclose(shift, np.log(n[0] / n[1]), rtol=1e-9)


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (RANDOM.normal(size=(5, 3)), [0, 1, 0, 1, 1]),
        (RANDOM.normal(size=(5, 3)), [1] * 5),
        (RANDOM.normal(size=(1, 3)), [1]),
        (RANDOM.normal(size=(2, 3)), [0, 1]),
        (RANDOM.normal(size=(41, 3)), [0] * 20 + [1] * 20 + [2]),
        (RANDOM.normal(size=(600, 2)), (np.arange(600) % 200).astype(str)),
        pytest.param(
            {"a": ["x", "y"] * 50, "b": RANDOM.normal(size=100)},
            ["x", "y"] * 50,
            marks=pytest.mark.filterwarnings("ignore:'a' alone predicts the class almost perfectly"),
        ),
        (["", "tea", "milk", "", "tea tea"], [0, 1, 0, 1, 1]),
        (np.zeros((10, 2)), [0, 1] * 5),
        ({"gaps": [None] * 10, "x": RANDOM.normal(size=10)}, [0, 1] * 5),
    ],
)
def test_odd_data_gets_a_sane_answer(x: Any, y: Any) -> None:
    model = naively.fit(x, y)
    p = model.posterior(x)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0)


@pytest.mark.filterwarnings("ignore:.* alone predicts? the class almost perfectly")
def test_a_column_that_is_the_label_is_detected() -> None:
    n = 300
    y = np.arange(n) % 3
    model = naively.fit({"label": y.astype(str), "noise": RANDOM.normal(size=n)}, y)
    assert (model.predict({"label": ["0", "1", "2"], "noise": [0.0] * 3}) == [0, 1, 2]).all()


@settings(max_examples=20)
@given(st.integers(1, 60), st.integers(1, 7))
def test_samplers_keep_the_smallest_hashes(limit: int, parts: int) -> None:
    x, y = np.round(np.random.default_rng(3).normal(size=(200, 2)), 1), np.arange(200) % 2
    model = naively.fit(x, y, columns="gaussian", tune=False)
    from_arrays = sampled(model, x, y, limit)
    sampler = Sampler(limit)
    for rows in np.array_split(np.arange(200)[::-1], parts):
        sampler.add(read(x[rows]), (0, 1), y[rows], None)
    again = sampler.sample((0, 1))
    assert isinstance(again.table, MatrixTable)
    np.testing.assert_array_equal(from_arrays.table.matrix, np.asarray(again.table.matrix))
    np.testing.assert_array_equal(from_arrays.rows, again.rows)
    assert from_arrays.ends == again.ends


def test_what_is_given_stays() -> None:
    table, y = frame(400)
    columns = {"x": naively.Gaussian(), "kind": naively.Categorical(alpha=3.0), "note": Text(alpha=0.2)}
    model = naively.fit(table, y, columns=columns)
    assert model.tuning is not None
    assert set(model.tuning.families) <= {"again"}
    assert tuned(model, sampled(model, table, y)).weights.keys() == model.tuning.weights.keys()


def test_evaluation_of_the_training_rows_is_honest() -> None:
    table, y = frame(1500)
    del table["note"]  # values that few rows have, so that folds know less than the whole
    model = naively.fit(table, y)
    fresh, truth = frame(3001)
    estimate, true = model.evaluate_training(table, y), model.evaluate(fresh, truth)
    assert abs(estimate.log_loss.value - true.log_loss.value) < 0.05
    assert abs(estimate.accuracy.value - true.accuracy.value) < 0.05
    groups = np.arange(1500) // 10
    grouped = model.evaluate_training(table, y, groups=groups)
    assert abs(grouped.log_loss.value - true.log_loss.value) < 0.06
    timed = model.evaluate_training(table, y, time=np.arange(1500))
    assert abs(timed.log_loss.value - true.log_loss.value) < 0.08
    with pytest.raises(naively.InputError, match="not both"):
        model.evaluate_training(table, y, groups=groups, time=groups)


@pytest.mark.filterwarnings("ignore:.* alone predicts? the class almost perfectly")
def test_groups_that_share_their_noise() -> None:
    """Rows of a group are copies: taken as independent they look easy, by groups they do not."""
    g = np.random.default_rng(5)
    x, y = (
        np.repeat(g.normal(size=(60, 4)), 20, axis=0) + 1e-3 * g.normal(size=(1200, 4)),
        np.repeat(np.arange(60) % 2, 20),
    )
    model = naively.fit(x, y)
    alone, grouped = model.evaluate_training(x, y), model.evaluate_training(x, y, groups=np.repeat(np.arange(60), 20))
    assert grouped.log_loss.value > alone.log_loss.value


def test_tune_again_and_on_foreign_rows() -> None:
    table, y = frame(400)
    model = naively.fit(table, y)
    again = model.with_tuning(None).tune(table, y)
    assert again.tuning == model.tuning
    other, labels = frame(401)
    with pytest.raises(naively.InputError, match="rows that the model has counted"):
        model.tune(other, labels)
