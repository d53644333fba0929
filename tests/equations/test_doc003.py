"""Document 003: Bayes' rule, the training and classification algorithm, zeros, Laplace, generated examples."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tests.support import oracle
from tests.support.labelled import Labelled, bits, labelled

import naively as nb

BERNOULLI, VALUES = nb.Bernoulli(a=0, b=0), nb.Categorical(alpha=0)
many_valued = labelled(st.integers(0, 3), classes=4)


def test_nigerian_prince() -> None:
    """P(spam | np) = P(np | spam) P(spam) / (P(np | spam) P(spam) + P(np | not spam) P(not spam)).

    40 of 100 emails are spam, 30 of them with the phrase; of the others, 3.
    """
    phrase = {"nigerian prince": [True] * 30 + [False] * 10 + [True] * 3 + [False] * 57}
    model = nb.fit(phrase, ["spam"] * 40 + ["not spam"] * 60, columns=BERNOULLI, tune=False)
    exact = (Fraction(30, 40) * Fraction(40, 100)) / Fraction(33, 100)
    computed = model.posterior({"nigerian prince": [True, False]})
    oracle.assert_close(computed, [[1 - exact, exact], [Fraction(57, 67), Fraction(10, 67)]])
    total = np.exp(model.log_marginal({"nigerian prince": [True]}))
    oracle.assert_close(total, [Fraction(33, 100)])


@pytest.mark.filterwarnings("ignore::naively.ImpossibleRowsWarning")
@given(many_valued)
def test_train_and_classify(data: Labelled[int]) -> None:
    """The algorithm: count labels, and values per label; divide; then argmax P(c) ∏ P(x_j | c). C labels, K values."""
    labels = Counter(data.labels)
    cells = Counter((j, x, c) for row, c in zip(data.rows, data.labels, strict=True) for j, x in enumerate(row))
    model = nb.fit(np.array(data.rows), data.labels, columns=VALUES, tune=False)
    joint = []
    for row in data.new:
        joint.append([Fraction(labels[c], len(data.labels)) for c in data.classes])
        for j, x in enumerate(row):
            if x in data.column(j):
                joint[-1] = [
                    p * Fraction(cells[j, x, c], labels[c]) for c, p in zip(data.classes, joint[-1], strict=True)
                ]
    oracle.assert_logs_close(model.log_joint(np.array(data.new)), [[oracle.log(p) for p in row] for row in joint])
    prior = list(oracle.class_prior(data.labels).values())
    answers = model.predict(np.array(data.new)).tolist()
    oracle.assert_most_probable(answers, data.classes, [row if any(row) else prior for row in joint])


@given(many_valued, st.sampled_from([VALUES, nb.Categorical()]))
def test_rows_sum_to_one(data: Labelled[int], family: nb.Categorical) -> None:
    """Σ_k P(x_j = v_k | y = c) = 1 for every feature and label, and Σ_c P(y = c) = 1."""
    assert abs(np.exp(nb.fit(np.array(data.rows), data.labels, tune=False).log_prior).sum() - 1) < 1e-14
    for j in range(data.width):
        seen = sorted(set(data.column(j)))
        model = nb.fit(np.array(data.column(j)).reshape(-1, 1), data.labels, columns=family, tune=False)
        computed = np.exp(model.log_joint(np.array(seen).reshape(-1, 1)) - model.log_prior).sum(axis=0)
        np.testing.assert_allclose(computed, 1, rtol=1e-14)


@given(labelled(bits, classes=3))
def test_bernoulli_equals_categorical_with_two_values(data: Labelled[int]) -> None:
    """Two rows per binary feature say the same as one, where both values were seen."""
    binary_columns = [j for j in range(data.width) if len(set(data.column(j))) == 2]
    if binary_columns:
        rows, new = np.array(data.rows)[:, binary_columns], np.array(data.new)[:, binary_columns]
        bernoulli, values = (
            nb.fit(rows, data.labels, columns=family, tune=False) for family in (nb.Bernoulli(), nb.Categorical())
        )
        np.testing.assert_allclose(bernoulli.log_joint(new), values.log_joint(new), rtol=1e-12)


@pytest.mark.parametrize("family", [BERNOULLI, VALUES])
def test_zeros_of_maximum_likelihood(family: nb.Family) -> None:
    """Viagra once in spam, Mahalanobis once in the rest: together impossible, exactly, and never NaN."""
    emails = {"viagra": [1, 0, 0, 0, 0], "maha": [0, 0, 1, 0, 0]}
    model = nb.fit(emails, ["spam"] * 2 + ["ham"] * 3, columns=family, tune=False)
    both, one = {"viagra": [1], "maha": [1]}, {"viagra": [1], "maha": [0]}
    assert model.log_joint(both).tolist() == [[-np.inf, -np.inf]]
    assert model.log_marginal(both).tolist() == [-np.inf]
    for answer in (model.posterior, model.log_posterior, model.predict, model.log_odds, model.odds):
        with pytest.warns(nb.ImpossibleRowsWarning, match="1 of 1 rows") as caught:
            answer(both)
        assert len(caught) == 1
    with pytest.warns(nb.ImpossibleRowsWarning):
        oracle.assert_close(model.posterior(both), [[Fraction(3, 5), Fraction(2, 5)]])
    with pytest.warns(nb.ImpossibleRowsWarning):
        oracle.assert_logs_close(model.log_odds(both), [oracle.log(Fraction(2, 3))])
    with pytest.warns(nb.ImpossibleRowsWarning):
        assert model.predict(both).tolist() == ["ham"]
    assert model.posterior(one).tolist() == [[0.0, 1.0]]
    assert model.log_posterior(one)[0, 0] == -np.inf
    assert model.log_odds(one).tolist() == [np.inf]
    assert model.odds(one, of="ham").tolist() == [0.0]


def test_smoothed_zeros() -> None:
    """The same emails after Laplace: P(viagra | spam) = 2/4 and P(maha | spam) = 1/4, of the rest 1/5 and 2/5."""
    emails = {"viagra": [1, 0, 0, 0, 0], "maha": [0, 0, 1, 0, 0]}
    model = nb.fit(emails, ["spam"] * 2 + ["ham"] * 3, columns=nb.Bernoulli(), tune=False)
    spam, ham = Fraction(2, 5) * Fraction(2, 4) * Fraction(1, 4), Fraction(3, 5) * Fraction(1, 5) * Fraction(2, 5)
    computed = model.posterior({"viagra": [1], "maha": [1]})
    oracle.assert_close(computed, [[ham / (spam + ham), spam / (spam + ham)]])


@given(st.integers(0, 50), st.integers(0, 50))
def test_laplace_for_two_outcomes(ones: int, zeros: int) -> None:
    """P(z = 1) = (#(z = 1) + 1) / ([#(z = 0) + 1] + [#(z = 1) + 1])."""
    z = np.array([1] * ones + [0] * zeros + [1, 0]).reshape(-1, 1)
    model = nb.fit(z, ["counted"] * (ones + zeros) + ["other"] * 2, columns=nb.Bernoulli(), tune=False)
    computed = np.exp(model.log_joint(np.array([[1], [0]])) - model.log_prior)[:, 0]
    if ones + zeros:
        total = ones + zeros + 2
        oracle.assert_close(computed, [Fraction(ones + 1, total), Fraction(zeros + 1, total)], 1e-14)


@given(st.lists(st.integers(0, 20), min_size=2, max_size=6).filter(any))
def test_laplace_for_k_outcomes(seen: list[int]) -> None:
    """P(z = v_k) = (#(z = v_k) + 1) / (Σ_m #(z = v_m) + K), also of outcomes that never came."""
    names = [f"v{k}" for k in range(len(seen))]
    z = [name for name, n in zip(names, seen, strict=True) for _ in range(n)]
    model = nb.fit({"z": z}, ["counted"] * len(z), columns=nb.Categorical(values=tuple(names)), tune=False)
    exact = [Fraction(n + 1, sum(seen) + len(seen)) for n in seen]
    oracle.assert_close(np.exp(model.log_joint({"z": names}))[:, 0], exact, 1e-14)


def test_smoothed_converges_to_maximum_likelihood() -> None:
    """With n times the counts, the smoothed estimate is (3n + 1) / (4n + 2): nearer and nearer to 3/4."""
    z, label = np.array([[1], [1], [1], [0]]), ["a"] * 4
    distance = []
    for n in (1, 10, 100, 10_000):
        model = nb.fit(z, label, columns=nb.Bernoulli(), weight=[float(n)] * 4, tune=False)
        computed = np.exp(model.log_joint(np.array([[1]])))[0, 0]
        oracle.assert_close(computed, [Fraction(3 * n + 1, 4 * n + 2)], 1e-14)
        distance.append(abs(computed - 0.75))
    assert distance == sorted(distance, reverse=True)
    assert distance[-1] < 1e-4


def chi_square(drawn: Sequence[Any], expected: Mapping[Any, Fraction]) -> float:
    """How probable a worse fit is; values that cannot be drawn must not be."""
    seen = Counter(drawn)
    assert set(seen) <= {value for value, p in expected.items() if p}
    possible = [value for value, p in expected.items() if p]
    counted, wanted = [seen[value] for value in possible], [float(expected[value]) * len(drawn) for value in possible]
    return float(stats.chisquare(counted, wanted).pvalue)


def birds() -> nb.Model:
    """Birds and mammals, with a boolean, a colour, two word counts and a weight."""
    animals = {
        "lays eggs": [True, True, True, False, False, False, False, True],
        "colour": ["grey", "white", "grey", "brown", "grey", "brown", "brown", "grey"],
        "wings": [2, 2, 2, 0, 0, 1, 0, 2],
        "legs": [2, 2, 3, 4, 4, 4, 2, 2],
        "weight": [1.0, 2.0, 4.0, 60.0, 90.0, 75.0, 80.0, 3.0],
    }
    kinds = ["bird", "bird", "bird", "mammal", "mammal", "mammal", "mammal", "bird"]
    families = {
        "lays eggs": nb.Bernoulli(a=1, b=1),
        "colour": nb.Categorical(alpha=0),
        ("wings", "legs"): nb.Multinomial(alpha=0),
        "weight": nb.Gaussian(),
    }
    return nb.fit(animals, kinds, columns=families, prior={"bird": 0.25, "mammal": 0.75}, tune=False)


def test_generated_examples_follow_the_model() -> None:
    """Complete examples: the class by P(y), each feature by P(x_j | y); 20,000 of them fit their distributions."""
    drawn = birds().sample(20_000, seed=7).to_pydict()
    assert list(drawn) == ["lays eggs", "colour", "wings", "legs", "weight", "class"]
    assert chi_square(drawn["class"], {"bird": Fraction(1, 4), "mammal": Fraction(3, 4)}) > 0.01
    own = {kind: [i for i, c in enumerate(drawn["class"]) if c == kind] for kind in ("bird", "mammal")}
    of = {kind: {name: [values[i] for i in own[kind]] for name, values in drawn.items()} for kind in own}
    eggs = {"bird": Fraction(5, 6), "mammal": Fraction(1, 6)}
    colour = {
        "bird": {"grey": Fraction(3, 4), "white": Fraction(1, 4), "brown": Fraction(0)},
        "mammal": {"grey": Fraction(1, 4), "white": Fraction(0), "brown": Fraction(3, 4)},
    }
    wings = {"bird": Fraction(8, 17), "mammal": Fraction(1, 15)}
    weight = {"bird": (2.5, 1.25**0.5), "mammal": (76.25, 117.1875**0.5)}
    for kind, rows in of.items():
        assert chi_square(rows["lays eggs"], {True: eggs[kind], False: 1 - eggs[kind]}) > 0.01
        assert chi_square(rows["colour"], colour[kind]) > 0.01
        faces = ["wing"] * sum(rows["wings"]) + ["leg"] * sum(rows["legs"])
        assert chi_square(faces, {"wing": wings[kind], "leg": 1 - wings[kind]}) > 0.01
        assert stats.kstest(rows["weight"], "norm", args=weight[kind]).pvalue > 0.01


def test_generated_features_are_independent_given_the_class() -> None:
    """The assumption itself, P(x_1, x_2 | y) = P(x_1 | y) P(x_2 | y), seen in a contingency table per class."""
    for kind in ("bird", "mammal"):
        drawn = birds().sample(20_000, of=kind, seed=3).to_pydict()
        assert set(drawn["class"]) == {kind}
        pairs = Counter(zip(drawn["lays eggs"], drawn["colour"], strict=True))
        colours = sorted(set(drawn["colour"]))
        contingency = [[pairs[eggs, colour] for colour in colours] for eggs in (False, True)]
        assert stats.chi2_contingency(contingency).pvalue > 0.01


def test_generated_examples_are_classified_and_train_the_same_model() -> None:
    """What the model of a class generates is taken for that class, and a model of the examples has its parameters."""
    model = birds()
    drawn = model.sample(20_000, seed=11)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        answers = model.predict(drawn.drop_columns("class"))
    assert np.mean(answers == np.array(drawn["class"].to_pylist())) > 0.95
    columns = {
        tuple(block.names) if block.family.joint else block.names[0]: block.family for block in model.schema.blocks
    }
    again = nb.fit(drawn, "class", columns=columns, tune=False)
    assert np.abs(again.log_prior - model.log_prior).max() < 0.05
    assert np.abs(again.parameters[-1].mean - model.parameters[-1].mean).max() < 0.3
