"""Settings of Sphinx for `make docs`. It needs no network, and a warning is an error."""

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))

project = "naively"
author = "The naively developers"
extensions = ["myst_nb", "sphinx-mathjax-offline"]  # MathJax comes with the package, not from a network
exclude_patterns = ["conf.py"]
html_theme = "furo"
html_title = "naively"
html_static_path = ["_static"]
html_css_files = ["naively.css"]
html_copy_source = False
highlight_language = "none"
myst_heading_anchors = 3
myst_enable_extensions = ["dollarmath"]
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_output_stderr = "remove"  # warnings there have names of temporary files
html_show_copyright = False


def insert_reference(_app: Any, page: str, source: list[str]) -> None:
    """Replace the mark in a page by the reference that is made from the package."""
    import reference_pages

    makers = {"commands": reference_pages.commands, "reference": reference_pages.names}
    if page in makers:
        source[0] = source[0].replace("<!-- generated -->", makers[page]())


def setup(app: Any) -> None:
    """Connect the handler; Sphinx calls this."""
    app.connect("source-read", insert_reference)
