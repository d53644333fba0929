"""Check what a wheel holds: the package with its types, data and compiled core, and no tests, twins or C++.

Usage: python tools/check_wheel.py dist/naively-*.whl
"""

import sys
import zipfile
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parents[1]
REQUIRED = ("naively/__init__.py", "naively/py.typed", "naively/_core.pyi", "naively/demos/federalist_counts.json.gz")
SOURCES = (".py", ".html", ".css", ".js", ".svg")
FORBIDDEN_FOLDERS = {"tests", "twins", "core", "benchmarks", "tools", "__pycache__"}
FORBIDDEN_SUFFIXES = {".cpp", ".hpp", ".pyc", ".naively"}


def problems(wheel: Path) -> list[str]:
    """Return a line for each file that is missing from a wheel or must not be in it."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    sources = [path for suffix in SOURCES for path in (ROOT / "src").rglob(f"*{suffix}")]
    required = {*REQUIRED, *(path.relative_to(ROOT / "src").as_posix() for path in sources)}
    lines = [f"missing: {name}" for name in sorted(required - names)]
    for name in sorted(names):
        path = PurePosixPath(name)
        if path.suffix in FORBIDDEN_SUFFIXES or FORBIDDEN_FOLDERS.intersection(path.parts):
            lines.append(f"must not be in the wheel: {name}")
    if not any(name.startswith("naively/_core.") and name.endswith((".so", ".pyd")) for name in names):
        lines.append("missing: the compiled core")
    return lines


if __name__ == "__main__":
    report = [f"{wheel}: {line}" for wheel in sys.argv[1:] for line in problems(Path(wheel))]
    print("\n".join(report) or f"{len(sys.argv) - 1} wheel(s) hold what they should")
    sys.exit(bool(report))
