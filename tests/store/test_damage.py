"""Damage files, or add to them what naively does not write: the error says what is lost."""

import os
import random
import sqlite3
from pathlib import Path

import pytest
from tests.support.models import fitted, rows, same

import naively
from naively import InputError
from naively.store import running_sum as sums
from naively.store.entries import COLUMNS
from naively.store.sqlite import TABLES

SOAK = bool(os.environ.get("NAIVELY_SOAK"))


def history(path: Path) -> naively.Model:
    """Write a file with entries of all kinds and two snapshots; return its model."""
    fitted().save(path, source="first")
    with pytest.MonkeyPatch.context() as patch, naively.open(path) as ledger:
        patch.setattr(sums, "MAX_PENDING_ENTRIES", 1)
        taught = ledger.update(*rows(1), source="anna")
        ledger.update(*rows(2), source="ben")
        ledger.undo(taught.id)
        ledger.forget(*rows(2))
        ledger.update(*rows(3), comment="last")
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT count(*) FROM snapshot").fetchone() == (2,)
    connection.close()
    return naively.load(path)


def outcome(path: Path, expected: naively.Model) -> str:
    """Check that loading returns the right model or raises an error that names the file."""
    message = ""
    try:
        model = naively.load(path)
    except InputError as error:
        message = str(error)
    assert str(path) in message if message else same(model, expected)
    return "refused" if message else "right"


