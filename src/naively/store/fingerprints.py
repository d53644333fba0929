"""Fingerprints: 16 bytes of each row that was counted, so that rows that were never counted cannot be forgotten.

    f = H_key(cells of the row in the order of their tags, its label, its weight)        (1)

A tag is 8 bytes of a hash of the column's name. Zeros are left out and a missing value has a mark, so that a row has
the same fingerprint in any container. The key is random and stored in the file. It hides nothing from a person who has
the file and can guess a row, but rows of two files cannot be matched. Counts of fingerprints add and subtract.

Rows that are counted by key (`keyed.py`) may have one column of text that is not the same each time the row is given.
The file remembers that column as it was counted, beside the fingerprint.
"""

from __future__ import annotations

import hashlib
import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively._kernels.types import Array
from naively.data.labelled import LabelledRows, LabelsLike, WeightLike, is_stream, labelled_batches
from naively.data.names import Names
from naively.data.read import TableLike
from naively.data.views import Codes, Numbers, Texts, is_sparse
from naively.errors import InputError
from naively.model.count import View, schema_for, views_of
from naively.model.model import Model
from naively.store.codec import pack, unpack

MISSING = np.array([np.nan]).tobytes()
Cells = tuple[bytes, list[bytes]]  # the tag of a column, and the bytes of each of its cells


class RememberedRows(NamedTuple):
    """How often each row was counted, by its fingerprint and the text of the remembered column, and that column."""

    counts: Counter[tuple[bytes, str]]
    column: str | None = None


def remember(model: Model, X: TableLike, y: LabelsLike, weight: WeightLike) -> tuple[str, bytes]:
    """Return a new key, and the payload of the fingerprints of rows, which are read a second time for that."""
    if X == "-" if isinstance(X, str) else is_stream(X):
        raise InputError("to remember its rows, data is read twice: give a table or files, not a stream.")
    key = secrets.token_hex(32)
    return key, encode_fingerprints(model, labelled_batches(X, y, weight, like=model), key)


def encode_fingerprints(model: Model, batches: Iterable[LabelledRows], key: str) -> bytes:
    """Return the payload of the fingerprints of rows."""
    return pack_fingerprints(Counter(f for rows in batches for f in fingerprint_rows(model, rows, key)))


def fingerprint_rows(model: Model, rows: LabelledRows, key: str) -> list[bytes]:
    """Return equation (1) for each row."""
    schema = schema_for(model, rows.table)
    columns: list[Cells] = []
    for block, view in zip(schema.blocks, views_of(rows.table, schema), strict=True):
        columns.extend(_cells(view, block.names, rows.table.n_rows))
    columns.sort(key=lambda column: column[0])
    weights = np.ones(rows.table.n_rows) if rows.weight is None else rows.weight
    labels = [_encode(rows.classes[c]) for c in rows.label.tolist()]
    secret = bytes.fromhex(key)
    cells = zip(*(cells for _, cells in columns), strict=True) if columns else [()] * rows.table.n_rows
    return [
        hashlib.blake2b(b"".join((*row, label, weight)), digest_size=16, key=secret).digest()
        for row, label, weight in zip(cells, labels, _encode_numbers(weights), strict=True)
    ]


def _tag(name: str) -> bytes:
    return hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def _encode(value: str | float) -> bytes:
    """Return the bytes of a value; equal numbers of different types have the same."""
    if isinstance(value, str):
        data = value.encode("utf-8", "surrogatepass")
        return b"s" + len(data).to_bytes(4, "little") + data
    return (b"b" if isinstance(value, bool) else b"n") + np.float64(value).tobytes()


def _encode_numbers(x: NDArray[np.float64]) -> list[bytes]:
    data = np.ascontiguousarray(x, dtype="<f8").tobytes()
    return [data[i : i + 8] for i in range(0, len(data), 8)]


@singledispatch
def _cells(view: View, names: Names, n_rows: int) -> Iterator[Cells]:
    """Yield the tag of each column and the bytes of each of its cells; all of a sparse matrix as one column."""
    raise TypeError(f"rows of {type(view).__name__} have no fingerprints")


@_cells.register
def _(view: Texts, names: Names, n_rows: int) -> Iterator[Cells]:
    for name, texts in zip(names, view.columns, strict=True):
        tag = _tag(name)
        strings = (t.decode("utf-8", "replace") if isinstance(t, bytes) else t for t in Texts.as_strings(texts))
        yield tag, [tag + (MISSING if text is None else _encode(text)) for text in strings]


