"""The pages: server-rendered HTML with a `.json` twin each, one style sheet, one script, own SVG.

The state of a page is its address (`address.py`). One file per page makes its data, a template shows them, and
`routes.py` connects both. `drawing.py` draws the pictures.
"""

from naively.server.pages.routes import error_page, page_routes

__all__ = ["error_page", "page_routes"]
