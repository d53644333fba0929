"""Two files as two sets of rows that have none in common, so that they can be compared."""

from __future__ import annotations

from pathlib import Path

from naively.errors import InputError
from naively.model.merge import total
from naively.model.model import Model
from naively.store.entries import START, Row, counts_of, rows_after
from naively.store.load import load, reading
from naively.store.running_sum import model_of, undone

__all__ = ["apart"]


def apart(a: str | Path, b: str | Path) -> tuple[Model, Model, str]:
    """Two models without the entries that both files have, and a word on what was compared.

    If all of a's entries are in b, b's others are compared with a; and the other way round.
    """
    kept = [_entries(a), _entries(b)]
    shared = kept[0].keys() & kept[1].keys()
    if not shared:
        return load(a), load(b), ""
    models = [total([m for id_, m in some.items() if id_ not in shared]) for some in kept]
    if models[0] is None and models[1] is None:
        raise InputError(f"{a} and {b} have the same entries, {len(shared)} in force: there is nothing to compare.")
    if models[1] is None:
        return (
            total(list(kept[1].values())) or load(b),
            models[0] or load(a),
            f"{a} is {b} and {_entries_of(len(kept[0]) - len(shared))} more: {b} is compared with those",
        )
    if models[0] is None:
        old = total(list(kept[0].values())) or load(a)
        return old, models[1], f"{b} is {a} and {_entries_of(len(kept[1]) - len(shared))} more, compared with {a}"
    return models[0], models[1], f"left out: {_entries_of(len(shared))} that both have"


def _entries_of(n: int) -> str:
    return f"{n:,} entr{'y' if n == 1 else 'ies'}"


def _entries(path: str | Path) -> dict[bytes, Model]:
    """What each entry in force counted, less what was forgotten of it."""
    with reading(path) as (connection, schemas, meta):
        rows = list(rows_after(connection, schemas, 0, START))
        gone = undone((row.id, row.act, row.corrects) for row in rows)
        found: dict[bytes, Model] = {}
        later: list[Row] = []
        for row in rows:
            if row.id in gone or not row.sign:
                continue
            if row.sign > 0:
                found[row.id] = model_of(counts_of(row, schemas), meta)
            else:
                later.append(row)
        for row in later:
            if row.corrects in found:
                found[row.corrects] = found[row.corrects] - model_of(counts_of(row, schemas), meta)
        return found
