"""Check what a wheel or a source distribution holds.

A wheel holds the package with its types, data and compiled core, and the licence. A source distribution holds what it
takes to build a wheel. Neither holds tests, twins, data sets of others, or a path of the machine that made it.

Usage: python tools/check_dist.py dist/*
"""

import sys
import tarfile
import zipfile
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parents[1]
PACKAGE = ("naively/__init__.py", "naively/py.typed", "naively/_core.pyi", "naively/demos/federalist_counts.json.gz")
SOURCES = ("LICENSE", "README.md", "CHANGELOG.md", "CMakeLists.txt", "pyproject.toml", "PKG-INFO")
PACKAGE_SUFFIXES = (".py", ".html", ".css", ".js", ".svg")
FORBIDDEN_FOLDERS = {"tests", "twins", "benchmarks", "tools", "docs", "build", "dist", "__pycache__", ".github", ".ci"}
FORBIDDEN_SUFFIXES = {".pyc", ".naively", ".csv", ".parquet", ".sqlite", ".o"}
MACHINE_PATHS = (str(ROOT).encode(), str(Path.home()).encode() + b"/")
Files = dict[str, bytes]


def problems(path: Path) -> list[str]:
    """Return a line for each file that is missing from a distribution or must not be in it."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as archive:
            return _wheel_problems({name: archive.read(name) for name in archive.namelist()})
    with tarfile.open(path) as archive_:
        files = {member.name: archive_.extractfile(member) for member in archive_.getmembers() if member.isfile()}
        return _sdist_problems({name.partition("/")[2]: file.read() for name, file in files.items() if file})


def _wheel_problems(files: Files) -> list[str]:
    sources = (path.relative_to(ROOT / "src").as_posix() for path in _package_files())
    lines = _missing({*PACKAGE, *sources}, files) + _unwanted(files, {"core"}, {".cpp", ".hpp", ".so.dSYM"})
    if not any(name.startswith("naively/_core.") and name.endswith((".so", ".pyd")) for name in files):
        lines.append("missing: the compiled core")
    if not any(name.endswith(".dist-info/licenses/LICENSE") for name in files):
        lines.append("missing: the licence")
    return lines


def _sdist_problems(files: Files) -> list[str]:
    sources = [*_package_files(), *ROOT.glob("core/**/*.?pp")]
    required = {
        *SOURCES,
        *(f"src/{name}" for name in PACKAGE),
        *(path.relative_to(ROOT).as_posix() for path in sources),
    }
    return _missing(required, files) + _unwanted(files, set(), {".so", ".pyd"})


def _package_files() -> list[Path]:
    return [path for suffix in PACKAGE_SUFFIXES for path in (ROOT / "src").rglob(f"*{suffix}")]


def _missing(required: set[str], files: Files) -> list[str]:
    return [f"missing: {name}" for name in sorted(required - files.keys())]


def _unwanted(files: Files, folders: set[str], suffixes: set[str]) -> list[str]:
    lines = []
    for name, content in sorted(files.items()):
        path = PurePosixPath(name)
        if path.suffix in FORBIDDEN_SUFFIXES | suffixes or (FORBIDDEN_FOLDERS | folders).intersection(path.parts):
            lines.append(f"must not be in it: {name}")
        lines += [f"{name} names {place.decode()}" for place in MACHINE_PATHS if place in content]
    return lines


if __name__ == "__main__":
    report = [f"{path}: {line}" for path in sys.argv[1:] for line in problems(Path(path))]
    print("\n".join(report) or f"{', '.join(Path(p).name for p in sys.argv[1:])}: hold what they should")
    sys.exit(bool(report))