@_cells.register
def _(view: Codes, names: Names, n_rows: int) -> Iterator[Cells]:
    for columns, piece in view.placed():
        for j, column in enumerate(range(columns.start, columns.stop)):
            tag, values, codes = _tag(names[column]), view.values[column], piece[:, j].tolist()
            known = {code: tag + _encode(values[int(code)]) for code in set(codes) if 0 <= code < len(values)}
            yield tag, [known.get(code, tag + MISSING) for code in codes]


@_cells.register
def _(view: Numbers, names: Names, n_rows: int) -> Iterator[Cells]:
    if view.n_columns == 0:  # columns without any value so far
        yield from ((_tag(name), [_tag(name) + MISSING] * n_rows) for name in names)
    for columns, piece in view.placed():
        if is_sparse(piece):
            yield b"", _sparse_cells(names, piece.tocsr(), columns.start)
            continue
        for j, column in enumerate(range(columns.start, columns.stop)):
            tag = _tag(names[column])
            x = piece[:, j].astype(np.float64)
            x[np.isnan(x)] = np.nan  # every NaN has the same bytes
            nonzero = (x != 0).tolist()
            yield tag, [tag + cell if keep else b"" for cell, keep in zip(_encode_numbers(x), nonzero, strict=True)]


def _sparse_cells(names: Names, matrix: Any, first: int) -> list[bytes]:
    """Return for each row of a CSR matrix the tags and bytes of the numbers that are not zero."""
    tags = {column: _tag(names[first + column]) for column in np.unique(matrix.indices).tolist()}
    rows = []
    for start, stop in zip(matrix.indptr[:-1].tolist(), matrix.indptr[1:].tolist(), strict=True):
        x = matrix.data[start:stop].astype(np.float64)
        cells = zip(matrix.indices[start:stop].tolist(), _encode_numbers(x), (x != 0).tolist(), strict=True)
        rows.append(b"".join(sorted(tags[column] + cell for column, cell, keep in cells if keep)))
    return rows


def pack_fingerprints(counts: Counter[bytes]) -> bytes:
    """Return fingerprints and their counts as a payload; sorted, so that the order of rows is not stored."""
    present = sorted(fingerprint for fingerprint, n in counts.items() if n)
    fingerprints = np.frombuffer(b"".join(present), dtype=np.uint8).reshape(len(present), 16)
    return pack({}, [fingerprints, np.array([counts[f] for f in present], dtype=np.int64)])


def unpack_fingerprints(payload: bytes) -> Counter[bytes]:
    """Return the fingerprints of a payload and their counts; raise one of DECODE_ERRORS if it is not valid."""
    return _fingerprints_of(unpack(payload)[1])


def _fingerprints_of(arrays: Sequence[Array]) -> Counter[bytes]:
    fingerprints, counts = arrays[:2]
    if fingerprints.dtype != np.uint8 or fingerprints.shape != (len(counts), 16) or counts.ndim != 1:
        raise ValueError("fingerprints are not as they were written")
    data = fingerprints.tobytes()
    return Counter({data[16 * i : 16 * i + 16]: n for i, n in enumerate(counts.tolist())})


def pack_rows(rows: RememberedRows) -> bytes:
    """Return fingerprints, their counts and, if a column is remembered, its texts as a payload, sorted."""
    counts, column = rows
    if column is None:
        return pack_fingerprints(Counter({fingerprint: n for (fingerprint, _), n in counts.items()}))
    present = sorted(row for row, n in counts.items() if n)
    fingerprints = np.frombuffer(b"".join([row[0] for row in present]), dtype=np.uint8).reshape(len(present), 16)
    # The texts are a payload of their own, so that reading the fingerprints alone does not inflate them.
    texts = np.frombuffer(pack({"texts": [text for _, text in present]}, []), dtype=np.uint8)
    return pack({"column": column}, [fingerprints, np.array([counts[row] for row in present], dtype=np.int64), texts])


def unpack_rows(payload: bytes) -> RememberedRows:
    """Return the rows of a payload; raise one of DECODE_ERRORS if it is not valid."""
    head, arrays = unpack(payload)
    if "column" not in head:
        return RememberedRows(Counter({(key, ""): n for key, n in _fingerprints_of(arrays).items()}))
    keys, counts, packed = arrays
    texts = unpack(packed.tobytes())[0]["texts"]
    if (
        keys.dtype != np.uint8
        or packed.dtype != np.uint8
        or keys.shape != (len(texts), 16)
        or counts.shape != (len(texts),)
        or not all(isinstance(text, str) for text in (head["column"], *texts))
    ):
        raise ValueError("remembered rows are not as they were written")
    data = keys.tobytes()
    rows = Counter[tuple[bytes, str]]()
    for i, (text, n) in enumerate(zip(texts, counts.tolist(), strict=True)):
        rows[data[16 * i : 16 * i + 16], text] += n
    return RememberedRows(rows, head["column"])
