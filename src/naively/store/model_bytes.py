"""A model as bytes, for pickles and other containers: its schema and settings as JSON, then what it has counted.

    8 bytes        the number of bytes of the JSON, little-endian
    JSON           schema, target, class prior, tuning, n_jobs
    the rest       the payload of the counts, as in an entry of a model file

Reading them runs no code, as opening a model file does not.
"""

from __future__ import annotations

import json
from dataclasses import replace

from naively.errors import InputError
from naively.model.model import Model
from naively.schema.schema import Schema
from naively.store.codec import decode_counts, encode_counts
from naively.store.meta import Meta
from naively.store.sqlite import DECODE_ERRORS

LENGTH_BYTES = 8


def to_bytes(model: Model) -> bytes:
    """Return a model as bytes; refuse a family that is not registered."""
    settings = {"target": model.target, "n_jobs": model.n_jobs, **Meta.of_model(model).settings()}
    head = json.dumps({"schema": model.schema.to_json(), **settings}).encode()
    return len(head).to_bytes(LENGTH_BYTES, "little") + head + encode_counts(model)


def from_bytes(data: bytes) -> Model:
    """Return the model that `to_bytes` has written; refuse anything else."""
    try:
        end = LENGTH_BYTES + int.from_bytes(data[:LENGTH_BYTES], "little")
        head = json.loads(data[LENGTH_BYTES:end])
        n_jobs, target = head["n_jobs"], head["target"]
        if not (n_jobs is None or type(n_jobs) is int) or not isinstance(target, str):
            raise TypeError("its settings are not valid")
        counts = decode_counts(data[end:], Schema.from_json(head["schema"]))
        return replace(Meta(target).with_settings(head).apply(counts), n_jobs=n_jobs)
    except DECODE_ERRORS as error:
        raise InputError(f"these bytes are not a model ({type(error).__name__}: {error}).") from None
