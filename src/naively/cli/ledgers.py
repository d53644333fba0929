"""What the commands about model files share: data on the command line, and entries for people and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from naively.store.entries import Entry

__all__ = ["comment_option", "json_option", "named_source", "target_option", "tell", "told", "where"]

target_option = click.option(
    "--target", metavar="COLUMN", help="The column of the labels; by default the one that the model predicts."
)
comment_option = click.option("--comment", default="", help="A word on it, for the log.")
json_option = click.option("--json", "as_json", is_flag=True, help="As JSON.")


def where(data: Sequence[str]) -> Any:
    """Files as `naively.fit` takes them."""
    return data[0] if len(data) == 1 else [Path(name) for name in data]


def named_source(data: Sequence[str], source: str | None) -> str:
    """Where rows came from: what was said, or the names of the files."""
    return " ".join(data) if source is None else source


def told(entry: Entry) -> str:
    """One line of the log; its time is when it was written, not when the rows that it corrects were counted."""
    sign = {1: "+", -1: "−", 0: " "}[entry.sign]
    parts = [entry.id[:8], entry.written[:19] + "Z", f"{entry.act:<7}", f"{sign}{entry.rows:,}".rjust(9)]
    if entry.source:
        parts.append(entry.source)
    if entry.corrects:
        parts.append(f"(of {entry.corrects[:8]})")
    if entry.absorbed:
        parts.append(f"({entry.absorbed} entries since {(entry.first or '')[:19]}Z)")
    if entry.note:
        parts.append(f"({entry.note})")
    if not entry.in_force:
        parts.append("(undone)")
    if entry.comment:
        parts.append(f"“{entry.comment}”")
    return "  ".join(parts)


def tell(entries: Iterable[Entry], as_json: bool) -> None:
    """Entries, a line each, or as JSON."""
    if as_json:
        click.echo(json.dumps([asdict(entry) for entry in entries], ensure_ascii=False, indent=1))
        return
    for entry in entries:
        click.echo(told(entry))
