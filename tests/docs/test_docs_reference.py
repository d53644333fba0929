"""The reference pages list every command and every public name; each page is in the table of contents."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import click
import reference_pages

import naively
from naively.cli.main import COMMANDS, main

DOCS = Path(__file__).parents[2] / "docs"


def test_every_command_with_every_option() -> None:
    page = reference_pages.commands()
    for name in COMMANDS:
        command = main.get_command(click.Context(main), name)
        assert command is not None
        part = page.split(f"\n## naively {name}\n")[1].split("\n## ")[0]
        assert f"Usage: naively {name} " in part
        options = [p.opts[-1] for p in command.params if isinstance(p, click.Option)]
        assert not [option for option in options if option not in part]


def test_every_name_once() -> None:
    titles = re.findall(r"^### naively\.(\w+)$", reference_pages.names(), flags=re.MULTILINE)
    assert sorted(titles) == sorted(naively.__all__)


def test_methods_have_headings_to_link_to() -> None:
    titles = re.findall(r"^#### (\w+\.\w+)$", reference_pages.names(), flags=re.MULTILINE)
    assert len(titles) == len(set(titles))
    assert {"Model.predict", "Model.log_prior", "Ledger.undo", "NaiveBayes.predict_proba"} <= set(titles)


def test_signatures_are_as_written() -> None:
    page = reference_pages.names()
    assert "Poisson(a: float = 0.5, b: float = 1.0, *, missing: Missing = 'skip')" in page
    assert "    **settings: Any,\n) -> Self" in page
    assert "```python\nModel.log_prior\n```" in page  # a property


def test_examples_and_equations_are_not_changed() -> None:
    markdown = reference_pages.as_markdown("Add.\n\n    s = a + b      (1)\n\n>>> 1 + 1\n2")
    assert markdown == "Add.\n\n```text\ns = a + b      (1)\n```\n\n```python\n>>> 1 + 1\n2\n```"


def test_numpydoc_sections_become_lists() -> None:
    markdown = reference_pages.as_markdown(
        "Add.\n\nParameters\n----------\na : int\n    One\n    number.\nb\n    More."
    )
    assert markdown == "Add.\n\n**Parameters**\n\n- `a` (int): One number.\n- `b`: More."


def test_every_page_is_in_the_contents() -> None:
    for folder in (DOCS, DOCS / "families", DOCS / "decisions"):
        contents = (folder / "index.md").read_text(encoding="utf-8").split("```{toctree}", 1)[1]
        missing = [p.stem for p in folder.glob("*.md") if p.stem != "index" and f"\n{p.stem}\n" not in contents]
        assert not missing, f"{missing} is not in a toctree of {folder.name}/index.md"


def test_decisions_are_numbered_without_gaps() -> None:
    names = sorted(path.stem for path in (DOCS / "decisions").glob("0*.md"))
    assert [name[:4] for name in names] == [f"{n:04}" for n in range(1, len(names) + 1)]


def test_links_lead_to_pages() -> None:
    for page in DOCS.rglob("*.md"):
        for link in re.findall(r"\]\(([^)#:\s]+)(?:#[\w-]+)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), f"{page.name}: {link}"


def test_every_module_is_in_how_it_works() -> None:
    page = (DOCS / "how_it_works.md").read_text(encoding="utf-8")
    package = Path(naively.__file__).parent
    modules = [p.name + "/" for p in package.iterdir() if (p / "__init__.py").exists()]
    modules += [p.name for p in package.glob("*.py") if not p.name.startswith("_")]
    assert not [module for module in modules if f"`{module}`" not in page]


def defined_names(path: Path) -> set[str]:
    """Return the functions of a file, and its methods as `Class.method`."""
    body = ast.parse(path.read_text(encoding="utf-8")).body
    classes = [node for node in body if isinstance(node, ast.ClassDef)]
    methods = {f"{c.name}.{node.name}" for c in classes for node in c.body if isinstance(node, ast.FunctionDef)}
    return {node.name for node in body if isinstance(node, ast.FunctionDef)} | methods


def test_walks_name_functions_that_exist() -> None:
    page = (DOCS / "how_it_works.md").read_text(encoding="utf-8").split("## Walks")[1].split("\n## ")[0]
    steps = re.findall(r"`([\w/]+\.py)`: ((?:`[\w.]+`(?:, )?)+)", page)
    assert len(steps) > 30
    for file, names in steps:
        missing = set(re.findall(r"`([\w.]+)`", names)) - defined_names(Path(naively.__file__).parent / file)
        assert not missing, f"{file} has no {', '.join(sorted(missing))}"
