"""Files that are truncated, flipped or made by an enemy: an error that says what is lost, or the right model."""

import os
import random
import sqlite3
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naively
from ledger.models import fitted, rows, same
from naively import InputError, ledger
from naively.ledger import sums
from naively.storage.arrays import pack, unpack
from naively.storage.entries import COLUMNS, START, Row, Schemas, append
from naively.storage.file import TABLES

SOAK = bool(os.environ.get("NAIVELY_SOAK"))


def history(path: Path) -> naively.Model:
    """A file with entries of all kinds and a snapshot; the model that it is."""
    fitted().save(path, source="first")
    with naively.open(path) as live:
        taught = live.update(*rows(1), source="anna")
        live.update(*rows(2), source="ben")
        live.undo(taught.id)
        live.forget(*rows(2))
        live.update(*rows(3), comment="last")
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
    with pytest.raises(InputError, match="what it says of itself is damaged"):
        naively.load(path)
    found = ledger.salvage(path, tmp_path / "n")
    assert "the settings are lost" in found.notes[0]
    assert naively.load(tmp_path / "n").classes == ("a", "b")


def test_salvage(tmp_path: Path) -> None:
    path = tmp_path / "m"
    fitted().save(path)
    with naively.open(path) as live:
        one = live.update(*rows(1))
        live.forget(*rows(1))
        live.update(*rows(2))
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("UPDATE entries SET statistics = zeroblob(40) WHERE id = ?", (bytes.fromhex(one.id),))
    connection.close()
    with pytest.raises(InputError, match=r"entry 2 \(update of 5 rows, .*\) is damaged.*copy --salvage"):
        naively.load(path)
    found = ledger.salvage(path, tmp_path / "n")
    assert [number for number, _ in found.lost] == [2, 3]
    assert "corrects an entry that is lost" in found.lost[1][1]
    assert same(naively.load(tmp_path / "n"), fitted().update(*rows(2)))
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("UPDATE entries SET rows = rows + 1")
    connection.close()
    with pytest.raises(InputError, match="no entry is intact"):
        ledger.salvage(path, tmp_path / "o")
    assert not (tmp_path / "o").exists()


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
            saved = ledger.salvage(tmp_path / "m", tmp_path / "n")
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


def forged(path: Path, change: Any) -> None:
    """The file with its first entry changed, and all checksums right again: an enemy can do that."""
    connection = sqlite3.connect(path)
    schemas = Schemas(connection)
    with connection:
        row = Row(*connection.execute(f"SELECT {COLUMNS} FROM entries").fetchone())
        connection.execute("DELETE FROM entries")
        connection.execute("UPDATE head SET entries = 0, checksum = ?", (START,))
        append(connection, schemas, change(row))
    connection.close()


def altered(head: Any, chance: random.Random) -> Any:
    """JSON with one value in it replaced by another."""
    odd: list[Any] = [
        None,
        -1,
        2**31,
        2**62,
        10**400,
        1e308,
        float("nan"),
        "",
        "x" * 100,
        [],
        {},
        [[]],
        True,
        {"array": 0},
    ]
    if isinstance(head, dict) and head and chance.random() < 0.95:
        key = chance.choice(list(head))
        return {**head, key: altered(head[key], chance)}
    if isinstance(head, list) and head and chance.random() < 0.9:
        i = chance.randrange(len(head))
        return [*head[:i], altered(head[i], chance), *head[i + 1 :]]
    return chance.choice(odd)


FORGED = tempfile.TemporaryDirectory(prefix="naively-tests-")
BASE = Path(FORGED.name) / "base"
PAYLOAD: list[bytes] = []


@settings(max_examples=100_000 if SOAK else 150)
@given(st.integers(0, 2**32 - 1))
def test_fuzz_of_the_loader(seed: int) -> None:
    """Payloads with any part of them changed, under right checksums: a model that answers, or an InputError."""
    if not PAYLOAD:
        fitted().save(BASE)
        connection = sqlite3.connect(BASE)
        PAYLOAD.append(connection.execute("SELECT statistics FROM entries").fetchone()[0])
        connection.close()
    chance = random.Random(seed)
    head, arrays = unpack(PAYLOAD[0])
    which = chance.randrange(3)
    if which == 0:
        payload = bytearray(PAYLOAD[0])
        for _ in range(chance.randrange(1, 4)):
            payload[chance.randrange(len(payload))] = chance.randrange(256)
    elif which == 1:
        payload = bytearray(
            pack({k: altered(v, chance) if chance.random() < 0.5 else v for k, v in head.items()}, arrays)
        )
    else:
        i = chance.randrange(len(arrays))
        array = arrays[i].copy().ravel()
        if len(array):
            array[chance.randrange(len(array))] = chance.choice([0, 1, 2, 3, 5, 100])
        payload = bytearray(pack(head, [*arrays[:i], array.reshape(arrays[i].shape), *arrays[i + 1 :]]))
    path = BASE.parent / "forged"
    path.write_bytes(BASE.read_bytes())
    forged(path, lambda row: Row(**{f: getattr(row, f) for f in Row.__slots__} | {"statistics": bytes(payload)}))
    try:
        model = naively.load(path)
    except InputError:
        return
    import numpy as np

    with np.errstate(all="ignore"):
        model.log_joint(rows(9)[0])


def test_a_bomb_is_not_inflated(tmp_path: Path) -> None:
    import resource
    import struct
    import zlib

    path = tmp_path / "m"
    fitted().save(path)
    body = zlib.compress(bytes(1 << 28), 9)
    for length in (1 << 28, 16 * len(body)):
        bomb = struct.pack("<BBQQ", 1, 1, length, len(body)) + body
        forged(path, lambda row, b=bomb: Row(**{f: getattr(row, f) for f in Row.__slots__} | {"statistics": b}))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with pytest.raises(InputError, match="entry 1"):
            naively.load(path)
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # kB


def test_tables_are_what_the_documentation_says() -> None:
    page = (Path(__file__).parents[2] / "docs" / "file_format.md").read_text(encoding="utf-8")
    for name, statement in TABLES.items():
        assert f"`{name}`" in page
        for column in statement.split("(", 1)[1].split(","):
            assert column.split()[0].strip("()") in page
    assert sums.TAIL == 256
