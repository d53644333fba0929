"""Models of a period, of some sources, or with a decay of old rows, computed from the entries.

    weight of an entry = 2^(−(until − time) / half-life)                    (1)

A forget that is attributed to an entry has its time and source, so the rows are forgotten in every selection. A forget
that is attributed to a source has that source and the time when it was written. Any other has no source.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta

from naively.data.names import listed
from naively.errors import InputError
from naively.model.model import Model
from naively.store.entries import Counts, Log, StoredEntry
from naively.store.meta import Meta
from naively.store.running_sum import AddedAndRemoved

Moment = str | date | datetime
Sources = str | Iterable[str]
FIRST_MOMENT, LAST_MOMENT = (moment.replace(tzinfo=UTC) for moment in (datetime.min, datetime.max))


def parse_moment(value: Moment, name: str) -> datetime:
    """Return a time given as a date, a datetime or an ISO string; UTC unless it has a time zone.

    >>> parse_moment("2026-03-01", "since")
    datetime.datetime(2026, 3, 1, 0, 0, tzinfo=datetime.timezone.utc)
    """
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            raise InputError(f"{name}={value!r} is not a time: write it as 2026-03-01 or 2026-03-01T12:00.") from None
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime.combine(value, time())
    if not isinstance(value, datetime):
        raise InputError(f"{name}={value!r} is not a time: give a date, a datetime, or a string such as 2026-03-01.")
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


@dataclass(frozen=True)
class Selection:
    """Which entries to sum: since ≤ time < until, of some sources or without some; and how they decay."""

    since: datetime = FIRST_MOMENT
    until: datetime = LAST_MOMENT
    sources: frozenset[str] | None = None
    without: frozenset[str] = frozenset()
    half_life: timedelta | None = None

    @classmethod
    def parse(
        cls,
        since: Moment | None = None,
        until: Moment | None = None,
        sources: Sources | None = None,
        without: Sources | None = None,
        half_life: timedelta | float | None = None,
    ) -> Selection:
        """Return a selection from the arguments of `Ledger.model`."""
        if half_life is not None and not isinstance(half_life, timedelta):
            half_life = timedelta(days=half_life)
        if half_life is not None and half_life <= timedelta(0):
            raise InputError(f"half_life={half_life}: give a number of days above zero, or a timedelta.")
        return cls(
            FIRST_MOMENT if since is None else parse_moment(since, "since"),
            LAST_MOMENT if until is None else parse_moment(until, "until"),
            None if sources is None else frozenset([sources] if isinstance(sources, str) else sources),
            frozenset([without] if isinstance(without, str) else without or ()),
            half_life,
        )

    def includes(self, entry: StoredEntry) -> bool:
        """Return whether an entry is selected; InputError if only part of a compacted entry is."""
        span = entry.span_fields()
        first, last = datetime.fromisoformat(span.first), datetime.fromisoformat(span.last)
        if last < self.since or first >= self.until:
            return False
        by_source = {
            (self.sources is None or source in self.sources) and source not in self.without for source in span.sources
        }
        if by_source == {False}:
            return False
        if first < self.since or last >= self.until or len(by_source) > 1:
            raise InputError(
                f"entry {entry.short_id} was compacted from rows of {span.first} to {span.last}, of the sources "
                f"{', '.join(map(repr, span.sources))}: it cannot be divided by time or source."
            )
        return True

    def weight(self, entry: StoredEntry) -> float:
        """Return equation (1)."""
        if self.half_life is None:
            return 1.0
        span = entry.span_fields()
        if span.first != span.last:
            raise InputError(
                f"entry {entry.short_id} was compacted from rows of {span.first} to {span.last}: they have no single "
                "age, so half_life cannot be used."
            )
        age = self.until - datetime.fromisoformat(entry.time)
        return math.exp2(-max(age, timedelta(0)) / self.half_life)


def model_of_selection(log: Log, meta: Meta, selection: Selection) -> Model:
    """Return the model of the selected entries, with the settings of the file."""
    undone = log.undone_ids()
    dated = selection if selection.until < LAST_MOMENT else replace(selection, until=datetime.now(UTC))
    counts: list[Counts] = []
    forgets: list[str] = []
    for part in (part for entry in log.after() if entry.id not in undone for part in entry.parts()):
        if part.sign == 0 or not selection.includes(part):
            continue
        counted, weight = log.counts(part), dated.weight(part)
        counts.append(counted if weight == 1.0 else _scaled(counted, weight))
        forgets += [part.short_id] if part.sign < 0 else []
    try:
        model = AddedAndRemoved.of(counts).difference()
    except InputError as error:
        raise InputError(
            f"the selected entries do not make a model: {error} Forgets among them: {listed(forgets)}. A forget "
            "belongs to the time and source of the rows only if it is given entry=, and to their source with source=."
        ) from None
    if model is None:
        raise InputError("no entry is selected: see `naively log` for times and sources.")
    return meta.apply(model)


def _scaled(part: Counts, weight: float) -> Counts:
    statistics = tuple(statistic.scaled(weight) for statistic in part.model.statistics)
    weights = part.model.class_weights.scaled(weight)
    return replace(part, _model=replace(part.model, class_weights=weights, statistics=statistics))
