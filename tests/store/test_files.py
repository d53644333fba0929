"""Merge, copy and compare files; open files behind links, without permissions, with special names."""

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.models import fitted, rows, same

import naively
from naively import InputError, Ledger, SchemaError
from naively.store.compare import disjoint_models
from naively.store.copy import salvage


def write_file(path: Path, *seeds: int, base: Path | None = None) -> Path:
    """Write a file, or copy `base`, and update it with the rows of these seeds."""
    if base is None:
        fitted(seeds[0]).save(path)
        seeds = seeds[1:]
    else:
        naively.copy(base, path)
    with naively.open(path) as ledger:
        for seed in seeds:
            ledger.update(*rows(seed, classes="abc"), source=str(seed), new_classes=True)
    return path


def test_merge_counts_an_entry_once(tmp_path: Path) -> None:
    base = write_file(tmp_path / "base", 0, 1)
    a, b = write_file(tmp_path / "a", 2, base=base), write_file(tmp_path / "b", 3, base=base)
    expected = naively.load(base)
    for seed in (2, 3):
        expected = expected.update(*rows(seed, classes="abc"), new_classes=True)
    assert same(naively.merge([a, b], tmp_path / "ab"), expected)
    assert same(naively.load(tmp_path / "ab"), expected)
    assert same(naively.merge([tmp_path / "ab", a, base], tmp_path / "again"), expected)
    doubled = naively.load(a) + naively.load(b)  # `+` does not know about entries
    assert doubled.class_weights.rows.sum() > expected.class_weights.rows.sum()


@settings(max_examples=15)
@given(st.lists(st.lists(st.integers(1, 6), max_size=3), min_size=3, max_size=3))
def test_merge_is_associative_and_commutative(tmp_path_factory: pytest.TempPathFactory, seeds: list[list[int]]) -> None:
    folder = tmp_path_factory.mktemp("merge")
    base = write_file(folder / "base", 0)
    a, b, c = (write_file(folder / name, *own, base=base) for name, own in zip("abc", seeds, strict=True))
    naively.merge([a, b], folder / "ab")
    naively.merge([b, c], folder / "bc")
    one = naively.merge([folder / "ab", c], folder / "1")
    two = naively.merge([a, folder / "bc"], folder / "2")
    three = naively.merge([c, b, a], folder / "3")
    assert same(one, two)
    assert same(one, three)
    logs = [[e.id for e in naively.open(folder / name).log()] for name in "123"]
    assert logs[0] == logs[1] == logs[2]


def test_merge_of_compacted_files(tmp_path: Path) -> None:
    base = write_file(tmp_path / "base", 0, 1)
    a, b = write_file(tmp_path / "a", 2, base=base), write_file(tmp_path / "b", 3, base=base)
    expected = naively.merge([a, b], tmp_path / "ab")
    with naively.open(a) as ledger:
        ledger.compact()
    assert same(naively.merge([a, b], tmp_path / "x"), expected)
    assert same(naively.merge([b, a], tmp_path / "y"), expected)
    assert same(naively.merge([tmp_path / "x", base], tmp_path / "z"), expected)
    with naively.open(b) as ledger:
        ledger.compact()
    with pytest.raises(InputError, match="2 entries in common"):
        naively.merge([a, b], tmp_path / "no")
    assert not (tmp_path / "no").exists()


def test_merge_keeps_corrections(tmp_path: Path) -> None:
    base = write_file(tmp_path / "base", 0, 1)
    a, b = write_file(tmp_path / "a", base=base), write_file(tmp_path / "b", 3, base=base)
    with naively.open(a) as ledger:
        ledger.forget(*rows(1, classes="abc"))
    with naively.open(b) as ledger:
        ledger.undo(ledger.log()[2].id)
    assert same(naively.merge([a, b], tmp_path / "ab"), fitted())
    with naively.open(b) as ledger:
        ledger.undo(ledger.log()[1].id)
        third = write_file(tmp_path / "c", base=base)
    with naively.open(third) as ledger:
        ledger.compact()
    with pytest.raises(InputError, match="is undone in one file"):
        naively.merge([b, third], tmp_path / "no")


def test_merged_entries_are_in_the_order_of_writing(tmp_path: Path) -> None:
    base = write_file(tmp_path / "base", 0, 1)
    with naively.open(base) as ledger:
        ledger.forget(*rows(1, classes="abc"))
    a, b = write_file(tmp_path / "a", 2, base=base), write_file(tmp_path / "b", 3, base=base)
    naively.merge([b, a], tmp_path / "ab")
    log = naively.open(tmp_path / "ab").log()
    assert [entry.act for entry in log] == ["fit", "update", "forget", "update", "update"]
    assert [entry.written for entry in log] == sorted(entry.written for entry in log)


def test_merge_refusals(tmp_path: Path) -> None:
    fitted().save(tmp_path / "a")
    naively.fit({"other": [1.0, 2.0]}, ["a", "b"]).save(tmp_path / "b")
    with pytest.raises(SchemaError, match="'other' only in the second"):
        naively.merge([tmp_path / "a", tmp_path / "b"], tmp_path / "no")
    with pytest.raises(InputError, match="two or more"):
        naively.merge([tmp_path / "a"], tmp_path / "no")
    naively.fit(["x"], [1]).save(tmp_path / "n")
    naively.fit(["x"], ["1"]).save(tmp_path / "s")
    with pytest.raises(InputError, match="different types"):
        naively.merge([tmp_path / "n", tmp_path / "s"], tmp_path / "no")
    naively.fit(["x"], ["u"], prior={"u": 1.0}).save(tmp_path / "g")
    with pytest.raises(InputError, match="prior must name every class"):
        naively.merge([tmp_path / "g", tmp_path / "s"], tmp_path / "no")
    assert not (tmp_path / "no").exists()


