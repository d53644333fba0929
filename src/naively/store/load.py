"""Load the model of a file."""

from __future__ import annotations

from pathlib import Path

from naively.model.model import Model
from naively.store.entries import open_file
from naively.store.running_sum import read_sum


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
