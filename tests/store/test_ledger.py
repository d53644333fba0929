"""A live ledger: what it learns, and how it is read again."""

import sqlite3
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.models import files_next_to, fitted, rows, same

import naively
from naively import InputError, SchemaError
from naively.store import running_sum as sums
from naively.store.sqlite import create


def test_update_is_the_sum_and_one_file_at_rest(path: Path) -> None:
    ledger = naively.open(path)
    entry = ledger.update(*rows(1), source="anna", comment="more")
    assert (entry.act, entry.rows, entry.source, entry.comment, entry.number) == ("update", 5, "anna", "more", 2)
    wanted = fitted().update(*rows(1))
    assert same(ledger.model(), wanted)
    assert same(naively.load(path), wanted)  # while it is open
    ledger.close()
    assert files_next_to(path) == ["m.naively"]
    assert same(naively.load(path), wanted)
    assert len({e.id for e in naively.open(path).log()}) == 2


def test_nothing_need_be_closed(path: Path) -> None:
    naively.open(path).update(*rows(1))
    import gc

    gc.collect()
    assert files_next_to(path) == ["m.naively"]


def test_wrong_rows_change_nothing(path: Path) -> None:
    ledger = naively.open(path)
    data, label = rows(1)
    before = path.read_bytes()
    with pytest.raises(SchemaError, match="column 'text' is not in the data"):
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


def test_other_columns_are_left_out_with_a_word(path: Path) -> None:
    data, label = rows(1)
    with (
        naively.open(path) as ledger,
        pytest.warns(naively.LeftOutWarning, match="the model has no column 'junk': not counted"),
    ):
        ledger.update({**data, "junk": [1, 2, 3, 4, 5]}, label)
    assert same(naively.load(path), fitted().update(data, label))


def test_who_waits_is_told_so(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_columns_that_are_decided_later(tmp_path: Path) -> None:
    naively.fit({"a": [1.0, 2.0], "b": [None, None]}, ["x", "y"]).save(tmp_path / "m")
    ledger = naively.open(tmp_path / "m")
    ledger.update({"a": [3.0], "b": ["u"]}, ["x"])
    with pytest.raises(SchemaError):
        ledger.update({"a": [3.0], "b": [7.5]}, ["x"])
    ledger.update({"a": [3.0], "b": [None]}, ["x"])
    ledger.close()
    assert naively.load(tmp_path / "m").class_counts.tolist() == [3.0, 1.0]


def taught(path: Path, seeds: range) -> naively.Model:
    """A file taught and corrected so often that it has snapshots; the model that it is."""
    wanted = naively.load(path)
    with naively.open(path) as ledger:
        for seed in seeds:
            ledger.update(*rows(seed, 2))
            wanted = wanted.update(*rows(seed, 2))
            if seed % 7 == 3:
                ledger.forget(*rows(seed, 2))
                wanted = wanted.forget(*rows(seed, 2))
            assert same(ledger.model(), wanted)
    assert same(naively.load(path), wanted)
    return wanted


def snapshots(path: Path) -> list[int]:
    """Up to which entry each snapshot goes."""
    connection = sqlite3.connect(path)
    found = [k for (k,) in connection.execute("SELECT entries FROM snapshot ORDER BY entries")]
    connection.close()
    return found


def test_snapshots_come_and_are_rebuilt(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sums, "MAX_PENDING_ENTRIES", 8)
    wanted = taught(path, range(30))
    first, second = snapshots(path)
    assert first < 16 < second
    kept = path.read_bytes()
    wrong = ("digest = zeroblob(16)", "added = zeroblob(100)", "added = x''", "entries = 3", "checksum = zeroblob(16)")
    changes = [f"UPDATE snapshot SET {what} WHERE entries = {k}" for what in wrong for k in (first, second)]
    changes += [f"DELETE FROM snapshot WHERE entries = {k}" for k in (first, second)]
    changes += ["INSERT INTO snapshot SELECT * FROM snapshot", "UPDATE snapshot SET entries = 50 - entries"]
    for change in changes:
        path.write_bytes(kept)
        connection = sqlite3.connect(path)
        with connection:
            connection.execute(change)
        connection.close()
        assert same(naively.load(path), wanted), change
    taught(path, range(50, 60))


def test_a_snapshot_is_renewed_when_what_came_since_is_no_longer_small(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sums, "MAX_PENDING_ENTRIES", 4)
    monkeypatch.setattr(sums, "MIN_SNAPSHOT_BYTES", 1)
    monkeypatch.setattr(sums, "MAX_PENDING_SHARE", 1)
    seen = set()
    for seed in range(0, 100, 5):
        taught(path, range(seed, seed + 5))
        seen.add(tuple(snapshots(path)))
    firsts = [found[0] for found in sorted(seen)]
    assert len(set(firsts)) > 2
    assert {len(found) for found in seen} == {1, 2}


def test_two_writers_make_their_snapshots(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of them has the base written anew while the other knows the former one."""
    monkeypatch.setattr(sums, "MAX_PENDING_ENTRIES", 4)
    one, two = naively.open(path), naively.open(path)
    wanted = fitted()
    for seed in range(40):
        (one if seed % 3 else two).update(*rows(seed, 2))
        wanted = wanted.update(*rows(seed, 2))
        if seed == 20:
            two.undo(two.update(*rows(99, 2)).id)  # writes the base anew
        assert same(naively.load(path), wanted)
        assert len(snapshots(path)) <= 2
    assert same(one.model(), wanted)
    assert same(two.model(), wanted)
    one.close()
    two.close()
    assert same(naively.load(path), wanted)


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
    tuning = naively.Tuning({"x": 0.5}, default_weight=0.5)
    model = naively.fit({"a": [1, 2]}, ["x", "y"], prior=prior).with_tuning(tuning)
    model.save(tmp_path / "m")
    ledger = naively.open(tmp_path / "m")
    ledger.update({"a": [1]}, ["x"])
    for back in (ledger.model(), naively.load(tmp_path / "m")):
        assert (back.prior, back.tuning, back.target) == (prior, model.tuning, "class")


def test_a_file_made_by_hand_without_entries(tmp_path: Path) -> None:
    create(tmp_path / "m").close()
    with pytest.raises(InputError, match="damaged"):
        naively.load(tmp_path / "m")
