"""The settings in a model file: what it predicts, class prior, tuning, the key of the fingerprints, who wrote it."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import struct
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from naively._kernels.text import UNICODE_VERSION
from naively.data.plain import JsonObject
from naively.model.calibrate import Tuning
from naively.model.model import Model
from naively.priors import EMPIRICAL, ClassPrior, Dirichlet
from naively.store.sqlite import DECODE_ERRORS, DamagedError

parse_tuning = lru_cache(maxsize=4)(Tuning.from_json)
_kind_and_length = struct.Struct("<cQ").pack


def digest_of(*parts: bytes | str | int | None) -> bytes:
    """Return 16 bytes that identify these parts: BLAKE2b over the kind, length and bytes of each."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        if part is None:
            digest.update(b"n")
            continue
        kind = b"b" if isinstance(part, bytes) else b"t" if isinstance(part, str) else b"i"
        data = part if isinstance(part, bytes) else str(part).encode("utf-8", "surrogatepass")
        digest.update(_kind_and_length(kind, len(data)))
        digest.update(data)
    return digest.digest()


@dataclass(frozen=True)
class Meta:
    """The settings of a file. `tuning` is JSON; `key` is that of the fingerprints, None if rows are not remembered."""

    target: str = "class"
    prior: ClassPrior = EMPIRICAL
    tuning: str | None = None
    key: str | None = None
    made_by: str = "naively"
    unicode: str = UNICODE_VERSION

    @classmethod
    def of_model(cls, model: Model, key: str | None = None) -> Meta:
        """Return the settings of a model."""
        return cls(model.target, model.prior, None if model.tuning is None else model.tuning.to_json(), key)

    def apply(self, model: Model) -> Model:
        """Return the model with these settings."""
        tuning = None if self.tuning is None else parse_tuning(self.tuning)
        return replace(model, prior=self.prior, target=self.target, tuning=tuning)

    def settings(self) -> JsonObject:
        """Return what can be changed without counting rows, as JSON: the class prior and the tuning."""
        return {"prior": _prior_to_json(self.prior), "tuning": self.tuning}

    def with_settings(self, settings: Any) -> Meta:
        """Return the same with other `settings`; raise one of DECODE_ERRORS if they are not valid."""
        if not (settings["tuning"] is None or isinstance(settings["tuning"], str)):
            raise TypeError("the tuning is not a string")
        return replace(self, prior=_prior_from_json(settings["prior"]), tuning=settings["tuning"])


def write_meta(connection: sqlite3.Connection, meta: Meta) -> None:
    """Replace all settings in the file."""
    values = {
        "target": meta.target,
        **{name: json.dumps(setting) for name, setting in meta.settings().items()},
        "key": json.dumps(meta.key),
        "made_by": meta.made_by,
        "unicode": meta.unicode,
    }
    values["checksum"] = checksum_of(values)
    connection.execute("DELETE FROM meta")
    connection.executemany("INSERT INTO meta VALUES (?, ?)", values.items())


def checksum_of(values: dict[str, str]) -> str:
    """Return the checksum of the rows of `meta`."""
    return digest_of(*(part for key in sorted(values) if key != "checksum" for part in (key, values[key]))).hex()


def read_meta(connection: sqlite3.Connection) -> Meta:
    """Read the settings; DamagedError if they are not what was written."""
    try:
        values: JsonObject = dict(connection.execute("SELECT key, value FROM meta LIMIT 100"))
        if any(not isinstance(value, str) for value in values.values()) or checksum_of(values) != values["checksum"]:
            raise ValueError("they do not match their checksum")
        key = json.loads(values["key"])
        if not (key is None or isinstance(key, str)):
            raise TypeError("the key is not a string")
        meta = Meta(values["target"], key=key, made_by=values["made_by"], unicode=values["unicode"])
        return meta.with_settings({name: json.loads(values[name]) for name in ("prior", "tuning")})
    except DECODE_ERRORS as error:
        raise DamagedError(f"its settings cannot be read ({error})") from None


def _prior_to_json(prior: ClassPrior) -> JsonObject:
    alpha: Any = prior.alpha
    if isinstance(alpha, Dirichlet):
        alpha = {"alpha": [[label, number] for label, number in alpha.alpha.items()], "other": alpha.other}
    given = None if prior.given is None else [[label, p] for label, p in prior.given.items()]
    return {"alpha": alpha, "uniform": prior.uniform, "given": given}


def _prior_from_json(value: Any) -> ClassPrior:
    alpha = value["alpha"]
    if isinstance(alpha, dict):
        alpha = Dirichlet({label: float(number) for label, number in alpha["alpha"]}, float(alpha["other"]))
    given = None if value["given"] is None else {label: float(p) for label, p in value["given"]}
    return ClassPrior(alpha, bool(value["uniform"]), given)
