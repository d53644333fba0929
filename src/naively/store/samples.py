"""The samples of rows that a file keeps (`fit --keep-sample`): what it can be tuned by without reading the data again.

Each entry has the sample of its rows, and samples add like counts, so that files of shards can be merged and tuned.
Compacting drops them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from naively.data.names import listed
from naively.errors import InputError
from naively.store.codec import decode_sample
from naively.store.entries import Log, StoredEntry
from naively.store.sqlite import DECODE_ERRORS, DamagedError

if TYPE_CHECKING:
    from naively.tuning.sample import SampledRows


def n_kept_rows(log: Log) -> int:
    """Return how many rows of the data a file keeps, in all entries."""
    return sum(0 if sample is None else len(sample) for _, sample in _samples(log, all_entries=True))


def kept_sample(log: Log) -> SampledRows:
    """Return the sum of the samples of the entries that count.

    Raises
    ------
    InputError
        If an entry that adds rows keeps no sample.
    """
    from naively.tuning.sample import SampledRows  # not needed to open a file

    samples = _samples(log)
    without = [entry.short_id for entry, sample in samples if sample is None]
    if without:
        raise InputError(
            f"{log.path}: there is nothing to change: entry {listed(without, 4)} keeps no sample of its rows (naively "
            "fit --keep-sample does). Give rows that were counted, a prior, or textbook=True (--no-tune)."
        )
    return SampledRows.sum_of([sample for _, sample in samples if sample is not None])


def _samples(log: Log, all_entries: bool = False) -> Sequence[tuple[StoredEntry, SampledRows | None]]:
    """Return the entries that add rows, each with its sample; without those that are undone, unless all are wanted."""
    from naively.tuning.sample import SampledRows

    undone = set() if all_entries else log.undone_ids()
    samples = []
    for entry in log.after():
        for part in (part for part in entry.parts() if part.sign > 0 and part.id not in undone):
            try:
                data = decode_sample(part.statistics or b"")
                samples.append((entry, SampledRows.from_bytes(data) if data else None))
            except DECODE_ERRORS as error:
                raise DamagedError(f"the sample of entry {entry.number} cannot be read ({error})") from None
    return samples
