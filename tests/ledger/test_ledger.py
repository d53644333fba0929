"""A live ledger: what it learns, forgets, undoes and remembers."""

import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import naively
from ledger.models import COLUMNS, fitted, rows, same
from naively import InputError, Ledger, SchemaError
from naively.ledger import sums
from naively.storage.entries import COLUMNS as TABLE
from naively.storage.file import create

EVERYTHING = {**COLUMNS, "text": naively.Text(), "number": naively.Numeric()}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    fitted().save(tmp_path / "m.naively", source="first")
    return tmp_path / "m.naively"


def beside(path: Path) -> list[str]:
    return sorted(p.name for p in path.parent.iterdir())


def test_update_is_the_sum_and_one_file_at_rest(path: Path) -> None:
    ledger = naively.open(path)
    entry = ledger.update(*rows(1), source="anna", comment="more")
    assert (entry.act, entry.rows, entry.source, entry.comment, entry.number) == ("update", 5, "anna", "more", 2)
    wanted = fitted().update(*rows(1))
    assert same(ledger.model(), wanted)
    assert same(naively.load(path), wanted)  # while it is open
    ledger.close()
    assert beside(path) == ["m.naively"]
    assert same(naively.load(path), wanted)
    assert len({e.id for e in naively.open(path).log()}) == 2


def test_nothing_need_be_closed(path: Path) -> None:
    naively.open(path).update(*rows(1))
    import gc

    gc.collect()
    assert beside(path) == ["m.naively"]


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


def test_undo_and_undo_of_undo(path: Path) -> None:
    with naively.open(path) as ledger:
        one = ledger.update(*rows(1))
        ledger.update(*rows(2))
        undo = ledger.undo(one.id, comment="wrong")
        assert same(ledger.model(), fitted().update(*rows(2)))
        assert [e.in_force for e in ledger.log()] == [True, False, True, True]
        with pytest.raises(InputError, match="undone already"):
            ledger.undo(one.id)
        ledger.undo(undo.id)
        assert same(ledger.model(), fitted().update(*rows(1)).update(*rows(2)))
        assert same(naively.load(path), ledger.model())
        (gone,) = ledger.forget(*rows(1))
        with pytest.raises(InputError, match=f"partly forgotten by entry {gone.id[:8]}"):
            ledger.undo(one.id)
        ledger.undo(gone.id)
        ledger.undo(one.id)
        assert same(ledger.model(), fitted().update(*rows(2)))


def test_undo_of_everything_leaves_a_model_of_nothing(path: Path) -> None:
    with naively.open(path) as ledger:
        ledger.undo(ledger.log()[0].id)
        assert ledger.model().class_counts.tolist() == [0.0, 0.0]
        assert naively.load(path).classes == ("a", "b")


@pytest.mark.parametrize("wrong", ["zz", "12", "", "ffffffffffff", "g" * 32])
def test_ids_that_are_none(path: Path, wrong: str) -> None:
    with pytest.raises(InputError, match=r"no entry whose id|is no id"):
        naively.open(path).undo(wrong)


def test_compact_absorbs_and_clears(path: Path) -> None:
    with naively.open(path) as ledger:
        secret = ledger.update(
            {k: v[:1] for k, v in rows(1)[0].items()} | {"text": ["geheimnis"]}, ["a"], source="anna"
        )
        ledger.forget({k: v[:1] for k, v in rows(1)[0].items()} | {"text": ["geheimnis"]}, ["a"])
        before = ledger.model()
        entry = ledger.compact(comment="tidy")
        assert (entry.act, entry.absorbed, entry.sources) == ("compact", 3, ("first", "anna"))
        assert same(ledger.model(), before)
        with pytest.raises(InputError, match="was absorbed when the file was compacted"):
            ledger.undo(secret.id)
        with pytest.raises(InputError, match="cannot be undone"):
            ledger.undo(entry.id)
        with pytest.raises(InputError, match="cannot be divided"):
            ledger.model(sources="anna")
        with pytest.raises(InputError, match="no one age"):
            ledger.model(half_life=1)
        ledger.update(*rows(5), source="ben")
        assert same(ledger.model(since=entry.written), naively.fit(*rows(5), columns=EVERYTHING, tune=False))
        (corrected,) = ledger.forget(*rows(0, 12))
        assert corrected.corrects == entry.id
    assert beside(path) == ["m.naively"]
    assert b"geheimnis" not in path.read_bytes()
    naively.open(path).compact()
    assert same(naively.load(path), naively.fit(*rows(5), columns=EVERYTHING, tune=False))


