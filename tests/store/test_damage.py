"""Files that are truncated or flipped, or hold what naively did not make: an error that says what is lost."""

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
    """A file with entries of all kinds and both snapshots; the model that it is."""
    fitted().save(path, source="first")
    with pytest.MonkeyPatch.context() as patch, naively.open(path) as live:
        patch.setattr(sums, "MAX_PENDING_ENTRIES", 1)
        taught = live.update(*rows(1), source="anna")
        live.update(*rows(2), source="ben")
        live.undo(taught.id)
        live.forget(*rows(2))
        live.update(*rows(3), comment="last")
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT count(*) FROM snapshot").fetchone() == (2,)
    connection.close()
    return naively.load(path)


def outcome(path: Path, wanted: naively.Model) -> str:
    """The right model, or an error that names the file; nothing else."""
    told = ""
    try:
        found = naively.load(path)
    except InputError as error:
        told = str(error)
    assert str(path) in told if told else same(found, wanted)
    return "refused" if told else "right"


@pytest.mark.parametrize("kind", ["flip", "truncate", "zero", "swap"])
def test_damaged_files(kind: str, tmp_path: Path) -> None:
    whole_path, path = tmp_path / "whole", tmp_path / "m"
    wanted = history(whole_path)
    whole = whole_path.read_bytes()
    chance = random.Random(os.urandom(8) if SOAK else 5)
    outcomes = []
    for _ in range(3000 if SOAK else 250):
        found = bytearray(whole)
        at = chance.randrange(len(found))
        if kind == "flip":
            found[at] ^= 1 << chance.randrange(8)
        elif kind == "truncate":
            del found[at:]
        elif kind == "zero":
            found[at : at + 512] = bytes(len(found[at : at + 512]))
        else:
            a, b = (4096 * chance.randrange(len(found) // 4096) for _ in range(2))
            found[a : a + 4096], found[b : b + 4096] = found[b : b + 4096], found[a : a + 4096]
        path.write_bytes(found)
        outcomes.append(outcome(path, wanted))
    assert "refused" in outcomes


def test_every_byte_that_counts_is_checked(tmp_path: Path) -> None:
    """Any change of any field of any entry is found by whoever reads all of them."""
    path = tmp_path / "m"
    history(path)
    whole = path.read_bytes()
    for field in COLUMNS.split(", ")[1:]:
        path.write_bytes(whole)
        connection = sqlite3.connect(path)
        with connection:
            connection.execute(f"UPDATE entries SET {field} = CASE typeof({field}) WHEN 'integer' THEN {field} + 1 "
                               f"WHEN 'text' THEN {field} || 'x' ELSE x'00' END WHERE number = 2")  # fmt: skip
        connection.close()
        with pytest.raises(InputError, match=r"entry 2"):
            naively.open(path).log()
    for change in ("DELETE FROM entries WHERE number = 6", "DELETE FROM entries WHERE number = 3", "DELETE FROM head"):
        path.write_bytes(whole)
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
    found = naively.salvage(path, tmp_path / "n")
    assert "the settings are lost" in found.notes[0]
    assert naively.load(tmp_path / "n").classes == ("a", "b")


@pytest.mark.parametrize("is_attributed", [True, False])
def test_salvage(is_attributed: bool, tmp_path: Path) -> None:
    path = tmp_path / "m"
    fitted().save(path)
    with naively.open(path) as live:
        one = live.update(*rows(1))
        live.forget(*rows(1), entry=one.id if is_attributed else None)
        live.update(*rows(2))
        live.forget(*rows(2, 5))
        live.update(*rows(2))
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("UPDATE entries SET statistics = zeroblob(40) WHERE id = ?", (bytes.fromhex(one.id),))
    connection.close()
    with pytest.raises(InputError, match=r"entry 2 \(update of 5 rows, .*\) is damaged.*copy --salvage"):
        naively.load(path)
    found = naively.salvage(path, tmp_path / "n")
    assert [number for number, _ in found.lost] == [2, 3]
    assert ("corrects an entry that is lost" if is_attributed else "forgets rows that are lost") in found.lost[1][1]
    assert same(naively.load(tmp_path / "n"), fitted().update(*rows(2)))
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("UPDATE entries SET rows = rows + 1")
    connection.close()
    with pytest.raises(InputError, match="no entry is intact"):
        naively.salvage(path, tmp_path / "o")
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_salvage_of_a_file_cut_short(share: float, tmp_path: Path) -> None:
    """What is missing is said, and what lies before is recovered, if a counted entry does."""
    naively.fit(["a b", "c d"], ["x", "y"], tune=False).save(tmp_path / "m")
    with naively.open(tmp_path / "m") as live:
        for i in range(60):
            live.update([f"a {i:04} " + " ".join(f"{i}w{j}" for j in range(60))], ["x"])
    whole = (tmp_path / "m").read_bytes()
    (tmp_path / "m").write_bytes(whole[: int(share * len(whole))])
    told = rf"it is cut short: {int(share * len(whole)):,} of {len(whole):,} bytes are there"
    with pytest.raises(InputError, match=told):
        naively.load(tmp_path / "m")
    found = naively.salvage(tmp_path / "m", tmp_path / "n", comment="dropped")
    assert 0 < len(found.recovered) <= 61
    assert len(found.recovered) + len(found.lost) == 61 or found.notes
    assert naively.load(tmp_path / "n").class_weights.rows.sum() == sum(entry.rows for entry in found.recovered)
    last = naively.open(tmp_path / "n").log()[-1]
    assert (last.act, last.source, last.comment) == ("salvage", str(tmp_path / "m"), "dropped")
    assert last.note.startswith(f"{len(found.recovered)} entries recovered, {len(found.lost)} lost")


def test_salvage_of_random_damage(tmp_path: Path) -> None:
    """Whatever is recovered is a model of intact entries; never a crash."""
    history(tmp_path / "whole")
    whole = (tmp_path / "whole").read_bytes()
    ids = {entry.id for entry in naively.open(tmp_path / "whole").log()}
    chance = random.Random(3)
    for _ in range(300 if SOAK else 60):
        found = bytearray(whole)
        for _ in range(4):
            found[chance.randrange(100, len(found))] ^= 1 << chance.randrange(8)
        (tmp_path / "m").write_bytes(found)
        try:
            saved = naively.salvage(tmp_path / "m", tmp_path / "n")
        except InputError:
            continue
        assert {entry.id for entry in saved.recovered} <= ids
        naively.load(tmp_path / "n")


@pytest.mark.parametrize(
    "hostile",
    [
        "CREATE TRIGGER t AFTER INSERT ON entries BEGIN DELETE FROM entries; END",
        "CREATE VIEW v AS SELECT 1",
        "CREATE INDEX i ON entries (lower(hex(id)))",
        "CREATE TABLE more (x)",
        "CREATE VIRTUAL TABLE f USING fts5(x)",
        "ALTER TABLE head ADD COLUMN evil TEXT DEFAULT 3",
        "DROP TABLE snapshot; CREATE VIEW snapshot AS SELECT 1 AS entries",
        "PRAGMA user_version=2",
        "PRAGMA application_id=0",
    ],
)
def test_hostile_schemas(hostile: str, tmp_path: Path) -> None:
    path = tmp_path / "m"
    fitted().save(path)
    connection = sqlite3.connect(path)
    connection.executescript(hostile)
    connection.close()
    before = path.read_bytes()
    for read in (naively.load, naively.open):
        with pytest.raises(InputError, match=r"is refused: it holds|has format 2|is not a model file"):
            read(path)
    assert path.read_bytes() == before


def test_tables_are_what_the_documentation_says() -> None:
    page = (Path(__file__).parents[2] / "docs" / "file_format.md").read_text(encoding="utf-8")
    for name, statement in TABLES.items():
        assert f"`{name}`" in page
        for column in statement.split("(", 1)[1].split(","):
            assert column.split()[0].strip("()") in page
    assert sums.MAX_PENDING_ENTRIES == 256
