"""How well rows were predicted before they were learnt."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import naively
from naively.evaluation import before
from naively.store.entries import Entry


def rows_of(n: int, seed: int, noise: float = 0.3) -> tuple[dict[str, list[float]], list[str]]:
    generator = np.random.default_rng(seed)
    label = generator.integers(0, 2, n)
    x = np.where(generator.random(n) < noise, generator.normal(size=n), 2.0 * label + generator.normal(size=n))
    return {"x": x.round(6).tolist()}, np.array(["no", "yes"])[label].tolist()


def update(tmp_path: Path, X: object, y: object, **options: object) -> tuple[naively.Model, Entry]:
    naively.fit(*rows_of(400, seed=1)).save(tmp_path / "m")
    ledger = naively.open(tmp_path / "m")
    model = ledger.model()
    return model, ledger.update(X, y, evaluate=True, **options)  # type: ignore[arg-type]


def test_the_figures_are_those_of_the_model_before(tmp_path: Path) -> None:
    X, y = rows_of(150, seed=2)
    model, entry = update(tmp_path, X, y)
    evaluation = model.evaluate(X, y)
    assert entry.before is not None
    assert entry.before.rows == 150
    assert entry.before.accuracy == evaluation.accuracy
    assert entry.before.log_loss == evaluation.log_loss
    assert entry.before.prior_log_loss == pytest.approx(evaluation.baseline["log_loss"])
    assert entry.before.prior_accuracy == pytest.approx(evaluation.baseline["accuracy"])
    assert model.tuning is not None
    assert entry.before.expected_log_loss == model.tuning.report["log_loss"]
    assert not entry.before.is_worse_than_expected


def test_rows_unlike_those_before_are_predicted_worse_than_expected(tmp_path: Path) -> None:
    X, y = rows_of(150, seed=3)
    _, entry = update(tmp_path, X, ["yes" if label == "no" else "no" for label in y])
    assert entry.before is not None
    assert entry.before.is_worse_than_expected


def test_rows_of_a_new_class_are_not_scored(tmp_path: Path) -> None:
    X, y = rows_of(10, seed=4)
    _, entry = update(tmp_path, X, ["perhaps", *y[1:]], new_classes=True)
    assert entry.before is not None
    assert entry.before.rows == 9


def test_only_new_classes_have_no_figures(tmp_path: Path) -> None:
    _, entry = update(tmp_path, {"x": [1.0]}, ["perhaps"], new_classes=True)
    assert entry.before is None


def test_the_first_rows_stand_for_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(before, "MAX_ROWS_BEFORE", 30)
    X, y = rows_of(50, seed=5)
    batches = iter([{"x": X["x"][:20], "y": y[:20]}, {"x": X["x"][20:], "y": y[20:]}])
    model, entry = update(tmp_path, batches, "y")
    assert entry.before is not None
    assert entry.before.rows == 30
    assert entry.before.accuracy == model.evaluate({"x": X["x"][:30]}, y[:30]).accuracy


def test_one_row_has_a_sentence(tmp_path: Path) -> None:
    model, entry = update(tmp_path, {"x": [4.0]}, ["no"])
    p = model.posterior({"x": [4.0]})[0, 0]
    assert str(entry.before) == f"predicted before: wrong, with a probability of {p:.4g} for its class"


def test_rows_since_the_tuning(tmp_path: Path) -> None:
    X, y = rows_of(150, seed=6)
    model, _ = update(tmp_path, X, y)
    assert model.rows_since_tuning == 0
    later = naively.load(tmp_path / "m")
    assert later.rows_since_tuning == 150
    assert later.with_tuning(None).rows_since_tuning is None
    assert naively.open(tmp_path / "m").at(1).rows_since_tuning == 0