@pytest.mark.parametrize("kind", ["flip", "truncate", "zero", "swap"])
def test_damaged_files(kind: str, tmp_path: Path) -> None:
    original_path, path = tmp_path / "original", tmp_path / "m"
    expected = history(original_path)
    original = original_path.read_bytes()
    rng = random.Random(os.urandom(8) if SOAK else 5)
    outcomes = []
    for _ in range(3000 if SOAK else 250):
        damaged = bytearray(original)
        position = rng.randrange(len(damaged))
        if kind == "flip":
            damaged[position] ^= 1 << rng.randrange(8)
        elif kind == "truncate":
            del damaged[position:]
        elif kind == "zero":
            damaged[position : position + 512] = bytes(len(damaged[position : position + 512]))
        else:
            a, b = (4096 * rng.randrange(len(damaged) // 4096) for _ in range(2))
            damaged[a : a + 4096], damaged[b : b + 4096] = damaged[b : b + 4096], damaged[a : a + 4096]
        path.write_bytes(damaged)
        outcomes.append(outcome(path, expected))
    assert "refused" in outcomes


def test_every_field_is_checked(tmp_path: Path) -> None:
    """`log` detects any change of any field of an entry."""
    path = tmp_path / "m"
    history(path)
    original = path.read_bytes()
    for field in COLUMNS.split(", ")[1:]:
        path.write_bytes(original)
        connection = sqlite3.connect(path)
        with connection:
            connection.execute(f"UPDATE entries SET {field} = CASE typeof({field}) WHEN 'integer' THEN {field} + 1 "
                               f"WHEN 'text' THEN {field} || 'x' ELSE x'00' END WHERE number = 2")  # fmt: skip
        connection.close()
        with pytest.raises(InputError, match=r"entry 2"):
            naively.open(path).log()
    for change in ("DELETE FROM entries WHERE number = 6", "DELETE FROM entries WHERE number = 3", "DELETE FROM head"):
        path.write_bytes(original)
        connection = sqlite3.connect(path)
        with connection:
            connection.execute(change)
        connection.close()
        with pytest.raises(InputError, match=r"entr(y|ies) .*missing|number of entries is missing"):
            naively.open(path).log()


def test_settings_are_checked(tmp_path: Path) -> None:
    path = tmp_path / "m"
    history(path)
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("UPDATE meta SET value = 'other' WHERE key = 'target'")
    connection.close()
    with pytest.raises(InputError, match="its settings cannot be read"):
        naively.load(path)
    salvaged = naively.salvage(path, tmp_path / "n")
    assert "the settings are lost" in salvaged.notes[0]
    assert naively.load(tmp_path / "n").classes == ("a", "b")


@pytest.mark.parametrize("is_attributed", [True, False])
def test_salvage(is_attributed: bool, tmp_path: Path) -> None:
    path = tmp_path / "m"
    fitted().save(path)
    with naively.open(path) as ledger:
        one = ledger.update(*rows(1))
        ledger.forget(*rows(1), entry=one.id if is_attributed else None)
        ledger.update(*rows(2))
        ledger.forget(*rows(2, 5))
        ledger.update(*rows(2))
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("UPDATE entries SET statistics = zeroblob(40) WHERE id = ?", (bytes.fromhex(one.id),))
    connection.close()
    with pytest.raises(InputError, match=r"entry 2 \(update of 5 rows, .*\) is damaged.*copy --salvage"):
        naively.load(path)
    salvaged = naively.salvage(path, tmp_path / "n")
    assert [number for number, _ in salvaged.lost] == [2, 3]
    assert ("corrects an entry that is lost" if is_attributed else "forgets rows that are lost") in salvaged.lost[1][1]
    assert same(naively.load(tmp_path / "n"), fitted().update(*rows(2)))
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("UPDATE entries SET rows = rows + 1")
    connection.close()
    with pytest.raises(InputError, match="no entry is intact"):
        naively.salvage(path, tmp_path / "o")
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_salvage_of_a_truncated_file(share: float, tmp_path: Path) -> None:
    """The error says how much is missing; the entries before that are recovered."""
    naively.fit(["a b", "c d"], ["x", "y"], tune=False).save(tmp_path / "m")
    with naively.open(tmp_path / "m") as ledger:
        for i in range(60):
            ledger.update([f"a {i:04} " + " ".join(f"{i}w{j}" for j in range(60))], ["x"])
    original = (tmp_path / "m").read_bytes()
    (tmp_path / "m").write_bytes(original[: int(share * len(original))])
    message = rf"it is cut short: {int(share * len(original)):,} of {len(original):,} bytes are there"
    with pytest.raises(InputError, match=message):
        naively.load(tmp_path / "m")
    salvaged = naively.salvage(tmp_path / "m", tmp_path / "n", comment="dropped")
    assert 0 < len(salvaged.recovered) <= 61
    assert len(salvaged.recovered) + len(salvaged.lost) == 61 or salvaged.notes
    assert naively.load(tmp_path / "n").class_weights.rows.sum() == sum(entry.rows for entry in salvaged.recovered)
    last = naively.open(tmp_path / "n").log()[-1]
    assert (last.act, last.source, last.comment) == ("salvage", str(tmp_path / "m"), "dropped")
    assert last.note.startswith(f"{len(salvaged.recovered)} entries recovered, {len(salvaged.lost)} lost")


def test_salvage_of_random_damage(tmp_path: Path) -> None:
    """Only intact entries are recovered, and nothing crashes."""
    history(tmp_path / "original")
    original = (tmp_path / "original").read_bytes()
    ids = {entry.id for entry in naively.open(tmp_path / "original").log()}
    rng = random.Random(3)
    for _ in range(300 if SOAK else 60):
        damaged = bytearray(original)
        for _ in range(4):
            damaged[rng.randrange(100, len(damaged))] ^= 1 << rng.randrange(8)
        (tmp_path / "m").write_bytes(damaged)
        try:
            salvaged = naively.salvage(tmp_path / "m", tmp_path / "n")
        except InputError:
            continue
        assert {entry.id for entry in salvaged.recovered} <= ids
        naively.load(tmp_path / "n")


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER t AFTER INSERT ON entries BEGIN DELETE FROM entries; END",
        "CREATE VIEW v AS SELECT 1",
        "CREATE INDEX i ON entries (lower(hex(id)))",
        "CREATE TABLE more (x)",
        "CREATE VIRTUAL TABLE f USING fts5(x)",
        "ALTER TABLE head ADD COLUMN evil TEXT DEFAULT 3",
        "DROP TABLE snapshot; CREATE VIEW snapshot AS SELECT 1 AS entries",
        "PRAGMA user_version=3",
        "PRAGMA application_id=0",
    ],
)
def test_foreign_tables_and_triggers(statement: str, tmp_path: Path) -> None:
    path = tmp_path / "m"
    fitted().save(path)
    connection = sqlite3.connect(path)
    connection.executescript(statement)
    connection.close()
    before = path.read_bytes()
    for read in (naively.load, naively.open):
        with pytest.raises(InputError, match=r"is refused: it holds|has format 3|is not a model file"):
            read(path)
    assert path.read_bytes() == before


def test_documentation_lists_all_tables_and_columns() -> None:
    page = (Path(__file__).parents[2] / "docs" / "file_format.md").read_text(encoding="utf-8")
    for name, statement in TABLES.items():
        assert f"`{name}`" in page
        for column in statement.split("(", 1)[1].split(","):
            assert column.split()[0].strip("()") in page
    assert sums.MAX_PENDING_ENTRIES == 256


def test_a_class_that_an_early_version_dropped_is_removed() -> None:
    """The file was written when its last text of class "ham" was forgotten; its cells were left without a class."""
    texts = [" ".join(f"w{i + 20 * j}" for i in range(20)) for j in range(4)]
    expected = naively.fit({"t": texts}, ["spam", "eggs", "spam", "eggs"], columns=naively.Text(), tune=False)
    assert same(naively.load(Path(__file__).with_name("dropped_class.naively")), expected)
