"""Shell in README and docs: what begins with `$` is run and prints what the page says; other lines name real commands.

When a change of what is printed is meant, `python tools/doc_sessions.py` writes it into the pages.
"""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import click
import pytest
from doc_sessions import PAGES, ROOT, run, steps

from naively.cli.main import main


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def commands(page: Path) -> list[list[str]]:
    """What follows `naively` in lines of shell: after `$` in sessions, at the start of indented lines, and in pipes."""
    lines = re.findall(r"^(?:\$ |    )((?:[^\n]+ \| )?naively [^\n]*)", text_of(page), flags=re.M)
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
@pytest.mark.parametrize("page", [page for page in PAGES if steps(text_of(page))], ids=named)
def test_sessions_print_what_the_page_says(page: Path, tmp_path: Path) -> None:
    for step, printed, same in run(text_of(page), tmp_path):
        assert same, f"$ {step.command}{printed}\nbut {named(page)} says\n{step.expected}"


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
    text = "```console\n$ cat > a <<END\nx\nEND\n$ cat a\nx\n```\n    cat a | naively log a.naively | head  # all\n"
    assert [(step.command, step.expected) for step in steps(text)] == [
        ("cat > a <<END\nx\nEND\n", ""),
        ("cat a\n", "x\n"),
    ]
    assert [text[step.start : step.stop] for step in steps(text)] == ["", "x\n"]
    assert [same for _, _, same in run(text, tmp_path)] == [True, True]
    assert [same for _, _, same in run(text.replace("a\nx", "a\ny"), tmp_path)] == [True, False]
    page = tmp_path / "page.md"
    page.write_text(text)
    assert commands(page) == [["log", "a.naively"]]
