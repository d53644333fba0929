"""Relabel rows: one entry that forgets them and learns them with other labels.

The entry joins what a forget and an update would hold, in parts: `StoredEntry.parts` returns them. Each part keeps the
time and source that its rows were counted with, so that models of a period or of some sources are right.
"""

from __future__ import annotations

import json
import secrets
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import reduce
from typing import NamedTuple

from naively.data.labelled import Label, LabelledRows
from naively.data.names import listed
from naively.model.merge import unite, with_layout
from naively.model.model import Model
from naively.store.codec import encode_counts
from naively.store.entries import ID_BYTES, RELABEL, Counts, Log, StoredEntry, now

MAX_PAIRS = 4  # of labels that a note names


class Part(NamedTuple):
    """A forget or an update to join with others, and what it counts."""

    entry: StoredEntry
    counts: Model


def join(
    log: Log, parts: Sequence[Part], *, note: str, comment: str, id_: bytes | None = None
) -> tuple[StoredEntry, list[Counts]]:
    """Return the entry to append, and its counts; the forgets are given before the updates of the same rows.

    The time and source are those of what is learnt, if all of it has the same.
    """
    schema = reduce(unite, (part.counts.schema for part in parts))
    number = log.schema_number(schema)
    heads, statistics, fingerprints, counts = [], b"", b"", []
    for entry, model in parts:
        aligned = with_layout(model, schema, model.classes)
        payload = encode_counts(aligned) if entry.schema != number else entry.statistics or b""
        fingerprints_of_part = entry.fingerprints or b""
        corrects = None if entry.corrects is None else entry.corrects.hex()
        sizes = len(payload), len(fingerprints_of_part)
        heads.append((entry.act, entry.time, entry.source, entry.rows, corrects, entry.span, *sizes))
        statistics, fingerprints = statistics + payload, fingerprints + fingerprints_of_part
        counts.append(Counts(entry.sign, schema, payload, aligned))
    written, learnt = now(), [entry for entry, _ in parts if entry.sign > 0]
    times, sources = {entry.time for entry in learnt}, {entry.source for entry in learnt}
    corrected = {entry.corrects for entry, _ in parts if entry.sign < 0}
    joined = StoredEntry(
        number=0,
        id=id_ or secrets.token_bytes(ID_BYTES),
        act=RELABEL,
        sign=0,
        time=times.pop() if len(times) == 1 else written,
        written=written,
        rows=sum(entry.rows for entry in learnt),
        source=sources.pop() if len(sources) == 1 else "",
        comment=comment,
        corrects=corrected.pop() if len(corrected) == 1 else None,
        schema=number,
        digest=b"",
        checksum=b"",
        span=json.dumps({"note": note, "parts": heads}, ensure_ascii=False),
        statistics=statistics,
        fingerprints=fingerprints or None,
        absorbed=None,
    )
    return joined, counts


def labels_of(batches: Iterable[LabelledRows]) -> list[Label]:
    """Return the label of each row."""
    return [rows.classes[code] for rows in batches for code in rows.label.tolist()]


def describe_labels(before: Iterable[Label], after: Iterable[Label], n_new: int = 0) -> str:
    """Return which labels became which, the most frequent first, and how many rows are new.

    >>> describe_labels(["ham"], ["spam"]), describe_labels("aab", "bbb", n_new=2)
    ('ham → spam', 'a → b: 2, b: 1, new: 2')
    """
    pairs = Counter(zip(before, after, strict=True)).most_common()
    names = [str(old) if old == new else f"{old} → {new}" for (old, new), _ in pairs]
    if len(pairs) == 1 and not n_new:
        return names[0]
    counts = [f"{name}: {n:,}" for name, (_, n) in zip(names, pairs, strict=True)]
    return listed([*counts[:MAX_PAIRS], *([f"new: {n_new:,}"] if n_new else []), *counts[MAX_PAIRS:]], MAX_PAIRS + 1)
