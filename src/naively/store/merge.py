"""Merging files: all entries of all of them, each once.

An entry is the same in two files if it has the same id; copies of a file that were taught apart share what they had in
common. An entry that a compaction absorbed is in what the compaction left, and not counted again.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from naively.errors import InputError
from naively.model.model import Model
from naively.store.entries import START, Row, Schemas, rows_after
from naively.store.history import named
from naively.store.load import load, reading
from naively.store.meta import Meta
from naively.store.notes import new_note
from naively.store.write import write_rows

__all__ = ["merge"]


def merge(paths: Sequence[str | Path], to: str | Path, *, comment: str = "") -> Model:
    """Write the merged file; the settings (target, class prior, tuning) are those of the first.

    With a comment there is one entry more, which counts nothing and says what was merged; without one, the merged file
    is the same whatever the order of the files.
    """
    if len(paths) < 2:
        raise InputError("give two or more files to merge.")
    metas: list[Meta] = []
    found: dict[bytes, tuple[Row, tuple[int, int]]] = {}
    with ExitStack() as stack:
        all_schemas: list[Schemas] = []
        for i, path in enumerate(paths):
            connection, schemas, meta = stack.enter_context(reading(path))
            metas.append(meta)
            all_schemas.append(schemas)
            for row in rows_after(connection, schemas, 0, START):
                if row.id in found and _told(found[row.id][0]) != _told(row):
                    raise InputError(f"{path}: entry {named(row.id)} is not the same as in the files before it.")
                found.setdefault(row.id, (row, (i, row.schema)))
        rows = _in_order(_once([row for row, _ in found.values()]))
        keep = metas[0].key if len({meta.key for meta in metas}) == 1 else None

        def renumbered(new: Schemas) -> Iterable[Row]:
            for row in rows:
                file, number = found[row.id][1]
                marks = row.fingerprints if keep is not None else None
                yield row._replace(schema=new.number(all_schemas[file].get(number)), fingerprints=marks)
            if comment:
                yield new_note(new, "merge", 1, source=" ".join(map(str, paths)), comment=comment)

        with tempfile.TemporaryDirectory(prefix="naively-") as folder:
            tried = Path(folder) / "merged.naively"
            write_rows(tried, replace(metas[0], key=keep), renumbered)
            model = load(tried)  # refuses other columns, other types of classes, a sum below zero
            _refuse_prior(model)
        write_rows(to, replace(metas[0], key=keep), renumbered)
    return model


def _told(row: Row) -> tuple[object, ...]:
    """What an entry says, whether its rows are remembered or not."""
    return row.act, row.sign, row.time, row.rows, row.corrects, row.statistics


def _refuse_prior(model: Model) -> None:
    """Refuse classes that a given prior does not name."""
    _ = model.log_prior


def _once(rows: Sequence[Row]) -> list[Row]:
    """Without what a compacted entry has absorbed; compacted entries that share only some are refused."""
    compacted = {row.id: _ids(row) for row in rows if row.absorbed}
    for a, mine in compacted.items():
        for b, theirs in compacted.items():
            if a < b and mine & theirs and not (mine <= theirs or theirs <= mine):
                raise InputError(
                    f"the compacted entries {named(a)} and {named(b)} have {len(mine & theirs)} entries in common, and "
                    "each has others: what they share would be counted twice. Merge the files from before one of them "
                    "was compacted."
                )
    inside = {id_ for a, ids in compacted.items() for id_ in ids}
    inside |= {a for a, mine in compacted.items() if any(mine < theirs for b, theirs in compacted.items() if a != b)}
    left = [row for row in rows if row.id not in inside]
    for row in left:
        if row.act == "undo" and row.corrects in inside:
            raise InputError(
                f"entry {named(row.corrects or b'')} is undone in one file (by {named(row.id)}), and was absorbed by a "
                "compaction in another: undo it before compacting."
            )
    return left


def _ids(row: Row) -> frozenset[bytes]:
    assert row.absorbed is not None
    return frozenset(row.absorbed[i : i + 16] for i in range(0, len(row.absorbed), 16))


def _in_order(rows: Sequence[Row]) -> list[Row]:
    """By the time of writing; what corrects an entry comes after it, whatever the clocks said."""
    there = {row.id for row in rows}
    out: list[Row] = []
    done: set[bytes] = set()
    held: dict[bytes, list[Row]] = {}
    for row in sorted(rows, key=lambda row: (row.written, row.id)):
        if row.corrects in there and row.corrects not in done:
            held.setdefault(row.corrects, []).append(row)
            continue
        ready = [row]
        for one in ready:  # grows by what waited for it
            out.append(one)
            done.add(one.id)
            ready += held.pop(one.id, [])
    if held:
        raise InputError("the entries correct each other in a circle: the files are not as they were written.")
    return out
