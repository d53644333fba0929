"""Compare models: changes are reported, and chance is not."""

from pathlib import Path
from typing import Any

import numpy as np

import naively
from naively.store.compare import diff, disjoint_models


def test_diff_reports_what_changed_and_nothing_else(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)

    def data(n: int, shift: float, word: str) -> tuple[dict[str, Any], list[str]]:
        label = ["u" if x else "v" for x in generator.integers(0, 2, n)]
        return {
            "still": generator.normal(size=n),
            "moved": generator.normal(size=n) + shift,
            "counts": generator.poisson(2 + shift, n),
            "colour": generator.choice(["red", "blue"], n),
            "text": [f"same {word if generator.random() < 0.3 else 'other'} words" for _ in range(n)],
        }, label

    columns = {"counts": naively.Poisson(), "text": naively.Text(), "still": naively.Gaussian()}
    old, new = data(2000, 0.0, "alt"), data(1500, 0.5, "neu")
    naively.fit(*old, columns=columns).save(tmp_path / "a")
    naively.copy(tmp_path / "a", tmp_path / "b")
    with naively.open(tmp_path / "b") as live:
        live.update(*new)
    one, two, note = disjoint_models(tmp_path / "a", tmp_path / "b")
    assert "1 entry more" in note
    assert two.class_weights.rows.sum() == 1500
    columns_by_name = {column.column: column for column in diff(one, two)}
    assert all(columns_by_name[name].q < 1e-6 for name in ("moved", "counts", "text"))
    assert all(columns_by_name[name].p > 0.001 for name in ("still", "colour", "(classes)"))
    assert {change.name for change in columns_by_name["text"].changes if change.q < 0.01} >= {"alt", "neu"}
    assert next(c for c in columns_by_name["text"].changes if c.name == "neu").nats[0] > 3
    one, two, note = disjoint_models(tmp_path / "a", tmp_path / "a")
    assert "have the same 1 entry" in note
    assert all(column.p > 0.99 for column in diff(one, two))


def test_diff_is_calibrated() -> None:
    """Of models of the same distribution, about 5 % have p below 5 %, for every kind of column."""
    generator = np.random.default_rng(1)
    low: dict[str, int] = {}
    rounds = 120
    columns = {"g": naively.Gaussian(), "p": naively.Poisson(), "e": naively.Exponential(), "n": naively.Binned()}
    for _ in range(rounds):
        models = []
        for n in (400, 300):
            x = {
                "g": generator.normal(size=n),
                "n": generator.normal(size=n),
                "p": generator.poisson(3, n),
                "e": generator.exponential(size=n),
                "v": generator.choice(list("abcdef"), n),
            }
            models.append(naively.fit(x, generator.choice(["u", "v"], n).tolist(), columns=columns))
        for column in diff(models[0], models[1]):
            low[column.column] = low.get(column.column, 0) + (column.p < 0.05)
    assert all(n <= 0.05 * rounds + 3.5 * np.sqrt(0.05 * rounds) for n in low.values()), low
