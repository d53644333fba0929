"""Forgetting a row equals never having counted it; rows that were never counted are refused."""

import os
import random
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.models import EVERYTHING, fitted, rows, same

import naively
from naively import InputError, Ledger

SOAK = bool(os.environ.get("NAIVELY_SOAK"))


def test_forget_of_an_entry_is_exact(path: Path) -> None:
    with naively.open(path) as ledger:
        taught = ledger.update(*rows(1), source="anna")
        ledger.update(*rows(2), source="ben")
        (entry,) = ledger.forget(*rows(1), entry=taught.id[:8], comment="oops")
        assert (entry.corrects, entry.source, entry.time, entry.sign) == (taught.id, "anna", taught.time, -1)
        assert entry.written > entry.time
        assert same(ledger.model(), fitted().update(*rows(2)))
        assert same(ledger.model(sources=["first", "anna"]), fitted())
        with pytest.raises(InputError, match="cannot subtract what was never counted"):
            ledger.forget(*rows(1))
        assert len(ledger.log()) == 4


def test_forget_without_an_entry_applies_to_the_sum(path: Path) -> None:
    data, label = rows(1, 1)
    more, other = rows(2, 1)
    with naively.open(path) as ledger:
        ledger.update(data, label, source="anna")
        ledger.update(more, other, source="ben")
        both = {name: data[name] + more[name] for name in data}
        (entry,) = ledger.forget(both, label + other)
        assert (entry.corrects, entry.source, entry.rows) == (None, "", 2)
        assert entry.time == entry.written
        assert same(ledger.model(), fitted())
        assert same(naively.load(path), fitted())
        assert same(ledger.model(sources=["first", "anna"]), fitted().update(data, label))
        with pytest.raises(InputError, match=r"do not make a model: .* is given entry=, .* with source="):
            ledger.model(sources=["anna", ""])
        with pytest.raises(InputError, match="would be left with"):
            ledger.forget(both, label + other)
        ledger.undo(entry.id)
        assert same(ledger.model(), fitted().update(both, label + other))


def test_forget_of_a_source(path: Path) -> None:
    with naively.open(path) as ledger:
        ledger.update(*rows(1), source="anna")
        ledger.update(*rows(2), source="anna")
        ledger.update(*rows(1), source="ben")
        both = {name: rows(1)[0][name] + rows(2)[0][name] for name in rows(1)[0]}
        (entry,) = ledger.forget(both, rows(1)[1] + rows(2)[1], source="anna")
        assert (entry.corrects, entry.source, entry.rows) == (None, "anna", 10)
        assert same(ledger.model(sources=["first", "anna"]), fitted())
        assert same(ledger.model(sources=["first", "ben"]), fitted().update(*rows(1)))
        for wrong, message in (
            ({"source": "anna"}, r"are not among the rows of source 'anna' \(source=\)"),
            ({"source": "carl"}, "no entry is selected"),
            ({"source": "ben", "entry": entry.id}, "not both"),
        ):
            with pytest.raises(InputError, match=message):
                ledger.forget(*rows(1), **wrong)
        assert len(ledger.log()) == 5


def test_forget_of_a_wrong_entry(path: Path) -> None:
    with naively.open(path) as ledger:
        one = ledger.update(*rows(1), source="anna")
        two = ledger.update(*rows(1), source="ben")
        (entry,) = ledger.forget(*rows(1), entry=one.id)
        with pytest.raises(InputError, match=r"what is left of entry .* \(entry=\): .*would be left with"):
            ledger.forget(*rows(1), entry=one.id)
        with pytest.raises(InputError, match="does not count any rows"):
            ledger.forget(*rows(1), entry=entry.id)
        ledger.undo(two.id)
        with pytest.raises(InputError, match="does not count any rows"):
            ledger.forget(*rows(0, 12), entry=two.id)


def test_an_entry_whose_rows_were_forgotten_is_not_undone(path: Path) -> None:
    with naively.open(path) as ledger:
        taught = ledger.update(*rows(1))
        ledger.forget(*rows(1))
        with pytest.raises(InputError, match="cannot subtract what was never counted"):
            ledger.undo(taught.id)
        assert same(ledger.model(), fitted())
        assert len(ledger.log()) == 3


def test_remembered_rows(tmp_path: Path) -> None:
    path = tmp_path / "m"
    ledger = Ledger.fit(path, *rows(0, 12), columns=EVERYTHING, remember_rows=True, source="first")
    one = ledger.update(*rows(1), source="anna")
    ledger.update(*rows(2), source="ben")
    data, label = rows(1)
    crossed = {**data, "text": data["text"][::-1]}  # the same counts, but different rows
    plain = fitted().update(*rows(1)).update(*rows(2))
    if crossed["text"] != data["text"]:
        with pytest.raises(InputError, match="were never counted"):
            ledger.forget(crossed, label)
    assert same(ledger.model(), plain)
    import pandas as pd

    (entry,) = ledger.forget(pd.DataFrame(data), label)
    assert entry.corrects == one.id
    with pytest.raises(
        InputError, match=r"5 of the rows were never counted, or are forgotten already \(the first is row 0"
    ):
        ledger.forget(*rows(1))
    ledger.compact()
    with pytest.raises(InputError, match=r"would be left with|never counted"):
        ledger.forget(*rows(1))
    ledger.forget(*rows(2))
    assert same(ledger.model(), fitted())
    with pytest.raises(InputError, match="read twice"):
        Ledger.fit(tmp_path / "n", iter([rows(0)[0]]), "value", remember_rows=True)


