"""What one entry counted, as bytes: its classes, the weights of the classes, and one statistic for each block."""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

from naively.schema.schema import Schema
from naively.statistics import ClassWeights, Statistic
from naively.store.arrays import Arrays, pack, unpack
from naively.store.checks import check_model
from naively.store.codec import decode, encode

__all__ = ["DAMAGED", "Counts", "counts_from_bytes", "counts_to_bytes"]

# What reading bytes that nobody wrote so may raise; nothing else does (tests/ledger/test_hostile.py).
DAMAGED = (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError, OverflowError, struct.error)


class Counts(NamedTuple):
    """The counted part of a model."""

    schema: Schema
    classes: tuple[Any, ...]
    seen: ClassWeights
    statistics: tuple[Statistic, ...]


def counts_to_bytes(counts: Counts) -> bytes:
    """The payload of some counts; the schema is kept beside it, because many entries share one."""
    arrays: Arrays = []
    classes, seen, statistics = (encode(part, arrays) for part in (counts.classes, counts.seen, counts.statistics))
    return pack(f'{{"classes":{classes},"seen":{seen},"statistics":{statistics}}}', arrays)


def counts_from_bytes(payload: bytes, schema: Schema) -> Counts:
    """The inverse, checked: sizes, types, order, finite numbers. Raises one of `DAMAGED`."""
    head, arrays = unpack(payload)
    classes = tuple(head["classes"])
    seen = decode(head["seen"], arrays)
    statistics = tuple(decode(found, arrays) for found in head["statistics"])
    check_model(schema, classes, seen, statistics)
    return Counts(schema, classes, seen, statistics)
