"""Shell in README and docs: what begins with `$` is run and prints what the page says; other lines name real commands.

A block fenced as `console` is a session: each line after `$ ` is given to a shell, in one empty folder per page, and
what it prints is compared with what follows as doctests are: any space is like another, `...` stands for anything.
Times, and the ids of entries of a model file, are never the same twice: any stands for any.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from naively.cli import main

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


def sessions(page: Path) -> list[tuple[str, str]]:
    """The commands of a page with what they should print."""
    found = []
    for block in re.findall(r"^```console\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.M | re.S):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            here = re.match(r".*<<'?(\w+)'?\n.*?^\1\n", part, flags=re.M | re.S)
            end = here.end() if here else part.index("\n") + 1
            found.append((part[:end], part[end:]))
    return found


def commands(page: Path) -> list[list[str]]:
    """What follows `naively` in lines of shell: after `$` in sessions, at the start of indented lines, and in pipes."""
    lines = re.findall(r"^(?:\$ |    )((?:[^\n]+ \| )?naively [^\n]*)", page.read_text(encoding="utf-8"), flags=re.M)
    found = []
    for line in lines:
        words = shlex.shlex(line, posix=True, punctuation_chars="|&;<>")
        words.whitespace_split = True
        parts: list[list[str]] = [[]]
        for word in words:
            parts[-1].append(word) if not set(word) <= set("|&;<>") else parts.append([])
        found += [part[1:] for part in parts if part[:1] == ["naively"]]
    return found


@pytest.mark.skipif(sys.platform == "win32", reason="the sessions are for a POSIX shell")
@pytest.mark.parametrize("page", [page for page in PAGES if sessions(page)], ids=named)
def test_sessions_print_what_the_page_says(page: Path, tmp_path: Path) -> None:
    beside = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    settings = {**os.environ, "PATH": beside, "COLUMNS": "120", "TERM": "dumb"}
    shell = shutil.which("bash") or "sh"
    for command, expected in sessions(page):
        told = subprocess.run([shell, "-c", command], cwd=tmp_path, env=settings, capture_output=True, text=True)
        printed = told.stderr + told.stdout
        same = doctest.OutputChecker().check_output(_timeless(expected), _timeless(printed), FLAGS)
        assert same, f"$ {command}{printed}\nbut {named(page)} says\n{expected}"


def _timeless(text: str) -> str:
    return re.sub(r"\b\d{4}-\d\d-\d\dT[\d:.]+Z?", "TIME", re.sub(r"\b[0-9a-f]{8}\b", "ID", text))


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)], ids=named)
def test_commands_and_options_exist(page: Path) -> None:
    outer = click.Context(main, info_name="naively")
    for line in commands(page):
        name, *words = line
        command = main.get_command(outer, name)
        assert command is not None, f"{named(page)}: naively {' '.join(line)}: there is no such command"
        while isinstance(command, click.Group):
            name, *words = words
            found = command.get_command(click.Context(command, parent=outer), name)
            assert found is not None, f"{named(page)}: naively {' '.join(line)}: there is no such command"
            command = found
        _check(command, words, f"{named(page)}: naively {' '.join(line)}")


def _check(command: click.Command, words: list[str], where: str) -> None:
    """Options exist and have values, choices are among those given, nothing that is needed is lacking."""
    context = click.Context(command)
    try:
        given, left, _ = command.make_parser(context).parse_args(list(words))
    except click.UsageError as error:
        pytest.fail(f"{where}: {error.format_message()}")
    assert not left, f"{where}: {left} is too much"
    if "help" in given or "…" in words:
        return
    for parameter in command.params:
        value = given.get(parameter.name or "")
        missing = value is None or value == () or not isinstance(value, (str, int, tuple, list, bool))
        assert not (parameter.required and missing), f"{where}: lacks {parameter.name}"
        if isinstance(parameter.type, click.Choice) and isinstance(value, str):
            assert value in parameter.type.choices, f"{where}: {value}"


def test_sessions_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```console\n$ cat > a <<END\nx\nEND\n$ cat a\nx\n```\n    cat a | naively log a.naively | head  # all\n"
    )
    assert sessions(page) == [("cat > a <<END\nx\nEND\n", ""), ("cat a\n", "x\n")]
    assert commands(page) == [["log", "a.naively"]]
