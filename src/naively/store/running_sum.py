"""The sum of a ledger: all that was added, less all that was taken away.

    model = Σ counts of entries in force with sign +  −  Σ those with sign −        (1)

What is added is summed before anything is subtracted, so the sum does not depend on the order of the entries, nor on
where a snapshot was made: a snapshot keeps both sums of entries 1 … k. An entry is in force unless an entry in force
undoes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import NamedTuple

from naively.model.calibrate import Tuning
from naively.model.merge import total
from naively.model.model import Model
from naively.store.counts import Counts
from naively.store.entries import START, Row
from naively.store.meta import Meta

__all__ = ["NOTHING", "Signed", "Sum", "counts_of_model", "model_of", "under", "undone"]

TAIL = 256  # entries after the snapshot
SHARE = 10  # … whose bytes are more than this part of the snapshot's
LITTLE = 1 << 16  # bytes that are not worth a snapshot


def model_of(counts: Counts, meta: Meta) -> Model:
    """Counts under the settings of a file."""
    return under(Model(*counts), meta)


def under(model: Model, meta: Meta) -> Model:
    """A model under the settings of a file."""
    tuning = None if meta.tuning is None else _tuning(meta.tuning)
    return replace(model, prior=meta.prior, target=meta.target, tuning=tuning)


@lru_cache(maxsize=4)
def _tuning(text: str) -> Tuning:
    return Tuning.from_json(text)


def counts_of_model(model: Model) -> Counts:
    """The part of a model that is counted."""
    return Counts(model.schema, model.classes, model.seen, model.statistics)


def undone(rows: Iterable[tuple[bytes, str, bytes | None]]) -> set[bytes]:
    """The ids that are not in force, of (id, act, corrects) of entries in their order.

    Whatever undoes an entry comes after it, so from the last one back each is known to be in force or not.

    >>> a, b, c = b"a", b"b", b"c"
    >>> sorted(undone([(a, "fit", None), (b, "undo", a), (c, "undo", b)]))
    [b'b']
    """
    out: set[bytes] = set()
    for found, act, corrects in reversed(list(rows)):
        if act == "undo" and found not in out and corrects is not None:
            out.add(corrects)
    return out


class Signed(NamedTuple):
    """All that was added, and all that was taken away; None is nothing."""

    added: Model | None = None
    taken: Model | None = None

    @classmethod
    def of(cls, waiting: Sequence[tuple[int, Model]], meta: Meta) -> Signed:
        """Both sums of signed counts."""
        found = (total([model for s, model in waiting if s == sign]) for sign in (1, -1))
        return cls(*(None if model is None else under(model, meta) for model in found))

    def plus(self, other: Signed) -> Signed:
        """Both sums together."""
        both = ([model for model in pair if model is not None] for pair in zip(self, other, strict=True))
        return Signed(*(total(found) for found in both))

    def under(self, meta: Meta) -> Signed:
        """The same sums under other settings."""
        return Signed(*(None if model is None else under(model, meta) for model in self))


NOTHING = Signed()


@dataclass(frozen=True, eq=False)
class Sum:
    """Both sums of the first `entries` entries: of a snapshot, of a recent one behind it, and what is not added up yet.

    What waits is counts only: it comes under the settings of the file when it is added up.
    """

    meta: Meta
    entries: int = 0
    checksum: bytes = START
    base: Signed = NOTHING
    recent: Signed = NOTHING
    waiting: tuple[tuple[int, Model], ...] = ()
    tail: int = 0  # entries after the snapshots, and their bytes; those of the first snapshot
    tail_bytes: int = 0
    base_bytes: int = 0
    kept: bytes = b""  # the digest of the first snapshot in the file, if there is one
    alike: bool = True  # all that came since has the schema of the base
    _known: list[Model] = field(default_factory=list)

    def plus(self, row: Row, model: Model | None) -> Sum:
        """With one entry more."""
        size = len(row.statistics or b"")
        waiting = self.waiting if model is None else (*self.waiting, (row.sign, model))
        first = self.tail == 0 and self.base_bytes == 0  # without a snapshot the first entry is what others add to
        tail, tail_bytes, base = (0, 0, size) if first else (self.tail + 1, self.tail_bytes + size, self.base_bytes)
        alike = self.alike and (model is None or self._like_base(model))
        known = (self.meta, row.number, row.checksum, self.base, self.recent)
        return Sum(*known, waiting, tail, tail_bytes, base, self.kept, alike)

    def _like_base(self, model: Model) -> bool:
        like = self.base.added
        return like is not None and (model.schema is like.schema or model.schema == like.schema)

    @property
    def due(self) -> bool:
        """Whether a snapshot should be made."""
        return self.tail > TAIL or (self.tail_bytes > LITTLE and self.tail_bytes * SHARE > self.base_bytes)

    def since_base(self) -> Signed:
        """The sums of what came after the first snapshot."""
        return self.recent.plus(Signed.of(self.waiting, self.meta))

    def folded(self) -> Sum:
        """All in the base."""
        if not self.waiting and self.recent == NOTHING:
            return self
        return replace(self, base=self.base.plus(self.since_base()), recent=NOTHING, waiting=(), alike=True, _known=[])

    def under(self, meta: Meta) -> Sum:
        """The same sums under other settings."""
        return replace(self, meta=meta, base=self.base.under(meta), recent=self.recent.under(meta), _known=[])

    def pattern(self) -> Model:
        """A model with the schema and the type of classes of the sum: what to count more rows like."""
        like = self.base.added if self.alike else None
        whole = like or self.folded().base.added
        assert whole is not None
        return whole

    def model(self) -> Model | None:
        """Equation (1); None if nothing was ever added."""
        if not self._known:
            added, taken = self.folded().base
            if added is None:
                return None
            self._known.append(added if taken is None else added - taken)
        return self._known[0]
