"""Random histories of update and forget, with weights from 1e-9 to 1e9, against a refit in rational arithmetic."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import naively as nb
from naively.statistics import ClassWeights, Moments, Statistic, Sums
from naively.store.codec import decode_value, encode_value

N_HISTORIES = 20_000 if os.environ.get("NAIVELY_SOAK") else 2_000
N_CLASSES = 2
Row = tuple[float, int, float]  # value, class, weight


def draw_rows(rng: np.random.Generator, n: int, kind: str) -> list[Row]:
    """Draw rows with many equal values; `kind` says how weights and values are distributed."""
    pool = np.abs(rng.normal(size=rng.integers(1, 5)).round(rng.integers(0, 16)))
    pool[0] = 0.0 if rng.random() < 0.5 else pool[0]
    if kind == "outliers":
        pool *= 10.0 ** rng.integers(0, 7, len(pool))
    values, label = rng.choice(pool, n), rng.integers(0, N_CLASSES, n)
    weight = np.ones(n)
    if kind == "weighted":
        weight = 10.0 ** rng.uniform(-9, 9, n)
    elif kind == "mixed":
        weight = np.where(rng.random(n) < 0.5, 1.0, rng.choice([0.1, 1e-9, 1e9, 1000.0, 1 / 3], n))
    return list(zip(values.tolist(), label.tolist(), weight.tolist(), strict=True))


def count(statistic: type[Statistic], rows: Sequence[Row]) -> Any:
    x, label, weight = (np.array(column) for column in zip(*rows, strict=True))
    weights = None if (weight == 1).all() else weight
    return statistic.count(None if statistic is ClassWeights else x, label.astype(np.int32), weights, N_CLASSES)


@dataclass
class History:
    """Rows that are counted, and statistics that were added and subtracted to get there."""

    rows: list[Row]
    statistics: list[Any]

    @classmethod
    def start(cls, rows: list[Row]) -> History:
        return cls(rows, [count(kind, rows) for kind in (Moments, Sums, ClassWeights)])

    def update(self, rows: list[Row]) -> None:
        self.rows = self.rows + rows
        self.statistics = [s + count(type(s), rows) for s in self.statistics]

    def forget(self, positions: set[int]) -> None:
        rows = [row for i, row in enumerate(self.rows) if i in positions]
        self.rows = [row for i, row in enumerate(self.rows) if i not in positions]
        self.statistics = [s - count(type(s), rows) for s in self.statistics]

    def write_and_read(self) -> None:
        arrays: list[Any] = []
        encoded = [json.loads(encode_value(s, arrays)) for s in self.statistics]
        self.statistics = [decode_value(value, arrays) for value in encoded]


def draw_history(seed: int) -> History:
    rng = np.random.default_rng(seed)
    kind = str(rng.choice(["unweighted", "outliers", "weighted", "mixed"]))
    history = History.start(draw_rows(rng, int(rng.integers(2, 30)), kind))
    for _ in range(rng.integers(1, 6)):
        if rng.random() < 0.3:
            history.update(draw_rows(rng, int(rng.integers(1, 10)), kind))
        elif rng.random() < 0.2:
            history.write_and_read()
        else:
            n = int(rng.integers(1, max(len(history.rows), 2)))
            positions = set(rng.permutation(len(history.rows))[:n].tolist())
            if 0 < len(positions) < len(history.rows):
                history.forget(positions)
    return history


@pytest.mark.parametrize("first", range(0, N_HISTORIES, 500))
def test_statistics_are_those_of_a_refit(first: int) -> None:
    """The spread is zero if and only if all values are equal; the total, if all are zero."""
    for seed in range(first, first + 500):
        history = draw_history(seed)
        moments, sums, classes = history.statistics
        mean, squares = moments.mean_and_squares()
        for c in range(N_CLASSES):
            rows = [(Fraction(x), Fraction(w)) for x, label, w in history.rows if label == c]
            n = sum((w for _, w in rows), Fraction(0))
            assert moments.rows[c, 0] == sums.rows[c, 0] == classes.rows[c] == len(rows)
            assert moments.weight[c, 0] == sums.weight[c, 0] == classes.weight[c] == float(n), seed
            if not rows:
                continue
            total = sum((w * x for x, w in rows), Fraction(0))
            spread = sum((w * (x - total / n) ** 2 for x, w in rows), Fraction(0))
            assert (squares[c, 0] == 0) == (spread == 0), (seed, history.rows)
            assert (sums.total[c, 0] == 0) == (total == 0), (seed, history.rows)
            assert squares[c, 0] == pytest.approx(float(spread), rel=1e-9, abs=0), (seed, history.rows)
            assert mean[c, 0] == pytest.approx(float(total / n), rel=1e-12, abs=1e-20), (seed, history.rows)
            assert sums.total[c, 0] == pytest.approx(float(total), rel=1e-12, abs=0), (seed, history.rows)


FAMILIES = [nb.Gaussian(), nb.Gaussian(floor=0.0), nb.Poisson(a=0, b=0), nb.Exponential(a=0, b=0)]


@pytest.mark.filterwarnings("ignore::naively.errors.ImpossibleRowsWarning")
@pytest.mark.parametrize("family", FAMILIES, ids=str)
def test_posteriors_are_those_of_a_refit(family: nb.Family) -> None:
    for seed in range(N_HISTORIES // 10):
        rng = np.random.default_rng(seed)
        rows = draw_rows(rng, int(rng.integers(4, 20)), str(rng.choice(["unweighted", "weighted", "mixed"])))
        if isinstance(family, nb.Poisson):
            rows = [(float(round(x)), label, w) for x, label, w in rows]
        n = int(rng.integers(1, len(rows)))
        x, label, weight = ([row[k] for row in rows] for k in range(3))
        rest = fit(family, x, label, weight).forget({"x": x[:n]}, label[:n], weight[:n])
        refit = fit(family, x[n:], label[n:], weight[n:])
        assert rest.classes == refit.classes
        np.testing.assert_allclose(rest.posterior({"x": x}), refit.posterior({"x": x}), rtol=1e-9, atol=1e-300)


def fit(family: nb.Family, x: Sequence[float], label: Sequence[float], weight: Sequence[float]) -> nb.Model:
    return nb.fit({"x": x}, label, weight=weight, columns=family, tune=False, n_jobs=1)


def assert_same_counts(one: Sequence[Any], two: Sequence[Any]) -> None:
    """The weights bit for bit, the moments and totals to 1e-12."""
    (moments, sums, classes), (other_moments, other_sums, other_classes) = one, two
    for a, b in ((moments, other_moments), (sums, other_sums), (classes, other_classes)):
        np.testing.assert_array_equal(a.weight, b.weight)
    np.testing.assert_allclose(sums.total, other_sums.total, rtol=1e-12)
    np.testing.assert_allclose(moments.mean, other_moments.mean, rtol=1e-12, atol=1e-20)
    np.testing.assert_allclose(moments.squares, other_moments.squares, rtol=1e-9)


def test_parts_add_up_in_any_order_and_weight_two_is_the_row_twice() -> None:
    for seed in range(N_HISTORIES // 4):
        rng = np.random.default_rng(seed)
        rows = draw_rows(rng, int(rng.integers(2, 30)), str(rng.choice(["outliers", "weighted", "mixed"])))
        counted = History.start(rows).statistics
        parts = [part.tolist() for part in np.array_split(rng.permutation(len(rows)), rng.integers(1, 5))]
        first, *rest = (History.start([rows[i] for i in part]) for part in parts if part)
        summed = [sum((h.statistics[k] for h in rest), start=first.statistics[k]) for k in range(3)]
        at_once = [type(s).sum_of([h.statistics[k] for h in (first, *rest)]) for k, s in enumerate(counted)]
        assert_same_counts(summed, counted)
        assert_same_counts(at_once, counted)
        doubled, scaled = History.start([(x, c, 2 * w) for x, c, w in rows]), [s.scaled(2.0) for s in counted]
        assert_same_counts(History.start([*rows, *rows]).statistics, doubled.statistics)
        assert_same_counts(scaled, doubled.statistics)
        np.testing.assert_array_equal(counted[0].scaled(0.1).squares == 0, counted[0].squares == 0)


CELL_FAMILIES: dict[nb.Family, list[Any]] = {
    nb.Bernoulli(a=0, b=0): [True, False, None],
    nb.Categorical(alpha=0): ["u", "v", None],
    nb.Multinomial(): [0, 1, 7, None],
    nb.Complement(): [0, 1, 7, None],
    nb.Binned(): [1.0, 2.0, None],
    nb.Text(): ["a", "a a b", "", None],
    nb.Text(ngrams=(1, 2)): ["a", "a a b", "b a a b a", None],
}


def smallest_weight(statistic: Any) -> float:
    """Return the smallest weight of a cell; 0 without cells."""
    if hasattr(statistic, "blocks"):
        return min(map(smallest_weight, statistic.blocks))
    cells = statistic.cells
    weights = cells.weight if hasattr(cells, "weight") else cells.sums
    return float(weights.min(initial=0.0))


@pytest.mark.filterwarnings("ignore::naively.errors.ImpossibleRowsWarning")
@pytest.mark.parametrize("family", CELL_FAMILIES, ids=str)
def test_counted_rows_can_be_forgotten_whatever_they_weigh(family: nb.Family) -> None:
    """The weight of a cell is one double: what rounding leaves of it proves nothing, and is not below zero."""
    for seed in range(N_HISTORIES // 20):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 30))
        x = [CELL_FAMILIES[family][i] for i in rng.integers(0, len(CELL_FAMILIES[family]), n)]
        label = rng.choice(["a", "b"], n).tolist()
        weight = (10.0 ** rng.uniform(-9, 9, n)).tolist()
        model = nb.fit({"x": x}, label, weight=weight, columns=family, tune=False, n_jobs=1)
        for part in np.array_split(rng.permutation(n), rng.integers(1, n + 1)):
            rows = part.tolist()
            model = model.forget({"x": [x[i] for i in rows]}, [label[i] for i in rows], [weight[i] for i in rows])
            assert smallest_weight(model.statistics[0]) >= 0, seed
            if model.class_weights.rows.any():
                assert np.isfinite(model.posterior({"x": x})).all(), seed
        assert not model.class_weights.rows.any()
        assert not model.statistics[0].has_rows().any()
