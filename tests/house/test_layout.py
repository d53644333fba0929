"""Rules of the layout that the import linter cannot check, read from the source code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "naively"
SOURCES = sorted(PACKAGE.rglob("*.py"))
TOPICS = sorted(path for path in (ROOT / "core").iterdir() if path.is_dir())


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def place(path: Path, line: int) -> str:
    return f"{path.relative_to(PACKAGE)}:{line}"


def folder(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0]


def is_module(name: str) -> bool:
    return (PACKAGE / name).is_dir() or (PACKAGE / f"{name}.py").exists() or (PACKAGE / f"{name}.pyi").exists()


def root_imports(path: Path) -> Iterator[str]:
    """Yield the imports of `naively` itself, or of a name that `naively` forwards, instead of a module."""
    for node in ast.walk(tree(path)):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
        if isinstance(node, ast.Import) and "naively" in names:
            yield place(path, node.lineno)
        if isinstance(node, ast.ImportFrom) and node.module == "naively" and not all(map(is_module, names)):
            yield place(path, node.lineno)


def test_only_demos_import_the_package_itself() -> None:
    """The linter does not see such an import, so it could hide one that goes up a layer."""
    assert not [use for path in SOURCES if folder(path) != "demos" for use in root_imports(path)]


def defined_in(*parts: str) -> set[str]:
    """Return the names of classes that are defined in these folders or modules, errors left out."""
    paths = [path for path in SOURCES if path.relative_to(PACKAGE).as_posix().startswith(parts)]
    nodes = [node for path in paths for node in tree(path).body if isinstance(node, ast.ClassDef)]
    return {node.name for node in nodes if not node.name.endswith(("Error", "Warning"))}


def type_tests(path: Path, classes: set[str]) -> Iterator[str]:
    """Yield calls such as `isinstance(x, Gaussian)` and patterns such as `case Gaussian():`."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            tested = ast.walk(node.args[1]) if node.func.id in ("isinstance", "issubclass") else ()
        elif isinstance(node, ast.MatchClass):
            tested = iter([node.cls])
        else:
            continue
        names = {n.id for n in tested if isinstance(n, ast.Name)} & classes
        if names:
            yield f"{place(path, node.lineno)} tests for {', '.join(sorted(names))}"


def test_no_type_tests_on_families_statistics_or_views() -> None:
    """A family or statistic says what it can do by its methods, so that a new one needs no change elsewhere.

    Two tests are allowed: for `Family`, by which a schema reads what a user passes, and for `Dropped`, which is the
    decision of a family and not a family.
    """
    classes = defined_in("families/", "statistics/", "data/views.py")
    allowed = ("families", "statistics")
    outside = [path for path in SOURCES if folder(path) not in allowed and path != PACKAGE / "data" / "views.py"]
    assert len(classes) > 20
    assert not [use for path in outside for use in type_tests(path, classes - {"Family", "Dropped"})]


def is_private(name: str) -> bool:
    """Return whether a name is private; the names of protocols, such as `__len__` and `_repr_html_`, are not."""
    return name.startswith("_") and not name.endswith("_")


def private_attributes(path: Path) -> set[str]:
    """Return the private names that classes of a file define: methods, fields, and what `self` is given."""
    names = set[str]()
    for class_ in (node for node in ast.walk(tree(path)) if isinstance(node, ast.ClassDef)):
        for node in ast.walk(class_):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                names.add(node.name)
            elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
                names.add(node.id if isinstance(node, ast.Name) else node.attr)
    return {name for name in names if is_private(name)}


def test_private_attributes_stay_in_their_folder() -> None:
    """A private attribute of another object is used only where a class of the same folder defines the name."""
    defined: dict[str, set[str]] = {}
    for path in SOURCES:
        defined.setdefault(folder(path), set()).update(private_attributes(path))
    ours = set().union(*defined.values())
    assert len(ours) > 100
    uses = [
        f"{place(path, node.lineno)} uses {ast.unparse(node)}"
        for path in SOURCES
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Attribute) and node.attr in ours - defined[folder(path)]
    ]
    assert not uses


@pytest.mark.parametrize("topic", TOPICS, ids=lambda path: path.name)
def test_each_folder_of_the_core_has_a_readme(topic: Path) -> None:
    lines = (topic / "README.md").read_text(encoding="utf-8").splitlines()
    assert 4 <= len(lines) <= 40


def test_each_folder_of_the_core_is_its_namespace() -> None:
    for topic in TOPICS:
        for path in topic.glob("*.hpp"):
            text = path.read_text(encoding="utf-8")
            assert topic.name == "bindings" or f"namespace naively::{topic.name}" in text, path.name


COMPILER_CONSTRUCT = re.compile(
    r"__builtin|__attribute__|\basm\b|__GNUC__|__clang__|_MSC_VER|__x86_64__|\[\[gnu|__linux__"
)


def test_constructs_of_one_compiler_are_in_support() -> None:
    sources = (ROOT / "core").rglob("*.?pp")
    users = {path.name for path in sources if COMPILER_CONSTRUCT.search(path.read_text(encoding="utf-8"))}
    assert users == {"compiler.hpp", "vector.hpp", "simd.hpp"}
