"""A new file that remembers its rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from naively.data import is_stream
from naively.errors import InputError
from naively.model.model import Model
from naively.store.fingerprints import fingerprints_of, new_key, pack_fingerprints
from naively.store.meta import Meta
from naively.store.rows import read_rows
from naively.store.running_sum import counts_of_model
from naively.store.write import write

__all__ = ["write_remembered"]


def write_remembered(
    path: str | Path, fitted: Model, X: Any, y: Any, weight: Any, *, source: str = "", comment: str = ""
) -> None:
    """A new file that keeps a fingerprint of each row; the rows are read once more for that."""
    if X == "-" if isinstance(X, str) else is_stream(X):
        raise InputError("to remember its rows, data is read twice: give a table or files, not a stream.")
    key = new_key()
    marks = pack_fingerprints(fingerprints_of(fitted, read_rows(fitted, X, y, weight), key))
    tuning = None if fitted.tuning is None else fitted.tuning.to_json()
    meta = Meta(fitted.target, fitted.prior, tuning, key)
    write(path, counts_of_model(fitted), meta, source=source, comment=comment, fingerprints=marks)
