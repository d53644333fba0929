"""Forge files with right checksums: loading gives a model or an InputError, never a crash."""

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
from naively.store.entries import COLUMNS, START, Log, StoredEntry
from naively.store.meta import checksum_of, digest_of

SOAK = bool(os.environ.get("NAIVELY_SOAK"))
FOLDER = tempfile.TemporaryDirectory(prefix="naively-tests-")
BASE, FORGED = Path(FOLDER.name) / "base", Path(FOLDER.name) / "forged"
UNUSUAL: tuple[Any, ...] = (
    None, -1, 0, 1, 2, 2**31, 2**62, 10**400, 1e308, -0.5, float("nan"), "", "x" * 100, [], {}, [[]], True,
    {"array": 0},
)  # fmt: skip
ACTS = ("fit", "update", "forget", "undo", "compact", "tune", "merge", "")


def forge(
    path: Path, change: Callable[[StoredEntry], StoredEntry], schema: str | None = None, meta: Mapping[str, str] = {}
) -> None:
    """Change the entry, the schema or the settings of a file, and compute all checksums again."""
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
        AnyLog(path, connection).append(change(row))
    connection.close()


class AnyLog(Log):
    """A log whose schemas need not be valid."""

    def schema(self, number: int) -> tuple[Any, str]:
        row = self.connection.execute("SELECT json FROM schemas WHERE number = ?", (number,)).fetchone()
        return None, str(row[0]) if row else ""


