"""Test that the total minus a part is the rest, for every registered statistic, down to no rows and through files.

The sizes of the parts differ by factors of 1 to 60, because a statistic may keep a large base and a small delta.
"""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.models import same

import naively as nb
from naively.statistics import statistic_named, statistic_names
from naively.store.codec import decode_counts, encode_counts

Values = Callable[[np.random.Generator, int], list[Any]]
FEW_WORDS = [f"word{i}" for i in range(8)]
MANY_WORDS = [f"word{i}" for i in range(400)]


def with_missing(values: Values) -> Values:
    return lambda rng, n: [None if rng.random() < 0.2 else value for value in values(rng, n)]


def draw_texts(rng: np.random.Generator, n: int) -> list[str]:
    words = FEW_WORDS if rng.random() < 0.5 else MANY_WORDS
    return [" ".join(rng.choice(words, rng.integers(0, 20))) for _ in range(n)]


def draw_eighths(rng: np.random.Generator, n: int) -> list[float]:
    return list((rng.integers(-800, 800, n) / 8).tolist())


def draw_counts(rng: np.random.Generator, n: int) -> list[int]:
    return list(rng.integers(0, 6, n).tolist())


def draw_letters(rng: np.random.Generator, n: int) -> list[str]:
    return list(rng.choice(list("abcdef"), n).tolist())


