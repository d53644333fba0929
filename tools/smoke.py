"""Use an installed naively once, from a table to a decision, in Python and in the shell.

It needs nothing but the package and its dependencies, so that it can run on every wheel. Usage: python tools/smoke.py
"""

import json
import os
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import naively

COMMAND = Path(sysconfig.get_path("scripts")) / ("naively.exe" if os.name == "nt" else "naively")
TEXTS = [
    "cheap pills now",
    "lunch at noon?",
    "cheap offer, buy now",
    "see you at lunch",
    "buy cheap pills",
    "noon it is",
]
LABELS = ["spam", "ham"] * 3


def use_from_python(folder: Path) -> None:
    """Fit, predict, explain, save, load, update and forget."""
    model = naively.fit(TEXTS, LABELS)
    assert model.predict(["a cheap lunch"]).tolist() == ["spam"]
    assert "cheap" in str(model.explain(["a cheap lunch"])[0])
    before = model.posterior(["a cheap lunch"]).tolist()
    model.save(folder / "spam.naively")
    ledger = naively.open(folder / "spam.naively")
    entry = ledger.update(["cheap lunch offer"], ["ham"])
    ledger.undo(entry.id)
    assert naively.load(folder / "spam.naively").posterior(["a cheap lunch"]).tolist() == before
    numbers = [[i // 4 + 0.5, float(i % 7)] for i in range(200)]
    classes = ["low" if i < 100 else "high" for i in range(200)]
    assert naively.fit(numbers, classes).predict([[3.5, 1.0]]).tolist() == ["low"]


def run(*arguments: str, folder: Path) -> str:
    """Return what a command prints."""
    done = subprocess.run([COMMAND, *arguments], cwd=folder, check=False, capture_output=True, encoding="utf-8")
    if done.returncode:
        sys.exit(f"naively {' '.join(arguments)}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout


def use_from_shell(folder: Path) -> None:
    """Run the commands that most users need, on a table with numbers, categories and missing values."""
    rows = [f"{i % 60},{'red' if i % 3 else ''},{'yes' if i % 60 > 30 else 'no'}" for i in range(240)]
    (folder / "table.csv").write_text("\n".join(["age,colour,answer", *rows]) + "\n", encoding="utf-8")
    run("fit", "table.csv", "--target", "answer", "-o", "model.naively", folder=folder)
    run("predict", "model.naively", "table.csv", "--proba", "-o", "out.csv", folder=folder)
    assert len((folder / "out.csv").read_text(encoding="utf-8").splitlines()) == 241
    assert json.loads(run("evaluate", "model.naively", "table.csv", "--json", folder=folder))
    assert "age" in run("explain", "model.naively", "table.csv", "--row", "1", folder=folder)
    assert "age" in run("show", "model.naively", folder=folder)
    run("update", "model.naively", "table.csv", folder=folder)
    assert run("log", "model.naively", folder=folder)


def main() -> None:
    """Use the package in a temporary folder."""
    os.environ["PYTHONUTF8"] = "1"
    with tempfile.TemporaryDirectory() as name:
        use_from_python(Path(name))
        use_from_shell(Path(name))
    print(f"naively {naively.__version__} works on Python {sys.version.split()[0]}: {Path(naively.__file__).parent}")


if __name__ == "__main__":
    main()
