"""Each family has a page with the equations of its source file and all of its settings."""

from __future__ import annotations

import importlib
import re
from dataclasses import fields
from pathlib import Path

import pytest

import naively
from naively.families import Presence

PAGES = Path(__file__).parents[2] / "docs" / "families"
FAMILIES = [
    *(getattr(naively, name) for name in naively.__all__ if name != "Family"),
    Presence,
]
FAMILIES = [f for f in FAMILIES if isinstance(f, type) and issubclass(f, naively.Family)]


SYMBOLS = {"theta": "θ", "varphi": "φ", "mu": "μ", "sigma": "σ", "lambda": "λ", "alpha": "α", "pi": "π", "sum": "Σ"} | {
    "mid": "|",
    "sim": "~",
    "cdot": "·",
    "approx": "≈",
    "le": "≤",
    "dots": "…",
    "qquad": "",
    "quad": "",
}
FORMS = ("frac", "text", "left", "right", "operatorname")


def plain(latex: str) -> str:
    """Return typeset equations as a source file writes them: \\theta_{jc} as θ_jc, a fraction as a / b."""
    latex = re.sub(r"\\tag\{(\d)\}", r"(\1)", latex)
    latex = re.sub(r"\\tilde\\theta", "θ̃", latex).replace(r"\tfrac12", "½").replace("^2", "²").replace(r"}{", "/")
    latex = re.sub(r"\\([a-z]+)", lambda name: SYMBOLS.get(name[1], "" if name[1] in FORMS else name[1]), latex)
    return latex.replace("-", "−")


def letters(text: str) -> str:
    """Return a text without spaces, brackets of any kind, and what only arranges an equation."""
    return re.sub(r"[\s(){}$]+", "", text)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_page_has_the_equations_and_settings_of_its_source(family: type[naively.Family]) -> None:
    name = family.__module__.rpartition(".")[2]
    page = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    source = importlib.import_module(family.__module__).__doc__ or ""
    equations = re.findall(r"^    (\S.*\(\d\))$", source, flags=re.MULTILINE)
    assert equations
    for equation in equations:
        assert letters(equation) in letters(plain(page)), equation
    settings = [field.name for field in fields(family)] if family is not Presence else ["missing"]
    assert not [setting for setting in settings if f"`{setting}`" not in page and f"`{setting}=" not in page]
    assert f"({name}.md)" in (PAGES / "index.md").read_text(encoding="utf-8")
    assert "\n>>> " in page
