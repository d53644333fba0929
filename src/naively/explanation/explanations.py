"""A list of explanations that a notebook shows as HTML."""

from naively.data.html import more, section
from naively.explanation.explanation import Explanation

MAX_SHOWN = 10  # explanations in a notebook


class Explanations(list[Explanation]):
    """The explanations of some rows, in their order. It is a list."""

    def _repr_html_(self) -> str:
        shown = [explanation._repr_html_() for explanation in self[:MAX_SHOWN]]
        return section("explanations", *shown, more(len(self) - MAX_SHOWN, "explanations"))