@pytest.mark.parametrize("wrap", [np.asarray, "sparse", "frame"])
def test_remembered_arrays_in_any_container(tmp_path: Path, wrap: Any) -> None:
    import pandas as pd
    import scipy.sparse as sp

    x = np.random.default_rng(0).integers(0, 3, (20, 6)).astype(np.float64)
    y = np.arange(20) % 2
    ledger = Ledger.fit(tmp_path / "m", x, y, columns=naively.Multinomial(), remember_rows=True)
    names = [f"x{j}" for j in range(6)]
    given: Any = {"sparse": sp.csr_array, "frame": lambda a: pd.DataFrame(a, columns=names)}.get(wrap, wrap)
    ledger.forget(given(x[:7]), y[:7])
    assert same(ledger.model(), naively.fit(x[7:], y[7:], columns=naively.Multinomial()))
    with pytest.raises(InputError, match=r"never counted|would be left"):
        ledger.forget(given(x[:7]), y[:7])


def select(positions: list[tuple[int, int]]) -> tuple[dict[str, list[Any]], list[str]]:
    """Return rows by the seed of their batch and their position in it."""
    batches = {seed: rows(seed, 4) for seed, _ in positions}
    data = {name: [batches[seed][0][name][r] for seed, r in positions] for name in batches[positions[0][0]][0]}
    return data, [batches[seed][1][r] for seed, r in positions]


@settings(max_examples=200 if SOAK else 25)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=5), st.booleans(), st.randoms(use_true_random=False))
def test_rows_of_several_entries_are_forgotten_together(sizes: list[int], remember: bool, rng: random.Random) -> None:
    """The model is that of the other rows; rows that are remembered are forgotten in every source too."""
    with tempfile.TemporaryDirectory(prefix="naively-tests-") as folder:
        path = Path(folder) / "m"
        first: dict[str, Any] = {"columns": EVERYTHING, "tune": False, "source": "first", "remember_rows": remember}
        remaining = [(seed, r) for seed, n in enumerate(sizes, 1) for r in range(n)]
        with Ledger.fit(path, *rows(0, 12), **first) as ledger:
            for seed, n in enumerate(sizes, 1):
                ledger.update(*select([(seed, r) for r in range(n)]), source=str(seed))
            for _ in range(2):
                forgotten = rng.sample(remaining, rng.randint(0, len(remaining)))
                remaining = [position for position in remaining if position not in forgotten]
                if forgotten:
                    entries = ledger.forget(*select(forgotten))
                    assert sum(entry.rows for entry in entries) == len(forgotten)
                    assert len({entry.corrects for entry in entries}) == len(entries)
                    assert remember != (entries[0].corrects is None)
                assert same(ledger.model(), fitted().update(*select(remaining)) if remaining else fitted())
                for source in {entry.source for entry in ledger.log()} if remember else ():
                    ledger.model(sources=source)  # no entry has lost more than it had


def test_rows_in_another_order_are_the_same_rows(path: Path) -> None:
    """The words of an entry are numbered in order of occurrence, so its bytes differ, but not its counts."""
    data, label = rows(1, 5)
    with naively.open(path) as ledger:
        entry = ledger.update(data, label)
        reverse = {name: values[::-1] for name, values in data.items()}, label[::-1]
        assert [new.corrects for new in ledger.forget(*reverse, entry=entry.id)] == [entry.id]
        assert same(ledger.model(), fitted())


@pytest.mark.parametrize(
    "family", [naively.Categorical(), naively.Binned(), naively.Gaussian(), naively.Poisson(), naively.Bernoulli()]
)
def test_forgetting_the_last_row_of_a_class_requires_its_values(family: Any, tmp_path: Path) -> None:
    """A row of missing values was never counted, though no count would be below zero."""
    naively.fit({"x": [1, 0, 1]}, ["a", "b", "c"], columns=family, tune=False).save(tmp_path / "m")
    with naively.open(tmp_path / "m") as ledger:
        with pytest.raises(InputError, match=r"cannot subtract what was never counted: .*class 'b'|column 'x'"):
            ledger.forget({"x": [None]}, ["b"])
        ledger.forget({"x": [0]}, ["b"])
        assert ledger.model().classes == ("a", "c")


def test_remembered_rows_of_many_entries(tmp_path: Path) -> None:
    ledger = Ledger.fit(tmp_path / "m", *rows(0, 12), columns=EVERYTHING, remember_rows=True)
    ids = [ledger.update(*rows(seed, 1)).id for seed in range(1, 9)]
    ids.append(ledger.update(*rows(20, 3)).id)
    positions = [(20, 3, 1), (1, 1, 0), (8, 1, 0), (4, 1, 0)]  # seed, rows of the batch, row
    data = {name: [rows(seed, n)[0][name][r] for seed, n, r in positions] for name in rows(1)[0]}
    label = [rows(seed, n)[1][r] for seed, n, r in positions]
    entries = ledger.forget(data, label)
    assert {entry.corrects for entry in entries} == {ids[0], ids[3], ids[7], ids[8]}
    with pytest.raises(InputError, match="4 of the rows were never counted, or are forgotten already"):
        ledger.forget(data, label)
