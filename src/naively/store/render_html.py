"""Render a ledger as HTML for notebooks: its model and its last entries."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from naively.data.html import more, paragraph, section, table_html
from naively.data.names import counted
from naively.model.model import Model
from naively.model.render_html import as_html as model_html
from naively.store.entries import Entry

MAX_ENTRIES = 10


def as_html(path: Path, model: Model, entries: Sequence[Entry]) -> str:
    """Return the name of the file, the model, and the last entries, the newest first."""
    newest = list(reversed(entries))[:MAX_ENTRIES]
    lines = [
        [
            entry.time,
            entry.act if entry.is_current else f"{entry.act} (undone)",
            entry.source,
            entry.comment,
            f"{entry.rows:,}",
        ]
        for entry in newest
    ]
    n = len(entries)
    return section(
        "ledger",
        paragraph(f"Ledger {path}, {counted(n, 'entry', 'entries')}"),
        table_html(["time", "act", "source", "comment", "rows"], lines, n_left=4),
        more(n - len(newest), "entries"),
        model_html(model),
    )
