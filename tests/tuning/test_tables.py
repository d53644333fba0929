"""Tables of columns are chosen only where they help: not on noise, not on independent columns."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

import naively
from naively.tuning.calibrate import Calibration
from naively.tuning.solver import Problem
from naively.tuning.tables import TableRows, is_better

N_SAMPLES = 240 if os.environ.get("NAIVELY_SOAK") else 12


def sample(seed: int) -> tuple[dict[str, Any], list[int], dict[str, Any], list[int]]:
    """Return rows and new rows of noise, or of columns that are independent given the class."""
    rng = np.random.default_rng(seed)
    n, n_classes = int(rng.choice([150, 300, 600])), int(rng.integers(2, 4))
    shift = 0.0 if seed % 2 else 0.7
    label = rng.integers(0, n_classes, 2 * n)
    table: dict[str, Any] = {f"x{j}": rng.normal(size=2 * n) + shift * label for j in range(3)}
    table |= {f"k{j}": (rng.random(2 * n) * (3 + shift * label)).astype(int).astype(str) for j in range(3)}
    parts = ({name: column[rows].tolist() for name, column in table.items()} for rows in (slice(n), slice(n, None)))
    first, second = parts
    return first, label[:n].tolist(), second, label[n:].tolist()


def test_noise_and_independent_columns_keep_the_plain_model() -> None:
    """By chance tables are taken now and then. They may not be taken often, nor cost more than a little on average."""
    n_taken, costs = 0, []
    for seed in range(N_SAMPLES):
        X, y, new, new_y = sample(seed)
        model = naively.fit(X, y, together=True)
        assert model.tuning is not None
        if not model.tuning.table_weights:
            costs.append(0.0)
            continue
        n_taken += 1
        losses = [m.evaluate(new, new_y).log_loss[0] for m in (model, model.without_tables())]
        costs.append(losses[0] - losses[1])
    assert n_taken <= max(2, 0.1 * N_SAMPLES)
    assert np.mean(costs) < 0.005


@pytest.mark.parametrize(("n", "n_classes"), [(100, 2), (229, 3), (8192, 10)])
def test_the_gain_is_more_than_one_row_can_lose(n: int, n_classes: int) -> None:
    """All rows gain the same, so that there is no standard error: the sum must be above log(2 n C)."""
    problem = Problem(np.zeros((n, n_classes)), np.zeros((0, n, n_classes)), np.zeros((n, n_classes)), np.ones(n))
    no_rows = np.zeros(0, np.intp)
    rows = TableRows(problem, np.ones(n), Calibration(None, 1.0, problem.base), no_rows, no_rows, 0)
    every, half = np.ones(n, bool), np.arange(n) % 2 == 0
    for share in (0.99, 1.01):
        gain = np.full(n, share * np.log(2 * n * n_classes) / n)
        assert is_better(gain, rows, every) == is_better(gain, rows, half) == (share > 1)


@pytest.mark.parametrize("seed", range(3))
def test_the_report_is_honest_after_choosing(seed: int) -> None:
    """Where tables are used on a small table, the reported log-loss is that of new rows, within chance."""
    rng = np.random.default_rng(seed)
    a, b, c = rng.integers(0, 3, (3, 2400))
    label = ((a + b) % 2 ^ (rng.random(2400) < 0.1)).tolist()
    table = {"a": a.astype(str), "b": b.astype(str), "c": c.astype(str), "x": rng.normal(size=2400)}
    model = naively.fit({k: v[:400] for k, v in table.items()}, label[:400], together=True)
    assert model.tuning is not None
    assert model.tuning.table_weights
    new = model.evaluate({k: v[400:] for k, v in table.items()}, label[400:]).log_loss[0]
    report = model.tuning.report
    assert abs(new - report["log_loss"]) < 3 * report["log_loss_error"] + 0.02


def three_together(n: int) -> tuple[dict[str, Any], list[int]]:
    """Return rows whose class depends on a, b and c together, more on a, and not on d."""
    rng = np.random.default_rng(0)
    a, b, c, d = rng.integers(0, 3, (4, n))
    label = ((a + b > 2) ^ ((a == 0) & (c == 0)) ^ (rng.random(n) < 0.05)).astype(int)
    return {name: x.astype(str) for name, x in zip("abcd", (a, b, c, d), strict=True)}, label.tolist()


@pytest.mark.parametrize("max_rows", [2048, 300])
def test_importance_is_what_a_model_without_the_column_loses(max_rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model without a column is fitted as a whole; of some rows, importance is near that of all."""
    monkeypatch.setattr("naively.tuning.tables.MAX_IMPORTANCE_ROWS", max_rows)
    X, y = three_together(1500)
    model = naively.fit(X, y, together=True)
    assert model.tuning is not None
    assert model.tuning.table_weights
    for column in model.importance():
        rest = naively.fit({name: x for name, x in X.items() if name != column.column}, y, together=True)
        assert rest.tuning is not None
        lost = rest.tuning.report["log_loss"] - model.tuning.report["log_loss"]
        assert column.nats == pytest.approx(lost, abs=0.03 if max_rows == 2048 else 0.1), column.column
        assert column.low <= column.nats <= column.high
