"""A nomogram as plain data: the log-odds of every value of every column, as points that are added up by hand.

    points_j(x) = (e_j(x) − min_j) · unit,        unit = 100 / the widest range of a column    (1)
    log-odds = start + points / unit,             start = prior + Σ_j min_j                     (2)
    p(of) = 1 / (1 + exp(−log-odds)),             between `of` and `against`                    (3)

e_j(x) is the log-odds contribution of value x in column j, as in an explanation. Columns that are not shown count as
missing, and words as not there: in a Bernoulli model of words that says something too, which is then part of the start.
Source: Možina, Demšar, Kattan & Zupan, Nomograms for visualization of naive Bayesian classifier, PKDD 2004.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from naively.errors import InputError
from naively.explanation.bins import bin_counts, interval_words
from naively.explanation.explain import scored_blocks
from naively.explanation.tokens import coin_scores, scores_at
from naively.families import Bernoulli, Poisson, Presence
from naively.families.binned import BinnedParameters
from naively.families.categorical import CategoricalParameters
from naively.families.evidence import shown_value
from naively.families.gaussian import GaussianParameters
from naively.families.multinomial import TokenParameters
from naively.families.text.text import TextParameters
from naively.model.calibrate import weighted_blocks
from naively.model.decide import position_of
from naively.statistics import Numbers

if TYPE_CHECKING:
    from naively.model.model import Model
    from naively.schema.schema import Block

__all__ = ["Axis", "Nomogram", "nomogram_of"]

OFTEN = 5  # a word has an axis if it occurs that often; rarer ones say little for sure
TIMES = (0, 1, 2, 3)  # occurrences that are marked on the axis of a word


@dataclass(frozen=True, eq=False)
class Axis:
    """The marks of one column (or word): what they stand for, and the log-odds that each adds."""

    column: str
    marks: tuple[str, ...]
    values: tuple[Any, ...]
    log_odds: NDArray[np.float64]

    @property
    def least(self) -> float:
        """The log-odds at zero points."""
        return float(self.log_odds.min())

    @property
    def range(self) -> float:
        """How much the column can change the log-odds."""
        return float(self.log_odds.max() - self.log_odds.min())


@dataclass(frozen=True, eq=False)
class Nomogram:
    """Axes, the widest first, and what turns points into a probability."""

    of: Any
    against: Any
    axes: tuple[Axis, ...]
    prior: float  # of the classes, and what a text says that has none of the words
    hidden: tuple[str, ...]

    @property
    def unit(self) -> float:
        """Points per log-odds."""
        return 100.0 / max((axis.range for axis in self.axes), default=1.0)

    @property
    def start(self) -> float:
        """The log-odds at zero points."""
        return math.fsum([self.prior, *(axis.least for axis in self.axes)])

    def points(self, axis: Axis, value: Any = None) -> float:
        """Equation (1), for a value that has a mark; None is a missing value, which adds nothing to the log-odds."""
        odds = 0.0 if value is None else float(axis.log_odds[axis.values.index(value)])
        return (odds - axis.least) * self.unit

    def probability(self, points: float) -> float:
        """Equations (2) and (3)."""
        odds = self.start + points / self.unit
        return 1.0 / (1.0 + math.exp(-odds)) if odds > -700 else 0.0


def nomogram_of(model: Model, of: Any = None, against: Any = None, most: int = 12) -> Nomogram:
    """The nomogram of the whole model between two classes, by default the last against the first."""
    if len(model.classes) < 2:
        raise InputError("a nomogram compares two classes, and the model has one.")
    first = position_of(of, model.classes)
    second = (
        next(c for c in range(len(model.classes)) if c != first)
        if against is None
        else position_of(against, model.classes)
    )
    if first == second:
        raise InputError(f"of= and against= are the same class, {model.classes[first]!r}: name two.")
    start = model.log_prior + weighted_blocks(model).offset
    axes: list[Axis] = []
    hidden: list[str] = []
    for block, statistic, fitted in scored_blocks(model):
        if model.tuning is not None and len(block.names) and model.tuning.exponents.get(block.names[0], 0.0):
            hidden.append(f"{block.names[0]} (its weight depends on its length)")
            continue
        axes += _axes(model, block, statistic, fitted, first, second)
        if isinstance(fitted, TextParameters):
            start = start + _weight(model, block)[0] * fitted.form.score.offset
    if not all(np.isfinite(axis.log_odds).all() for axis in axes) or not np.isfinite(start[[first, second]]).all():
        raise InputError("a nomogram needs probabilities above zero: smooth the model (alpha > 0, a and b > 0).")
    axes = sorted((axis for axis in axes if axis.range > 0), key=lambda axis: -axis.range)
    hidden += [axis.column for axis in axes[most:]]
    shown = tuple(axes[:most])
    prior = float(start[first] - start[second])
    return Nomogram(model.classes[first], model.classes[second], shown, prior, tuple(hidden))


def _axes(model: Model, block: Block, statistic: Any, fitted: Any, of: int, against: int) -> Iterator[Axis]:
    """The axes of a block, weighted as the tuning says."""
    weight = _weight(model, block)
    for j, axis in _unweighted(block, statistic, fitted, len(model.classes), of, against):
        yield Axis(axis.column, axis.marks, axis.values, axis.log_odds * weight[j if len(weight) > 1 else 0])


def _weight(model: Model, block: Block) -> NDArray[np.float64]:
    return np.ones(1) if model.tuning is None else model.tuning.weight(block)


def _unweighted(
    block: Block, statistic: Any, fitted: Any, n_classes: int, of: int, against: int
) -> Iterator[tuple[int, Axis]]:
    """Each axis with the place of its column."""
    if isinstance(fitted, (TokenParameters, TextParameters)) and not isinstance(block.family, Bernoulli):
        yield from ((0, axis) for axis in _words(block, statistic, fitted, of, against))
        return
    for j, name in enumerate(block.names):
        if isinstance(fitted, CategoricalParameters):
            values, table = fitted.values[j], fitted.log_probability[j]
            if values:
                yield j, Axis(name, tuple(map(str, values)), values, table[:, of] - table[:, against])
        elif isinstance(fitted, BinnedParameters):
            yield j, _bins(block, statistic, fitted, j, of, against)
        elif isinstance(fitted, TokenParameters):
            yield j, _coin(block, fitted, j, of, against)
        elif isinstance(fitted, (GaussianParameters, np.ndarray)):
            yield j, _numbers(block, fitted, j, n_classes, of, against)


def _bins(block: Block, statistic: Any, fitted: BinnedParameters, j: int, of: int, against: int) -> Axis:
    cuts, table = fitted.column_cuts(j), fitted.column_log_probability(j)
    seen = np.flatnonzero(bin_counts(statistic, fitted, j).any(axis=1))
    marks = tuple(interval_words(cuts, int(b), block.kind(j)) for b in seen)
    return Axis(block.names[j], marks or ("any",), marks or ("any",), (table[:, of] - table[:, against])[seen])


def _coin(block: Block, fitted: TokenParameters, j: int, of: int, against: int) -> Axis:
    sides = [coin_scores(fitted.form, np.array([j]), up)[0] for up in (False, True)]
    odds = np.array([side[of] - side[against] for side in sides])
    gap = isinstance(block.family, Presence)
    marks = ("missing", "has a value") if gap else ("no", "yes")
    return Axis(f"{block.names[j]} present" if gap else block.names[j], marks, (False, True), odds)


def _numbers(block: Block, fitted: Any, j: int, n_classes: int, of: int, against: int) -> Axis:
    """Marks at round numbers over what is usual in the two classes."""
    if isinstance(fitted, GaussianParameters):
        mean, deviation = fitted.mean[[of, against], j], np.sqrt(fitted.variance[[of, against], j])
        low, high = float((mean - 2.5 * deviation).min()), float((mean + 2.5 * deviation).max())
        if block.family.support == "positive":
            grid = np.exp(np.linspace(low, high, 7))
            grid = np.array([float(f"{x:.2g}") for x in grid])
        else:
            grid = _round_numbers(low, high)
    else:
        top = float(fitted[[of, against], j].max())
        grid = _round_numbers(
            0.0, top + 3 * math.sqrt(top) + 1 if isinstance(block.family, Poisson) else 4 / max(top, 1e-300)
        )
        grid = np.unique(np.round(grid)) if isinstance(block.family, Poisson) else grid
    rows = np.full((len(grid), len(block.names)), np.nan)
    rows[:, j] = grid
    scores = np.zeros((len(grid), n_classes))
    block.family.log_likelihood(Numbers((rows,)), fitted, scores)
    shown = [shown_value(x, block.kind(j)) for x in grid.tolist()]
    marks = tuple(told for _, told in shown)
    return Axis(block.names[j], marks, tuple(grid.tolist()), scores[:, of] - scores[:, against])


def _round_numbers(low: float, high: float) -> NDArray[np.float64]:
    """About seven round numbers between two ends.

    >>> _round_numbers(-0.3, 61.0).tolist()
    [0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0]
    """
    span = max(high - low, 1e-12 * max(abs(low), abs(high), 1.0))
    size = 10.0 ** math.floor(math.log10(span / 6))
    step = next(size * k for k in (1, 2, 5, 10) if span / (size * k) <= 7.5)
    ticks = step * np.arange(math.ceil(low / step), math.floor(high / step) + 1)
    return np.array([float(f"{tick:.10g}") for tick in ticks])


def _words(block: Block, statistic: Any, fitted: Any, of: int, against: int) -> Iterator[Axis]:
    """An axis for each word that is not rare, with marks at a few occurrences."""
    form, cells = fitted.form, statistic.cells
    n = len(form.score.base)
    often = np.flatnonzero((np.bincount(cells.index, cells.sums[0], n) >= OFTEN) & ~np.isnan(form.score.base))
    text = isinstance(fitted, TextParameters)
    coins = text and form.absent is not None
    scores = coin_scores(form, often, True) - coin_scores(form, often, False) if coins else scores_at(form, often)
    odds = scores[:, of] - scores[:, against]
    once = text and block.family.once  # type: ignore[attr-defined]  # a text's family is Text
    times = np.array(TIMES[:2] if once else TIMES)
    for k, word_odds in zip(often.tolist(), odds.tolist(), strict=True):
        name = f"{block.names[0]}: {statistic.name(k)}" if text else block.names[k]
        yield Axis(name, tuple(map(str, times.tolist())), tuple(times.tolist()), times * word_odds)