def test_words_of_deleted_pages_are_gone(tmp_path: Path) -> None:
    """No byte of a forgotten word is left anywhere in the file, as it stands uncompressed in a large payload."""
    texts = [f"wort{i} geheim{i}" for i in range(3000)]
    naively.fit(texts, ["a", "b"] * 1500).save(tmp_path / "m")
    with naively.open(tmp_path / "m") as ledger:
        ledger.forget(texts[:1500], (["a", "b"] * 1500)[:1500])
        ledger.compact()
    found = sqlite3.connect(tmp_path / "m").execute("SELECT statistics FROM entries").fetchall()
    assert len(found) == 1
    assert (tmp_path / "m").stat().st_size < 100_000
    assert naively.load(tmp_path / "m").evidence("text") is not None


def test_periods_sources_and_decay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import naively.storage.entries as entries

    day = iter(range(100))
    monkeypatch.setattr(entries, "now", lambda: f"2026-01-{next(day) + 1:02}T00:00:00.000000Z")
    path = tmp_path / "m"
    fitted().save(path, source="first")  # on the 1st
    ledger = naively.open(path)
    for seed, source in ((1, "anna"), (2, "ben"), (3, "anna")):  # on the 2nd, 3rd, 4th
        ledger.update(*rows(seed), source=source)
    ledger.forget(*rows(2, 5))  # on the 5th, of the 3rd
    first, parts = fitted(), [naively.fit(*rows(seed), columns=EVERYTHING, tune=False) for seed in (1, 2, 3)]
    assert same(ledger.model(until="2026-01-03"), first + parts[0])
    assert same(ledger.model(since="2026-01-02", until=datetime(2026, 1, 5, tzinfo=UTC)), parts[0] + parts[2])
    assert same(ledger.model(sources=["first", "ben"]), first)
    assert same(ledger.model(without="anna"), first)
    with pytest.raises(InputError, match="no entry was chosen"):
        ledger.model(sources="carl")
    faded = ledger.model(until="2026-01-05", half_life=timedelta(days=1))
    wanted = first.class_counts / 16 + (parts[0].class_counts / 8) + parts[2].class_counts / 2
    np.testing.assert_allclose(faded.class_counts, wanted, rtol=1e-15)
    assert np.isfinite(faded.log_joint(rows(1)[0])).all()
    for bad in ({"since": "soon"}, {"half_life": 0}, {"until": 3}):
        with pytest.raises(InputError):
            ledger.model(**bad)


