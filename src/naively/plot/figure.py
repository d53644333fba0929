"""A matplotlib figure that a notebook shows. This module imports matplotlib: it is loaded when a picture is drawn."""

from __future__ import annotations

import io

from matplotlib.figure import Figure


class Picture(Figure):
    """A figure without pyplot, which would keep it in memory and draw it again; a notebook gets it as PNG.

    >>> Picture(figsize=(1, 1))._repr_png_()[1:4]
    b'PNG'
    """

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        self.savefig(buffer, format="png")
        return buffer.getvalue()
