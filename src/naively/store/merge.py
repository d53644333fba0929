"""Merge files: write all entries of all of them to a new file, each once.

Entries with the same id are the same entry, so copies of a file that were taught separately share what they had in
common. A compacted entry includes the entries that it absorbed, which are not counted again.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from naively.data.names import listed
from naively.errors import InputError, TuningWarning, warn_user
from naively.model.merge import align
from naively.model.model import Model
from naively.schema.schema import Schema
from naively.store.entries import StoredEntry, open_file
from naively.store.meta import Meta
from naively.store.running_sum import load, read_sum
from naively.store.write import new_file, refuse_loss


def merge(paths: Sequence[str | Path], to: str | Path, *, overwrite: bool = False) -> Model:
    """Write a file with the entries of several files, each once.

    Target, class prior and tuning are those of the first file; a TuningWarning names files with another tuning. The
    entries of the new file do not depend on the order of the files.

    Parameters
    ----------
    paths
        Two or more model files with the same columns.
    to
        The file to write. A model file with a fit alone is replaced.
    overwrite
        Replace the file even if it holds further entries, or is not a model file: these are lost.

    Returns
    -------
    Model
        The model of the new file.

    Raises
    ------
    InputError
        If the files cannot be merged: their columns or types of classes differ, or compacted entries overlap.

    Examples
    --------
    >>> import naively, pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> naively.fit(["cheap pills", "lunch today"], ["spam", "ham"]).save(folder / "a")
    >>> naively.copy(folder / "a", folder / "b")
    >>> _ = naively.open(folder / "b").update(["cheap lunch"], ["ham"])
    >>> naively.merge([folder / "a", folder / "b"], folder / "both").class_counts.tolist()
    [2.0, 1.0]
    """
    if len(paths) < 2:
        raise InputError("give two or more files to merge.")
    refuse_loss(to, overwrite)  # before the time to read the files is spent
    entries: dict[bytes, tuple[StoredEntry, Schema]] = {}
    metas: list[Meta] = []
    with ExitStack() as stack:
        for path in paths:
            log, meta = stack.enter_context(open_file(path))
            metas.append(meta)
            for entry in log.after():
                known, _ = entries.setdefault(entry.id, (entry, log.schema(entry.schema)[0]))
                if _content(known) != _content(entry):
                    raise InputError(f"{path}: entry {entry.short_id} differs from that of the files before it.")
    ordered = _sort_by_time(_without_absorbed([entry for entry, _ in entries.values()]))
    key = metas[0].key if len({meta.key for meta in metas}) == 1 else None
    meta = replace(metas[0], key=key)
    with new_file(to, meta, overwrite) as new:
        for entry in ordered:
            fingerprints = None if key is None else entry.fingerprints
            new.append(entry._replace(schema=new.schema_number(entries[entry.id][1]), fingerprints=fingerprints))
        try:
            model = read_sum(new, meta).model  # refuses different columns or types of classes, and a sum below zero
        except InputError:
            _refuse_different_files(paths)
            raise
        _refuse_classes_without_prior(paths, meta, model)
    _warn_of_other_tunings(paths, metas)
    return model


def _warn_of_other_tunings(paths: Sequence[str | Path], metas: Sequence[Meta]) -> None:
    """Warn if the files are tuned differently, and name the file whose tuning was kept."""
    others = [str(path) for path, meta in zip(paths, metas, strict=True) if meta.tuning != metas[0].tuning]
    if others:
        outcome = "is not tuned, and neither is the result" if metas[0].tuning is None else "was kept"
        subject = paths[0] if metas[0].tuning is None else f"the tuning of {paths[0]}"
        warn_user(
            f"{listed(others, 4)} {'is' if len(others) == 1 else 'are'} tuned differently: {subject} {outcome}. "
            "To choose another tuning: naively tune.",
            TuningWarning,
        )


def _refuse_different_files(paths: Sequence[str | Path]) -> None:
    """Raise an error that names the first file whose columns or classes do not agree with those of the first file."""
    first = load(paths[0])
    for path in paths[1:]:
        try:
            align(first, load(path))
        except InputError as error:
            raise type(error)(f"{paths[0]} (the first) and {path} (the second): {error}") from None


def _refuse_classes_without_prior(paths: Sequence[str | Path], meta: Meta, model: Model) -> None:
    """Raise an error that names the file with a class that the given prior of the first file does not name."""
    try:
        _ = model.log_prior
    except InputError as error:
        known = meta.prior.given or {}
        others = [path for path in paths if any(label not in known for label in load(path).classes)]
        raise InputError(f"{listed(map(str, others), 4)}: the class prior is that of {paths[0]}: {error}") from None


def _content(entry: StoredEntry) -> tuple[object, ...]:
    """Return what must agree in two copies of an entry; only one of them may have fingerprints."""
    return entry.act, entry.sign, entry.time, entry.rows, entry.corrects, entry.statistics


def _without_absorbed(entries: Sequence[StoredEntry]) -> list[StoredEntry]:
    """Drop what a compacted entry has absorbed; refuse compacted entries that share only part of theirs."""
    compacted = {entry.id: entry.absorbed_ids() for entry in entries if entry.absorbed}
    for a, ids_of_a in compacted.items():
        for b, ids_of_b in compacted.items():
            if a < b and ids_of_a & ids_of_b and not (ids_of_a <= ids_of_b or ids_of_b <= ids_of_a):
                raise InputError(
                    f"the compacted entries {a.hex()[:8]} and {b.hex()[:8]} have {len(ids_of_a & ids_of_b)} entries in "
                    "common, and each has others: these would be counted twice. Merge the files from before one of "
                    "them was compacted."
                )
    absorbed = {id_ for ids in compacted.values() for id_ in ids}
    absorbed |= {a for a, ids in compacted.items() if any(ids < others for others in compacted.values())}
    remaining = [entry for entry in entries if entry.id not in absorbed]
    for entry in remaining:
        if entry.act == "undo" and entry.corrects is not None and entry.corrects in absorbed:
            raise InputError(
                f"entry {entry.corrects.hex()[:8]} is undone in one file (by {entry.short_id}), and was absorbed by a "
                "compaction in another: undo it before compacting."
            )
    return remaining


def _sort_by_time(entries: Sequence[StoredEntry]) -> list[StoredEntry]:
    """Sort by the time of writing; what corrects an entry comes after it, even if clocks disagree."""
    ids = {entry.id for entry in entries}
    ordered: list[StoredEntry] = []
    done: set[bytes] = set()
    waiting: dict[bytes, list[StoredEntry]] = {}
    for entry in sorted(entries, key=lambda entry: (entry.written, entry.id)):
        ready = [entry]
        for next_entry in ready:  # grows by the entries that waited for it
            missing = (next_entry.corrected_ids() & ids) - done
            if missing:
                waiting.setdefault(min(missing), []).append(next_entry)
                continue
            ordered.append(next_entry)
            done.add(next_entry.id)
            ready += waiting.pop(next_entry.id, [])
    if waiting:
        raise InputError("the entries correct each other in a circle: the files are not as they were written.")
    return ordered
