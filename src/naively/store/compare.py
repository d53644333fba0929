"""Compare two models or two files; those of files without their common rows."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from naively.errors import InputError
from naively.evaluation.diff import ColumnDiffs, diff_models
from naively.model.merge import total
from naively.model.model import Model, ModelLike
from naively.store.entries import open_file
from naively.store.running_sum import load


def diff(a: ModelLike, b: ModelLike, top: int = 20) -> ColumnDiffs:
    """Compare two models column by column and test each difference for significance.

    Parameters
    ----------
    a, b
        Two models with the same columns, or their files. Rows that both have counted hide differences: of two files,
        entries that both have are left out.
    top
        The number of values or words listed for each column.

    Returns
    -------
    ColumnDiffs
        A tuple of `ColumnDiff`. The classes first, then every column, the most significant difference first.

    >>> from naively import fit
    >>> old = fit({"sky": ["sun"] * 30 + ["rain"] * 10}, ["yes"] * 40)
    >>> new = fit({"sky": ["sun"] * 10 + ["rain"] * 30}, ["yes"] * 40)
    >>> sky = diff(old, new)[1]
    >>> sky.column, round(sky.nats, 3), round(sky.G, 2), f"{sky.p:.0e}"
    ('sky', 0.125, 20.93, '5e-06')
    """
    if isinstance(a, (str, Path)) and isinstance(b, (str, Path)):
        a, b, _ = disjoint_models(a, b)
    return diff_models(Model.of(a), Model.of(b), top)


def disjoint_models(a: str | Path, b: str | Path) -> tuple[Model, Model, str]:
    """Return two models without the entries that both files have, and a note on what is compared.

    If b has all entries of a, the model of a is compared with the further entries of b; and the other way round.
    """
    files = [_counts_by_entry(a), _counts_by_entry(b)]
    shared = files[0].keys() & files[1].keys()
    own_a, own_b = ([model for id_, model in file.items() if id_ not in shared] for file in files)
    if not shared or not (own_a or own_b):
        return load(a), load(b), f"{a} and {b} have the same {_n_entries(len(shared))}" if shared else ""
    if not own_b:
        note = f"{a} is {b} and {_n_entries(len(own_a))} more: {b} is compared with those"
        return _sum(list(files[1].values()), b), _sum(own_a, a), note
    if not own_a:
        note = f"{b} is {a} and {_n_entries(len(own_b))} more, compared with {a}"
        return _sum(list(files[0].values()), a), _sum(own_b, b), note
    return _sum(own_a, a), _sum(own_b, b), f"left out: {_n_entries(len(shared))} that both have"


def _n_entries(n: int) -> str:
    return f"{n:,} entr{'y' if n == 1 else 'ies'}"


def _sum(models: list[Model], path: str | Path) -> Model:
    return total(models) or load(path)


def _counts_by_entry(path: str | Path) -> dict[bytes, Model]:
    """Return what each entry counted, without what was forgotten of it."""
    with open_file(path) as (log, meta):
        entries = list(log.after())
        undone = log.undone_ids()
        parts = [part for entry in entries if entry.id not in undone for part in entry.parts()]
        added: dict[bytes, list[Model]] = {}
        for part in parts:
            if part.sign > 0:
                added.setdefault(part.id, []).append(meta.apply(log.counts(part).model))
        counts = {id_: _sum(models, path) for id_, models in added.items()}
        for part in parts:
            if part.sign < 0:
                ids = reversed(counts) if part.corrects is None else [part.corrects]
                _subtract_from_first(counts, ids, log.counts(part).model)
        return counts


def _subtract_from_first(counts: dict[bytes, Model], ids: Iterable[bytes], part: Model) -> None:
    """Subtract a part from the first of these entries that can contain it."""
    for id_ in ids:
        try:
            counts[id_] = counts[id_] - part
            return
        except (KeyError, InputError):
            continue
