"""Files made by an enemy, all checksums right: a model that answers, or an InputError; no crash, no hang, no bomb."""

import json
import os
import random
import sqlite3
import tempfile
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.models import COLUMNS as FAMILIES
from tests.support.models import fitted, rows

import naively
from naively import InputError
from naively.schema.family_json import family_from_json
from naively.store.codec import pack, unpack
from naively.store.entries import COLUMNS, START, Schemas, StoredEntry, append
from naively.store.meta import checksum_of, digest_of

SOAK = bool(os.environ.get("NAIVELY_SOAK"))
FOLDER = tempfile.TemporaryDirectory(prefix="naively-tests-")
BASE, FORGED = Path(FOLDER.name) / "base", Path(FOLDER.name) / "forged"
ODD: tuple[Any, ...] = (
    None, -1, 0, 1, 2, 2**31, 2**62, 10**400, 1e308, -0.5, float("nan"), "", "x" * 100, [], {}, [[]], True,
    {"array": 0},
)  # fmt: skip
ACTS = ("fit", "update", "forget", "undo", "compact", "tune", "merge", "")


def forged(
    path: Path, change: Callable[[StoredEntry], StoredEntry], schema: str | None = None, meta: Mapping[str, str] = {}
) -> None:
    """The file with its entry, schema or settings changed, and all checksums right again: an enemy can do that."""
    connection = sqlite3.connect(path)
    with connection:
        if schema is not None:
            connection.execute("UPDATE schemas SET json = ?", (schema,))
        if meta:
            values = {**dict(connection.execute("SELECT key, value FROM meta")), **meta}
            values["checksum"] = checksum_of(values)
            connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", values.items())
        row = StoredEntry(*connection.execute(f"SELECT {COLUMNS} FROM entries").fetchone())
        connection.execute("DELETE FROM entries")
        connection.execute("UPDATE head SET entries = ?, checksum = ?", START)
        append(connection, _AnySchemas(connection), change(row))
    connection.close()


class _AnySchemas(Schemas):
    """Schemas that need not be valid."""

    def get(self, number: int) -> tuple[Any, str]:
        row = self._connection.execute("SELECT json FROM schemas WHERE number = ?", (number,)).fetchone()
        return None, str(row[0]) if row else ""


def altered(found: Any, chance: random.Random) -> Any:
    """JSON with one value in it replaced by another."""
    if isinstance(found, dict) and found and chance.random() < 0.95:
        key = chance.choice(list(found))
        if chance.random() < 0.05:
            return {k: v for k, v in found.items() if k != key}
        return {**found, key: altered(found[key], chance)}
    if isinstance(found, list) and found and chance.random() < 0.9:
        i = chance.randrange(len(found))
        if chance.random() < 0.1:
            return [*found[:i], *found[i + 1 :], *chance.choice(([], found[:1], [found[i]]))]
        return [*found[:i], altered(found[i], chance), *found[i + 1 :]]
    return chance.choice(ODD)


def _payload(row: StoredEntry, chance: random.Random) -> StoredEntry:
    """Bytes, the head, or an array changed."""
    assert row.statistics is not None
    head, arrays = unpack(row.statistics)
    which = chance.randrange(3)
    if which == 0:
        found = bytearray(row.statistics)
        for _ in range(chance.randrange(1, 4)):
            found[chance.randrange(len(found))] = chance.randrange(256)
        return row._replace(statistics=bytes(found))
    if which == 1:
        head = {k: altered(v, chance) if chance.random() < 0.5 else v for k, v in head.items()}
        return row._replace(statistics=pack(head, arrays))
    i = chance.randrange(len(arrays))
    array = arrays[i].copy().ravel()
    if len(array):
        array[chance.randrange(len(array))] = chance.choice([0, 1, 2, 3, 5, 100])
    return row._replace(statistics=pack(head, [*arrays[:i], array.reshape(arrays[i].shape), *arrays[i + 1 :]]))


def _fields(row: StoredEntry, chance: random.Random) -> StoredEntry:
    """What an entry says beside its counts."""
    blob = bytes(chance.randrange(256) for _ in range(chance.choice((0, 1, 16, 32, 40))))
    text = chance.choice(["", "x", "2026-01-01", "9999-12-31T23:59:59.999999Z", '{"first": 1}', "[" * 5000, "\ud800"])
    span = json.dumps(altered({"first": row.time, "last": row.time, "sources": ["a", "b"]}, chance))
    odd: dict[str, tuple[Any, ...]] = {
        "act": ACTS, "sign": (-1, 0, 1, 2, "x"), "time": (text, 3, blob), "written": (text, 0),
        "rows": (-1, 2**62, 0, "many"), "source": (text, 5), "comment": (text, blob), "corrects": (blob, row.id, text),
        "schema": (0, 2, -1), "span": (span, text, 7), "statistics": (None, blob, text), "absorbed": (blob, text),
        "fingerprints": (blob, text, pack({}, [np.zeros((2, 16), np.uint8), np.array([1, -5])])), "id": (blob, text),
    }  # fmt: skip
    names = chance.sample(list(odd), chance.choice((1, 1, 2)))
    return row._replace(**{name: chance.choice(odd[name]) for name in names})


