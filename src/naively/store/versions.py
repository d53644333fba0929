"""The model of an earlier time: the sum of the first entries, with the settings that they had."""

from __future__ import annotations

import json

from naively.errors import InputError
from naively.model.model import Model
from naively.store.entries import Log, StoredEntry, undone_among
from naively.store.meta import Meta
from naively.store.running_sum import AddedAndRemoved
from naively.store.sqlite import DECODE_ERRORS, DamagedError


def model_at(log: Log, meta: Meta, version: int) -> Model:
    """Return the model of the first `version` entries; InputError if there are fewer, or none counts a row."""
    entries = list(log.after())
    if not 1 <= version <= len(entries):
        raise InputError(f"{log.path}: there is no version {version}: the file has {len(entries)} entries.")
    first = entries[:version]
    undone = undone_among((entry.id, entry.act, entry.corrects) for entry in first)
    model = AddedAndRemoved.of(log.counts_of(first, undone)).difference()
    if model is None:
        raise InputError(f"{log.path}: version {version} counts no rows.")
    return _settings_at(entries, meta, version).apply(model)


def _settings_at(entries: list[StoredEntry], meta: Meta, version: int) -> Meta:
    """Return the settings after the first entries: later changes of the settings are taken back, the last first."""
    by_id = {entry.id: entry for entry in entries}
    for entry in reversed(entries[version:]):
        root, is_restored = entry, False
        while root.act == "undo":
            if root.corrects not in by_id:
                raise DamagedError(f"the entry that {root} undoes is missing")
            root, is_restored = by_id[root.corrects], not is_restored
        if root.act == "tune":
            try:
                meta = meta.with_settings(json.loads(root.span or "")["after" if is_restored else "before"])
            except DECODE_ERRORS as error:
                raise DamagedError(f"the settings in entry {root.number} cannot be read ({error})") from None
    return meta
