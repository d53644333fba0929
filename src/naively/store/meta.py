"""What a model file says of itself: who made it, what it predicts, the class prior, the tuning."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import struct
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from naively._kernels.text import UNICODE_VERSION
from naively.priors import ClassPrior, Dirichlet

__all__ = ["Meta", "digest_of", "read_meta", "settings_of", "with_settings", "write_meta"]


LONG = 1 << 16  # bytes that are worth a call of their own
_kind_and_length = struct.Struct("<cQ").pack


def digest_of(*parts: Any) -> bytes:
    """16 bytes that tell these parts from others: BLAKE2b over the length, kind and bytes of each."""
    found = hashlib.blake2b(digest_size=16)
    short: list[bytes] = []  # many short parts are hashed as one: a call takes longer than their bytes
    for part in parts:
        if part is None:
            short.append(b"n")
            continue
        kind = b"b" if isinstance(part, bytes) else b"t" if isinstance(part, str) else b"i"
        plain = part if kind == b"b" else (part if kind == b"t" else str(part)).encode("utf-8", "surrogatepass")
        short += (_kind_and_length(kind, len(plain)), plain)
        if len(plain) > LONG:
            found.update(b"".join(short[:-1]))
            found.update(plain)
            short = []
    found.update(b"".join(short))
    return found.digest()


EMPIRICAL = ClassPrior()


@dataclass(frozen=True)
class Meta:
    """The settings of a file; `tuning` is JSON, `key` makes the fingerprints of remembered rows."""

    target: str = "class"
    prior: ClassPrior = EMPIRICAL
    tuning: str | None = None
    key: str | None = None
    made_by: str = "naively"
    unicode: str = UNICODE_VERSION


def write_meta(connection: sqlite3.Connection, meta: Meta) -> None:
    """Write all of it anew."""
    values = {
        "target": meta.target,
        "prior": json.dumps(_prior_to_json(meta.prior)),
        "tuning": json.dumps(meta.tuning),
        "key": json.dumps(meta.key),
        "made_by": meta.made_by,
        "unicode": meta.unicode,
    }
    values["checksum"] = _checksum(values)
    connection.execute("DELETE FROM meta")
    connection.executemany("INSERT INTO meta VALUES (?, ?)", values.items())


def _checksum(values: dict[str, str]) -> str:
    return digest_of(*(part for key in sorted(values) if key != "checksum" for part in (key, values[key]))).hex()


def read_meta(connection: sqlite3.Connection) -> Meta:
    """The inverse; ValueError, KeyError or TypeError if any of it was changed by others."""
    return _read(frozenset(connection.execute("SELECT key, value FROM meta LIMIT 100").fetchall()))


@lru_cache(maxsize=4)  # it is read with every change, and hardly ever changes
def _read(found: frozenset[tuple[Any, Any]]) -> Meta:
    values = dict(found)
    if any(not isinstance(value, str) for value in values.values()) or _checksum(values) != values["checksum"]:
        raise ValueError("what the file says of itself does not have its checksum")
    tuning, key = json.loads(values["tuning"]), json.loads(values["key"])
    if not (tuning is None or isinstance(tuning, str)) or not (key is None or isinstance(key, str)):
        raise TypeError("the tuning or the key is no text")
    prior = _prior_from_json(json.loads(values["prior"]))
    return Meta(values["target"], prior, tuning, key, values["made_by"], values["unicode"])


def settings_of(meta: Meta) -> dict[str, Any]:
    """What can be changed of a file without counting anything, as JSON: the class prior and the tuning."""
    return {"prior": _prior_to_json(meta.prior), "tuning": meta.tuning}


def with_settings(meta: Meta, found: Any) -> Meta:
    """The inverse; ValueError, KeyError or TypeError for what is not so."""
    if not (found["tuning"] is None or isinstance(found["tuning"], str)):
        raise TypeError("the tuning is no text")
    return replace(meta, prior=_prior_from_json(found["prior"]), tuning=found["tuning"])


def _prior_to_json(prior: ClassPrior) -> dict[str, Any]:
    alpha: Any = prior.alpha
    if isinstance(alpha, Dirichlet):
        alpha = {"alpha": [[label, number] for label, number in alpha.alpha.items()], "other": alpha.other}
    given = None if prior.given is None else [[label, p] for label, p in prior.given.items()]
    return {"alpha": alpha, "uniform": prior.uniform, "given": given}


def _prior_from_json(found: Any) -> ClassPrior:
    alpha = found["alpha"]
    if isinstance(alpha, dict):
        alpha = Dirichlet({label: float(number) for label, number in alpha["alpha"]}, float(alpha["other"]))
    given = None if found["given"] is None else {label: float(p) for label, p in found["given"]}
    return ClassPrior(alpha, bool(found["uniform"]), given)
