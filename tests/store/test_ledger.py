"""Update a ledger and read it again."""

import sqlite3
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.models import files_next_to, fitted, rows, same

import naively
from naively import InputError, SchemaError
from naively.store import ledger as ledgers
from naively.store import running_sum as sums
from naively.store import sqlite as sqlite_files
from naively.store.entries import Log, open_file
from naively.store.meta import Meta
from naively.store.sqlite import create


def test_update_adds_rows_and_leaves_one_file(path: Path) -> None:
    ledger = naively.open(path)
    entry = ledger.update(*rows(1), source="anna", comment="more")
    assert (entry.act, entry.rows, entry.source, entry.comment, entry.number) == ("update", 5, "anna", "more", 2)
    expected = fitted().update(*rows(1))
    assert same(ledger.model(), expected)
    assert same(naively.load(path), expected)  # while it is open
    ledger.close()
    assert files_next_to(path) == ["m.naively"]
    assert same(naively.load(path), expected)
    assert len({e.id for e in naively.open(path).log()}) == 2


def test_an_unused_ledger_closes_itself(path: Path) -> None:
    naively.open(path).update(*rows(1))
    import gc

    gc.collect()
    assert files_next_to(path) == ["m.naively"]


def test_wrong_rows_change_nothing(path: Path) -> None:
    ledger = naively.open(path)
    data, label = rows(1)
    before = path.read_bytes()
    with pytest.raises(SchemaError, match="column 'text' is of type number"):
        ledger.update({**data, "text": [1, 2, 3, 4, 5]}, label)
    with pytest.raises(InputError, match="the label 1 is not of the type of the model's classes, which are text"):
        ledger.update(data, [1, 2, 1, 2, 1])
    with pytest.raises(InputError):
        ledger.update(data, label[:2])
    with pytest.raises(InputError, match="no column 'class'"):
        ledger.update(data)
    assert len(ledger.log()) == 1
    ledger.close()
    assert len(path.read_bytes()) == len(before)
    assert same(naively.load(path), fitted())


def test_unknown_columns_are_ignored_with_a_warning(path: Path) -> None:
    data, label = rows(1)
    with (
        naively.open(path) as ledger,
        pytest.warns(naively.LeftOutWarning, match="the model has no column 'junk': not counted"),
    ):
        ledger.update({**data, "junk": [1, 2, 3, 4, 5]}, label)
    assert same(naively.load(path), fitted().update(data, label))


def test_an_unchanged_file_is_not_opened_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_files, "SETTLED_SECONDS", 0.0)
    opened: list[str | Path] = []

    def open_and_count(file: str | Path) -> AbstractContextManager[tuple[Log, Meta]]:
        opened.append(file)
        return open_file(file)

    monkeypatch.setattr(ledgers, "open_file", open_and_count)
    with naively.open(path) as ledger, naively.open(path) as other:
        opened.clear()
        assert same(ledger.model(), ledger.model())
        assert len(opened) == 1
        expected = fitted()
        for seed in (1, 2):  # the WAL of `other` is beside the file; then it is folded in
            other.update(*rows(seed))
            expected = expected.update(*rows(seed))
            assert same(ledger.model(), expected)
        other.close()
        assert same(ledger.model(), expected)
        with pytest.raises(InputError):
            ledger.undo("ffffffff")
        assert same(ledger.model(), expected)
        ledger.update(*rows(3))
        assert same(ledger.model(), expected.update(*rows(3)))


