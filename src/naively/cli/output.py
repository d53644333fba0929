"""Print what a command returns: tables, log entries and JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from naively.data.names import counted

if TYPE_CHECKING:
    from naively.store.entries import Entry


def print_note(message: str) -> None:
    """Print a note on standard error."""
    click.echo(f"naively: note: {message}", err=True)


def print_json(data: object) -> None:
    """Print plain data as JSON."""
    click.echo(json_text(data))


def json_text(data: object) -> str:
    """Return plain data as JSON; null stands for NaN, and the strings "inf" and "-inf" for infinite numbers."""
    return json.dumps(_finite(data), ensure_ascii=False, indent=1)


def _finite(data: object) -> object:
    if isinstance(data, dict):
        return {key: _finite(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_finite(value) for value in data]
    if isinstance(data, float) and abs(data) == float("inf"):
        return str(data)
    return None if data != data else data


def print_entries(entries: Iterable[Entry], as_json: bool) -> None:
    """Print log entries, one line each, or as JSON."""
    if as_json:
        from naively.data.plain import as_plain

        print_json([as_plain(entry) for entry in entries])
        return
    for entry in entries:
        click.echo(format_entry(entry))


def format_entry(entry: Entry) -> str:
    """Return the line of the log for an entry; its time is when it was written, not when its rows were counted."""
    sign = {1: "+", -1: "−", 0: " "}[entry.sign]
    parts = (
        f"{entry.id[:8]}  {entry.written[:19]}Z  {entry.act:<7}  {f'{sign}{entry.rows:,}':>9}",
        entry.source,
        entry.corrects and f"(of {entry.corrects[:8]})",
        entry.absorbed and f"({counted(entry.absorbed, 'entry', 'entries')} since {(entry.first or '')[:19]}Z)",
        entry.note and f"({entry.note})",
        not entry.is_current and "(undone)",
        entry.comment and f"“{entry.comment}”",
    )
    return "  ".join(str(part) for part in parts if part)