def alter(value: Any, rng: random.Random) -> Any:
    """Return JSON with one value replaced."""
    if isinstance(value, dict) and value and rng.random() < 0.95:
        key = rng.choice(list(value))
        if rng.random() < 0.05:
            return {k: v for k, v in value.items() if k != key}
        return {**value, key: alter(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.9:
        i = rng.randrange(len(value))
        if rng.random() < 0.1:
            return [*value[:i], *value[i + 1 :], *rng.choice(([], value[:1], [value[i]]))]
        return [*value[:i], alter(value[i], rng), *value[i + 1 :]]
    return rng.choice(UNUSUAL)


def _payload(row: StoredEntry, rng: random.Random) -> StoredEntry:
    """Change bytes, the head or an array."""
    assert row.statistics is not None
    head, arrays = unpack(row.statistics)
    which = rng.randrange(3)
    if which == 0:
        data = bytearray(row.statistics)
        for _ in range(rng.randrange(1, 4)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        return row._replace(statistics=bytes(data))
    if which == 1:
        head = {k: alter(v, rng) if rng.random() < 0.5 else v for k, v in head.items()}
        return row._replace(statistics=pack(head, arrays))
    i = rng.randrange(len(arrays))
    array = arrays[i].copy().ravel()
    if len(array):
        array[rng.randrange(len(array))] = rng.choice([0, 1, 2, 3, 5, 100])
    return row._replace(statistics=pack(head, [*arrays[:i], array.reshape(arrays[i].shape), *arrays[i + 1 :]]))


def _fields(row: StoredEntry, rng: random.Random) -> StoredEntry:
    """Change one or two fields of an entry."""
    blob = bytes(rng.randrange(256) for _ in range(rng.choice((0, 1, 16, 32, 40))))
    text = rng.choice(["", "x", "2026-01-01", "9999-12-31T23:59:59.999999Z", '{"first": 1}', "[" * 5000, "\ud800"])
    span = json.dumps(alter({"first": row.time, "last": row.time, "sources": ["a", "b"]}, rng))
    odd: dict[str, tuple[Any, ...]] = {
        "act": ACTS, "sign": (-1, 0, 1, 2, "x"), "time": (text, 3, blob), "written": (text, 0),
        "rows": (-1, 2**62, 0, "many"), "source": (text, 5), "comment": (text, blob), "corrects": (blob, row.id, text),
        "schema": (0, 2, -1), "span": (span, text, 7), "statistics": (None, blob, text), "absorbed": (blob, text),
        "fingerprints": (blob, text, pack({}, [np.zeros((2, 16), np.uint8), np.array([1, -5])])), "id": (blob, text),
    }  # fmt: skip
    names = rng.sample(list(odd), rng.choice((1, 1, 2)))
    return row._replace(**{name: rng.choice(odd[name]) for name in names})


def _settings(rng: random.Random) -> dict[str, str]:
    """Return a changed target, class prior, tuning or key."""
    connection = sqlite3.connect(BASE)
    values = dict(connection.execute("SELECT key, value FROM meta"))
    connection.close()
    name = rng.choice(("tuning", "tuning", "tuning", "prior", "prior", "key", "target", "unicode"))
    if name == "tuning":
        tuning = json.loads(json.loads(values["tuning"]))
        return {name: json.dumps(json.dumps(alter(tuning, rng)) if rng.random() < 0.9 else rng.choice(UNUSUAL))}
    if name in ("prior", "key"):
        return {name: json.dumps(alter(json.loads(values[name]), rng))}
    return {name: rng.choice(["", "x" * 1000, "\x00", "text"])}


def _more_entries(path: Path, rng: random.Random) -> None:
    """Append one to three entries with changed counts."""
    connection = sqlite3.connect(path)
    row = StoredEntry(*connection.execute(f"SELECT {COLUMNS} FROM entries").fetchone())
    with connection:
        for _ in range(rng.choice((1, 2, 3))):
            act, sign = rng.choice((("update", 1), ("update", 1), ("forget", -1)))
            new = _payload(row, rng)._replace(act=act, sign=sign, id=rng.randbytes(16))
            AnyLog(path, connection).append(new)
    connection.close()


def _snapshots(path: Path, rng: random.Random) -> None:
    """Append one to three arbitrary snapshots with right checksums."""
    connection = sqlite3.connect(path)
    row = StoredEntry(*connection.execute(f"SELECT {COLUMNS} FROM entries").fetchone())
    text = connection.execute("SELECT json FROM schemas").fetchone()[0]
    behind: tuple[bytes, ...] = ()
    with connection:
        for _ in range(rng.choice((1, 2, 2, 2, 3))):
            odd = (_payload(row, rng).statistics, row.statistics, row.statistics, b"", None, "x", 7)
            values: list[Any] = [1, row.checksum, 1, rng.choice(odd), rng.choice((None, None, *odd))]
            if rng.random() < 0.3:
                values[rng.randrange(3)] = rng.choice((0, 1, 2, 2**62, -1, "x", b"", 0.5))
            digest = digest_of(*values[:2], text, *values[3:], *behind)
            connection.execute("INSERT INTO snapshot VALUES (?, ?, ?, ?, ?, ?)", (*values, digest))
            behind = (digest,)
    connection.close()


@settings(max_examples=100_000 if SOAK else 250)
@given(st.integers(0, 2**32 - 1))
def test_forged_files(seed: int) -> None:
    """Change any part of the counts, the entry, the schema or the settings."""
    if not BASE.exists():
        columns = {**FAMILIES, "text": naively.Text(), "number": naively.Binned()}
        naively.fit(*rows(0, 12), columns=columns, prior={"a": 0.5, "b": 0.5}).save(BASE)
    rng = random.Random(seed)
    FORGED.write_bytes(BASE.read_bytes())
    which = rng.randrange(10)
    try:
        if which < 4:
            forge(FORGED, lambda row: _payload(row, rng))
        elif which < 6:
            connection = sqlite3.connect(BASE)
            (schema,) = connection.execute("SELECT json FROM schemas").fetchone()
            connection.close()
            forge(FORGED, lambda row: row, schema=json.dumps(alter(json.loads(schema), rng)))
        elif which == 6:
            forge(FORGED, lambda row: row, meta=_settings(rng))
        elif which == 7:
            forge(FORGED, lambda row: _fields(row, rng))
        else:
            (_snapshots if which == 8 else _more_entries)(FORGED, rng)
    except (UnicodeEncodeError, OverflowError, sqlite3.Error):
        return  # SQLite refuses the value
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            model = naively.load(FORGED)
            naively.open(FORGED).log()
            model.log_joint(rows(9)[0])
            model.posterior(rows(9)[0])
        except InputError:
            return


def test_decompression_bombs_are_refused(tmp_path: Path) -> None:
    import resource
    import struct
    import zlib

    path = tmp_path / "m"
    fitted().save(path)
    body = zlib.compress(bytes(1 << 28), 9)
    for length in (1 << 28, 16 * len(body)):
        bomb = struct.pack("<BBQQ", 1, 1, length, len(body)) + body
        forge(path, lambda row, b=bomb: row._replace(statistics=b))  # type: ignore[misc]
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
