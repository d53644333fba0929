"""Reading a file: one state of it, its model, and what is wrong with it as a sentence."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from naively.errors import InputError
from naively.model.model import Model
from naively.store import sqlite as file
from naively.store.entries import DamagedError, Schemas
from naively.store.meta import Meta, read_meta
from naively.store.running_sum import Sum
from naively.store.summing import read_sum

__all__ = ["load", "meta_of", "reading", "told", "whole"]


def load(path: str | Path) -> Model:
    """The model of a file: the sum of its entries. Nothing in the file is run.

    Works while another process writes to the file, and after one was killed.
    """
    with reading(path) as (connection, schemas, meta):
        return whole(read_sum(connection, schemas, meta))


def whole(found: Sum) -> Model:
    """The model of a sum."""
    model = found.model()
    assert model is not None  # `read_sum` refuses a file without a count
    return model


@contextmanager
def reading(path: str | Path) -> Iterator[tuple[sqlite3.Connection, Schemas, Meta]]:
    """One state of the file."""
    with told(path):
        connection = file.open_to_read(path)
        try:
            yield connection, Schemas(connection), meta_of(connection)
        finally:
            file.close_reader(connection, path)


def meta_of(connection: sqlite3.Connection) -> Meta:
    """What a file says of itself."""
    try:
        return read_meta(connection)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError) as error:
        raise DamagedError(f"what it says of itself is damaged ({error})") from None


@contextmanager
def told(path: str | Path) -> Iterator[None]:
    """Whatever is wrong with a file, as a sentence about it."""
    try:
        with file.explained(path):
            yield
    except DamagedError as error:
        told = f"{path}: is damaged: {error}. `naively copy --salvage` recovers the entries that are intact."
        raise InputError(told) from None
    except MemoryError:
        raise InputError(f"{path}: needs more memory than there is.") from None