# For each statistic a family that is estimated from it (None is the family that `fit` chooses), and its values.
COUNTED_BY: Mapping[str, tuple[nb.Family | None, Values]] = {
    "ClassWeights": (nb.Bernoulli(), lambda rng, n: list((rng.random(n) < 0.5).tolist())),
    "EmptyStatistic": (None, lambda _, n: [None] * n),
    "Histogram": (nb.Binned(), with_missing(draw_eighths)),
    "Moments": (nb.Gaussian(), with_missing(draw_eighths)),
    "NumberSummary": (None, draw_eighths),
    "Sums": (nb.Poisson(), with_missing(draw_counts)),
    "TokenCounts": (nb.Multinomial(), with_missing(draw_counts)),
    "ValueCounts": (nb.Categorical(), with_missing(draw_letters)),
    "WordBlocks": (nb.Text(window=3), with_missing(draw_texts)),
    "WordCounts": (nb.Text(), with_missing(draw_texts)),
}
with_files = settings(max_examples=settings().max_examples // 4)  # because each one waits for the disk
each_statistic = pytest.mark.parametrize("statistic", COUNTED_BY)


def test_every_registered_statistic_is_tested() -> None:
    """A statistic that a test of another module has registered is not one of naively's."""
    ours = {name for name in statistic_names() if (statistic_named(name) or int).__module__.startswith("naively.")}
    assert ours == set(COUNTED_BY)


@dataclass(frozen=True)
class Part:
    """Rows that are counted and forgotten together."""

    statistic: str
    x: dict[str, list[Any]]
    label: list[str]
    weight: list[float]

    @property
    def columns(self) -> Any:
        family = COUNTED_BY[self.statistic][0]
        return None if family is None else {tuple(self.x): family}

    def fit(self) -> nb.Model:
        return nb.fit(self.x, self.label, weight=self.weight, columns=self.columns, tune=False, n_jobs=1)


@st.composite
def parts(draw: st.DrawFn, statistic: str) -> list[Part]:
    """Up to four parts, of one or of many rows, some with a class of their own."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sizes = draw(st.lists(st.sampled_from([1, 2, 60]), min_size=1, max_size=4))
    names = ["x"] if statistic in ("WordBlocks", "WordCounts") else ["x", "y"]
    result = []
    for i, n in enumerate(sizes):
        classes = draw(st.sampled_from([["ham", "spam"], ["eggs"], [f"class{i}"]]))
        weight = np.ones(n) if draw(st.booleans()) else rng.integers(1, 32, n) / 8
        x = {name: COUNTED_BY[statistic][1](rng, n) for name in names}
        result.append(Part(statistic, x, list(rng.choice(classes, n).tolist()), list(weight.tolist())))
    return result


def joined(counted: Sequence[Part]) -> Part:
    """Return the rows of all parts."""
    x = {name: [value for part in counted for value in part.x[name]] for name in counted[0].x}
    label = [label for part in counted for label in part.label]
    return Part(counted[0].statistic, x, label, [weight for part in counted for weight in part.weight])


def assert_counts(model: nb.Model, counted: Sequence[Part], known: Part) -> None:
    """Assert that a model has counted these parts and nothing else, and that it predicts what a refit does."""
    if not counted:
        assert not model.class_weights.rows.any()
        assert not any(statistic.has_rows().any() for statistic in model.statistics)
        again = model.update(known.x, known.label, known.weight, new_classes=True)
        assert again.classes == known.fit().classes
        assert same(again, known.fit())
        return
    refit = joined(counted).fit()
    assert model.classes == refit.classes
    assert same(model, refit)
    np.testing.assert_allclose(model.log_joint(known.x), refit.log_joint(known.x), rtol=1e-12, atol=1e-10)


@each_statistic
@given(data=st.data())
def test_total_minus_parts_is_the_rest_down_to_no_rows(statistic: str, data: st.DataObject) -> None:
    """Each rest is encoded and decoded, and the next part is subtracted from either."""
    all_parts = data.draw(parts(statistic))
    order, models = data.draw(st.permutations(all_parts)), [joined(all_parts).fit()]
    for i, part in enumerate(order):
        models = [model.forget(part.x, part.label, part.weight) for model in models]
        models.append(decode_counts(encode_counts(models[0]), models[0].schema))
        for model in models:
            assert_counts(model, order[i + 1 :], order[0])


@each_statistic
@given(data=st.data())
def test_parts_add_up_in_any_order_after_subtractions(statistic: str, data: st.DataObject) -> None:
    all_parts = data.draw(parts(statistic))
    orders = [data.draw(st.permutations(all_parts)) for _ in range(3)]
    model = functools.reduce(lambda total, part: total + part.fit(), orders[0][1:], orders[0][0].fit())
    for part in orders[1]:
        model = model - part.fit()
    assert_counts(model, [], orders[0][0])
    for part in orders[2]:
        model = model + part.fit()
    assert same(model, joined(all_parts).fit())


@contextmanager
def new_path() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder) / "m.naively"


@each_statistic
@with_files
@given(data=st.data())
def test_a_file_is_what_a_refit_would_write(statistic: str, data: st.DataObject) -> None:
    all_parts = data.draw(parts(statistic))
    gone, left = all_parts[0], all_parts[1:]
    with new_path() as path:
        joined(all_parts).fit().forget(gone.x, gone.label, gone.weight).save(path)
        assert_counts(nb.load(path), left, gone)
        if statistic == "WordCounts" and left and nb.load(path).statistics[0].is_integral():
            words = {word for text in joined(left).x["x"] if text is not None for word in text.split()}
            assert set(nb.load(path).statistics[0].words()) == words  # type: ignore[attr-defined]


@each_statistic
@with_files
@pytest.mark.filterwarnings("ignore::naively.RepeatedRowsWarning")
@given(data=st.data())
def test_any_history_of_a_file_is_a_refit_of_what_is_counted(statistic: str, data: st.DataObject) -> None:
    all_parts = data.draw(parts(statistic))
    counted = dict.fromkeys(range(len(all_parts)), True)
    undoable: list[tuple[str, int]] = []
    with new_path() as path:
        total = joined(all_parts)
        nb.Ledger.fit(
            path,
            total.x,
            total.label,
            weight=total.weight,
            columns=total.columns,
            tune=False,
            remember_rows=data.draw(st.booleans()),
        ).close()
        for _ in range(data.draw(st.integers(1, 6))):
            with nb.open(path) as ledger:
                act = data.draw(st.sampled_from(["forget", "forget", "update", "undo", "compact"]))
                i = data.draw(st.sampled_from(range(len(all_parts))))
                part = all_parts[i]
                if act == "compact":
                    ledger.compact()
                    undoable = []
                elif act == "undo" and undoable:
                    id_, i = undoable.pop()
                    ledger.undo(id_)
                    counted[i] = not counted[i]
                elif act == "forget" and counted[i]:
                    entries = ledger.forget(part.x, part.label, weight=part.weight)
                    undoable = [*undoable, (entries[0].id, i)] if len(entries) == 1 else []
                    counted[i] = False
                elif act == "update" and not counted[i]:
                    undoable.append((ledger.update(part.x, part.label, weight=part.weight, new_classes=True).id, i))
                    counted[i] = True
            assert_counts(
                nb.load(path), [all_parts[i] for i, is_counted in counted.items() if is_counted], all_parts[0]
            )
