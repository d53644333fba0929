"""Label: the most useful row of a pool, its classes in order of probability, keys to choose, skip and undo."""

from __future__ import annotations

import asyncio
from pathlib import Path

from naively.data.plain import JsonObject
from naively.errors import InputError
from naively.server.labelling import Choice, Pool, labelled_rows
from naively.server.pages.address import whole_number
from naively.server.pages.page import Page
from naively.server.problems import Problem
from naively.server.served import Change
from naively.store.entries import Entry

MAX_CLASSES = 30  # to choose from by a button
MAX_SKIPPED = 200  # rows that an address remembers
MAX_COLUMNS = 60  # of a row
MAX_TEXT = 5000  # characters of a value


class Labelling:
    """The pools that are open, and the rows labelled so far, by model."""

    def __init__(self) -> None:
        """Start without pools: a pool is read when it is first needed."""
        self._pools: dict[str, Pool] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        self._labelled: dict[str, tuple[int, dict[int, Entry]]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def pool(self, page: Page) -> Pool:
        """Return the pool of a model; read it if that has not been done."""
        path = page.service.pool_path
        if path is None:
            raise Problem(404, "there is no pool of rows to label: start the server with --pool FILE.")
        name = page.served.name
        async with self._locks.setdefault(name, asyncio.Lock()):
            if name not in self._pools:
                try:
                    self._pools[name] = await page.service.run(Pool, page.model, path, page.snapshot.version)
                except InputError as error:
                    raise Problem(422, f"the pool cannot be read: {error}") from None
        return self._pools[name]

    async def labelled(self, page: Page) -> dict[int, Entry]:
        """Return the rows that have a label, read from the log once for a version."""
        name, version = page.served.name, page.snapshot.version
        cached = self._labelled.get(name)
        if cached is None or cached[0] != version:
            entries = await page.served.log()
            cached = version, labelled_rows(entries, Path(str(page.service.pool_path)))
            self._labelled[name] = cached
        return cached[1]

    def last_known(self, name: str) -> dict[int, Entry]:
        """Return the rows that had a label when the log was read last."""
        return self._labelled[name][1] if name in self._labelled else {}

    def note(self, page: Page, row: int, change: Change) -> None:
        """Remember a row that was just labelled, so that the log need not be read again."""
        cached = self._labelled.get(page.served.name)
        if cached is not None and cached[0] == change.version - 1:
            self._labelled[page.served.name] = change.version, {**cached[1], row: change.entries[0]}

    def refresh(self, page: Page, pool: Pool) -> None:
        """Score the pool by the current model in the background."""
        if pool.version != page.snapshot.version:
            task = asyncio.create_task(asyncio.to_thread(pool.refresh, page.model, page.snapshot.version))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)


def skipped_rows(page: Page) -> list[int]:
    """Return the rows that were skipped, from the address; the last are remembered."""
    text = page.parameter("skip")
    return [whole_number(part, "skip") for part in text.split(".")][-MAX_SKIPPED:] if text else []


async def label(page: Page, labelling: Labelling) -> JsonObject:
    """Return the row to label next."""
    pool = await labelling.pool(page)
    labelled = await labelling.labelled(page)
    skipped = skipped_rows(page)
    row = page.parameter("row")
    choice: Choice | None
    if row is not None:
        position = whole_number(row, "row")
        if position >= pool.n_rows:
            raise Problem(404, f"the pool has {pool.n_rows} rows, and no row {position}.")
        choice = await page.service.run(pool.choice, page.model, position)
    else:
        recent = list(labelled)
        choice = await page.service.run(pool.next_row, page.model, set(labelled), recent, skipped)
    labelling.refresh(page, pool)
    last = list(labelled.items())[-1:]
    data: JsonObject = {
        "pool": pool.path.name,
        "n_rows": pool.n_rows,
        "n_labelled": len(labelled),
        "skipped": skipped,
        "last": {"row": last[0][0], "entry": last[0][1].id} if last else None,
        "row": None,
    }
    if choice is None:
        return data
    order = sorted(range(len(page.model.classes)), key=lambda c: -choice.posterior[c])
    texts = pool.texts(choice.row)
    return data | {
        "row": choice.row,
        "margin": choice.margin,
        "values": [
            {"column": name, "value": text[:MAX_TEXT], "is_cut": len(text) > MAX_TEXT}
            for name, text in list(texts.items())[:MAX_COLUMNS]
        ],
        "n_values": len(texts),
        "posterior": [
            {"class": page.model.classes[c], "probability": float(choice.posterior[c])} for c in order[:MAX_CLASSES]
        ],
        "n_classes": len(page.model.classes),
    }
