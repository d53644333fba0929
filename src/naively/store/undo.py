"""Undo an entry: which entries can be undone, and the sum without them."""

from __future__ import annotations

from naively.errors import ConflictError, InputError
from naively.model.model import Model
from naively.store.entries import RELABEL, Head, Log, StoredEntry
from naively.store.running_sum import AddedAndRemoved, RunningSum, read_sum
from naively.store.sqlite import DamagedError


def entry_to_undo(log: Log, prefix: str) -> StoredEntry:
    """Return the entry whose id begins with `prefix`; InputError if it cannot be undone."""
    entry = log.find(prefix)
    if entry.act == "compact":
        raise ConflictError(
            f"{log.path}: entry {entry.short_id} is the result of a compaction, which cannot be undone."
        )
    if entry.act in ("merge", "copy", "salvage"):
        raise InputError(f"{log.path}: entry {entry.short_id} is a note ({entry.act}): there is nothing to undo.")
    undone, root = log.undone_ids(), undone_root(log, entry)
    _refuse_undone(log, entry.id, undone)
    if entry.act == "undo":
        restored = next(log.select("id = ?", entry.corrects))
        if restored.act == "undo":  # it undoes its entry again
            _refuse_undone(log, restored.corrects, undone)
    forgets_again = root.corrected_ids() if root.id in undone else set[bytes]()
    for corrected in forgets_again:
        _refuse_undone(log, corrected, undone)
    for forget in log.attributed_forgets():
        corrected = forget.corrects or b""
        if corrected == root.id or (corrected in forgets_again and forget.number > entry.number):
            verb = "relabelled" if log.read(forget.number).act == RELABEL else "forgotten"
            raise ConflictError(
                f"{log.path}: entry {corrected.hex()[:8]} was partly {verb} by entry {forget.short_id}: "
                "undo that first."
            )
    return entry


def _refuse_undone(log: Log, id_: bytes | None, undone: set[bytes]) -> None:
    if id_ is not None and id_ in undone:
        raise ConflictError(f"{log.path}: entry {id_.hex()[:8]} is undone already; undo the undo to restore it.")


def undone_root(log: Log, entry: StoredEntry) -> StoredEntry:
    """Follow undos of undos to the entry that is removed from the sum or restored."""
    while entry.act == "undo":
        corrected = next(log.select("id = ?", entry.corrects), None)
        if corrected is None or corrected.number >= entry.number:  # an undo comes after what it undoes
            raise DamagedError(f"the entry that entry {entry.number} undoes is missing")
        entry = corrected
    return entry


def sum_after_undo(log: Log, known: RunningSum, head: Head, root: StoredEntry) -> RunningSum:
    """Return the sum after an undo, which is written already, has removed or restored the entry `root`.

    The entries are summed again behind the last snapshot that does not include `root`. If there is none, and only
    integers were counted, `root` is subtracted from the known sum or added to it: the result is the same bit for bit,
    and 100,000 entries need not be read again.
    """
    log.connection.execute("DELETE FROM snapshot WHERE entries >= ?", (root.number,))
    if log.connection.execute("SELECT 1 FROM snapshot").fetchone() is None:
        sums = _adjusted(log, known, root)
        if sums is not None:
            return RunningSum.of_base(known.meta, head, sums.counts())
    return read_sum(log, known.meta)


def _adjusted(log: Log, known: RunningSum, root: StoredEntry) -> AddedAndRemoved | None:
    """Return the known sums with or without `root`; None if they might differ from the sums of the other entries."""
    if log.connection.execute("SELECT count(*) FROM schemas").fetchone() != (1,):
        return None  # `root` may have determined how a column is counted
    log.check(root)
    is_undone, sums = root.id in log.undone_ids(), known.sums
    for part in root.parts():
        counts = log.counts(part).model
        before = sums.added if part.sign > 0 else sums.removed
        if before is None or not (before.class_weights.rows.any() and _is_integral(before) and _is_integral(counts)):
            return None
        after = before - counts if is_undone else before + counts
        if not after.class_weights.rows.any():
            return None
        sums = sums._replace(**{"added" if part.sign > 0 else "removed": after})
    return sums


def _is_integral(model: Model) -> bool:
    """Return whether only integers were counted: then nothing is rounded, and the order of sums does not matter."""
    return all(part.is_integral() for part in (model.class_weights, *model.statistics))
