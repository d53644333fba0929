"""Run the shell sessions of the documentation, and compare their output with the pages.

A block fenced as `console` is a session: each line after `$ ` is run by a shell, in one empty folder per page. Its
output is compared with the following lines like a doctest: any white space matches any other, and `...` matches
anything. Times and the ids of entries of a model file match any others.

`python tools/doc_sessions.py` runs all sessions and writes their output into the pages. It prints outputs that have
`...` on the page, which must be edited by hand. Read the difference before you commit it.
"""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True)
class Step:
    """A command with its here-document, the output on the page, and the position of that output."""

    command: str
    expected: str
    start: int
    stop: int


def steps(text: str) -> list[Step]:
    """Return the commands of a page, in order."""
    commands = []
    for block in re.finditer(r"^```console\n(.*?)^```", text, flags=re.M | re.S):
        starts = [block.start(1) + m.end() for m in re.finditer(r"^\$ ", block[1], flags=re.M)]
        for start, following in zip(starts, [*(s - 2 for s in starts[1:]), block.end(1)], strict=True):
            part = text[start:following]
            here = re.match(r"[^\n]*<<'?(\w+)'?\n.*?^\1\n", part, flags=re.M | re.S)
            end = here.end() if here else part.index("\n") + 1
            commands.append(Step(part[:end], part[end:], start + end, following))
    return commands


def run(text: str, folder: Path) -> Iterator[tuple[Step, str, bool]]:
    """Yield each step of a page with its output, and whether that is the output on the page."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "COLUMNS": "120", "TERM": "dumb"}
    shell = shutil.which("bash") or "sh"
    for step in steps(text):
        command = [shell, "-c", step.command]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
        printed = done.stderr + done.stdout
        is_same = doctest.OutputChecker().check_output(_without_times(step.expected), _without_times(printed), FLAGS)
        yield step, printed, is_same


def _without_times(text: str) -> str:
    return re.sub(r"\b\d{4}-\d\d-\d\dT[\d:.]+Z?", "TIME", re.sub(r"\b[0-9a-f]{8}\b", "ID", text))


def rewrite(page: Path) -> None:
    """Write the outputs into a page; print those that must be edited by hand."""
    text = page.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        outputs = list(run(text, Path(folder)))
    for step, printed, is_same in reversed(outputs):
        if is_same:
            continue
        if "..." in step.expected:
            print(f"{page.relative_to(ROOT)}: $ {step.command}{printed}")
        else:
            clean = "\n".join(line.rstrip() for line in printed.rstrip().splitlines())
            text = text[: step.start] + clean + "\n" + text[step.stop :]
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    for page in PAGES:
        if steps(page.read_text(encoding="utf-8")):
            rewrite(page)
