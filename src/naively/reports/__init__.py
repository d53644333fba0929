"""A report of a model as one HTML file: no script, no request to other files, light and dark, printable.

`page.py` collects what is shown and writes the page. `sections.py` has one function per section, `pictures.py` draws
SVG, and `svg.py` escapes every text of the user.
"""

from naively.reports.page import Report, report

__all__ = ["Report", "report"]
