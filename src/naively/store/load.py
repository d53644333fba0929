"""Load the model of a file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from naively.model.model import Model
from naively.store.entries import Log
from naively.store.meta import Meta, read_meta
from naively.store.running_sum import read_sum
from naively.store.sqlite import close_reader, open_to_read, translate_file_errors


def load(path: str | Path) -> Model:
    """Load the model of a file: the sum of its entries.

    The file may be in use: another process may write to it at the same time, or may have been killed while it did.
    Nothing in the file is executed.

    Parameters
    ----------
    path
        A file that `Model.save`, `Ledger.fit` or `naively fit` has written.

    Returns
    -------
    Model
        The model, with the class prior and the tuning of the file.

    Raises
    ------
    InputError
        If the file cannot be read, is damaged, or is not a model file.
    """
    with open_file(path) as (log, meta):
        return read_sum(log, meta).model


@contextmanager
def open_file(path: str | Path) -> Iterator[tuple[Log, Meta]]:
    """Open one state of a file to read it: yield its entries and its settings."""
    with translate_file_errors(path):
        connection = open_to_read(path)
        try:
            yield Log(Path(path), connection), read_meta(connection)
        finally:
            close_reader(connection, path)
