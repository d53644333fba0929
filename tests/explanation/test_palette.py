"""The colours of classes: distinct for everybody and in grey, visible on their background, and in one place."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import naively
from naively._kernels.types import Floats
from naively.explanation.palette import COLOURS, colour_of, pair, style_sheet

# Machado, Oliveira & Fernandes (2009): full deficiency, in linear light
VISION = {
    "normal": np.eye(3),
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def linear(colour: str) -> Floats:
    c = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def lab(light: Floats) -> Floats:
    x = XYZ @ np.clip(light, 0, 1) / [0.9505, 1.0, 1.089]
    f = np.where(x > 0.008856, np.cbrt(x), 7.787 * x + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def contrast(one: str, two: str) -> float:
    low, high = sorted((XYZ @ linear(colour))[1] for colour in (one, two))
    return float((high + 0.05) / (low + 0.05))


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("shade", ["light", "dark"])
def test_colours_differ_for_every_kind_of_vision(shade: str, vision: str) -> None:
    seen = [lab(np.asarray(VISION[vision]) @ linear(getattr(colour, shade))) for colour in COLOURS]
    assert min(float(np.linalg.norm(a - b)) for a, b in combinations(seen, 2)) > 10


@pytest.mark.parametrize("shade", ["light", "dark"])
def test_colours_differ_in_grey(shade: str) -> None:
    lightness = [lab(linear(getattr(colour, shade)))[0] for colour in COLOURS]
    assert min(abs(a - b) for a, b in combinations(lightness, 2)) > 3.9
    assert abs(lightness[0] - lightness[1]) > 9


def test_colours_are_visible_on_their_background() -> None:
    assert min(contrast(colour.light, "#ffffff") for colour in COLOURS) >= 3
    assert min(contrast(colour.dark, "#1d2126") for colour in COLOURS) >= 3
    assert min(contrast(colour.terminal, ground) for colour in COLOURS for ground in ("#000000", "#ffffff")) >= 3


def test_a_class_has_its_colour_in_terminal_html_and_style_sheet() -> None:
    rows = {"sky": ["sun", "rain", "fog"] * 10}
    model = naively.fit(rows, ["a", "b", "c"] * 10)
    explanation = model.explain({"sky": ["fog"]}, of="c", against="b")[0]
    assert explanation.colours == (colour_of(2), colour_of(1))
    other = model.explain({"sky": ["fog"]}, of="b", against="c")[0]
    assert other.colours == (colour_of(1), colour_of(2))
    assert f'color:{colour_of(2).terminal}">c<' in explanation._repr_html_()
    assert f'color:{colour_of(2).terminal}">c<' in other._repr_html_()
    assert f"--c2: {COLOURS[2].light};" in style_sheet()
    assert f"--c2: {COLOURS[2].dark};" in style_sheet()


def test_two_classes_of_one_explanation_have_two_colours() -> None:
    assert len(set(pair(0, 8))) == 2


def test_no_other_file_has_colours_of_classes() -> None:
    source = Path(naively.__file__).parent
    known = {shade for colour in COLOURS for shade in colour}
    for path in source.rglob("*.*"):
        if path.suffix in (".py", ".css", ".js", ".html") and path.name != "palette.py":
            text = path.read_text(encoding="utf-8").lower()
            assert not known & set(re.findall(r"#[0-9a-f]{6}\b", text)), path
            assert not re.search(r"--c0:\s*#", text), path
