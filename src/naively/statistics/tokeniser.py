"""How a text is split into tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from naively._kernels.text import Options, Prepared, Strings, prepare, prepare_tokens
from naively.data.views import Texts

DEFAULT_OPTIONS = Options()


@dataclass(frozen=True)
class Tokeniser:
    """What a token is: options of the compiled tokeniser, or a function that splits a string into tokens."""

    options: Options = DEFAULT_OPTIONS
    split: Callable[[str], list[str]] | None = None

    def prepare(self, texts: Sequence[str | None] | Strings) -> Prepared:
        """Return texts as the compiled core reads them."""
        if self.split is None:
            return prepare(texts)
        split = self.split
        strings = Texts.as_strings(texts)
        return prepare_tokens([None if text is None else list(split(text)) for text in strings])


WORDS = Tokeniser()
