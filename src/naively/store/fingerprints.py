"""Fingerprints: 16 bytes of each row that was counted, so that no other row can be forgotten.

    f = H_key(cells of the row in the order of their tags, its label, its weight)        (1)

A tag is 8 bytes of a hash of the column's name; a zero is left out, a gap has a mark of its own; so the same row has
the same fingerprint, whatever it came in. The key is random, of one file, and kept in it: it hides nothing from who has
the file and can guess a row, but two files cannot be matched by their rows. Counts of fingerprints add and subtract.
"""

from __future__ import annotations

import hashlib
import secrets
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data.labelled import LabelledRows
from naively.data.names import Names
from naively.data.views import is_sparse
from naively.model import columns as local
from naively.model.model import Model
from naively.statistics import Codes, Numbers, Texts
from naively.store.arrays import pack, unpack

__all__ = ["fingerprints_of", "marks_of", "new_key", "pack_fingerprints", "unpack_fingerprints"]

GAP = np.array([np.nan]).tobytes()


def new_key() -> str:
    """A key for a new file."""
    return secrets.token_hex(32)


def fingerprints_of(model: Model, rows: Iterable[LabelledRows], key: str) -> Counter[bytes]:
    """How often each fingerprint comes."""
    return Counter(mark for some in rows for mark in marks_of(model, some, key))


def marks_of(model: Model, rows: LabelledRows, key: str) -> list[bytes]:
    """Equation (1), row by row."""
    schema, _ = model.schema_for(rows.table)
    columns: list[tuple[bytes, list[bytes]]] = []
    for block, view in zip(schema.blocks, local.views(rows.table, schema), strict=True):
        columns.extend(_cells(block.names, view, rows.table.n_rows))
    columns.sort(key=lambda column: column[0])
    weights = np.ones(rows.table.n_rows) if rows.weight is None else rows.weight
    labels = [_value(rows.classes[c]) for c in rows.label.tolist()]
    secret, n = bytes.fromhex(key), rows.table.n_rows
    cells = zip(*(cells for _, cells in columns), strict=True) if columns else [()] * n
    return [
        hashlib.blake2b(b"".join((*row, label, weight)), digest_size=16, key=secret).digest()
        for row, label, weight in zip(cells, labels, _eights(weights), strict=True)
    ]


def _tag(name: str) -> bytes:
    return hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def _value(value: Any) -> bytes:
    """A value of any type; a number is a number, whatever its type."""
    if isinstance(value, str):
        plain = value.encode("utf-8", "surrogatepass")
        return b"s" + len(plain).to_bytes(4, "little") + plain
    return (b"b" if isinstance(value, bool) else b"n") + np.float64(value).tobytes()


def _eights(x: NDArray[np.float64]) -> list[bytes]:
    buffer = np.ascontiguousarray(x, dtype="<f8").tobytes()
    return [buffer[i : i + 8] for i in range(0, len(buffer), 8)]


def _cells(names: Names, view: local.View, n: int) -> Iterable[tuple[bytes, list[bytes]]]:
    """For each column its tag, and the bytes of each of its cells."""
    if isinstance(view, Texts):
        for name, texts in zip(names, view.columns, strict=True):
            tag = _tag(name)
            yield tag, [tag + (GAP if t is None else _value(t)) for t in map(_text, Texts.as_strings(texts))]
    elif isinstance(view, Codes):
        for place, piece in view.placed():
            for j, column in enumerate(range(place.start, place.stop)):
                yield _coded(_tag(names[column]), piece[:, j].tolist(), view, column)
    elif sum(piece.shape[1] for piece in view.pieces) == 0:  # only gaps so far
        yield from ((_tag(name), [_tag(name) + GAP] * n) for name in names)
    else:
        yield from _numbers(names, view, n)


def _text(text: Any) -> str | None:
    return text.decode("utf-8", "replace") if isinstance(text, bytes) else text


def _coded(tag: bytes, codes: list[Any], view: Codes, column: int) -> tuple[bytes, list[bytes]]:
    values = view.values[column]
    known = {code: tag + _value(values[int(code)]) for code in set(codes) if 0 <= code < len(values)}
    return tag, [known.get(code, tag + GAP) for code in codes]


def _numbers(names: Names, view: Numbers, n: int) -> Iterable[tuple[bytes, list[bytes]]]:
    """Dense columns one by one; of a sparse matrix, all that is not zero as one."""
    for place, piece in view.placed():
        if is_sparse(piece):
            yield b"", _sparse(names, piece.tocsr(), place.start)
            continue
        for j, column in enumerate(range(place.start, place.stop)):
            tag = _tag(names[column])
            x = piece[:, j].astype(np.float64)
            x[np.isnan(x)] = np.nan
            yield (
                tag,
                [tag + eight if there else b"" for eight, there in zip(_eights(x), (x != 0).tolist(), strict=True)],
            )


def _sparse(names: Names, matrix: Any, start: int) -> list[bytes]:
    used = np.unique(matrix.indices).tolist()
    tags = {column: _tag(names[start + column]) for column in used}
    out = []
    for a, b in zip(matrix.indptr[:-1].tolist(), matrix.indptr[1:].tolist(), strict=True):
        x = matrix.data[a:b].astype(np.float64)
        cells = zip(matrix.indices[a:b].tolist(), _eights(x), (x != 0).tolist(), strict=True)
        out.append(b"".join(sorted(tags[column] + eight for column, eight, there in cells if there)))
    return out


def pack_fingerprints(found: Counter[bytes]) -> bytes:
    """Fingerprints and how often they come, as bytes; in order, so that nothing tells who came first."""
    kept = sorted(mark for mark, n in found.items() if n)
    marks = np.frombuffer(b"".join(kept), dtype=np.uint8).reshape(len(kept), 16)
    return pack({}, [marks, np.array([found[mark] for mark in kept], dtype=np.int64)])


def unpack_fingerprints(payload: bytes) -> Counter[bytes]:
    """The inverse; ValueError for what is not so."""
    _, (marks, counts) = unpack(payload)
    if marks.dtype != np.uint8 or marks.ndim != 2 or marks.shape[1] != 16 or counts.shape != marks.shape[:1]:
        raise ValueError("fingerprints are not as they were written")
    buffer = marks.tobytes()
    each: Sequence[int] = counts.tolist()
    return Counter({buffer[16 * i : 16 * i + 16]: n for i, n in enumerate(each)})
