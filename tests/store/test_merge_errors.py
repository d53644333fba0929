"""An error of `merge` names the files that do not agree, in the order in which they were given."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

import naively
from naively.errors import InputError

ROWS: dict[str, list[Any]] = {"sky": ["sun", "rain"] * 3, "wind": [1, 2] * 3}
OTHERS: dict[str, tuple[dict[str, list[Any]], list[Any]]] = {
    "another column": ({"sky": ["sun", "rain"] * 3, "moon": [1, 2] * 3}, ["yes", "no"] * 3),
    "another family": ({"sky": ["sun", "rain"] * 3, "wind": ["a", "b"] * 3}, ["yes", "no"] * 3),
    "other classes": (ROWS, [0, 1] * 3),
}


@pytest.mark.parametrize("order", list(permutations("abc")))
@pytest.mark.parametrize(("x", "y"), OTHERS.values(), ids=OTHERS.keys())
def test_the_file_that_differs_is_named(
    x: dict[str, list[Any]], y: list[Any], order: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """File b differs, at whatever time it was written and wherever it stands."""
    monkeypatch.chdir(tmp_path)
    for name in order[::-1]:
        naively.fit(*((x, y) if name == "b" else (ROWS, ["yes", "no"] * 3)), tune=False).save(name)
    with pytest.raises(InputError) as error:
        naively.merge(sorted(order, key=order.index), "out")
    first = order[0]
    second = next(name for name in order[1:] if (name == "b") != (first == "b"))
    message = str(error.value)
    assert message.startswith(f"{first} (the first) and {second} (the second): ")
    if "moon" in x:
        of_moon, of_wind = ("first", "second") if first == "b" else ("second", "first")
        assert f"'moon' only in the {of_moon}" in message
        assert f"'wind' only in the {of_wind}" in message
    assert not Path("out").exists()


def test_the_file_with_a_class_without_a_prior_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    naively.fit(ROWS, ["yes", "no"] * 3, prior={"yes": 0.5, "no": 0.5}, tune=False).save("a")
    naively.fit(ROWS, ["yes", "no"] * 3, tune=False).save("b")
    naively.fit(ROWS, ["yes", "maybe"] * 3, tune=False).save("c")
    with pytest.raises(InputError, match=r"^c: the class prior is that of a: .*maybe"):
        naively.merge(["a", "b", "c"], "out")


def test_merge_reports_other_tunings(tmp_path: Path) -> None:
    table, label = {"x": [0.1 * k for k in range(60)]}, [k % 7 > 3 for k in range(60)]
    plain = naively.fit(table, label, tune=False)
    plain.save(tmp_path / "plain")
    plain.tune(table, label).save(tmp_path / "tuned")
    with pytest.warns(naively.TuningWarning, match=r"tuned is tuned differently: .*plain is not tuned"):
        model = naively.merge([tmp_path / "plain", tmp_path / "tuned"], tmp_path / "both")
    assert model.tuning is None
    with pytest.warns(naively.TuningWarning, match=r"plain is tuned differently: the tuning of .*tuned was kept"):
        model = naively.merge([tmp_path / "tuned", tmp_path / "plain"], tmp_path / "other")
    assert model.tuning is not None
