"""A column of one value, or none, is used by tuning through its missing values, and so it is by the model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import naively

VALUES: list[Any] = ["x", 1.0, True]
PAIRS: list[tuple[Any, Any]] = [("x", "u"), (1.0, 0.0), (True, False)]


def rows(seed: int, value: Any, n: int = 300) -> tuple[dict[str, list[Any]], list[str]]:
    rng = np.random.default_rng(seed)
    is_yes = rng.random(n) < 0.5
    has_value = rng.random(n) < np.where(is_yes, 0.9, 0.2)
    table = {"flag": [value if has else None for has in has_value], "z": rng.normal(size=n).tolist()}
    return table, ["yes" if yes else "no" for yes in is_yes]


@pytest.mark.parametrize("value", VALUES)
def test_the_model_uses_what_the_report_promises(value: Any, tmp_path: Path) -> None:
    model = naively.fit(*rows(0, value))
    model.save(tmp_path / "m")
    for used in (model, naively.load(tmp_path / "m")):
        assert used.tuning is not None
        assert used.chosen.left_out == {}
        assert used.chosen.families()["flag"] == "Presence"
        new = used.evaluate(*rows(1, value, 4000))
        assert new.accuracy.value == pytest.approx(used.tuning.report["accuracy"], abs=0.05)
        assert new.log_loss.value == pytest.approx(used.tuning.report["log_loss"], abs=0.08)
    (with_value,) = model.explain({"flag": [value], "z": [0.0]}, of="yes")
    assert with_value.contributions[0].column == "flag"
    assert with_value.contributions[0].log_odds > 1


@pytest.mark.parametrize(("value", "other"), PAIRS)
def test_other_values_that_come_later_are_used_too(value: Any, other: Any) -> None:
    X, y = rows(0, value)
    model = naively.fit(X, y)
    table, labels = rows(2, value)
    table["flag"] = [
        other if flag is not None and label == "no" else flag for flag, label in zip(table["flag"], labels, strict=True)
    ]
    updated = model.update(table, labels)
    family = updated.chosen.families()["flag"]
    assert family.endswith("; Presence")
    p_other, p_value, p_none = updated.posterior({"flag": [other, value, None], "z": [0.0] * 3})[:, 1]
    assert p_none < p_value
    assert p_other < p_value
    back = updated.forget(table, labels)
    assert np.allclose(back.posterior(X), model.posterior(X), rtol=1e-9)


def test_a_column_that_says_nothing_is_still_left_out() -> None:
    rng = np.random.default_rng(3)
    flag = ["x" if v else None for v in rng.random(300) < 0.5]
    model = naively.fit({"flag": flag, "z": rng.normal(size=300)}, ["ab"[i % 2] for i in range(300)])
    assert model.chosen.left_out == {"flag": "one value only, 'x'"}
