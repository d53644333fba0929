"""A command replaces a file only with --force, never the model that it reads, and never leaves part of a file."""

from __future__ import annotations

import bz2
import gzip
import json
import os
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

import naively
from naively.cli.main import COMMANDS, main

ROWS = "sky,play\nsun,yes\nrain,no\n"
# One call of every command that writes a file; OUT is the file.
WRITERS = {
    "fit": "fit d.csv --target play -o OUT",
    "predict": "predict m.naively d.csv --format csv -o OUT",
    "sample": "sample m.naively --format csv -o OUT",
    "plot": "plot nomogram m.naively -o OUT.svg",
    "merge": "merge m.naively n.naively -o OUT",
    "copy": "copy m.naively OUT",
    "export": "export m.naively --to json -o OUT",
    "report": "report m.naively -o OUT",
    "schema": "schema d.csv --target play -o OUT",
}


def run(arguments: str) -> Result:
    return CliRunner().invoke(main, arguments.split())


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("d.csv").write_text(ROWS)
    for name in ("m.naively", "n.naively"):
        naively.fit({"sky": ["sun", "rain"], "play": ["yes", "no"]}, "play").save(name)
    return tmp_path


def test_every_command_with_an_output_is_here() -> None:
    def writes(name: str) -> bool:
        command: Any = main.get_command(click.Context(main), name)
        return any(parameter.name in ("output", "to") for parameter in command.params)

    assert set(WRITERS) == {name for name in COMMANDS if writes(name)}


@pytest.mark.parametrize("arguments", WRITERS.values())
@pytest.mark.parametrize("spelling", ["out", "./sub/../out", "link"])
def test_an_existing_file_is_replaced_only_with_force(arguments: str, spelling: str) -> None:
    Path("sub").mkdir()
    suffix = ".svg" if ".svg" in arguments else ""
    Path("out" + suffix).write_text("precious")
    Path("link" + suffix).symlink_to("out" + suffix)
    refused = run(arguments.replace("OUT", spelling))
    assert (refused.exit_code, "already exists. Give --force" in refused.stderr) == (2, True)
    assert Path("out" + suffix).read_text() == "precious"
    replaced = run(f"{arguments.replace('OUT', spelling)} --force")
    assert replaced.exit_code == 0, replaced.output
    assert Path("out" + suffix).read_bytes() != b"precious"
    assert Path("link" + suffix).is_symlink()
    names = {"d.csv", "m.naively", "n.naively", "sub", "out" + suffix, "link" + suffix}
    assert {path.name for path in Path().iterdir()} == names


@pytest.mark.parametrize("output", ["d.csv", "./d.csv", "sub/../d.csv", "link.csv"])
def test_the_output_may_be_the_input_with_force(output: str) -> None:
    Path("sub").mkdir()
    Path("link.csv").symlink_to("d.csv")
    refused = run(f"predict m.naively d.csv -o {output}")
    assert (refused.exit_code, Path("d.csv").read_text()) == (2, ROWS)
    assert run(f"predict m.naively d.csv -o {output} --force").exit_code == 0
    assert Path("d.csv").read_text() == "sky,play,prediction\nsun,yes,yes\nrain,no,no\n"


@pytest.mark.parametrize("arguments", ["predict m.naively d.csv", "sample m.naively"])
@pytest.mark.parametrize("output", ["m.naively", "./m.naively", "link"])
def test_the_model_is_never_overwritten(arguments: str, output: str) -> None:
    Path("link").symlink_to("m.naively")
    before = Path("m.naively").read_bytes()
    result = run(f"{arguments} --format csv -o {output} --force")
    assert (result.exit_code, "is read by this command" in result.stderr) == (2, True)
    assert Path("m.naively").read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ("fit d.csv --target play -o d.csv", "d.csv"),
        ("schema d.csv --target play -o ./d.csv", "d.csv"),
        ("merge m.naively n.naively -o n.naively", "n.naively"),
        ("copy m.naively m.naively", "m.naively"),
    ],
)
def test_what_a_command_reads_is_never_replaced_by_something_else(arguments: str, name: str) -> None:
    before = Path(name).read_bytes()
    result = run(f"{arguments} --force")
    assert (result.exit_code, "is read by this command" in result.stderr) == (2, True)
    assert Path(name).read_bytes() == before


def test_an_error_leaves_the_existing_file() -> None:
    Path("bad.csv").write_text("height,play\n1,yes\n")
    Path("out.csv").write_text("precious")
    assert run("predict m.naively bad.csv -o out.csv --force").exit_code == 1
    assert Path("out.csv").read_text() == "precious"
    assert len(list(Path().iterdir())) == 5


def test_devices_are_written_to_and_not_replaced() -> None:
    os.mkfifo("pipe")
    reader = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
    assert run("predict m.naively d.csv --format csv -o pipe").exit_code == 0
    assert os.read(reader, 100).startswith(b"sky,play,prediction\n")
    os.close(reader)
    assert run("predict m.naively d.csv --format csv -o /dev/null").exit_code == 0
    assert Path("/dev/null").is_char_device()
    folder_given = run("predict m.naively d.csv --format csv -o .")
    assert (folder_given.exit_code, "is a folder" in folder_given.stderr) == (2, True)


@pytest.mark.parametrize("command", ["predict m.naively d.csv", "sample m.naively -n 3 --seed 1"])
@pytest.mark.parametrize(("suffix", "decompress"), [(".gz", gzip.decompress), (".bz2", bz2.decompress)])
@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_the_name_of_the_output_compresses_it(command: str, suffix: str, decompress: Any, kind: str) -> None:
    assert run(f"{command} -o plain.{kind}").exit_code == 0
    assert run(f"{command} -o out.{kind}{suffix}").exit_code == 0
    assert decompress(Path(f"out.{kind}{suffix}").read_bytes()) == Path(f"plain.{kind}").read_bytes()
    assert run(f"{command} -o other{suffix} --format {kind}").exit_code == 0
    assert decompress(Path(f"other{suffix}").read_bytes()) == Path(f"plain.{kind}").read_bytes()


@pytest.mark.parametrize("suffix", [".xz", ".zip", ".7z", ".lz4", ".Z"])
def test_other_compressions_are_refused_by_name(suffix: str) -> None:
    for arguments in (f"-o out.csv{suffix}", f"-o out{suffix} --format jsonl"):
        result = run(f"predict m.naively d.csv {arguments}")
        assert (result.exit_code, f"{suffix.lower()} is not written" in result.stderr) == (2, True)
    parquet = run("predict m.naively d.csv -o out.parquet.gz")
    assert (parquet.exit_code, "Leave out .gz" in parquet.stderr) == (2, True)
    assert not list(Path().glob("out*"))


def test_predictions_in_a_compressed_file_are_read_again() -> None:
    assert run("predict m.naively d.csv -o out.jsonl.gz").exit_code == 0
    result = run("evaluate m.naively out.jsonl.gz --json")
    assert json.loads(result.stdout)["accuracy"]["value"] == 1.0
