"""Shell sessions in the documentation: what stands after `$` is run, and what is printed is what the page says.

A block fenced as `console` is a session: each line after `$ ` is given to a shell, in one empty folder per page, and
what it prints is compared with what follows as doctests are: any space is like another, `...` stands for anything.
Times, and the ids of entries of a model file, are never the same twice: any stands for any.

`python tools/doc_sessions.py` runs them all and writes what is printed into the pages, but for answers with `...`,
which it tells. Read the difference before you keep it.
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
    """A command with its here-document, what the page says that it prints, and where in the page that stands."""

    command: str
    expected: str
    start: int
    stop: int


def steps(text: str) -> list[Step]:
    """The commands of a page, in order."""
    found = []
    for block in re.finditer(r"^```console\n(.*?)^```", text, flags=re.M | re.S):
        starts = [block.start(1) + m.end() for m in re.finditer(r"^\$ ", block[1], flags=re.M)]
        for start, following in zip(starts, [*(s - 2 for s in starts[1:]), block.end(1)], strict=True):
            part = text[start:following]
            here = re.match(r"[^\n]*<<'?(\w+)'?\n.*?^\1\n", part, flags=re.M | re.S)
            end = here.end() if here else part.index("\n") + 1
            found.append(Step(part[:end], part[end:], start + end, following))
    return found


def run(text: str, folder: Path) -> Iterator[tuple[Step, str, bool]]:
    """Each step of a page with what it printed, and whether that is what the page says."""
    beside = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    settings = {**os.environ, "PATH": beside, "COLUMNS": "120", "TERM": "dumb"}
    shell = shutil.which("bash") or "sh"
    for step in steps(text):
        told = subprocess.run([shell, "-c", step.command], cwd=folder, env=settings, capture_output=True, text=True)
        printed = told.stderr + told.stdout
        same = doctest.OutputChecker().check_output(_timeless(step.expected), _timeless(printed), FLAGS)
        yield step, printed, same


def _timeless(text: str) -> str:
    return re.sub(r"\b\d{4}-\d\d-\d\dT[\d:.]+Z?", "TIME", re.sub(r"\b[0-9a-f]{8}\b", "ID", text))


def rewrite(page: Path) -> None:
    """Write what is printed into a page, and tell where that has to be done by hand."""
    text = page.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        told = list(run(text, Path(folder)))
    for step, printed, same in reversed(told):
        if same:
            continue
        if "..." in step.expected:
            print(f"{page.relative_to(ROOT)}: $ {step.command}{printed}")
        else:
            clean = "\n".join(line.rstrip() for line in printed.rstrip().splitlines())
            text = text[: step.start] + clean + "\n" + text[step.stop :]
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    for known in PAGES:
        if steps(known.read_text(encoding="utf-8")):
            rewrite(known)
