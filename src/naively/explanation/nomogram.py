"""A nomogram as plain data: the log-odds of each value of each column, as points that can be added up by hand.

    points_j(x) = (e_j(x) − min_j) · unit,        unit = 100 / the widest range of a column    (1)
    log-odds = start + points / unit,             start = prior + Σ_j min_j                     (2)
    p(of) = 1 / (1 + exp(−log-odds)),             between `of` and `against`                    (3)

e_j(x) is the log-odds contribution of value x in column j, as in an explanation. It is computed from the likelihood of
the family, at the values of its grid. Columns that are not shown count as missing, and words as absent. In a Bernoulli
model of words the absence of words is evidence too, which is then part of the start. The floor of a tuning is left out:
the model's probability of two classes is (1 − ε) p + ε/2. So are tables of columns: the nomogram of a model that uses
them is that of `model.without_tables()`.
Source: Možina, Demšar, Kattan & Zupan, Nomograms for visualization of naive Bayesian classifier, PKDD 2004.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from naively._kernels.types import Floats
from naively.data.labelled import Label
from naively.errors import InputError
from naively.explanation.explain import class_pair, scored_blocks
from naively.families.base import score_column
from naively.families.evidence import Pair, format_value
from naively.model.counted_numbers import counted_range, integer_columns
from naively.model.model import Model
from naively.schema.schema import Block
from naively.statistics import Statistic

MIN_WORD_COUNT = 5  # occurrences of a word that has an axis; rarer words are uncertain
MAX_POINTS = 128  # of a grid, from which the usual range of a column is computed
PROBABILITIES = (
    1e-6,
    1e-4,
    0.001,
    0.01,
    0.05,
    0.1,
    0.25,
    0.5,
    0.75,
    0.9,
    0.95,
    0.99,
    0.999,
    0.9999,
    0.999999,
)  # marks of the last scale
DATE_STEPS = (  # unit of a calendar, its seconds, and how many of them are a round step
    ("s", 1, (1, 10, 30)),
    ("m", 60, (1, 5, 10, 30)),
    ("h", 3_600, (1, 3, 6, 12)),
    ("D", 86_400, (1, 2, 5, 10)),
    ("M", 2_629_746, (1, 3, 6)),
    ("Y", 31_556_952, (1, 2, 5, 10, 20, 50, 100, 1_000, 10_000)),
)
COLUMNS_ALONE = "The model also reads columns together. Scales cannot show that: these are for the columns alone."
NEAR = 0.1  # of a step between round numbers: a number that is as near as this needs no mark beyond it
TAIL = 0.0062  # probability beyond each end of an axis: that beyond 2.5 standard deviations


@dataclass(frozen=True, eq=False)
class Axis:
    """The axis of one column or word: its values, their names, and the log-odds that each adds."""

    column: str
    marks: tuple[str, ...]
    values: tuple[object, ...]
    log_odds: Floats

    @property
    def minimum(self) -> float:
        """The log-odds at zero points."""
        return float(self.log_odds.min())

    @property
    def range(self) -> float:
        """How much the column can change the log-odds."""
        return float(self.log_odds.max() - self.log_odds.min())


@dataclass(frozen=True, eq=False)
class Nomogram:
    """Axes, the widest first, and what converts points to a probability.

    `prior` is the log-odds of the prior and of the absence of all words; `hidden` names the columns without an axis;
    `note` says if the model uses tables of columns.
    """

    of: Label
    against: Label
    axes: tuple[Axis, ...]
    prior: float
    hidden: tuple[str, ...]
    note: str = ""

    @property
    def unit(self) -> float:
        """Points per log-odds."""
        return 100.0 / max((axis.range for axis in self.axes), default=1.0)

    @property
    def start(self) -> float:
        """The log-odds at zero points."""
        return math.fsum([self.prior, *(axis.minimum for axis in self.axes)])

    def points(self, axis: Axis, value: object = None) -> float:
        """Return equation (1) for a value or mark of an axis; None is a missing value, which adds no log-odds."""
        log_odds = 0.0
        if value is not None:
            position = axis.values.index(value) if value in axis.values else axis.marks.index(value)
            log_odds = float(axis.log_odds[position])
        return (log_odds - axis.minimum) * self.unit

    def probability(self, points: float) -> float:
        """Return equations (2) and (3)."""
        log_odds = self.start + points / self.unit
        return 1.0 / (1.0 + math.exp(-log_odds)) if log_odds > -700 else 0.0


def make_nomogram(model: Model, of: Label | None = None, against: Label | None = None, top: int = 12) -> Nomogram:
    """Make the nomogram of a model between two classes; the parameters are those of `plot.nomogram`."""
    note = "" if model.weighted_blocks.tables is None else COLUMNS_ALONE
    model = model.without_tables() if note else model
    first, second = class_pair(model, of, against, order_of_classes(model))
    start = model.log_prior + model.weighted_blocks.offset
    axes: list[Axis] = []
    hidden: list[str] = []
    integers = integer_columns(model)
    for block, statistic, parameters in scored_blocks(model):
        if model.tuning is not None and model.tuning.exponent(block):
            hidden.append(f"{block.names[0]} (its weight depends on its length)")
            continue
        weight = np.ones(1) if model.tuning is None else model.tuning.weight(block)
        words = block.family.frequent_words(statistic, parameters, block.names, MIN_WORD_COUNT)
        if words is not None and (weight == weight[0]).all():
            start = start + weight[0] * words.offset
            counts = np.arange(words.max_count + 1)
            log_odds = weight[0] * (words.log_weights[:, first] - words.log_weights[:, second])
            axes += (
                Axis(name, tuple(map(str, counts)), tuple(counts.tolist()), counts * odds)
                for name, odds in zip(words.names, log_odds.tolist(), strict=True)
            )
            continue
        for j, column in enumerate(block.names):
            name = f"{column} present" if block.family.role == "presence" else column
            axis = _axis(model, block, statistic, parameters, j, name, (first, second), column in integers)
            if axis is None:
                hidden.append(f"{name} ({block.family} has no scale)")
            else:
                axes.append(replace(axis, log_odds=weight[j if len(weight) > 1 else 0] * axis.log_odds))
    if not all(np.isfinite(axis.log_odds).all() for axis in axes) or not np.isfinite(start[[first, second]]).all():
        raise InputError("a nomogram needs probabilities above zero: smooth the model (alpha > 0, a and b > 0).")
    axes = sorted((axis for axis in axes if axis.range > 0), key=lambda axis: -axis.range)
    hidden += [axis.column for axis in axes[top:]]
    prior = float(start[first] - start[second])
    return Nomogram(model.classes[first], model.classes[second], tuple(axes[:top]), prior, tuple(hidden), note)


def order_of_classes(model: Model) -> list[int]:
    """Return the last of two classes before the first; of more classes, the most common ones before the others."""
    if len(model.classes) <= 2:
        return list(range(len(model.classes)))[::-1]
    return [int(c) for c in np.argsort(-model.class_weights.rows, kind="stable")]


def _axis(
    model: Model, block: Block, statistic: Statistic, parameters: Any, j: int, name: str, pair: Pair, is_whole: bool
) -> Axis | None:
    """Return the axis of a column without its weight: the values of its grid, or round numbers for a scale.

    A scale stays within the numbers that were counted, and has whole numbers only if these are whole.
    """
    family, kind = block.family, block.kind(j)
    grid = family.grid(statistic, parameters, j, kind)
    if grid is None:
        return None
    values, marks = grid.values, grid.marks
    if marks is None:
        points = np.asarray(values, dtype=np.float64)[:: max(1, len(values) // MAX_POINTS)]
        scores = score_column(family, statistic, parameters, j, points)[:, list(pair)]
        low, high = np.clip(usual_range(points, scores), *counted_range(model, block.names[j])).tolist()
        if family.support == "positive":
            values = np.array([float(f"{x:.2g}") for x in np.geomspace(low, high, 7)])
        elif kind == "date":
            values = round_dates(low, high)
        else:
            values = round_numbers(low, high, cover=True)
            values = np.unique(np.round(values)) if is_whole or family.support == "count" else values
        marks = tuple(format_value(x, kind)[1] for x in values.tolist())
    scores = score_column(family, statistic, parameters, j, values)
    return Axis(name, marks, tuple(values), scores[:, pair[0]] - scores[:, pair[1]])


def usual_range(points: Floats, log_density: Floats) -> tuple[float, float]:
    """Return the range of a column without the tails of both classes, from densities at ascending points."""
    density = np.exp(log_density - np.max(log_density, axis=0))
    mass = np.nan_to_num(density * np.gradient(points)[:, None] if len(points) > 1 else density)
    cumulative = (np.cumsum(mass, axis=0) - mass / 2) / np.maximum(mass.sum(axis=0), 1e-300)
    ends = [np.interp((TAIL, 1 - TAIL), side, points) for side in cumulative.T]
    return float(min(low for low, _ in ends)), float(max(high for _, high in ends))


def round_numbers(low: float, high: float, *, cover: bool = False) -> Floats:
    """Return about seven round numbers between two ends; with `cover` also the next ones beyond, if an end is not near.

    >>> round_numbers(-0.3, 57.0).tolist(), round_numbers(-0.3, 57.0, cover=True).tolist()
    ([0.0, 10.0, 20.0, 30.0, 40.0, 50.0], [0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0])
    """
    span = max(high - low, 1e-12 * max(abs(low), abs(high), 1.0))
    size = 10.0 ** math.floor(math.log10(span / 6))
    step = next(size * k for k in (1, 2, 5, 10) if span / (size * k) <= 7.5)
    beyond = 1 - NEAR if cover else 0.0
    ticks = step * np.arange(math.ceil(low / step - beyond), math.floor(high / step + beyond) + 1)
    return np.array([float(f"{tick:.10g}") for tick in ticks])


def round_dates(low: float, high: float) -> Floats:
    """Return three to eight round dates between two ends, in seconds: first days of years or months, midnights.

    >>> [str(date) for date in round_dates(1.66e9, 1.72e9).astype("datetime64[s]").astype("datetime64[D]")]
    ['2022-10-01', '2023-01-01', '2023-04-01', '2023-07-01', '2023-10-01', '2024-01-01', '2024-04-01', '2024-07-01']
    """
    steps = ((unit, step) for unit, seconds, steps in DATE_STEPS for step in steps if high - low <= 8 * seconds * step)
    unit, step = next(steps, ("Y", 100_000))
    first, last = (int(np.datetime64(int(end), "s").astype(f"M8[{unit}]").astype(int)) // step for end in (low, high))
    ticks = (step * np.arange(first, last + 2)).astype(f"M8[{unit}]").astype("M8[s]").astype(np.float64)
    return ticks[(low <= ticks) & (ticks <= high)] if high - low >= 2 else np.array([float(round(low))])