def _settings(chance: random.Random) -> dict[str, str]:
    """The target, class prior, tuning or key changed."""
    connection = sqlite3.connect(BASE)
    values = dict(connection.execute("SELECT key, value FROM meta"))
    connection.close()
    name = chance.choice(("tuning", "tuning", "tuning", "prior", "prior", "key", "target", "unicode"))
    if name == "tuning":
        tuning = json.loads(json.loads(values["tuning"]))
        return {name: json.dumps(json.dumps(altered(tuning, chance)) if chance.random() < 0.9 else chance.choice(ODD))}
    if name in ("prior", "key"):
        return {name: json.dumps(altered(json.loads(values[name]), chance))}
    return {name: chance.choice(["", "x" * 1000, "\x00", "text"])}


def _more_entries(path: Path, chance: random.Random) -> None:
    """One to three entries more, each with other counts: what they say is added up."""
    connection = sqlite3.connect(path)
    row = StoredEntry(*connection.execute(f"SELECT {COLUMNS} FROM entries").fetchone())
    with connection:
        for _ in range(chance.choice((1, 2, 3))):
            act, sign = chance.choice((("update", 1), ("update", 1), ("forget", -1)))
            new = _payload(row, chance)._replace(act=act, sign=sign, id=chance.randbytes(16))
            append(connection, _AnySchemas(connection), new)
    connection.close()


def _snapshots(path: Path, chance: random.Random) -> None:
    """One to three snapshots of anything, with right checksums."""
    connection = sqlite3.connect(path)
    row = StoredEntry(*connection.execute(f"SELECT {COLUMNS} FROM entries").fetchone())
    text = connection.execute("SELECT json FROM schemas").fetchone()[0]
    behind: tuple[bytes, ...] = ()
    with connection:
        for _ in range(chance.choice((1, 2, 2, 2, 3))):
            odd = (_payload(row, chance).statistics, row.statistics, row.statistics, b"", None, "x", 7)
            values: list[Any] = [1, row.checksum, 1, chance.choice(odd), chance.choice((None, None, *odd))]
            if chance.random() < 0.3:
                values[chance.randrange(3)] = chance.choice((0, 1, 2, 2**62, -1, "x", b"", 0.5))
            digest = digest_of(*values[:2], text, *values[3:], *behind)
            connection.execute("INSERT INTO snapshot VALUES (?, ?, ?, ?, ?, ?)", (*values, digest))
            behind = (digest,)
    connection.close()


@settings(max_examples=100_000 if SOAK else 250)
@given(st.integers(0, 2**32 - 1))
def test_fuzz_of_the_loader(seed: int) -> None:
    """Any part of the counts, the entry, the schema or the settings changed, under right checksums."""
    if not BASE.exists():
        columns = {**FAMILIES, "text": naively.Text(), "number": naively.Binned()}
        naively.fit(*rows(0, 12), columns=columns, prior={"a": 0.5, "b": 0.5}).save(BASE)
    chance = random.Random(seed)
    FORGED.write_bytes(BASE.read_bytes())
    which = chance.randrange(10)
    try:
        if which < 4:
            forged(FORGED, lambda row: _payload(row, chance))
        elif which < 6:
            connection = sqlite3.connect(BASE)
            (schema,) = connection.execute("SELECT json FROM schemas").fetchone()
            connection.close()
            forged(FORGED, lambda row: row, schema=json.dumps(altered(json.loads(schema), chance)))
        elif which == 6:
            forged(FORGED, lambda row: row, meta=_settings(chance))
        elif which == 7:
            forged(FORGED, lambda row: _fields(row, chance))
        else:
            (_snapshots if which == 8 else _more_entries)(FORGED, chance)
    except (UnicodeEncodeError, OverflowError, sqlite3.Error):
        return  # SQLite itself does not take it
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            model = naively.load(FORGED)
            naively.open(FORGED).log()
            model.log_joint(rows(9)[0])
            model.posterior(rows(9)[0])
        except InputError:
            return


def test_a_bomb_is_not_inflated(tmp_path: Path) -> None:
    import resource
    import struct
    import zlib

    path = tmp_path / "m"
    fitted().save(path)
    body = zlib.compress(bytes(1 << 28), 9)
    for length in (1 << 28, 16 * len(body)):
        bomb = struct.pack("<BBQQ", 1, 1, length, len(body)) + body
        forged(path, lambda row, b=bomb: row._replace(statistics=b))  # type: ignore[misc]
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with pytest.raises(InputError, match="entry 1"):
            naively.load(path)
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # kB


@pytest.mark.parametrize(
    "wrong",
    [
        {"family": "Family"},
        {"family": "Poisson", "a": [1, 2]},
        {"family": "Poisson", "a": 10**400},
        {"family": "Numeric", "alpha": True},
        {"family": "Text", "min_count": "7"},
        {"family": "Text", "tokens": ["words"]},
        {"family": "Text", "ngrams": [1]},
        {"family": "Categorical", "sizes": 3},
        {"family": "Categorical", "sizes": [2**40]},
        {"family": "Gaussian", "evil": 1},
    ],
)
def test_fields_of_families_have_their_types(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="is not a family"):
        family_from_json(wrong)
