"""The pictures of the documentation are those that `make pictures` draws."""

import re
import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]


def colours_and_texts(svg: str) -> tuple[set[str], list[str]]:
    """Return the colours and the texts of a picture, without the numbers of axes."""
    texts = [text for text in re.findall(r"<(?:text|tspan)[^>]*>([^<]+)<", svg) if re.search(r"[a-z]{2}", text)]
    return set(re.findall(r"#[0-9a-f]{6}", svg)), texts


def test_pictures_are_current() -> None:
    tool = runpy.run_path(str(ROOT / "tools" / "pictures.py"))
    for name, figure in tool["pictures"]().items():
        stored = (ROOT / "docs" / "pictures" / f"{name}.svg").read_text(encoding="utf-8")
        assert colours_and_texts(stored) == colours_and_texts(tool["svg_of"](figure)), f"{name}: run make pictures"