def test_merged_files_with_different_keys_do_not_remember_rows(tmp_path: Path) -> None:
    texts = ["one two", "three four"]
    for name in "ab":
        Ledger.fit(tmp_path / name, texts, ["x", "y"], remember_rows=True)
    naively.merge([tmp_path / "a", tmp_path / "b"], tmp_path / "ab")
    naively.open(tmp_path / "ab").forget(["one two"], ["x"])
    naively.copy(tmp_path / "a", tmp_path / "c")
    naively.merge([tmp_path / "a", tmp_path / "c"], tmp_path / "ac")
    with pytest.raises(InputError, match="never counted"):
        naively.open(tmp_path / "ac").forget(["one three"], ["x"])


@pytest.mark.parametrize("is_attributed", [True, False])
def test_compared_models_are_without_forgotten_rows(is_attributed: bool, tmp_path: Path) -> None:
    a = write_file(tmp_path / "a", 0)
    b = write_file(tmp_path / "b", 1, 2, base=a)
    data, labels = rows(1, classes="abc")
    with naively.open(b) as ledger:
        entry = ledger.log()[1].id if is_attributed else None
        ledger.forget({name: values[:2] for name, values in data.items()}, labels[:2], entry=entry)
    one, two, note = disjoint_models(a, b)
    assert same(one, fitted())
    rest = {name: values[2:] for name, values in data.items()}, labels[2:]
    expected = fitted().update(*rest, new_classes=True).update(*rows(2, classes="abc"), new_classes=True)
    assert same(fitted() + two, expected)
    assert "2 entries more" in note


def test_copy_of_a_file_in_use(tmp_path: Path) -> None:
    path = write_file(tmp_path / "m", 0)
    ledger = naively.open(path)
    ledger.update(*rows(1))
    ledger.copy(tmp_path / "n")
    ledger.update(*rows(2))
    assert same(naively.load(tmp_path / "n"), fitted().update(*rows(1)))
    assert not (tmp_path / "n-wal").exists()
    with pytest.raises(InputError, match="is the file itself"):
        ledger.copy(path)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
def test_a_copy_of_a_private_file_is_private(tmp_path: Path) -> None:
    path = write_file(tmp_path / "m", 1)
    mask = os.umask(0o022)
    try:
        for mode, expected in ((0o600, 0o600), (0o640, 0o640), (0o444, 0o644), (0o666, 0o644)):
            path.chmod(mode)
            naively.copy(path, tmp_path / "copy", overwrite=True)
            salvage(path, tmp_path / "salvaged", overwrite=True)
            for file in ("copy", "salvaged"):
                assert stat.S_IMODE((tmp_path / file).stat().st_mode) == expected
    finally:
        os.umask(mask)
    with pytest.raises(InputError, match="cannot be read"):
        naively.copy(tmp_path / "none", path, overwrite=True)


def test_links_and_folders(tmp_path: Path) -> None:
    path = write_file(tmp_path / "m", 0)
    (tmp_path / "link").symlink_to(path)
    with naively.open(tmp_path / "link") as ledger:
        ledger.update(*rows(1))
    assert same(naively.load(path), fitted().update(*rows(1)))
    fitted(5).save(tmp_path / "link", overwrite=True)
    assert (tmp_path / "link").is_symlink()
    assert same(naively.load(path), fitted(5))
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "dangling").symlink_to(tmp_path / "none")
    for wrong in ("loop", "dangling", "none", "none/m", "."):
        with pytest.raises(InputError, match="cannot be read"):
            naively.load(tmp_path / wrong)
        with pytest.raises(InputError, match="cannot be read"):
            naively.open(tmp_path / wrong)
    with pytest.raises(InputError, match="cannot be written"):
        fitted().save(tmp_path / "none" / "m")
    spaced = tmp_path / "a b?#%41.naively"
    fitted().save(spaced)
    assert same(naively.load(spaced), fitted())


@pytest.mark.skipif(sys.platform == "win32", reason="needs rights of Unix")
@pytest.mark.parametrize("killed", [False, True])
def test_read_only_folder(killed: bool, tmp_path: Path) -> None:
    """A file at rest is read as it is, one that a killed writer has left through a temporary copy."""
    folder = Path(tempfile.mkdtemp())
    path = folder / "m"
    naively.fit(["a", "b"], ["x", "y"]).save(path)
    code = "import sys, os, naively; m = naively.open(sys.argv[1]); m.update(['a'], ['x']); os._exit(0)"
    if killed:
        subprocess.run([sys.executable, "-c", code, str(path)], check=True)
        assert (folder / "m-wal").stat().st_size > 0
        (folder / "m-shm").unlink()
    for part in folder.iterdir():
        part.chmod(0o444)
    folder.chmod(0o555)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:  # as a user who may only read
        if os.getuid() == 0:
            os.setuid(65534)
        try:
            answer = str(int(naively.load(path).class_weights.rows.sum()))
            naively.open(path).update(["a"], ["x"])
        except InputError as error:
            answer += f" {error}"
        except BaseException as error:
            answer = repr(error)
        os.write(writer, answer.encode())
        os._exit(0)
    os.waitpid(child, 0)
    answer = os.read(reader, 10_000).decode()
    os.close(reader)
    os.close(writer)
    folder.chmod(0o755)
    shutil.rmtree(folder)
    assert answer.startswith("3 " if killed else "2 "), answer
    assert "read-only" in answer
