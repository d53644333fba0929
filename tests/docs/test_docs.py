"""docs/equations.md lists every equation and every test of tests/equations, and names nothing that does not exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import naively

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "equations.md").read_text(encoding="utf-8")
TESTS = ROOT / "tests" / "equations"
NAMED = set(re.findall(r"`(\w+\.py)::(\w+)`", PAGE))


def section(title: str) -> str:
    return PAGE.split(f"\n## {title}")[1].split("\n## ")[0]


def numbers(text: str) -> list[str]:
    """Return the equation numbers at the start of the rows of a table."""
    return re.findall(r"^\| \(([\d.]+)\)", text, flags=re.MULTILINE)


def test_every_equation_is_listed() -> None:
    assert numbers(section("Document 000")) == [str(n) for n in range(1, 24)]
    assert numbers(section("Document 004")) == [f"5.{n}" for n in range(1, 40)]


def test_every_row_names_a_test() -> None:
    tables = PAGE[PAGE.index("\n## Document 000") :]
    rows = [line for line in tables.splitlines() if line.startswith("| ") and not line.endswith("Checked by |")]
    assert len(rows) > 100
    assert not [row for row in rows if "::test_" not in row]


@pytest.mark.parametrize("file", sorted(path.name for path in TESTS.glob("test_*.py")))
def test_page_and_tests_agree(file: str) -> None:
    """The page names each test of a file, and no others."""
    tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
    tests = {f.name for f in ast.walk(tree) if isinstance(f, ast.FunctionDef) and f.name.startswith("test_")}
    assert {test for named_in, test in NAMED if named_in == file} == tests


def test_files_exist() -> None:
    assert {file for file, _ in NAMED} == {path.name for path in TESTS.glob("test_*.py")}


def test_names_exist() -> None:
    """`Model.posterior`, `Categorical(shared=True)`, …: all names in code are part of the package."""
    names = re.findall(r"`([A-Z]\w*)(?:\.(\w+))?(?:\([^`]*\))?`", PAGE)
    assert len(names) > 100
    for name, member in names:
        public = getattr(naively, name)
        assert not member or hasattr(public, member), f"{name}.{member}"
