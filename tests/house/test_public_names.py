"""Public names exist, are sorted and documented; every family has an example that runs."""

import doctest
import inspect
import subprocess
import sys

import pytest

import naively

FAMILIES = [
    getattr(naively, name)
    for name in naively.__all__
    if inspect.isclass(getattr(naively, name)) and issubclass(getattr(naively, name), naively.Family)
]


def test_sorted() -> None:
    assert naively.__all__ == sorted(naively.__all__)


@pytest.mark.parametrize("name", naively.__all__)
def test_documented(name: str) -> None:
    documented = inspect.getdoc(getattr(naively, name))
    assert documented
    assert not documented.startswith(f"{name}("), "the signature of a dataclass is not documentation"


@pytest.mark.parametrize("family", [f for f in FAMILIES if f is not naively.Family])
def test_every_family_has_an_example(family: type[naively.Family]) -> None:
    examples = doctest.DocTestFinder(recurse=False).find(family, module=inspect.getmodule(family))
    assert any(test.examples for test in examples)


@pytest.mark.parametrize("name", ["checks", "mail", "plot", "server", "spark"])
def test_a_folder_is_an_attribute_of_the_package(name: str) -> None:
    assert subprocess.run([sys.executable, "-c", f"import naively; naively.{name}"], check=False).returncode == 0
