"""Families as JSON: the name and the fields, so that schemas can be read, stored and compared outside Python.

A tuple becomes a list, a `Dirichlet` a list of pairs, because its keys may be numbers or booleans.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import InitVar, fields
from functools import lru_cache
from inspect import signature
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from naively.data.names import listed, nearest
from naively.data.plain import JsonObject
from naively.errors import InputError
from naively.families import Family, family_named, family_names
from naively.priors import Dirichlet

# Names of classes and fields that differ in files, which keep the names that they were first written with.
STORED_NAMES: Mapping[str, str] = {
    "Binned": "Numeric",
    "AutoNumber": "AnyNumber",
    "AutoString": "AnyValue",
    "AutoBoolean": "AnyTruth",
    "NoValuesYet": "Undecided",
    "var_smoothing": "added",
    "pool_zero_variance": "borrow",
}
CURRENT_NAMES = {stored: name for name, stored in STORED_NAMES.items()}


# Settings that the first files did not have; they are written only if they differ.
OMITTED = {"missing": "skip", "pooled_rows": 0.0, "window": None, "min_rows": 0}


def family_to_json(family: Family) -> JsonObject:
    """Return the name and the fields of a family.

    >>> from naively import Poisson
    >>> family_to_json(Poisson(a=2))
    {'family': 'Poisson', 'a': 2, 'b': 1.0}
    """
    name = type(family).__name__
    if family_named(name) is not type(family):
        raise InputError(
            f"{name} is not a registered family, so a model with it cannot be written to a file: "
            f"call naively.register({name})."
        )
    settings = {f.name: getattr(family, f.name) for f in fields(family) if f.init}
    settings = {key: value for key, value in settings.items() if key not in OMITTED or value != OMITTED[key]}
    plain = {STORED_NAMES.get(key, key): _plain(f"{name}({key}=…)", value) for key, value in settings.items()}
    return {"family": STORED_NAMES.get(name, name)} | plain


def _plain(where: str, value: Any) -> Any:
    """Return a field as JSON has it."""
    if isinstance(value, Dirichlet):
        return {"dirichlet": _pairs(where, value.alpha), "other": value.other}
    if isinstance(value, Family):
        return family_to_json(value)
    if isinstance(value, Mapping):
        return {"pairs": _pairs(where, value)}
    if isinstance(value, tuple):
        return [_plain(where, item) for item in value]
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    raise InputError(f"{where} is a {type(value).__name__}, which cannot be written to a file: only plain values can.")


def _pairs(where: str, mapping: Mapping[Any, Any]) -> list[list[Any]]:
    return [[_plain(where, key), _plain(where, value)] for key, value in mapping.items()]


def family_from_json(data: object) -> Family:
    """Return the family of a name and fields; refuse anything else.

    >>> family_from_json({"family": "Poisson", "a": 2, "b": 1.0})
    Poisson(a=2, b=1.0)
    """
    name = data.get("family") if isinstance(data, dict) else None
    family = family_named(CURRENT_NAMES.get(name, name)) if isinstance(name, str) else None
    if family is None or not isinstance(data, dict):
        known = ", ".join(STORED_NAMES.get(name, name) for name in family_names())
        raise InputError(f"{_short(data)} is not a family: expected one of {known}.")
    try:
        fields_of_family = {str(key): value for key, value in data.items() if key != "family"}
        settings = {CURRENT_NAMES.get(key, key): _frozen(value) for key, value in fields_of_family.items()}
        check_settings(family, settings)
        return family(**settings)
    except (TypeError, ValueError, AttributeError) as error:
        raise InputError(f"{_short(data)} is not a family with valid fields: {error}") from None


def check_settings(family: type[Family], settings: Mapping[str, object]) -> None:
    """Refuse a setting that a family does not have, and a value of another type than it is declared to have."""
    possible = _names(family)
    for name, value in settings.items():
        if name not in possible:
            near = nearest(name, possible)
            hint = f" Did you mean {near}?" if near else ""
            raise InputError(
                f"{family.__name__} has no setting {name!r}; its settings are {listed(possible, 20)}.{hint}"
            )
        wanted = _types(family)[name]
        if not _is_of(value, wanted.type if isinstance(wanted, InitVar) else wanted):
            type_name = (
                wanted.__name__ if isinstance(wanted, type) else str(wanted).replace("typing.Literal", "one of ")
            )
            raise InputError(f"{family.__name__}({name}={_short(value)}): {name} is {type_name}.")


@lru_cache(maxsize=64)
def _names(family: type[Family]) -> tuple[str, ...]:
    return tuple(signature(family).parameters)


@lru_cache(maxsize=64)
def _types(family: type[Family]) -> JsonObject:
    return get_type_hints(family)


def _is_of(value: object, wanted: Any) -> bool:
    """Return whether a value is of the type that a field is declared to have; a function never is.

    >>> _is_of((1, 2), tuple[int, int]), _is_of((1,), tuple[int, int]), _is_of("1", int | None)
    (True, False, False)
    """
    parts = get_args(wanted)
    if wanted is Any:
        return True  # pseudo-counts in one of their forms, which the family checks
    if wanted is float:
        return isinstance(value, (int, float)) and type(value) is not bool and abs(value) <= sys.float_info.max
    if get_origin(wanted) is Literal:
        return value in parts
    if get_origin(wanted) in (Union, UnionType):
        return any(_is_of(value, part) for part in parts)
    if get_origin(wanted) is tuple:
        each = parts[:1] * len(value) if isinstance(value, tuple) and parts[-1] is ... else parts
        return isinstance(value, tuple) and len(value) == len(each) and all(map(_is_of, value, each))
    return type(value) is wanted


def _frozen(value: Any) -> Any:
    """Return a value of JSON as a field has it."""
    if isinstance(value, list):
        return tuple(_frozen(item) for item in value)
    if isinstance(value, dict) and set(value) == {"dirichlet", "other"}:
        return Dirichlet(_mapping(value["dirichlet"]), value["other"])
    if isinstance(value, dict) and set(value) == {"pairs"}:
        return _mapping(value["pairs"])
    if isinstance(value, dict) and "family" in value:
        return family_from_json(value)
    if isinstance(value, dict):
        raise TypeError(f"{_short(value)} is not a value of a field")
    return value


def _mapping(pairs: Any) -> dict[Any, Any]:
    return {_frozen(key): _frozen(value) for key, value in pairs}


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "…"
