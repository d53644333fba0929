"""Ctrl-C ends any command with 130, without a traceback, and no file is half-written."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from click.testing import CliRunner

import naively
from naively.cli.main import main

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")

# Runs the command and sends SIGINT to itself when a function of the package is called.
DRIVER = """
import importlib, os, signal, sys, time
where, *arguments = sys.argv[1:]
module, _, name = where.rpartition(":")
owner = importlib.import_module(module)
*outer, name = name.split(".")
for attribute in outer:
    owner = getattr(owner, attribute)
def interrupt(*_, **__):
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(100)
setattr(owner, name, interrupt)
from naively.cli.main import main
main(arguments)
"""

SECONDS = 90  # less than the interrupted function takes
ROWS = "sky,wind,play\n" + "sun,1,yes\nrain,2,no\n" * 30


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("d.csv").write_text(ROWS)
    Path("d.jsonl").write_text('{"sky": "sun", "wind": 1, "play": "yes"}\n' * 5)
    for name in ("m.naively", "n.naively"):
        naively.fit({"sky": ["sun", "rain"], "wind": [1, 2], "play": ["yes", "no"]}, "play").save(name)
    return tmp_path


def contents() -> dict[str, object]:
    """Return the bytes of each file, and the log of model files: SQLite counts its transactions in the header."""
    is_model = {path: path.suffix == ".naively" for path in Path().iterdir()}
    return {path.name: naively.open(path).log() if is_model[path] else path.read_bytes() for path in is_model}


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("where", "arguments"),
    [
        ("naively.data.labelled:rebatch", "fit d.csv --target play -o out"),
        ("naively.fitting:tuned", "fit d.csv --target play -o out"),
        ("naively.store.write:write_meta", "fit d.csv --target play -o out"),
        ("naively.store.fingerprints:encode_fingerprints", "fit d.csv --target play -o out --remember-rows"),
        ("naively.store.running_sum:read_sum", "predict m.naively d.csv -o out.csv"),
        ("naively.model.score:as_trained", "predict m.naively d.csv -o out.csv"),
        ("naively.data.files.write:_format_csv", "predict m.naively d.csv -o out.csv.gz"),
        ("naively.data.files.write:_lines_with_results", "predict m.naively d.jsonl -o out.jsonl"),
        ("naively.data.files.write:_typed_cells", "predict m.naively d.csv -o out.parquet"),
        ("naively.data.files.write:_format_csv", "predict m.naively d.csv -o d.csv --force"),
        ("naively.model.sample:sample", "sample m.naively -o out.csv"),
        ("naively.store.entries:Log.append", "update m.naively d.csv"),
        ("naively.store.ledger:write_snapshot", "undo m.naively ENTRY"),
        ("naively.store.merge:_sort_by_time", "merge m.naively n.naively -o out"),
        ("naively.store.copy:load", "copy m.naively out"),
        ("naively.store.ledger:compact", "compact m.naively --force"),
        ("naively.data.text_table:format_table", "diff m.naively n.naively --all"),
    ],
)
def test_an_interrupt_ends_with_130_and_leaves_no_trace(where: str, arguments: str) -> None:
    if "ENTRY" in arguments:
        with naively.open("m.naively") as ledger:
            entry = ledger.update({"sky": ["sun"], "wind": [1]}, ["yes"])
        arguments = arguments.replace("ENTRY", entry.id)
    before = contents()
    command = [sys.executable, "-c", DRIVER, where, *arguments.split()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (130, "naively: interrupted."), done.stderr
    assert "Traceback" not in done.stderr
    assert contents() == before


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("where", "content"),
    [
        ("naively.data.files.read:read_available", b""),
        ("naively.data.files.lines:read_available", b"sky,wind,play\nsun,1,yes\n"),
        ("naively.data.files.lines:read_available", b'{"sky": "sun", "play": "yes"}\n'),
        ("naively.data.files.read:shutil.copyfileobj", b"\x1f\x8b\x08\x00"),
    ],
)
@pytest.mark.parametrize("arguments", ["predict m.naively - -o out.csv", "fit - --target play -o out"])
def test_an_interrupt_while_standard_input_is_open(where: str, content: bytes, arguments: str, tmp_path: Path) -> None:
    """The reader waits for input that does not come. Nothing stays in the folder of temporary files either."""
    before = contents()
    temporary = tempfile.mkdtemp(dir=tmp_path.parent)
    command = [sys.executable, "-c", DRIVER, where, *arguments.split()]
    environment = os.environ | {"TMPDIR": temporary}
    done = subprocess.run(command, input=content, capture_output=True, timeout=SECONDS, check=False, env=environment)
    error = done.stderr.decode()
    assert (done.returncode, error.splitlines()[-1]) == (130, "naively: interrupted."), error
    assert "Traceback" not in error
    assert contents() == before
    assert list(Path(temporary).iterdir()) == []


@pytest.mark.usefixtures("folder")
def test_the_exit_codes_of_a_prompt() -> None:
    assert CliRunner().invoke(main, ["compact", "m.naively"], input="n\n").exit_code == 1
    assert CliRunner().invoke(main, ["compact", "m.naively"], input="y\n").exit_code == 0
