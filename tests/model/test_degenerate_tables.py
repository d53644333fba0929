"""Tables that say nothing about the class: every column constant, missing, dropped or absent, or no text in a class.

Every method returns a result, or refuses with an error of naively.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import naively as nb

N = 12
SENTENCES = ["red cat", "blue dog", "red dog sky", "sky blue", "cat dog", "hello cat"]
TABLES: dict[str, Any] = {
    "constant number": {"x": [1.0] * N},
    "constant string": {"x": ["u"] * N},
    "constant boolean": {"x": [True] * N},
    "missing": {"x": [None] * N},
    "missing and constant": {"x": [None] * N, "z": [3] * N},
    "identifiers": {"x": [f"id{i}" for i in range(N)]},
    "running numbers": {"x": list(range(N))},
    "one value": {"x": [1.0] + [None] * (N - 1)},
    "infinite": {"x": [float("inf")] * N},
    "no columns": np.zeros((N, 0)),
    "array of ones": np.ones((N, 3)),
    "empty texts": [""] * N,
    "equal texts": ["a b"] * N,
    "texts without words": ["! ?"] * N,
    "no text in one class": {"x": [SENTENCES[i // 2] if i % 2 else None for i in range(N)]},
    "no number in one class": {"x": [float(i) if i % 2 else None for i in range(N)]},
    "one row": {"x": [1.0]},
    "two rows": {"x": [1.0, 2.0]},
}
FAMILIES: dict[str, list[nb.Family]] = {
    "constant number": [nb.Gaussian(), nb.Poisson(), nb.Exponential(), nb.Binned(), nb.LogNormal(), nb.Categorical()],
    "constant string": [nb.Categorical(alpha=0.0)],
    "missing": [
        nb.Gaussian(), nb.Categorical(), nb.Bernoulli(), nb.Binned(), nb.Text(), nb.Poisson(), nb.Multinomial(),
        nb.Exponential(), nb.LogNormal(), nb.Complement(), nb.Categorical(missing="value"),
        nb.Gaussian(missing="value"),
    ],
    "no columns": [nb.Gaussian(), nb.Multinomial(), nb.Bernoulli(), nb.Text()],
    "no text in one class": [nb.Text(), nb.Text(model="bernoulli"), nb.Text(model="complement")],
}  # fmt: skip
CASES = [(name, family) for name in TABLES for family in (None, *FAMILIES.get(name, []))]


def n_rows(x: Any) -> int:
    return len(next(iter(x.values()))) if isinstance(x, dict) else len(x)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("tune", [False, True], ids=["textbook", "tuned"])
@pytest.mark.parametrize(("name", "family"), CASES, ids=str)
def test_every_method_answers_or_refuses(name: str, family: nb.Family | None, tune: bool, tmp_path: Path) -> None:
    x = TABLES[name]
    for classes in ("ab", "a"):
        y = list(classes * N)[: n_rows(x)]
        model = nb.fit(x, y, columns=family, tune=tune, n_jobs=1)
        assert np.isfinite(model.posterior(x)).all()
        np.testing.assert_allclose(model.posterior(x).sum(axis=1), 1)
        assert np.isfinite(model.evaluate(x, y).log_loss.value)
        path = tmp_path / f"{classes}.naively"
        model.save(path)
        np.testing.assert_array_equal(nb.load(path).posterior(x), model.posterior(x))
        nothing = model.forget(x, y)
        np.testing.assert_array_equal(nothing.update(x, y).posterior(x), model.posterior(x))
        for call in calls(model, x, y):
            with suppress(nb.InputError):
                call()
        for call in calls(nothing, x, y):
            with suppress(nb.InputError):
                call()


def calls(model: nb.Model, x: Any, y: list[str]) -> list[Callable[[], object]]:
    groups = [i % 4 for i in range(len(y))]
    return [
        lambda: model.predict(x),
        lambda: model.log_marginal(x),
        lambda: [(str(e), e.to_dict()) for e in model.explain(x)],
        lambda: model.linear(model.classes[-1], model.classes[0]),
        lambda: model.leave_one_out(x, y),
        lambda: model.leave_one_out(x, y, folds=3),
        lambda: model.leave_one_out(x, y, groups=groups),
        lambda: str(model.evaluate_training(x, y)),
        lambda: model.evaluate_training(x, y, groups=groups),
        lambda: model.evaluate_training(x, y, time=groups),
        lambda: model.tune(x, y),
        lambda: model.sample(3, seed=0),
        lambda: nb.diff(model, model),
        lambda: repr(model),
    ]


def test_training_rows_are_evaluated_by_the_class_shares_if_nothing_else_is_left() -> None:
    x, y = {"x": [1.0] * N}, ["a", "b"] * (N // 2)
    for tune in (False, True):
        evaluation = nb.fit(x, y, tune=tune).evaluate_training(x, y)
        assert evaluation.log_loss.value == pytest.approx(np.log(2), abs=0.1)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("family", "counted", "new"),
    [(nb.Categorical(), "u", "v"), (nb.Binned(), 1.0, 2.0), (nb.Gaussian(), 1.0, None), (nb.Poisson(), 1, None)],
    ids=str,
)
def test_rows_that_were_never_counted_are_not_evaluated_as_training_rows(
    family: nb.Family, counted: Any, new: Any
) -> None:
    """Means and sums do not prove that a number was never counted, unless there is none."""
    x, y = {"x": [counted] * 6}, ["a", "b"] * 3
    model = nb.fit(x, y, columns=family, tune=False)
    for counts, value in ((model, new), (model.forget(x, y), counted)):
        if value is not None:
            with pytest.raises(nb.InputError, match=r"needs rows that the model has counted|no rows to evaluate"):
                counts.evaluate_training({"x": [value] * 6}, y)
