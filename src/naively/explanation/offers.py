"""What a row offers to change: the other values of each column, and the words that might not be there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from naively.explanation.bins import number_row
from naively.explanation.tokens import NARROW, row_of
from naively.explanation.words import WORD
from naively.families import (
    Bernoulli,
    Binned,
    Complement,
    Exponential,
    Gaussian,
    LogNormal,
    Multinomial,
    Poisson,
    Presence,
)
from naively.families.binned import BinnedParameters
from naively.families.categorical import CategoricalParameters
from naively.families.evidence import shown_value
from naively.families.gaussian import GaussianParameters
from naively.statistics import Codes, Numbers, Texts

if TYPE_CHECKING:
    from naively.model.columns import View
    from naively.schema.schema import Block

__all__ = ["Offer", "offers_of"]

MOST_VALUES = 50  # other values that a column offers
MOST_WORDS = 1000  # words of a text that may be left out


@dataclass(frozen=True, slots=True)
class Offer:
    """Another value of a column; or a text, and the word of it to leave out."""

    column: str
    before: Any
    after: Any
    value: Any
    word: str | None = None

    @property
    def key(self) -> tuple[str, Any]:
        """Offers with the same key exclude each other."""
        return self.column, self.word

    @staticmethod
    def edits(offers: Sequence[Offer]) -> dict[str, Any]:
        """The new cells when all these offers are taken."""
        cells = {offer.column: offer.value for offer in offers}
        for column in {offer.column for offer in offers if offer.word is not None}:
            gone = {offer.word for offer in offers if offer.column == column}
            pieces = WORD.split(str(cells[column]))
            words = [word if word.casefold() not in gone else "" for word in WORD.findall(str(cells[column]))]
            cells[column] = "".join(piece + word for piece, word in zip(pieces, [*words, ""], strict=True))
        return cells


def offers_of(block: Block, fitted: Any, view: View, row: int, rival: int) -> Iterator[Offer]:
    """The changes that a block offers a row, for the sake of a rival class."""
    if isinstance(view, Texts):
        yield from _words(block.names[0], Texts.as_strings(view.rows(row, row + 1).columns[0])[0])
    elif isinstance(block.family, Presence):
        return  # a value that is missing cannot be changed, and one that is there is not to be taken away
    elif isinstance(view, Codes):
        yield from _values(block, fitted, view, row)
    elif isinstance(block.family, (Bernoulli, Multinomial, Complement)):
        yield from _tokens(block, view, row)
    elif isinstance(block.family, (Gaussian, Poisson, Exponential, Binned)):
        for j, x in enumerate(number_row(view, row).tolist()):
            if x == x and abs(x) < np.inf:
                yield from _numbers(block, fitted, j, x, rival)


def _words(column: str, text: str | None) -> Iterator[Offer]:
    words = dict.fromkeys(word.group().casefold() for word in WORD.finditer(text or ""))
    for word in list(words)[:MOST_WORDS]:
        yield Offer(column, word, None, text, word)


def _values(block: Block, fitted: CategoricalParameters, x: Codes, row: int) -> Iterator[Offer]:
    values = x.values
    for place, codes in x.placed():
        for j, code in zip(range(place.start, place.stop), codes[row].tolist(), strict=True):
            if code == code and 0 <= code < len(values[j]):
                own = values[j][int(code)]
                for other in [value for value in fitted.values[j] if value != own][:MOST_VALUES]:
                    yield Offer(block.names[j], own, other, other)


def _tokens(block: Block, x: Numbers, row: int) -> Iterator[Offer]:
    """A token that is there might not be; a coin of a narrow block might show its other side."""
    tokens, numbers = row_of(x, row)
    for k, number in zip(tokens.tolist(), numbers.tolist(), strict=True):
        if number == number:
            before, after = (shown_value(n, block.kind(k))[0] for n in (number, 0.0))
            yield Offer(block.names[k], before, after, after)
    if isinstance(block.family, Bernoulli) and len(block.names) <= NARROW:
        for k in np.setdiff1d(np.arange(len(block.names)), tokens).tolist():
            before, after = (shown_value(n, block.kind(k))[0] for n in (0.0, 1.0))
            yield Offer(block.names[k], before, after, after)


def _numbers(block: Block, fitted: Any, j: int, x: float, rival: int) -> Iterator[Offer]:
    kind = block.kind(j)
    if kind == "boolean":
        if x in (0.0, 1.0):
            yield Offer(block.names[j], bool(x), not x, not x)
        return
    for other in _other_numbers(block, fitted, j, x, rival):
        before, after = shown_value(x, kind)[0], shown_value(other, kind)[0]
        if before != after:
            yield Offer(block.names[j], before, after, float(other) if kind == "date" else after)


def _other_numbers(block: Block, fitted: Any, j: int, x: float, rival: int) -> list[float]:
    """The number typical of the rival; for bins, the nearest number seen in each of the other bins."""
    if isinstance(fitted, BinnedParameters):
        return _nearest_in_bins(fitted, j, x)
    if isinstance(fitted, GaussianParameters):
        mean = float(fitted.mean[rival, j])
        typical = float(np.exp(min(mean, 700.0))) if isinstance(block.family, LogNormal) else mean
        return [float(f"{typical:.6g}")]
    rate = float(fitted[rival, j])
    if isinstance(block.family, Poisson):
        return [float(round(rate))]
    return [float(f"{1.0 / rate:.6g}")] if 0 < rate < np.inf else []


def _nearest_in_bins(fitted: BinnedParameters, j: int, x: float) -> list[float]:
    cuts: NDArray[np.float64] = fitted.column_cuts(j)
    own = int(np.searchsorted(cuts, x, side="right"))
    first = int(fitted.offsets[j]) + j
    found = []
    for b in range(len(cuts) + 1):
        keys = slice(int(fitted.first_key[first + b]), int(fitted.first_key[first + b + 1]))
        low = fitted.low[keys]
        low = low[np.isfinite(low)]
        if b != own and len(low):
            found.append(float(low[np.argmin(np.abs(low - x))]))
    return found
