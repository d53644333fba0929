"""A Tuning: its effect on the posterior, computed by hand; how it is stored, added and written."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import naively
from naively import Bernoulli, Binned, Categorical, Complement, Gaussian, Multinomial, Poisson, Text, Tuning
from naively.model.calibrate import EvidenceKey
from naively.model.merge import with_classes

N = 60
RANDOM = np.random.default_rng(3)
LABEL = np.array(["a", "b", "c"])[np.arange(N) % 3]
TABLE: dict[str, Any] = {
    "normal": RANDOM.normal(size=N) + np.arange(N) % 3,
    "bins": RANDOM.normal(size=N) * (1 + np.arange(N) % 3),
    "coin": RANDOM.integers(0, 2, N),
    "other": RANDOM.integers(0, 2, N),
    "kind": [["x", "y", None][i] for i in RANDOM.integers(0, 3, N)],
    "count": RANDOM.poisson(2, N),
    "text": [" ".join(RANDOM.choice(["tea", "milk", "sugar", "salt"], 1 + i % 5)) for i in range(N)],
}
FAMILIES: dict[str, Any] = {
    "normal": Gaussian(),
    "bins": Binned(),
    "coin": Bernoulli(),
    "other": Bernoulli(),
    "kind": Categorical(missing="value"),
    "count": Poisson(),
    "text": Text(),
}
KIND_IS_PRESENT = EvidenceKey(("kind",), "presence")
TUNING = Tuning(
    offsets={"a": 0.5, "b": -1.0},
    weights={
        "normal": 0.3,
        "bins": 0.0,
        "coin": 2.0,
        "kind": 0.5,
        KIND_IS_PRESENT: 0.25,
        "text": 0.75,
    },
    exponents={"text": 0.5},
    default_weight=0.9,
)


def evidence(name: str) -> Any:
    model = naively.fit({name: TABLE[name]}, LABEL, columns={name: FAMILIES[name]}, tune=False)
    return model.log_joint({name: TABLE[name]}) - model.log_prior


def test_equation_1_by_hand() -> None:
    model = naively.fit(TABLE, LABEL, columns=FAMILIES, tune=False).with_tuning(TUNING)
    is_present = np.array([kind is not None for kind in TABLE["kind"]])
    n_present = np.array([is_present[c == LABEL].sum() for c in "abc"])
    share = (n_present + 1) / (N / 3 + 2)
    presence = np.where(is_present[:, None], np.log(share), np.log1p(-share))
    length = np.array([len(text.split()) for text in TABLE["text"]])[:, None]
    score = model.log_prior + np.array([0.5, -1.0, 0.0])
    score = score + 0.3 * evidence("normal") + 2.0 * evidence("coin") + 0.9 * (evidence("other") + evidence("count"))
    score = score + 0.5 * (evidence("kind") - presence) + 0.25 * presence + 0.75 * length**-0.5 * evidence("text")
    score -= np.log(np.exp(score).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(model.log_posterior(TABLE), score, rtol=1e-10, atol=1e-12)
    expected = np.array(["a", "b", "c"])[score.argmax(axis=1)]
    assert model.predict(TABLE).tolist() == expected.tolist()
    plain = model.with_tuning(None)
    np.testing.assert_array_equal(plain.log_joint(TABLE), model.log_joint(TABLE))


def test_json_and_new_classes() -> None:
    assert Tuning.from_json(TUNING.to_json()) == TUNING
    model = naively.fit(TABLE, LABEL, columns=FAMILIES, tune=False).with_tuning(TUNING)
    assert with_classes(model, ["d"]).weighted_blocks.offset.tolist() == [0.5, -1.0, 0.0, 0.0]
    for wrong in ("", "[]", "{}", TUNING.to_json().replace("0.75", "-0.75"), TUNING.to_json().replace("0.75", '"x"')):
        with pytest.raises(naively.InputError, match="not a tuning"):
            Tuning.from_json(wrong)


def test_update_forget_and_sum_keep_the_tuning() -> None:
    model = naively.fit(TABLE, LABEL, columns=FAMILIES, tune=False).with_tuning(TUNING)
    more = model.update(TABLE, LABEL)
    assert more.tuning == TUNING
    assert more.forget(TABLE, LABEL).tuning == TUNING
    assert (model + model).tuning == TUNING
    with pytest.warns(naively.TuningWarning, match="tuned differently"):
        assert (model + model.with_tuning(None)).tuning is None


@pytest.mark.parametrize("family", [Multinomial(), Complement()])
def test_counts(family: Any) -> None:
    x = RANDOM.poisson(1.0, (N, 4))
    model = naively.fit(x, LABEL, columns=family, tune=False)
    tuned = model.with_tuning(Tuning(weights={"x0": 0.5}, exponents={"x0": 1.0}))
    score = model.log_prior + 0.5 / np.maximum(x.sum(axis=1, keepdims=True), 1) * (model.log_joint(x) - model.log_prior)
    np.testing.assert_allclose(
        tuned.log_posterior(x), score - np.log(np.exp(score).sum(axis=1, keepdims=True)), rtol=1e-10, atol=1e-12
    )


def test_linear_form_of_a_tuned_model() -> None:
    x = {"coin": TABLE["coin"], "other": TABLE["other"]}
    label = LABEL != "a"
    model = naively.fit(x, label, columns=Bernoulli(), tune=False).with_tuning(Tuning({True: 0.3}, {"coin": 0.5}))
    weights, bias = model.linear()
    log_odds = bias + np.stack([x["coin"], x["other"]], axis=1) @ weights
    np.testing.assert_allclose(log_odds, model.log_odds(x), rtol=1e-10, atol=1e-12)


def test_evidence_without_weight_excludes_no_class() -> None:
    model = naively.fit({"x": ["p", "q"]}, [0, 1], columns=Categorical(alpha=0), tune=False)
    assert model.with_tuning(Tuning(weights={"x": 0.0})).posterior({"x": ["p"]}).tolist() == [[0.5, 0.5]]


@pytest.mark.parametrize(
    "name", ["age", "age present", "age present value", "age present value value", "age value", ""]
)
def test_names_of_evidence_in_json_do_not_collide(name: str) -> None:
    keys = [EvidenceKey((name,)), EvidenceKey((name,), "presence")]
    written = [key.to_json() for key in keys]
    assert [EvidenceKey.from_json(text) for text in written] == keys
    assert written[1] == f"{name} present"
    tuning = Tuning(weights={keys[0]: 0.25, keys[1]: 0.5})
    assert Tuning.from_json(tuning.to_json()) == tuning


def test_a_column_with_the_name_of_a_presence_has_its_own_weight() -> None:
    """Column "kind present" is not the presence of column "kind"."""
    x = {"kind": ["p", None, "q", "p"], "kind present": ["u", "v", "u", "v"]}
    model = naively.fit(x, [0, 1, 1, 0], columns={"kind": Categorical(missing="value")}, tune=False)
    tuning = Tuning(weights={KIND_IS_PRESENT: 0.0, "kind": 0.0, "kind present": 1.0})
    alone = naively.fit({"kind present": x["kind present"]}, [0, 1, 1, 0], tune=False)
    np.testing.assert_allclose(model.with_tuning(tuning).posterior(x), alone.posterior(x), rtol=1e-12)


def test_weights_of_columns_with_a_pseudo_count_each() -> None:
    """Columns of a Bernoulli block are weighted apart, each with its own a and b."""
    rng = np.random.default_rng(0)
    label = rng.integers(0, 2, 200)
    x = {f"c{j}": (rng.random(200) < 0.3 + 0.15 * j * label).astype(int) for j in range(3)}
    a, b, weights = (1.0, 2.0, 0.5), (1.0, 3.0, 2.0), (0.5, 1.0, 0.75)
    model = naively.fit(x, label, columns={tuple(x): Bernoulli(a=a, b=b)}, tune=False)
    model = model.with_tuning(Tuning(weights=dict(zip(x, weights, strict=True))))
    expected = np.empty((200, 2))
    for c in (0, 1):
        n = (label == c).sum()
        expected[:, c] = n / 200
        for values, *pseudo_counts, weight in zip(x.values(), a, b, weights, strict=True):
            p = (values[label == c].sum() + pseudo_counts[0]) / (n + sum(pseudo_counts))
            expected[:, c] *= np.where(values == 1, p, 1 - p) ** weight
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.posterior(x), expected, rtol=1e-12)
    assert np.isfinite(naively.fit(x, label, columns={tuple(x): Bernoulli(a=a, b=b)}).posterior(x)).all()
