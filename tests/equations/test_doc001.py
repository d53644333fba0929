"""Document 001: the most probable class from discrete attributes, Dirichlet priors, bags of words."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support import oracle
from tests.support.labelled import Labelled, labelled, quarters

import naively as nb

colours = labelled(st.sampled_from(["blue", "green", "red"]), classes=3)
pytestmark = pytest.mark.filterwarnings("ignore::naively.ImpossibleRowsWarning")


def table(rows: list[tuple[Any, ...]]) -> dict[str, list[Any]]:
    return {f"a{j}": list(column) for j, column in enumerate(zip(*rows, strict=True))}


def own_columns(data: Labelled[str], label: int, alpha: Fraction = Fraction(0)) -> list[dict[str, Fraction]]:
    """θ_jkc of each attribute, over the K_j values that it was seen to take."""
    alphas = [dict.fromkeys(data.column(j), alpha) for j in range(data.width)]
    return oracle.columns(data.rows, data.labels, label, alphas)


def one_column(data: Labelled[str], label: int, alpha: Fraction = Fraction(0)) -> dict[str, Fraction]:
    """θ_kc of all attributes together, over the K values that any of them took."""
    values = [value for row in data.of(label) for value in row]
    return oracle.distribution(values, dict.fromkeys((v for row in data.rows for v in row), alpha))


@given(colours)
def test_target_priors(data: Labelled[str]) -> None:
    """P(y_i) is the fraction of the instances that have the target value; |D_i| / |D|."""
    model = nb.fit(table(data.rows), data.labels, tune=False)
    exact = [Fraction(data.labels.count(c), len(data.labels)) for c in (0, 1, 2)]
    oracle.assert_close(np.exp(model.log_prior), exact, 1e-14)


@given(colours)
def test_one_distribution_per_attribute(data: Labelled[str]) -> None:
    """θ_jkc = Σ z_jk(x[j]) / |D_c|, K_j values for attribute j; P(a_1 … a_m | y) = ∏ P(a_j | y)."""
    model = nb.fit(table(data.rows), data.labels, columns=nb.Categorical(alpha=0), tune=False)
    prior = oracle.class_prior(data.labels)
    theta = [own_columns(data, c) for c in (0, 1, 2)]
    exact = [[oracle.log(prior[c] * oracle.product(row, theta[c])) for c in (0, 1, 2)] for row in data.new]
    oracle.assert_logs_close(model.log_joint(table(data.new)), exact)


@given(colours)
def test_single_distribution(data: Labelled[str]) -> None:
    """P(a_j | y_i) = ∏_k θ_k^{z_k(a_j)}, θ_kc = N_kc / N_c, with N_c over all attributes of the instances of c."""
    model = nb.fit(table(data.rows), data.labels, columns=nb.Categorical(alpha=0, shared=True), tune=False)
    prior = oracle.class_prior(data.labels)
    theta = [[one_column(data, c)] * data.width for c in (0, 1, 2)]
    exact = [[oracle.log(prior[c] * oracle.product(row, theta[c])) for c in (0, 1, 2)] for row in data.new]
    oracle.assert_logs_close(model.log_joint(table(data.new)), exact)


@given(colours, quarters.filter(bool), st.booleans())
def test_map_class_is_the_argmax(data: Labelled[str], alpha: Fraction, shared: bool) -> None:
    """y* = argmax P(a_1 … a_m | y) P(y) / P(a_1 … a_m) = argmax ∏ P(a_j | y) P(y)."""
    model = nb.fit(table(data.rows), data.labels, columns=nb.Categorical(alpha=float(alpha), shared=shared), tune=False)
    prior = oracle.class_prior(data.labels)
    theta = [[one_column(data, c, alpha)] * data.width if shared else own_columns(data, c, alpha) for c in (0, 1, 2)]
    joint = [[prior[c] * oracle.product(row, theta[c]) for c in (0, 1, 2)] for row in data.new]
    oracle.assert_most_probable(model.predict(table(data.new)).tolist(), [0, 1, 2], joint)
    oracle.assert_close(
        model.posterior(table(data.new)), [oracle.normalised(row, list(prior.values())) for row in joint]
    )


@given(colours, st.lists(quarters.filter(bool), min_size=9, max_size=9), st.booleans())
def test_dirichlet_per_value_and_class(data: Labelled[str], alpha: list[Fraction], shared: bool) -> None:
    """θ_kc = (N_kc + α_kc) / (N_c + α_c), α_c = Σ_k α_kc."""
    values = ["blue", "green", "red"]
    prior_of = {c: dict(zip(values, alpha[3 * c : 3 * c + 3], strict=True)) for c in (0, 1, 2)}
    given_alpha = {c: {v: float(a) for v, a in own.items()} for c, own in prior_of.items()}
    family = nb.Categorical(alpha=given_alpha, values=tuple(values), shared=shared)
    model = nb.fit(table(data.rows), data.labels, columns=family, tune=False)
    computed = np.exp(model.log_joint(table([(v,) * data.width for v in values])) - model.log_prior)
    for c in (0, 1, 2):
        together = oracle.distribution([v for row in data.of(c) for v in row], prior_of[c])
        own = oracle.columns(data.rows, data.labels, c, [prior_of[c]] * data.width)
        theta = [together] * data.width if shared else own
        oracle.assert_close(computed[:, c], [oracle.product((v,) * data.width, theta) for v in values], 1e-13)


def test_dirichlet_mapping_by_value() -> None:
    """One α per value, the same in each class, and one for the values not named."""
    colour = {"colour": ["red", "red", "blue", "blue"]}
    family = nb.Categorical(alpha=nb.Dirichlet({"red": 3.0}, other=0.5), values=("blue", "green", "red"))
    model = nb.fit(colour, ["a", "a", "a", "b"], columns=family, tune=False)
    computed = np.exp(model.log_joint({"colour": ["red", "blue", "green"]}) - model.log_prior)
    oracle.assert_close(computed[:, 0], [Fraction(5, 7), Fraction(3, 14), Fraction(1, 14)], 1e-14)
    oracle.assert_close(computed[:, 1], [Fraction(3, 5), Fraction(3, 10), Fraction(1, 10)], 1e-14)


@given(st.tuples(quarters, quarters).map(lambda p: (p[0] + 1, p[1] + 1)), st.integers(0, 6), st.integers(0, 6))
def test_dirichlet_estimate_is_the_posterior_mean(alpha: tuple[Fraction, Fraction], red: int, blue: int) -> None:
    """(N_k + α_k) / (N + α) is the mean of the posterior, which is a Dirichlet again: ∫ θ θ^{…} / ∫ θ^{…}."""
    mp, shape = oracle.MP, (oracle.real(red + alpha[0]), oracle.real(blue + alpha[1]))
    mean = mp.beta(shape[0] + 1, shape[1]) / mp.beta(*shape)
    values = ["red"] * red + ["blue"] * blue + ["red"]
    family = nb.Categorical(alpha={"red": float(alpha[0]), "blue": float(alpha[1])}, values=("red", "blue"))
    model = nb.fit({"colour": values}, ["a"] * (red + blue) + ["b"], columns=family, tune=False)
    if red + blue:
        oracle.assert_close(np.exp(model.log_joint({"colour": ["red"]}) - model.log_prior)[0, 0], mean, 1e-13)


VOCABULARY = ["cheap", "dear", "now", "sir"]
texts = st.lists(st.lists(st.sampled_from(VOCABULARY), max_size=6), min_size=4, max_size=8)


def bags(documents: list[list[str]]) -> dict[str, list[int]]:
    return {word: [Counter(text)[word] for text in documents] for word in VOCABULARY}


@given(texts, st.lists(st.sampled_from(VOCABULARY), max_size=6))
def test_bag_of_words(documents: list[list[str]], new: list[str]) -> None:
    """θ_kc = Σ_x Σ_j z_k(x[j]) / Σ_x |x|; y* = argmax ∏_j ∏_k θ_ky^{z_k(x[j])} |D_i| / |D|, word by word."""
    labels = [i % 2 for i in range(len(documents))]
    model = nb.fit(bags(documents), labels, columns=nb.Multinomial(alpha=0), tune=False)
    ever = {word for text in documents for word in text}
    joint = []
    for c in (0, 1):
        words = [w for text, label in zip(documents, labels, strict=True) if label == c for w in text]
        words = words or [w for text in documents for w in text]  # a class without a word takes those of all
        p = Fraction(labels.count(c), len(labels))
        for word in new:
            p *= Fraction(words.count(word), len(words)) if word in ever else 1
        joint.append(p)
    oracle.assert_logs_close(model.log_joint(bags([new])), [oracle.log(p) for p in joint])
    prior = list(oracle.class_prior(labels).values())
    oracle.assert_most_probable(model.predict(bags([new])).tolist(), [0, 1], [joint if any(joint) else prior])


@given(texts, st.lists(quarters.filter(bool), min_size=8, max_size=8))
def test_dirichlet_per_word_and_class(documents: list[list[str]], alpha: list[Fraction]) -> None:
    """θ_kc = (N_kc + α_kc) / (N_c + α_c) for the words of a text."""
    labels = [i % 2 for i in range(len(documents))]
    documents = [["sir"], ["sir"], *documents[2:]]
    prior_of = {c: dict(zip(VOCABULARY, alpha[4 * c : 4 * c + 4], strict=True)) for c in (0, 1)}
    given_alpha = {c: {w: float(a) for w, a in own.items()} for c, own in prior_of.items()}
    model = nb.fit(bags(documents), labels, columns=nb.Multinomial(alpha=given_alpha, unseen="smooth"), tune=False)
    computed = np.exp(model.log_joint(bags([[word] for word in VOCABULARY])) - model.log_prior)
    for c in (0, 1):
        words = [w for text, label in zip(documents, labels, strict=True) if label == c for w in text]
        exact = oracle.distribution(words, prior_of[c])
        oracle.assert_close(computed[:, c], [exact[word] for word in VOCABULARY], 1e-13)
