"""Shell commands in README and docs: those after `$` print what the page shows; all others exist with their options.

If a change of the output is intended, `python tools/doc_sessions.py` writes it into the pages.
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


def page_name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def commands(page: Path) -> list[list[str]]:
    """Return the words after `naively` in shell commands: after `$`, in indented lines, and in pipes."""
    lines = re.findall(r"^(?:\$ |    )((?:[^\n]+ \| )?naively [^\n]*)", text_of(page), flags=re.M)
    commands = []
    for line in lines:
        words = shlex.shlex(line, posix=True, punctuation_chars="|&;<>")
        words.whitespace_split = True
        parts: list[list[str]] = [[]]
        for word in words:
            parts[-1].append(word) if not set(word) <= set("|&;<>") else parts.append([])
        commands += [part[1:] for part in parts if part[:1] == ["naively"]]
    return commands


@pytest.mark.skipif(sys.platform == "win32", reason="the sessions are for a POSIX shell")
@pytest.mark.parametrize("page", [page for page in PAGES if steps(text_of(page))], ids=page_name)
def test_sessions_print_what_the_page_shows(page: Path, tmp_path: Path) -> None:
    for step, printed, is_same in run(text_of(page), tmp_path):
        assert is_same, f"$ {step.command}{printed}\nbut {page_name(page)} shows\n{step.expected}"


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)], ids=page_name)
def test_commands_and_options_exist(page: Path) -> None:
    outer = click.Context(main, info_name="naively")
    for line in commands(page):
        name, *words = line
        command = main.get_command(outer, name)
        assert command is not None, f"{page_name(page)}: naively {' '.join(line)}: no such command"
        while isinstance(command, click.Group):
            name, *words = words
            subcommand = command.get_command(click.Context(command, parent=outer), name)
            assert subcommand is not None, f"{page_name(page)}: naively {' '.join(line)}: no such command"
            command = subcommand
        _check(command, words, f"{page_name(page)}: naively {' '.join(line)}")


def _check(command: click.Command, words: list[str], where: str) -> None:
    """Assert that options exist and have valid values, and that no required argument is missing."""
    context = click.Context(command)
    try:
        given, left, _ = command.make_parser(context).parse_args(list(words))
    except click.UsageError as error:
        pytest.fail(f"{where}: {error.format_message()}")
    assert not left, f"{where}: {left} is not expected"
    if "help" in given or "…" in words:
        return
    for parameter in command.params:
        value = given.get(parameter.name or "")
        missing = value is None or value == () or not isinstance(value, (str, int, tuple, list, bool))
        assert not (parameter.required and missing), f"{where}: {parameter.name} is missing"
        if isinstance(parameter.type, click.Choice) and isinstance(value, str):
            assert value in parameter.type.choices, f"{where}: {value}"


def test_steps_of_a_session(tmp_path: Path) -> None:
    text = "```console\n$ cat > a <<END\nx\nEND\n$ cat a\nx\n```\n    cat a | naively log a.naively | head  # all\n"
    assert [(step.command, step.expected) for step in steps(text)] == [
        ("cat > a <<END\nx\nEND\n", ""),
        ("cat a\n", "x\n"),
    ]
    assert [text[step.start : step.stop] for step in steps(text)] == ["", "x\n"]
    assert [is_same for _, _, is_same in run(text, tmp_path)] == [True, True]
    assert [is_same for _, _, is_same in run(text.replace("a\nx", "a\ny"), tmp_path)] == [True, False]
    page = tmp_path / "page.md"
    page.write_text(text)
    assert commands(page) == [["log", "a.naively"]]
