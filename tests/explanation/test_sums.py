"""Prior and contributions add up to the log-odds of the model, for every family and mixture."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.strange_rows import mixed_rows, quiet
from tests.support.strategies import GROUPS, SINGLE, Rows, rows

import naively as nb
from naively.explanation import Explanation
from naively.model.merge import with_classes

each_family = pytest.mark.parametrize("group", SINGLE, ids=lambda names: f"{GROUPS[names][0]}")
words = st.lists(st.sampled_from(["To", "be", "or", "not", "to", "été", "<b>"]), max_size=6).map(" ".join)
readings = st.sampled_from(
    [
        nb.Text(),
        nb.Text(binary=True),
        nb.Text(model="bernoulli"),
        nb.Text(model="complement"),
        nb.Text(ngrams=(1, 2), stop_words=("or",)),
        nb.Text(tokens="chars", ngrams=(2, 3)),
        nb.Text(hash_bits=3),
        nb.Text(alpha={"be": 3.0, "not": 0.5}),
        nb.Text(min_count=2, max_tokens=2),
    ]
)
unsmoothed: dict[str, nb.Family] = {
    "Bernoulli": nb.Bernoulli(a=0, b=0),
    "Categorical": nb.Categorical(alpha=0),
    "Multinomial": nb.Multinomial(alpha=0),
    "Complement": nb.Complement(alpha=0),
    "Binned": nb.Binned(alpha=0),
    "Poisson": nb.Poisson(a=0, b=0),
    "Exponential": nb.Exponential(a=0, b=0),
}


def assert_sum(model: nb.Model, x: Any, explanations: list[Explanation]) -> None:
    for row, explanation in enumerate(explanations):
        expected = quiet(lambda of=explanation.of, against=explanation.against: model.log_odds(x, of, against))[row]
        parts = [
            explanation.prior,
            explanation.offset,
            *(c.log_odds for c in explanation.contributions),
            explanation.rest,
        ]
        assert not any(math.isnan(part) for part in parts)
        total = math.fsum(parts) if all(map(math.isfinite, parts)) else sum(parts)
        assert total == pytest.approx(expected, rel=1e-12, abs=1e-10)
        assert explanation.total == pytest.approx(expected, rel=1e-12, abs=1e-10)
        assert math.fsum(explanation.posterior.values()) == pytest.approx(1)
        assert math.fsum(group.log_odds for group in explanation.others) == pytest.approx(explanation.rest)
        for line in explanation.contributions:
            if line.log_odds and math.isfinite(line.log_odds):
                assert line.weight * line.evidence == pytest.approx(line.log_odds, rel=1e-12)
        terms = quiet(lambda e=explanation: model.contributions(x, e.of, e.against))[row]
        parts = [explanation.prior, explanation.offset, *terms.tolist()]
        total = math.fsum(parts) if all(map(math.isfinite, parts)) else sum(parts)
        assert total == pytest.approx(expected, rel=1e-12, abs=1e-10)


@each_family
@given(data=st.data())
def test_every_family(group: tuple[str, ...], data: st.DataObject) -> None:
    drawn = data.draw(rows(groups=[group]))
    model = with_classes(drawn.fit(), ["tofu", "ham"])
    x = mixed_rows(drawn, data.draw(st.integers(0, 2**32)))
    assert_sum(model, x, quiet(lambda: model.explain(x, leave_out=False)))


@given(rows(), st.integers(0, 2**32), st.sampled_from(["empirical", "uniform", 1.0]))
def test_any_mixture(drawn: Rows, seed: int, prior: Any) -> None:
    model = with_classes(drawn.fit(prior=prior), ["tofu", "ham"])
    x = mixed_rows(drawn, seed)
    assert_sum(model, x, quiet(lambda: model.explain(x, top=2, leave_out=False)))
    assert_sum(model, x, quiet(lambda: model.explain(x, of="ham", changes=False, leave_out=False)))
    assert_sum(model, x, quiet(lambda: model.explain(x, of="ham", against="tofu", changes=False, leave_out=False)))


@given(rows(), st.integers(0, 2**32))
def test_probabilities_of_zero(drawn: Rows, seed: int) -> None:
    families = {names: unsmoothed.get(type(f).__name__, f) for names, f in drawn.columns.items()}
    model = with_classes(replace(drawn, columns=families).fit(), ["tofu", "ham"])
    x = mixed_rows(drawn, seed)
    explanations = quiet(lambda: model.explain(x, leave_out=False))
    assert_sum(model, x, explanations)
    for explanation in explanations:
        for line in explanation.contributions:
            assert (
                math.isfinite(line.log_odds)
                or f"impossible under {explanation.of if line.log_odds < 0 else explanation.against}" == line.note
            )


@given(
    st.lists(st.tuples(st.none() | words, st.sampled_from(["a", "b", "c"])), min_size=1, max_size=8),
    readings,
    st.data(),
)
def test_texts(drawn: list[tuple[str | None, str]], family: nb.Text, data: st.DataObject) -> None:
    texts, labels = [text for text, _ in drawn], [label for _, label in drawn]
    model = with_classes(nb.fit({"text": texts}, labels, columns={"text": family}, tune=False), ["a", "b"])
    new_rows = {"text": [*data.draw(st.lists(st.none() | words, min_size=1, max_size=4)), "never to be seen"]}
    explanations = quiet(lambda: model.explain(new_rows, leave_out=False))
    assert_sum(model, new_rows, explanations)
    for text, explanation in zip(new_rows["text"], explanations, strict=True):
        if text is not None:
            assert explanation.texts is not None
            assert "".join(piece for piece, _ in explanation.texts["text"]) == text


def test_wide_blocks_of_a_sparse_matrix() -> None:
    from scipy.sparse import random_array

    generator = np.random.default_rng(1)
    x = (random_array((40, 3000), density=0.01, rng=generator) > 0).astype(np.int64).tocsr()
    label = generator.integers(0, 3, 40)
    for family in (nb.Bernoulli(), nb.Multinomial(), nb.Complement(), nb.Bernoulli(a=0, b=0)):
        model = nb.fit(x, label, columns=family, tune=False)
        explanations = model.explain(x[:4], leave_out=False)
        assert_sum(model, x[:4], explanations)
        assert all(len(explanation.contributions) < 100 for explanation in explanations)


def test_tokens_beyond_a_dense_table() -> None:
    """Fit so many classes and words that the linear form stays sparse."""
    generator = np.random.default_rng(2)
    texts = [" ".join(f"w{k}" for k in generator.integers(0, 60_000, 60)) for _ in range(1500)]
    model = nb.fit(texts, [f"c{i % 150}" for i in range(1500)], tune=False)
    assert model.parameters[0].form.score.table is None
    assert_sum(model, texts[:3], model.explain(texts[:3], leave_out=False))


def test_gaussian_columns_one_by_one() -> None:
    generator = np.random.default_rng(3)
    x, label = generator.normal(size=(30, 150)), generator.integers(0, 2, 30)
    model = nb.fit(x, label, tune=False)
    explanations = model.explain(x[:2], leave_out=False)
    assert_sum(model, x[:2], explanations)
    assert [len(explanation.contributions) for explanation in explanations] == [150, 150]


@given(rows(), st.integers(0, 2**32), st.booleans())
def test_families_chosen_from_the_statistics(drawn: Rows, seed: int, missing_is_evidence: bool) -> None:
    columns: dict[Any, nb.Family] = {}
    if missing_is_evidence:
        separate = {names: family for names, family in drawn.columns.items() if not family.joint}
        columns = {names: replace(family, missing="value") for names, family in separate.items()}
    model = with_classes(replace(drawn, columns=columns).fit(), ["tofu", "ham"])
    x = mixed_rows(drawn, seed)
    explanations = quiet(lambda: model.explain(x, leave_out=False))
    assert_sum(model, x, explanations)
    for explanation in explanations:
        assert {line.column for line in explanation.contributions if "not used" in line.note} >= set(
            model.chosen.left_out
        )


@given(rows(), st.integers(0, 2**32), st.data())
def test_any_tuning(drawn: Rows, seed: int, data: st.DataObject) -> None:
    weight = st.sampled_from([0.0, 0.25, 1.0, 3.0])
    families = data.draw(
        st.sampled_from([drawn.columns, {n: unsmoothed.get(type(f).__name__, f) for n, f in drawn.columns.items()}])
    )
    tuning = nb.Tuning(
        offsets=data.draw(st.dictionaries(st.sampled_from(["ham", "spam"]), st.floats(-3, 3))),
        weights=data.draw(st.dictionaries(st.sampled_from(list(drawn.x)), weight)),
        exponents=dict.fromkeys(("w0", "v0"), 0.5),
        default_weight=data.draw(weight),
    )
    model = with_classes(replace(drawn, columns=families).fit(), ["tofu", "ham"]).with_tuning(tuning)
    x = mixed_rows(drawn, seed)
    assert_sum(model, x, quiet(lambda: model.explain(x, leave_out=False)))


@pytest.mark.parametrize(
    "family", [nb.Text(), nb.Text(model="bernoulli"), nb.Text(ngrams=(1, 2), binary=True)], ids=str
)
def test_tuned_texts(family: nb.Text) -> None:
    texts = ["to be or not to be", "or not", "tea and milk", "milk and more milk", "sugar"]
    tuning = nb.Tuning({"a": 0.3}, {"text": 0.6}, {} if family.model == "bernoulli" else {"text": 0.4})
    model = nb.fit(texts, ["a", "a", "b", "b", "c"], columns=family, tune=False).with_tuning(tuning)
    new_rows = ["be more milk, milk", "", "never seen", "to be"]
    assert_sum(model, new_rows, model.explain(new_rows, leave_out=False))


def test_tuned_bernoulli_of_a_wide_block() -> None:
    generator = np.random.default_rng(4)
    x, label = generator.integers(0, 2, (30, 300)), generator.integers(0, 2, 30)
    for tuning in (nb.Tuning(default_weight=0.5), nb.Tuning(weights={"x3": 0.0, "x7": 2.0}, default_weight=0.5)):
        model = nb.fit(x, label, columns=nb.Bernoulli(), tune=False).with_tuning(tuning)
        assert_sum(model, x[:3], model.explain(x[:3], leave_out=False))


def test_weights_of_columns_that_share_their_smoothing() -> None:
    """The smoothing of a variance reads all columns of a block, also if these have different weights."""
    rng = np.random.default_rng(3)
    label = np.array(["ham", "spam"])[rng.integers(0, 2, 40)]
    x = {"small": rng.normal(size=40) + (label == "ham"), "large": 1000 * rng.normal(size=40)}
    family = nb.Gaussian(var_smoothing=1e-6)
    model = nb.fit(x, label, columns={("small", "large"): family}, tune=False)
    model = model.with_tuning(nb.Tuning(weights={"small": 0.5, "large": 2.0}))
    assert_sum(model, x, model.explain(x, leave_out=False))
    np.testing.assert_allclose(model.contributions(x).sum(axis=1), model.log_odds(x) - model.log_prior @ [-1, 1])
