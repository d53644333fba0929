"""Infer the schema of a table: the family of each column is given, or follows from the kind of the column.

A family that is given is counted and scores the column. Other columns get an automatic family: what is counted follows
from the kind, and the family that scores the column is chosen from the statistics (`choose.py`).
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from naively.data.kinds import Kind, Use
from naively.data.names import existing_columns, listed, nearest, positions_of, select
from naively.data.table import Table
from naively.errors import InputError, SchemaError
from naively.families import (
    AutoBoolean,
    AutoNumber,
    AutoString,
    Family,
    Identifier,
    Missing,
    Multinomial,
    NoValuesYet,
    Text,
)
from naively.families.registry import family_named, family_names
from naively.schema.family_json import check_settings
from naively.schema.schema import Block, Schema

T = TypeVar("T")

DEFAULTS: Mapping[Use, Family] = {
    "number": AutoNumber(),
    "date": AutoNumber(),
    "boolean": AutoBoolean(),
    "string": AutoString(),
    "text": Text(),
    "identifier": Identifier(),
    "unknown": NoValuesYet(),
}
_CONTENTS: Mapping[Kind, str] = {
    "number": "numbers",
    "boolean": "booleans",
    "string": "text",
    "date": "dates",
    "unknown": "only missing values",
}
_SUITABLE_FAMILIES: Mapping[Kind, str] = {
    "number": "Binned or Gaussian",
    "boolean": "Bernoulli",
    "string": "Categorical or Text",
    "date": "Binned",
    "unknown": "none",
}


@dataclass(frozen=True)
class Automatic:
    """The family that a column gets by default; with `missing="value"`, a missing value in it is evidence."""

    missing: Missing = "skip"


COMMON_FAMILIES = (
    *("Bernoulli", "Categorical", "Multinomial", "Complement", "Gaussian", "LogNormal", "Poisson", "Exponential"),
    *("Binned", "Text"),
)
FamilyLike = Family | type[Family] | Automatic | str
Columns = FamilyLike | Mapping[Any, object]  # a name or a tuple of names → FamilyLike; dicts of families are invariant


def family_of(spec: FamilyLike) -> Family:
    """Return a family given as itself, as its class, by its name, or by its name and settings.

    >>> family_of("poisson"), family_of("Bernoulli(alpha=0)")
    (Poisson(a=0.5, b=1.0), Bernoulli(a=0.0, b=0.0))
    """
    if isinstance(spec, Family):
        return spec
    if isinstance(spec, type) and issubclass(spec, Family):
        return spec()
    name, settings = _name_and_settings(spec) if isinstance(spec, str) else ("", {})
    known = {name.lower(): name for name in family_names()} | {"numeric": "Binned"}
    family = family_named(known[name.lower()]) if name.lower() in known else None
    if family is not None:
        check_settings(family, settings)
        return family(**settings)
    near = nearest(name, COMMON_FAMILIES)
    hint = f" Did you mean {near}?" if near else ""
    raise InputError(f"{spec!r} is not a family: use one of {listed(COMMON_FAMILIES, 20)}.{hint}")


def _name_and_settings(spec: str) -> tuple[str, dict[str, Any]]:
    """Split "Name(setting=value, …)"; values are literals, and no code is run."""
    if "(" not in spec:
        return spec.strip(), {}
    try:
        call = ast.parse(spec.strip(), mode="eval").body
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)) or call.args:
            raise ValueError("no call")
        values = {str(k.arg): ast.literal_eval(k.value) for k in call.keywords if k.arg is not None}
        return call.func.id, {name: tuple(v) if isinstance(v, list) else v for name, v in values.items()}
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        raise InputError(
            f"{spec!r} is not a family: write a name, or a name and settings, as in Bernoulli(alpha=0)."
        ) from None


def with_alpha(family: Family, alpha: float) -> Family:
    """Return a family with this pseudo-count, if it has one for all values or words."""
    return replace(family, alpha=alpha) if hasattr(type(family), "alpha") else family  # type: ignore[call-arg]


def infer(
    table: Table,
    columns: Any = None,
    alpha: float | None = None,
    as_counted: bool = False,
    weight: NDArray[np.float64] | None = None,
) -> Schema:
    """Return the schema of a table.

    Parameters
    ----------
    table
        The table.
    columns
        One family for all columns, or a mapping from a name (or a tuple of names) to a family; other columns get an
        automatic family.
    alpha
        The pseudo-count of columns whose family is not given.
    as_counted
        Whether the given families have counted columns before, so that they are kept as they are.
    weight
        The weight of each row; None is 1.
    """
    defaults = DEFAULTS if alpha is None else {use: with_alpha(family, alpha) for use, family in DEFAULTS.items()}
    if columns is None and table.is_sparse:
        columns = Multinomial() if alpha is None else Multinomial(alpha)
    elif table.common_kind is not None and columns in (None, {}):
        columns = defaults[table.common_kind]
    is_single = columns is not None and not isinstance(columns, Mapping)
    if isinstance(columns, Automatic) or (is_single and family_of(columns).own_block):
        columns, is_single = dict.fromkeys(table.names, columns), False
    every = range(len(table.names))
    if is_single:
        family = family_of(columns)
        return Schema(table.names, (_block(table, every, family),) if len(table.names) else ())
    position = positions_of(table.names)
    given: dict[int, Family] = {}
    joint: list[tuple[Family, list[int]]] = []
    for key, spec in (columns or {}).items():
        positions = _positions(key, position, given)
        if isinstance(spec, Automatic):
            given |= {
                p: replace(defaults[_counted_use(table, p, spec, weight)], missing=spec.missing) for p in positions
            }
            continue
        family = family_of(spec) if as_counted else family_of(spec).counted_as()
        given |= dict.fromkeys(positions, family)
        if family.joint:
            joint.append((family, positions))
    groups = [*group_columns({p: given.get(p) or defaults[table.use(p, weight)] for p in every}), *joint]
    groups.sort(key=lambda group: group[1][0])
    return Schema(table.names, tuple(_block(table, positions, family) for family, positions in groups))


def _counted_use(table: Table, position: int, spec: Automatic, weight: NDArray[np.float64] | None) -> Use:
    """Return the use of a column; an identifier is counted if its missing values are evidence."""
    use = table.use(position, weight)
    return "string" if use == "identifier" and spec.missing == "value" else use


def group_columns(families: Mapping[T, Family]) -> list[tuple[Family, list[T]]]:
    """Return the columns that form a block, with their family; joint families are left out, whose blocks are given."""
    groups: dict[tuple[Family, T | None], list[T]] = {}
    for column, family in families.items():
        if not family.joint:
            groups.setdefault((family, column if family.own_block else None), []).append(column)
    return [(family, columns) for (family, _), columns in groups.items()]


def _positions(key: str | tuple[str, ...], position: Mapping[str, int], families: Mapping[int, Family]) -> list[int]:
    """Return the positions of the columns named by a key, which have no family yet."""
    names = key if isinstance(key, tuple) else (key,)
    unknown = [name for name in names if name not in position]
    if unknown:
        raise SchemaError(
            f"columns= names {unknown[0]!r}, which is not in the data{existing_columns(unknown[0], list(position))}"
        )
    positions = [position[name] for name in names]
    repeated = [name for name in names if position[name] in families]
    if repeated or len(set(positions)) < len(positions):
        raise SchemaError(f"columns= gives {(repeated or list(names))[0]!r} a family twice: name each column once.")
    return positions


def _block(table: Table, positions: Sequence[int], family: Family) -> Block:
    kinds: Kind | tuple[Kind, ...] = table.common_kind or tuple(table.kind(position) for position in positions)
    different = positions[:1] if table.common_kind else positions
    refused = [position for position in different if not family.accepts(table.kind(position))]
    if family.missing not in get_args(Missing) or (family.joint and family.missing != "skip"):
        raise SchemaError(
            f'missing={family.missing!r} for column {table.names[positions[0]]!r}: it is "skip" or, for a family of '
            'one column, "value".'
        )
    if refused:
        name, kind = table.names[refused[0]], table.kind(refused[0])
        raise SchemaError(
            f"column {name!r} holds {_CONTENTS[kind]}, which {type(family).__name__} cannot count: "
            f"use {_SUITABLE_FAMILIES[kind]}, or convert the column."
        )
    return Block(select(table.names, positions), kinds, family)
