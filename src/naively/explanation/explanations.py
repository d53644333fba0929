"""A list of explanations that a notebook shows as HTML."""

from __future__ import annotations

from typing import SupportsIndex, overload

from naively.data.html import more, section
from naively.data.names import counted
from naively.explanation.explanation import Explanation

MAX_SHOWN = 10  # explanations in a notebook


class Explanations(list[Explanation]):
    """The explanations of some rows, in their order. It is a list, and so is a slice of it."""

    @overload
    def __getitem__(self, index: SupportsIndex) -> Explanation: ...
    @overload
    def __getitem__(self, index: slice) -> Explanations: ...
    def __getitem__(self, index: SupportsIndex | slice) -> Explanation | Explanations:
        return Explanations(super().__getitem__(index)) if isinstance(index, slice) else super().__getitem__(index)

    def __repr__(self) -> str:
        return f"<Explanations of {counted(len(self), 'row')}>"

    def _repr_html_(self) -> str:
        shown = [explanation._repr_html_() for explanation in self[:MAX_SHOWN]]
        return section("explanations", *shown, more(len(self) - MAX_SHOWN, "explanations"))
