"""History: the log of the model file, undo, and the difference of two versions."""

from __future__ import annotations

from naively.data.plain import JsonObject, as_plain
from naively.evaluation.diff import diff_models
from naively.server.pages.page import Page
from naively.server.problems import Problem
from naively.store.entries import Entry

MAX_ENTRIES = 50  # on a page
MAX_COLUMNS = 40  # of a difference
MAX_VALUES = 4  # of a column
UNDOABLE = ("update", "forget", "relabel", "tune", "undo")


async def history(page: Page) -> JsonObject:
    """Return the entries that the filters leave, the last first, and the difference of two versions if it is wanted."""
    entries = await page.served.log()
    act, source = page.parameter("act"), page.parameter("source")
    find = (page.parameter("find") or "").lower()
    listed = [
        e
        for e in reversed(entries)
        if (act is None or e.act == act)
        and (source is None or e.source == source)
        and (not find or find in e.comment.lower() or find in e.source.lower() or e.id.startswith(find))
    ]
    start = page.number("from", 0)
    undone = {e.corrects for e in entries if e.act == "undo"}
    return {
        "entries": [_plain(e, undone) for e in listed[start : start + MAX_ENTRIES]],
        "n_entries": len(listed),
        "from": start,
        "acts": sorted({e.act for e in entries}),
        "sources": sorted({e.source for e in entries if len(e.source) <= 200})[:100],
        "filter": {"act": act, "source": source, "find": page.parameter("find")},
        "diff": await _diff(page),
    }


def _plain(entry: Entry, undone: set[str | None]) -> JsonObject:
    """Return an entry as plain data, with whether it can be undone."""
    can_undo = entry.is_current and entry.act in UNDOABLE and entry.id not in undone
    return {**as_plain(entry), "can_undo": can_undo}


async def _diff(page: Page) -> JsonObject | None:
    """Return what differs between two versions; None unless the address names two."""
    if page.parameter("old") is None or page.parameter("new") is None:
        return None
    old, new = page.number("old", 1), page.number("new", page.snapshot.version)
    if old == new:
        raise Problem(400, f"version {old} does not differ from itself: name two versions.")
    one, two = await page.served.at(old), await page.served.at(new)
    columns = await page.service.run(diff_models, one.model, two.model, MAX_VALUES)
    rows = [int(m.class_weights.rows.sum()) for m in (one.model, two.model)]
    return {
        "old": old,
        "new": new,
        "rows": rows,
        "n_columns": len(columns),
        "columns": [as_plain(column) for column in columns[:MAX_COLUMNS]],
        "classes": list(dict.fromkeys([*one.model.classes, *two.model.classes]))[:MAX_COLUMNS],
    }