def test_decay_by_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that fades is the model of the same rows with weights."""
    import naively.storage.entries as entries

    day = iter(range(100))
    monkeypatch.setattr(entries, "now", lambda: f"2026-01-{next(day) + 1:02}T00:00:00.000000Z")
    columns = {**COLUMNS, "text": naively.Text(), "number": naively.Gaussian()}
    path = tmp_path / "m"
    naively.fit(*rows(0, 6), columns=columns, tune=False).save(path)
    ledger = naively.open(path)
    ledger.update(*rows(1, 6))
    found = ledger.model(until="2026-01-03", half_life=1)
    wanted = naively.fit(*rows(0, 6), columns=columns, tune=False, weight=np.full(6, 0.25)) + naively.fit(
        *rows(1, 6), columns=columns, tune=False, weight=np.full(6, 0.5)
    )
    np.testing.assert_allclose(found.log_joint(rows(2)[0]), wanted.log_joint(rows(2)[0]), rtol=1e-12)


def test_a_selection_below_zero_names_the_entries(path: Path) -> None:
    with naively.open(path) as ledger:
        ledger.update(*rows(1), source="anna")
        (gone,) = ledger.forget(*rows(1))
    with sqlite3.connect(path) as connection:  # as if another had written it: a forget of another source
        connection.execute("UPDATE entries SET source = 'ben' WHERE number = 3")
        _rechained(connection)
    connection.close()
    with pytest.raises(InputError, match=f"do not make a model: .* Forgets among them: {gone.id[:8]}"):
        naively.open(path).model(sources=["first", "ben"])


def _rechained(connection: sqlite3.Connection) -> None:
    from naively.storage.entries import START, Row, Schemas, append

    schemas = Schemas(connection)
    found = [Row(*values) for values in connection.execute(f"SELECT {TABLE} FROM entries ORDER BY number")]
    connection.execute("DELETE FROM entries")
    connection.execute("UPDATE head SET entries = 0, checksum = ?", (START,))
    for row in found:
        append(connection, schemas, row)


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


def test_wrong_rows_change_nothing(path: Path) -> None:
    ledger = naively.open(path)
    data, label = rows(1)
    before = path.read_bytes()
    with pytest.raises(SchemaError, match="lacks the column 'text'"):
        ledger.update({k: v for k, v in data.items() if k != "text"}, label)
    with pytest.raises(InputError, match="different types"):
        ledger.update(data, [1, 2, 1, 2, 1])
    with pytest.raises(InputError):
        ledger.update(data, label[:2])
    with pytest.raises(InputError, match="no column 'class'"):
        ledger.update(data)
    assert len(ledger.log()) == 1
    ledger.close()
    assert len(path.read_bytes()) == len(before)
    assert same(naively.load(path), fitted())


def test_a_given_prior_refuses_a_new_class(tmp_path: Path) -> None:
    naively.fit(["a", "b"], ["x", "y"], prior={"x": 0.5, "y": 0.5}).save(tmp_path / "m")
    with pytest.raises(InputError, match="no probability for 'z'"):
        naively.open(tmp_path / "m").update(["c"], ["z"])


def test_columns_that_are_decided_later(tmp_path: Path) -> None:
    naively.fit({"a": [1.0, 2.0], "b": [None, None]}, ["x", "y"]).save(tmp_path / "m")
    ledger = naively.open(tmp_path / "m")
    ledger.update({"a": [3.0], "b": ["u"]}, ["x"])
    with pytest.raises(SchemaError):
        ledger.update({"a": [3.0], "b": [7.5]}, ["x"])
    ledger.update({"a": [3.0], "b": [None]}, ["x"])
    ledger.close()
    assert naively.load(tmp_path / "m").class_counts.tolist() == [3.0, 1.0]


def test_snapshots_come_and_are_rebuilt(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sums, "TAIL", 8)
    ledger = naively.open(path)
    wanted = fitted()
    for seed in range(30):
        ledger.update(*rows(seed, 2))
        wanted = wanted.update(*rows(seed, 2))
        if seed % 7 == 3:
            ledger.forget(*rows(seed, 2))
            wanted = wanted.forget(*rows(seed, 2))
        assert same(ledger.model(), wanted)
    assert same(naively.load(path), wanted)
    ledger.close()
    connection = sqlite3.connect(path)
    (k,) = connection.execute("SELECT entries FROM snapshot").fetchone()
    assert k > 16
    for wrong in ("digest = zeroblob(16)", "added = zeroblob(100)", "entries = 3", "checksum = zeroblob(16)"):
        with connection:
            connection.execute(f"UPDATE snapshot SET {wrong}")
        assert same(naively.load(path), wanted)
    connection.close()
    with naively.open(path) as again:
        again.update(*rows(50, 2))
    assert same(naively.load(path), wanted.update(*rows(50, 2)))


steps = st.lists(st.tuples(st.sampled_from("ufnc"), st.integers(0, 6)), max_size=12)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps)
def test_any_history_is_its_sum(tmp_path_factory: pytest.TempPathFactory, history: list[tuple[str, int]]) -> None:
    """update, forget, undo and compact in any order: the model is that of the rows that are left."""
    path = tmp_path_factory.mktemp("h") / "m"
    fitted().save(path)
    ledger = naively.open(path)
    ids: dict[str, int] = {}
    left: list[int] = []
    for act, seed in history:
        if act == "u":
            ids[ledger.update(*rows(seed, 3)).id] = seed
            left.append(seed)
        elif act == "f" and seed in left:
            ledger.forget(*rows(seed, 3))
            left.remove(seed)
            ids = {}  # which of them it came from is for another test
        elif act == "n" and ids:
            id_, undone = ids.popitem()
            ledger.undo(id_)
            left.remove(undone)
        elif act == "c":
            ledger.compact()
            ids = {}
    wanted = fitted()
    for seed in left:
        wanted = wanted.update(*rows(seed, 3))
    assert same(ledger.model(), wanted)
    ledger.close()
    assert same(naively.load(path), wanted)


def test_settings_are_kept(tmp_path: Path) -> None:
    prior = naively.ClassPrior(alpha=naively.Dirichlet({"x": 2.0}, other=0.5))
    model = naively.fit({"a": [1, 2]}, ["x", "y"], prior=prior).with_tuning(naively.Tuning({"x": 0.5}, common=0.5))
    model.save(tmp_path / "m")
    ledger = naively.open(tmp_path / "m")
    ledger.update({"a": [1]}, ["x"])
    for back in (ledger.model(), naively.load(tmp_path / "m")):
        assert (back.prior, back.tuning, back.target) == (prior, model.tuning, "class")


def test_a_file_made_by_hand_without_entries(tmp_path: Path) -> None:
    create(tmp_path / "m").close()
    with pytest.raises(InputError, match="damaged"):
        naively.load(tmp_path / "m")