def test_a_file_that_has_just_changed_has_no_settled_status(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert sqlite_files.settled_status(path) is None
    monkeypatch.setattr(sqlite_files, "SETTLED_SECONDS", 0.0)
    assert sqlite_files.settled_status(path) is not None
    path.with_name(f"{path.name}-journal").touch()
    assert sqlite_files.settled_status(path) is None
    assert sqlite_files.settled_status(path.with_name("missing")) is None


def test_waiting_for_another_process_warns(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from naively.store import sqlite as file

    monkeypatch.setattr(file, "SILENT_SECONDS", 0.02)
    other = sqlite3.connect(path, isolation_level=None)
    ledger = naively.open(path, wait=0.2)
    ledger.update(*rows(1))
    other.execute("BEGIN IMMEDIATE")
    with (
        pytest.warns(UserWarning, match="another process is writing to the file: waiting"),
        pytest.raises(InputError, match="did not finish in time; nothing was changed"),
    ):
        ledger.update(*rows(2))
    other.execute("ROLLBACK")
    other.close()
    ledger.update(*rows(3))
    assert same(ledger.model(), fitted().update(*rows(1)).update(*rows(3)))


def test_a_given_prior_refuses_a_new_class(tmp_path: Path) -> None:
    naively.fit(["a", "b"], ["x", "y"], prior={"x": 0.5, "y": 0.5}).save(tmp_path / "m")
    with pytest.raises(InputError, match="no probability for 'z'"):
        naively.open(tmp_path / "m").update(["c"], ["z"])


def test_columns_without_values_at_first(tmp_path: Path) -> None:
    naively.fit({"a": [1.0, 2.0], "b": [None, None]}, ["x", "y"]).save(tmp_path / "m")
    ledger = naively.open(tmp_path / "m")
    ledger.update({"a": [3.0], "b": ["u"]}, ["x"])
    with pytest.raises(SchemaError):
        ledger.update({"a": [3.0], "b": [7.5]}, ["x"])
    ledger.update({"a": [3.0], "b": [None]}, ["x"])
    ledger.close()
    assert naively.load(tmp_path / "m").class_counts.tolist() == [3.0, 1.0]


def update_often(path: Path, seeds: range) -> naively.Model:
    """Update and correct a file until it has snapshots; return its model."""
    expected = naively.load(path)
    with naively.open(path) as ledger:
        for seed in seeds:
            ledger.update(*rows(seed, 2))
            expected = expected.update(*rows(seed, 2))
            if seed % 7 == 3:
                ledger.forget(*rows(seed, 2))
                expected = expected.forget(*rows(seed, 2))
            assert same(ledger.model(), expected)
    assert same(naively.load(path), expected)
    return expected


def snapshots(path: Path) -> list[int]:
    """Return the number of the last entry of each snapshot."""
    connection = sqlite3.connect(path)
    ends = [k for (k,) in connection.execute("SELECT entries FROM snapshot ORDER BY entries")]
    connection.close()
    return ends


def test_snapshots_are_written_and_damaged_ones_ignored(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sums, "MAX_PENDING_ENTRIES", 8)
    expected = update_often(path, range(30))
    first, second = snapshots(path)
    assert first < 16 < second
    original = path.read_bytes()
    wrong = ("digest = zeroblob(16)", "added = zeroblob(100)", "added = x''", "entries = 3", "checksum = zeroblob(16)")
    changes = [f"UPDATE snapshot SET {what} WHERE entries = {k}" for what in wrong for k in (first, second)]
    changes += [f"DELETE FROM snapshot WHERE entries = {k}" for k in (first, second)]
    changes += ["INSERT INTO snapshot SELECT * FROM snapshot", "UPDATE snapshot SET entries = 50 - entries"]
    for change in changes:
        path.write_bytes(original)
        connection = sqlite3.connect(path)
        with connection:
            connection.execute(change)
        connection.close()
        assert same(naively.load(path), expected), change
    update_often(path, range(50, 60))


def test_snapshots_are_added_when_the_second_is_large(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sums, "MAX_PENDING_ENTRIES", 4)
    monkeypatch.setattr(sums, "MIN_SNAPSHOT_BYTES", 1)
    monkeypatch.setattr(sums, "MAX_PENDING_SHARE", 1)
    seen = set()
    for seed in range(0, 100, 5):
        update_often(path, range(seed, seed + 5))
        seen.add(tuple(snapshots(path)))
    firsts = [ends[0] for ends in sorted(seen)]
    assert len(set(firsts)) > 2
    assert {len(ends) for ends in seen} == {1, 2}


def test_two_writers_write_snapshots(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One writer replaces the first snapshot while the other knows the former one."""
    monkeypatch.setattr(sums, "MAX_PENDING_ENTRIES", 4)
    one, two = naively.open(path), naively.open(path)
    expected = fitted()
    for seed in range(40):
        (one if seed % 3 else two).update(*rows(seed, 2))
        expected = expected.update(*rows(seed, 2))
        if seed == 20:
            two.undo(two.update(*rows(99, 2)).id)  # replaces the first snapshot
        assert same(naively.load(path), expected)
        assert len(snapshots(path)) <= 2
    assert same(one.model(), expected)
    assert same(two.model(), expected)
    one.close()
    two.close()
    assert same(naively.load(path), expected)


steps = st.lists(st.tuples(st.sampled_from("ufnc"), st.integers(0, 6)), max_size=12)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps)
def test_any_history_equals_its_sum(tmp_path_factory: pytest.TempPathFactory, history: list[tuple[str, int]]) -> None:
    """After any sequence of update, forget, undo and compact, the model is that of the remaining rows."""
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
            ids = {}  # the forget is not attributed to one of them
        elif act == "n" and ids:
            id_, undone = ids.popitem()
            ledger.undo(id_)
            left.remove(undone)
        elif act == "c":
            ledger.compact()
            ids = {}
    expected = fitted()
    for seed in left:
        expected = expected.update(*rows(seed, 3))
    assert same(ledger.model(), expected)
    ledger.close()
    assert same(naively.load(path), expected)


def test_settings_are_stored(tmp_path: Path) -> None:
    prior = naively.ClassPrior(alpha=naively.Dirichlet({"x": 2.0}, other=0.5))
    tuning = naively.Tuning({"x": 0.5}, default_weight=0.5)
    model = naively.fit({"a": [1, 2]}, ["x", "y"], prior=prior).with_tuning(tuning)
    model.save(tmp_path / "m")
    ledger = naively.open(tmp_path / "m")
    ledger.update({"a": [1]}, ["x"])
    for back in (ledger.model(), naively.load(tmp_path / "m")):
        assert (back.prior, back.tuning, back.target) == (prior, model.tuning, "class")


def test_file_without_entries(tmp_path: Path) -> None:
    create(tmp_path / "m").close()
    with pytest.raises(InputError, match="damaged"):
        naively.load(tmp_path / "m")
