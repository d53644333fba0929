"""Models of a period, of some sources, or with old rows fading: from the ledger alone.

    weight of an entry = 2^(−(until − time) / half-life)                    (1)

A forget has the time and source of the entry that it corrects, so what was forgotten is forgotten in every selection.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from naively.data.names import listed
from naively.errors import InputError
from naively.model.merge import total
from naively.model.model import Model
from naively.statistics.scaling import scaled
from naively.store.entries import START, Row, Schemas, counts_of, rows_after, span_of
from naively.store.history import named
from naively.store.meta import Meta
from naively.store.running_sum import model_of, undone

__all__ = ["Selection", "model_of_selection", "moment"]


def moment(given: Any, name: str) -> datetime | None:
    """A time from a date, a datetime or an ISO text; UTC unless it says otherwise.

    >>> moment("2026-03-01", "since")
    datetime.datetime(2026, 3, 1, 0, 0, tzinfo=datetime.timezone.utc)
    """
    if given is None:
        return None
    if isinstance(given, str):
        try:
            given = datetime.fromisoformat(given)
        except ValueError:
            raise InputError(f"{name}={given!r} is no time: write it as 2026-03-01 or 2026-03-01T12:00.") from None
    if isinstance(given, date) and not isinstance(given, datetime):
        given = datetime.combine(given, time())
    if not isinstance(given, datetime):
        raise InputError(f"{name}={given!r} is no time: give a date, a datetime, or a text such as 2026-03-01.")
    return given.replace(tzinfo=UTC) if given.tzinfo is None else given.astimezone(UTC)


@dataclass(frozen=True)
class Selection:
    """Which entries: since ≤ time < until, of some sources or without some; and how they fade."""

    since: datetime | None
    until: datetime | None
    sources: frozenset[str] | None
    without: frozenset[str]
    half_life: timedelta | None

    @classmethod
    def of(cls, since: Any, until: Any, sources: Any, without: Any, half_life: Any) -> Selection:
        """From what people give."""
        if half_life is not None and not isinstance(half_life, timedelta):
            half_life = timedelta(days=half_life)
        if half_life is not None and half_life <= timedelta(0):
            raise InputError(f"half_life={half_life}: give a number of days above zero, or a timedelta.")
        some = None if sources is None else _set(sources)
        return cls(moment(since, "since"), moment(until, "until"), some, _set(without or ()), half_life)

    def has(self, row: Row) -> bool:
        """Whether an entry is chosen; refused if only part of what it absorbed is."""
        first, last, sources = span_of(row)
        begun, ended = datetime.fromisoformat(first), datetime.fromisoformat(last)
        if (self.since is not None and ended < self.since) or (self.until is not None and begun >= self.until):
            return False
        by = {(self.sources is None or source in self.sources) and source not in self.without for source in sources}
        if by == {False}:
            return False
        if not (self._within(begun) and self._within(ended)) or len(by) > 1:
            raise InputError(
                f"entry {named(row.id)} was compacted from rows of {first} to {last}, of the sources "
                f"{', '.join(map(repr, sources))}: it cannot be divided. Compaction ends periods and sources."
            )
        return True

    def _within(self, when: datetime) -> bool:
        return (self.since is None or self.since <= when) and (self.until is None or when < self.until)

    def factor(self, row: Row) -> float:
        """Equation (1)."""
        if self.half_life is None:
            return 1.0
        first, last, _ = span_of(row)
        if first != last:
            raise InputError(
                f"entry {named(row.id)} was compacted from rows of {first} to {last}: they have no one age."
            )
        age = (self.until or datetime.now(UTC)) - datetime.fromisoformat(row.time)
        return math.exp2(-max(age, timedelta(0)) / self.half_life)


def _set(names: str | Iterable[str]) -> frozenset[str]:
    return frozenset([names] if isinstance(names, str) else names)


def model_of_selection(connection: sqlite3.Connection, schemas: Schemas, meta: Meta, chosen: Selection) -> Model:
    """The sum of the entries chosen."""
    acts = connection.execute("SELECT id, act, corrects FROM entries WHERE act = 'undo' ORDER BY number").fetchall()
    gone = undone(acts)
    models: dict[int, list[Model]] = {1: [], -1: []}
    ids: list[str] = []
    at = chosen if chosen.until is not None else replace(chosen, until=datetime.now(UTC))  # one "now" for all
    for row in rows_after(connection, schemas, 0, START):
        if row.sign == 0 or row.id in gone or not chosen.has(row):
            continue
        model = _faded(model_of(counts_of(row, schemas), meta), at.factor(row))
        models[row.sign].append(model)
        if row.sign < 0:
            ids.append(named(row.id))
    added, taken = total(models[1]), total(models[-1])
    if added is None:
        raise InputError("no entry was chosen: see `naively log` for times and sources.")
    try:
        return added if taken is None else added - taken
    except InputError as error:
        raise InputError(f"these entries do not make a model: {error} Forgets among them: {listed(ids)}.") from None


def _faded(model: Model, factor: float) -> Model:
    if factor == 1.0:
        return model
    statistics = tuple(scaled(statistic, factor) for statistic in model.statistics)
    return replace(model, seen=scaled(model.seen, factor), statistics=statistics)
