"""Every function that writes a model file refuses to replace what another fit could not make again, unless told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import naively
from naively.errors import InputError

TEXTS, LABELS = ["cheap pills", "lunch today"], ["spam", "ham"]


def model() -> naively.Model:
    return naively.fit(TEXTS, LABELS, tune=False)


def source(folder: Path, name: str) -> Path:
    model().save(folder / name)
    return folder / name


WRITERS: dict[str, Callable[..., Any]] = {
    "Model.save": lambda path, **how: model().save(path, **how),
    "Ledger.fit": lambda path, **how: naively.Ledger.fit(path, TEXTS, LABELS, tune=False, **how),
    "Ledger.fit, rows": lambda path, **how: naively.Ledger.fit(
        path, TEXTS, LABELS, tune=False, remember_rows=True, **how
    ),
    "merge": lambda path, **how: naively.merge([source(path.parent, "a"), source(path.parent, "b")], path, **how),
    "copy": lambda path, **how: naively.copy(source(path.parent, "a"), path, **how),
    "Ledger.copy": lambda path, **how: naively.open(source(path.parent, "a")).copy(path, **how),
    "salvage": lambda path, **how: naively.salvage(source(path.parent, "a"), path, **how),
}


def updated(path: Path) -> None:
    model().save(path)
    with naively.open(path) as ledger:
        ledger.update(["cheap lunch"], ["ham"])


def compacted(path: Path) -> None:
    updated(path)
    with naively.open(path) as ledger:
        ledger.compact()


def damaged(path: Path) -> None:
    model().save(path)
    path.write_bytes(path.read_bytes()[:-4096])


PRECIOUS: dict[str, tuple[Callable[[Path], Any], str]] = {
    "updated": (updated, r"holds 2 entries \(1 fit, 1 update\), which would be lost"),
    "compacted": (compacted, r"holds 1 entry \(1 compact\), which would be lost"),
    "damaged": (damaged, "is damaged.* its content would be lost"),
    "table": (lambda path: path.write_text("x,y\n1,2\n"), "is not a model file.* its content would be lost"),
    "folder": (lambda path: path.mkdir(), "cannot be read"),
}


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS.keys())
@pytest.mark.parametrize(("prepare", "message"), PRECIOUS.values(), ids=PRECIOUS.keys())
def test_nothing_is_lost_unless_told(
    write: Callable[..., Any], prepare: Callable[[Path], Any], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "m.naively"
    prepare(path)
    if path.is_dir():
        with pytest.raises(InputError, match=message):
            write(path)
        with pytest.raises(InputError, match="is not a regular file"):
            write(path, overwrite=True)
        return
    before = path.read_bytes()
    with pytest.raises(InputError, match=message) as error:
        write(path)
    assert "overwrite=True" in str(error.value)
    assert path.read_bytes() == before
    write(path, overwrite=True)
    assert naively.load(path).class_counts.tolist() in ([1.0, 1.0], [2.0, 2.0])


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS.keys())
def test_a_fit_and_an_empty_file_are_replaced(write: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "m.naively"
    path.touch()
    write(path)
    naively.fit(["other"], ["ham"], tune=False).save(path, overwrite=True)
    write(path)
    assert naively.load(path).classes == ("ham", "spam")


def test_the_refusal_comes_before_the_fit(tmp_path: Path) -> None:
    updated(tmp_path / "m")
    with pytest.raises(InputError, match="which would be lost"):
        naively.Ledger.fit(tmp_path / "m", object(), object())


def test_merge_refuses_before_it_reads(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("x,y\n1,2\n")
    with pytest.raises(InputError, match=r"table\.csv: is not a model file.* its content would be lost"):
        naively.merge([tmp_path / "absent", tmp_path / "also absent"], tmp_path / "table.csv")
