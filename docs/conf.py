"""Sphinx: the pages of this folder as HTML, with `make docs`. Needs no network, and a warning is an error."""

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))

project = "naively"
author = "The naively developers"
extensions = ["myst_parser"]
exclude_patterns = ["conf.py"]
html_theme = "furo"
html_title = "naively"
html_copy_source = False
highlight_language = "none"
myst_heading_anchors = 3


def generated(_app: Any, page: str, source: list[str]) -> None:
    """Put the reference where a page asks for it; it is made by the package itself."""
    import reference_pages

    makers = {"commands": reference_pages.commands, "reference": reference_pages.names}
    if page in makers:
        source[0] = source[0].replace("<!-- generated -->", makers[page]())


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("source-read", generated)
