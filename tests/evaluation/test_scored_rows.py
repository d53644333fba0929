"""Rows that a model has counted are scored by leave-one-out, others as new rows, whatever share of them is known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import naively as nb
from naively.data.labelled import read_labelled
from naively.evaluation.scored_rows import score_rows
from naively.model.count import views_of
from naively.model.without_row import without_counted_row
from naively.statistics import row_hashes


def table(n: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 2, n)
    return pd.DataFrame(
        {
            "x": rng.normal(size=n) + label,
            "id": rng.integers(0, n, n).astype(str),  # known by heart, of no use for new rows
            "y": np.where(label == 1, "yes", "no"),
        }
    )


@pytest.mark.parametrize("tune", [True, False])
def test_counted_rows_are_left_out(tune: bool) -> None:
    data = table(300)
    model = nb.fit(data, "y", tune=tune)
    evaluation = model.evaluate(data, "y")
    assert evaluation.n_counted == evaluation.rows == 300
    assert "all 300 rows" in evaluation.origin
    expected = model.evaluate_training(data, "y")
    assert evaluation.log_loss.value == pytest.approx(expected.log_loss.value, rel=0.02)
    assert evaluation.accuracy.value == pytest.approx(expected.accuracy.value, abs=0.01)
    as_it_is = replace(model, row_hashes=None).evaluate(data, "y")
    assert as_it_is.n_counted is None
    assert "does not know" in as_it_is.origin


def test_new_rows_are_scored_as_they_are() -> None:
    model, new = nb.fit(table(300), "y"), table(200, seed=1)
    scored = score_rows(model, new, "y")
    assert scored.n_counted == 0
    assert "none of these rows" in scored.origin
    np.testing.assert_array_equal(scored.log_posterior, model.log_posterior(new))


def test_some_of_both() -> None:
    old, new = table(300), table(200, seed=1)
    model = nb.fit(old, "y")
    scored = score_rows(model, pd.concat([new, old]), "y")
    assert scored.n_counted == 300
    assert "300 of 500 rows" in scored.origin
    np.testing.assert_array_equal(scored.log_posterior[:200], model.log_posterior(new))
    apart = score_rows(model, old, "y")
    np.testing.assert_allclose(scored.log_posterior[200:], apart.log_posterior, atol=1e-9)


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("n_counted", [1, 2, 40])
def test_a_few_counted_rows_are_scored_by_the_tuning_of_the_model(n_counted: int, together: bool) -> None:
    old, new = table(600), table(200, seed=1)
    model = nb.fit(old, "y", together=together)
    assert model.tuning is not None
    assert not model.tuning.is_textbook
    few = old.iloc[:n_counted]
    scored = score_rows(model, pd.concat([new, few]), "y")
    assert scored.n_counted == n_counted
    np.testing.assert_array_equal(scored.log_posterior[:200], model.log_posterior(new))
    rows = read_labelled(few, "y", like=model)
    for i in range(n_counted):
        row, c = rows.table.take(np.array([i])), int(rows.label_in(model.classes)[i])
        others = without_counted_row(model, row, 0, views_of(row, model.chosen.schema), c)
        assert others is not None
        np.testing.assert_allclose(scored.log_posterior[200 + i], others.log_posterior(row)[0], atol=0.01)


def test_a_few_counted_texts_are_scored_by_the_tuning_of_the_model() -> None:
    rng = np.random.default_rng(0)
    words = {"spam": ["cheap", "pills", "now", "buy", "cash"], "ham": ["lunch", "noon", "now", "home", "team"]}
    labels = ["spam", "ham"] * 200
    texts = [" ".join(rng.choice([*words[label], "the", "a"], rng.integers(2, 12))) for label in labels]
    model = nb.fit(texts, labels)
    scored = score_rows(model, texts[:7], labels[:7])
    assert scored.n_counted == 7
    for i in range(7):
        rows = read_labelled(texts[i : i + 1], labels[i : i + 1], like=model)
        views = views_of(rows.table, model.chosen.schema)
        others = without_counted_row(model, rows.table, 0, views, model.classes.index(labels[i]))
        assert others is not None
        np.testing.assert_allclose(scored.log_posterior[i], others.log_posterior(texts[i : i + 1])[0], atol=0.02)


@pytest.mark.parametrize(("data", "is_counted"), [(table(600), True), (table(600, seed=1), False)])
def test_few_hashes(data: Any, is_counted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_hashes, "MAX_HASHES", 50)
    model = nb.fit(table(600), "y")
    assert score_rows(model, data, "y").n_counted == (600 if is_counted else 0)


def test_mixed_rows_of_which_few_can_be_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_hashes, "MAX_HASHES", 400)
    old, new = table(1000), table(500, seed=1)
    model = nb.fit(old, "y")
    mixed = pd.concat([old, new]).sample(frac=1.0, random_state=2)
    scored = score_rows(model, mixed, "y")
    assert scored.n_counted == 400
    assert scored.n_checked == scored.is_scored.sum()
    assert scored.n_checked is not None
    assert 500 < scored.n_checked < 700
    assert "rows that it can check" in scored.origin
    evaluation = model.evaluate(mixed, "y")
    assert evaluation.rows == scored.n_checked
    assert evaluation.accuracy.value == pytest.approx(model.evaluate(table(5000, seed=3), "y").accuracy.value, abs=0.06)


def test_batches_and_order(tmp_path: Path) -> None:
    data = table(300)
    model = nb.fit(data, "y")
    shuffled = data.sample(frac=1.0, random_state=1)
    shuffled.to_csv(tmp_path / "d.csv", index=False)
    figures = [
        model.evaluate(X, "y").log_loss.value
        for X in (data, shuffled, iter([data.iloc[:100], data.iloc[100:]]), tmp_path / "d.csv")
    ]
    np.testing.assert_allclose(figures, figures[0], rtol=1e-9)


def test_only_row_of_its_class() -> None:
    rows = {"x": [1.0, 2.0]}
    assert "too good" in nb.fit(rows, ["a", "b"]).evaluate(rows, ["a", "b"]).origin
    evaluation = nb.fit({"x": [1.0, 2.0, 3.0]}, ["a", "a", "b"]).evaluate({"x": [1.0, 2.0, 3.0]}, ["a", "a", "b"])
    assert evaluation.rows == 2


def test_other_weights() -> None:
    rows, y = {"x": [1.0, 2.0, 3.0, 4.0] * 5}, ["a", "b"] * 10
    model = nb.fit(rows, y)
    heavy = model.evaluate(rows, y, weight=np.full(20, 9.0))
    assert heavy.weight == 180
