"""One name for smoothing across families, in Python and in the shell."""

from __future__ import annotations

import contextlib
import inspect
import warnings
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import naively
from naively import InputError
from naively.cli.main import main
from naively.families.registry import family_named
from naively.schema.family_json import family_from_json, family_to_json
from naively.schema.infer import family_of


@given(st.floats(0, 100))
def test_bernoulli_alpha_is_a_and_b(alpha: float) -> None:
    assert naively.Bernoulli(alpha=alpha) == naively.Bernoulli(alpha, alpha)
    assert family_of(f"Bernoulli(alpha={alpha!r})") == naively.Bernoulli(alpha, alpha)
    assert family_from_json(family_to_json(naively.Bernoulli(alpha=alpha))) == naively.Bernoulli(alpha, alpha)


@pytest.mark.parametrize("alpha", [0.0, 0.25, 1.0, 3.0])
def test_alpha_of_every_kind_of_column(alpha: float) -> None:
    """Each estimate is (count + alpha) / (total + number of values times alpha), by exact fractions."""
    table = {"flag": [True, True, False, True, False], "sky": ["sun", "rain", "sun", "rain", "sun"]}
    model = naively.fit(table | {"y": ["a", "a", "a", "b", "b"]}, "y", tune=False, alpha=alpha, prior="uniform")
    exact = Fraction(alpha)

    def share(count: int, total: int) -> Fraction:
        return (count + exact) / (total + 2 * exact)

    in_a = share(2, 3) * share(2, 3)  # flag is true in 2 of 3 rows of a, sky is sun in 2 of 3
    in_b = share(1, 2) * share(1, 2)
    expected = float(in_a / (in_a + in_b))
    assert model.posterior({"flag": [True], "sky": ["sun"]})[0, 0] == pytest.approx(expected, rel=1e-12)


def test_alpha_of_texts_and_sparse_counts() -> None:
    texts, labels = ["a a b", "b c"], ["x", "y"]
    one = naively.fit(texts, labels, tune=False, alpha=0.5)
    two = naively.fit(texts, labels, tune=False, columns=naively.Text(alpha=0.5))
    assert np.array_equal(one.posterior(["a c"]), two.posterior(["a c"]))
    with pytest.raises(InputError, match="tuning chooses the smoothing"):
        naively.fit(texts, labels, alpha=0.5)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("Bernoulli(alpha=__import__('os'))", "is not a family"),
        ("Bernoulli(0)", "is not a family"),
        ("Bernoulli(alpha=0", "is not a family"),
        ("Bernoulli(beta=1)", "Bernoulli has no setting 'beta'; its settings are a, b, alpha, missing"),
        ("Bernoulli(alpha=-1)", "pseudo-count"),
        ("os.system(command='x')", "is not a family"),
        ("Nothing(alpha=1)", "is not a family"),
    ],
)
def test_settings_are_literals(spec: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        family_of(spec)


FAMILIES = sorted(
    name for name in naively.__all__ if inspect.isclass(getattr(naively, name)) and family_named(name) is not None
)


@pytest.mark.parametrize("name", FAMILIES)
def test_a_misspelt_setting_is_named_with_the_nearest(name: str) -> None:
    settings = inspect.signature(getattr(naively, name)).parameters
    for setting in settings:
        wrong = setting[:-2] + setting[-1] + setting[-2] if len(setting) > 3 else setting + "_"
        if wrong in settings:
            continue
        with pytest.raises(InputError) as error:
            family_of(f"{name}({wrong}=1)")
        assert f"{name} has no setting {wrong!r}" in str(error.value)
        assert ", ".join(settings) in str(error.value)
        assert len(setting) < 4 or str(error.value).endswith(f"Did you mean {setting}?")


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("value", ["'x'", "[1]", "{}", "-1", "None", "1j", "(1, 2, 3)", "1e999", "b''"])
def test_settings_of_any_type_work_or_raise_an_input_error(name: str, value: str) -> None:
    """Python's own words never come out: not of the constructor, and not of the fit."""
    column: list[object] = ["u v", "v", "u", "w"] if name in ("Text", "Categorical") else [1, 2, 3, 4]
    for setting in inspect.signature(getattr(naively, name)).parameters:
        with contextlib.suppress(InputError):
            family = family_of(f"{name}({setting}={value})")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                naively.fit({"c": column}, list("abab"), columns={"c": family}, tune=False).predict({"c": column})


def test_a_misspelt_family_is_named_with_the_nearest() -> None:
    with pytest.raises(InputError, match=r"Did you mean Bernoulli\?"):
        family_of("Bernuolli")


def run(*arguments: Any) -> Any:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_the_shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("d.csv").write_text("w=1,sky,y\ntrue,sun,a\nfalse,rain,b\ntrue,sun,b\n")
    common = ("fit", "d.csv", "--target", "y", "--force", "-o", "m")
    assert run(*common, "--no-tune", "--alpha", 0.5, "--column", "w=1=Bernoulli(alpha=0)").exit_code == 0
    families = dict(naively.load("m").schema.families())
    assert families["w=1"] == naively.Bernoulli(0.0, 0.0)
    assert getattr(families["sky"], "alpha", None) == 0.5
    assert run(*common, "--column", "w=1=Bernoulli(alpha=0)").exit_code == 0
    assert run(*common, "--alpha", 0.5).exit_code == 2
    assert run(*common, "--column", "sky").exit_code == 2
    assert "Bernoulli has no setting 'alpah'" in run(*common, "--column", "w=1=Bernoulli(alpah=0)").stderr
    assert "is not a family" in run(*common, "--column", "sky=Nothing").stderr
