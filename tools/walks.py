"""Print the functions of the package that common calls pass through, in the order in which they are first called.

    python tools/walks.py            # how many functions in how many files, for each walk
    python tools/walks.py update     # the functions of one walk, file by file

A walk is traced on its second run, so that imports and caches do not count. Comprehensions and lambdas do not count.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pandas as pd

import naively
from naively.cli.main import main

PACKAGE = Path(naively.__file__).parent
N_ROWS = 400


class Walk:
    """The functions of the package that were called, with their files."""

    def __init__(self) -> None:
        """Begin with no function."""
        self.functions: dict[tuple[str, str], int] = {}

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        """Note a call."""
        code = frame.f_code
        if event != "call" or code.co_name.startswith("<") or not code.co_filename.startswith(str(PACKAGE)):
            return
        key = os.path.relpath(code.co_filename, PACKAGE), code.co_qualname
        self.functions[key] = self.functions.get(key, 0) + 1

    @property
    def n_files(self) -> int:
        """Number of files."""
        return len({file for file, _ in self.functions})


def trace(act: Callable[[], Any]) -> Walk:
    """Return the walk of the second run of an act."""
    act()
    walk = Walk()
    threading.setprofile(walk)
    sys.setprofile(walk)
    try:
        act()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return walk


def command(*arguments: str) -> None:
    """Run a command without its output."""
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        out, sys.stdout, err, sys.stderr = sys.stdout, nowhere, sys.stderr, nowhere
        try:
            main(list(arguments), standalone_mode=False)
        finally:
            sys.stdout, sys.stderr = out, err


def walks(folder: Path) -> dict[str, Callable[[], Any]]:
    """Return the acts to trace, by name."""
    random = np.random.default_rng(0)
    group = random.integers(0, 2, N_ROWS)
    frame = pd.DataFrame(
        {
            "age": random.normal(40 + 10 * group, 10),
            "colour": random.choice(["red", "green", "blue"], N_ROWS),
            "member": random.random(N_ROWS) < 0.3 + 0.4 * group,
            "visits": random.poisson(2 + group),
            "target": np.where(group == 1, "yes", "no"),
        }
    )
    frame.to_csv(folder / "data.csv", index=False)
    model, texts = str(folder / "model.naively"), ["a cheap lunch", "cheap pills now", "see you at lunch"]
    command("fit", str(folder / "data.csv"), "--target", "target", "-o", model)
    filter_model = naively.fit(texts, ["ham", "spam", "ham"])
    return {
        "fit": lambda: naively.fit(frame, "target", tune=False),
        "tuned fit": lambda: naively.fit(frame, "target"),
        "predict": lambda: filter_model.predict(["a cheap lunch"]),
        "predict file": lambda: command(
            "predict", model, str(folder / "data.csv"), "--proba", "-o", str(folder / "out.csv"), "--force"
        ),
        "update": lambda: command("update", model, str(folder / "data.csv")),
    }


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        for title, act in walks(Path(name)).items():
            if len(sys.argv) > 1 and sys.argv[1] != title:
                continue
            walk = trace(act)
            print(f"{title}: {len(walk.functions)} functions in {walk.n_files} files")
            if len(sys.argv) > 1:
                for (file, function), n_calls in walk.functions.items():
                    print(f"  {file:40} {function}" + (f" (called {n_calls} times)" if n_calls > 1 else ""))
