"""A model that is served: its snapshot, predictions that are scored together, and changes of its file."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from naively._kernels.types import Codes32, Floats
from naively.data.labelled import Label
from naively.data.plain import CellValue, JsonObject
from naively.errors import ConflictError, DiskFullError, InputError
from naively.model.decide import Rule
from naively.model.model import Model
from naively.server.problems import Problem
from naively.server.scorer import Columns, Scorer, score, types_of
from naively.server.writer import Snapshot, Writer
from naively.store.entries import Entry
from naively.store.ledger import Ledger

T = TypeVar("T")

MAX_VERSIONS = 4  # earlier versions whose models are kept
MAX_CORRECTIONS = 100


@dataclass(frozen=True, eq=False)
class Answer:
    """Predictions and posteriors (row, class) of one version; None where no class is probable enough."""

    version: int
    model: Model
    prediction: list[Label | None]
    posterior: Floats


@dataclass(frozen=True, eq=False)
class Change:
    """What a change has written, the version after it, and the predictions for its rows before it."""

    entries: tuple[Entry, ...]
    version: int
    before: Answer | None = None
    is_repeated: bool = False


class ServedModel:
    """A model by its name.

    Parameters
    ----------
    name
        Its name in addresses.
    path
        Its file.
    may_learn
        Whether the file may be changed.
    """

    def __init__(self, name: str, path: str | Path, may_learn: bool = False) -> None:
        """Read the file."""
        self.name = name
        self.path = Path(path)
        self.may_learn = may_learn
        self._writer = Writer(self.path)
        self.scorer = Scorer(self._writer)
        self._versions: dict[int, Snapshot] = {}
        self.n_rows = 0  # predicted so far
        self.corrections: deque[bool] = deque(maxlen=MAX_CORRECTIONS)  # whether the class of a row taught was known

    @property
    def snapshot(self) -> Snapshot:
        """The current model and its version. Take it once per request: it is replaced as a whole."""
        return self._writer.snapshot

    @property
    def target(self) -> str:
        """The name of the column that the model predicts."""
        return self.snapshot.model.target

    @property
    def problem(self) -> str | None:
        """Why the file cannot be read at present; requests are answered by the last model that could be."""
        return self._writer.problem

    def start(self) -> None:
        """Start the thread that follows the file."""
        self._writer.start()

    def stop(self) -> None:
        """Finish changes that are under way, and close the file."""
        self._writer.stop()

    async def at(self, version: int) -> Snapshot:
        """Return the model after this many entries; Problem if there is no such version."""
        snapshot = self.snapshot
        if version == snapshot.version:
            return snapshot
        if version in self._versions:
            return self._versions[version]
        if not 1 <= version < snapshot.version:
            raise Problem(
                404, f"there is no version {version} of {self.name!r}: the current one is {snapshot.version}."
            )
        model = await asyncio.to_thread(Ledger(self.path).at, version)
        while len(self._versions) >= MAX_VERSIONS:
            del self._versions[next(iter(self._versions))]
        self._versions[version] = Snapshot(model, version)
        return self._versions[version]

    async def predict(self, columns: Columns, n_rows: int = 1, types: tuple[type, ...] | None = None) -> Answer:
        """Return the predictions for rows, scored together with those of requests that arrive at the same time.

        `types` are those of the values of each column, if they are known.
        """
        if types is None:
            types, n_rows = types_of(columns), len(next(iter(columns.values()), [None] * n_rows))
        snapshot, positions, posterior = await self.scorer.score(columns, n_rows, types)
        return answer(snapshot, positions, posterior)

    async def log(self) -> tuple[Entry, ...]:
        """Return all entries of the file, in order."""
        return await asyncio.to_thread(Ledger(self.path).log)

    async def learn(
        self,
        columns: Columns,
        labels: Sequence[Label],
        *,
        source: str = "",
        comment: str = "",
        request_id: str | None = None,
        new_classes: bool = False,
    ) -> Change:
        """Count rows as one entry; a request id that was used before counts once."""

        def change(ledger: Ledger) -> Change:
            before = self._before(ledger, columns, len(labels))
            rows = _all_columns(before.model, columns, len(labels))
            entry = ledger.update(
                rows, list(labels), source=source, comment=comment, request_id=request_id, new_classes=new_classes
            )
            if entry.number <= before.version:
                return self._repeated(ledger, entry, columns, len(labels))
            self.corrections.extend(a == b for a, b in zip(before.prediction, labels, strict=True))
            return Change((entry,), entry.number, before)

        return await self._change(change)

    async def forget(
        self,
        columns: Columns,
        labels: Sequence[Label],
        *,
        source: str = "",
        comment: str = "",
        entry: str | None = None,
        request_id: str | None = None,
    ) -> Change:
        """Subtract rows that were counted, as one entry for each entry that counted them."""

        def change(ledger: Ledger) -> Change:
            before = self._before(ledger, columns, len(labels))
            rows = _all_columns(before.model, columns, len(labels))
            note = f"by {source}" + (f": {comment}" if comment else "")  # its source is that of the rows
            entries = ledger.forget(rows, list(labels), entry=entry, comment=note, request_id=request_id)
            if entries[-1].number <= before.version:
                return self._repeated(ledger, entries[-1], columns, len(labels))
            return Change(entries, entries[-1].number, before)

        return await self._change(change)

    async def undo(self, entry: str, *, source: str = "", comment: str = "", request_id: str | None = None) -> Change:
        """Remove the effect of an entry; Problem 409 if it cannot be undone any more."""

        def change(ledger: Ledger) -> Change:
            version = ledger.version
            undo = ledger.undo(entry, source=source, comment=comment, request_id=request_id)
            return Change((undo,), undo.number, is_repeated=undo.number <= version)

        return await self._change(change)

    def _before(self, ledger: Ledger, columns: Columns, n_rows: int) -> Answer:
        """Return the predictions for rows by all entries so far."""
        model = ledger.model()
        return predict_with(Snapshot(model, ledger.version), columns, n_rows)

    def _repeated(self, ledger: Ledger, entry: Entry, columns: Columns, n_rows: int) -> Change:
        """Return what was answered to a request that is sent again; without predictions if they are not known."""
        before = None
        if entry.act != "compact" and entry.number > 1:
            before = predict_with(Snapshot(ledger.at(entry.number - 1), entry.number - 1), columns, n_rows)
        return Change((entry,), entry.number, before, is_repeated=True)

    async def _change(self, change: Callable[[Ledger], Change]) -> Change:
        if not self.may_learn:
            raise Problem(403, "this server does not learn: start it with --learn.")
        try:
            return await asyncio.wrap_future(self._writer.submit(change))
        except InputError as error:
            message = str(error).replace(f"{self.path}: ", "")
            status = 409 if isinstance(error, ConflictError) else 507 if isinstance(error, DiskFullError) else 400
            raise Problem(status, message) from None


def answer(snapshot: Snapshot, positions: Codes32, posterior: Floats) -> Answer:
    """Return positions of classes as classes."""
    classes = snapshot.model.classes
    prediction = [None if c < 0 else classes[c] for c in positions.tolist()]
    return Answer(snapshot.version, snapshot.model, prediction, posterior)


def predict_with(snapshot: Snapshot, columns: Columns, n_rows: int, rule: Rule | None = None) -> Answer:
    """Return the predictions of one request by a rule, not scored together with others."""
    return answer(snapshot, *score(snapshot.model, columns, n_rows, types_of(columns), rule))


def _all_columns(model: Model, columns: Mapping[str, CellValue], n_rows: int) -> JsonObject:
    """Return the columns with None for all that are missing, and InputError for those that the model does not have."""
    names = model.schema.names
    unknown = [name for name in columns if name not in names]
    if unknown:
        raise InputError(f"the model has no column {unknown[0]!r}.")
    return {name: columns.get(name) or [None] * n_rows for name in names}
