"""The families that a name stands for: ours, those of installed packages, and those that a program registers.

A package offers its families by the entry point group `naively.families`:

    [project.entry-points."naively.families"]
    Geometric = "my_package.families:Geometric"
"""

from __future__ import annotations

from dataclasses import is_dataclass
from functools import cache
from inspect import isabstract
from typing import TYPE_CHECKING, TypeVar

from naively.errors import InputError
from naively.families.base import Family
from naively.statistics import register_statistic

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "naively.families"

_F = TypeVar("_F", bound=type[Family])
_REGISTERED: dict[str, type[Family]] = {}


def register(family: _F) -> _F:
    """Make a family known by its name, so that models with it can be saved and loaded.

    Parameters
    ----------
    family
        A frozen dataclass that is a subclass of `Family`. Its statistic is registered too.

    Returns
    -------
    The same class, so that `register` can be used as a decorator.
    """
    name = family.__name__
    if not (isinstance(family, type) and issubclass(family, Family) and is_dataclass(family)) or isabstract(family):
        raise InputError(f"{name} is not a complete family: it needs @dataclass, statistic, estimate, log_likelihood.")
    if _REGISTERED.get(name, family) is not family:
        raise InputError(f"a family {name!r} is registered already ({_REGISTERED[name].__module__}): rename one.")
    register_statistic(family.statistic)
    _REGISTERED[name] = family
    return family


def family_named(name: str) -> type[Family] | None:
    """Return the family of this name, or None; entry points are loaded when they are needed."""
    if name not in _REGISTERED and name in _entry_points():
        register(_entry_points()[name].load())
    return _REGISTERED.get(name)


def family_names() -> list[str]:
    """Return the names of all families that can be found."""
    return sorted({*_REGISTERED, *_entry_points()})


@cache
def _entry_points() -> dict[str, EntryPoint]:
    from importlib.metadata import entry_points  # takes as long to import as all families

    return {point.name: point for point in entry_points(group=GROUP)}
