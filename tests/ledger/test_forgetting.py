"""What is forgotten is as if it had never been counted; what was never counted is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import naively
from ledger.models import EVERYTHING, fitted, rows, same
from naively import InputError, Ledger


def test_forget_is_exact_and_names_the_entry(path: Path) -> None:
    with naively.open(path) as ledger:
        taught = ledger.update(*rows(1), source="anna")
        ledger.update(*rows(2), source="ben")
        (entry,) = ledger.forget(*rows(1), comment="oops")
        assert (entry.corrects, entry.source, entry.time, entry.sign) == (taught.id, "anna", taught.time, -1)
        assert entry.written > entry.time
        assert same(ledger.model(), fitted().update(*rows(2)))
        with pytest.raises(InputError, match="cannot subtract what was never counted"):
            ledger.forget(*rows(1))
        assert len(ledger.log()) == 4


def test_forget_rows_of_several_entries(path: Path) -> None:
    data, label = rows(1, 1)
    more, other = rows(2, 1)
    with naively.open(path) as ledger:
        one, two = ledger.update(data, label, source="anna"), ledger.update(more, other, source="ben")
        both = {name: data[name] + more[name] for name in data}
        found = ledger.forget(both, label + other)
        assert {entry.corrects for entry in found} == {one.id, two.id}
        assert {entry.source for entry in found} == {"anna", "ben"}
        assert same(ledger.model(), fitted())
        assert same(ledger.model(sources="first"), fitted())
        with pytest.raises(InputError, match="would be left with"):
            ledger.forget(both, label + other)


def test_forget_from_a_named_entry(path: Path) -> None:
    with naively.open(path) as ledger:
        one = ledger.update(*rows(1), source="anna")
        ledger.update(*rows(1), source="ben")
        (entry,) = ledger.forget(*rows(1), entry=one.id[:8])
        assert entry.corrects == one.id
        with pytest.raises(InputError, match="would be left with"):
            ledger.forget(*rows(1), entry=one.id)
        with pytest.raises(InputError, match="does not count any rows"):
            ledger.forget(*rows(1), entry=entry.id)


def test_remembered_rows(tmp_path: Path) -> None:
    path = tmp_path / "m"
    ledger = Ledger.fit(path, *rows(0, 12), columns=EVERYTHING, remember_rows=True, source="first")
    one = ledger.update(*rows(1), source="anna")
    ledger.update(*rows(2), source="ben")
    data, label = rows(1)
    crossed = {**data, "text": data["text"][::-1]}  # all counts are there, no such row is
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
