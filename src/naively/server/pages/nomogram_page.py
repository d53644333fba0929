"""Nomogram: sliders for the columns, points that add up, and the probability of the model before its floor."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np

from naively.data.kinds import Kind
from naively.data.labelled import Label
from naively.data.plain import JsonObject
from naively.explanation.nomogram import Axis, Nomogram, make_nomogram
from naively.families.evidence import format_value
from naively.model.model import Model
from naively.server.pages.address import table_of, whole_number
from naively.server.pages.page import Page
from naively.server.problems import Problem

N_AXES = 10
MAX_MARKS = 60  # of an axis
MAX_ALL_MARKS = 350  # of all axes: bounds the size of the page
MAX_KEY = 60  # characters of a name in an address
PRESENT = " present"


async def nomogram_page(page: Page) -> JsonObject:
    """Return the axes, the chosen positions, their points and the probability."""
    of, against = page.class_named(page.parameter("of")), page.class_named(page.parameter("against"))
    nomogram = await page.service.run(_make, page.model, of, against)
    positions = _positions(page, nomogram)
    return await page.service.run(_read_off, page.model, nomogram, positions)


def _make(model: Model, of: Label | None, against: Label | None) -> Nomogram:
    """Return the nomogram with as many axes as fit on a page; of an axis of many values, some over its whole range."""
    nomogram = make_nomogram(model, of, against, N_AXES)
    axes: list[Axis] = []
    for axis in map(_thin, nomogram.axes):
        if sum(len(a.marks) for a in axes) + len(axis.marks) <= MAX_ALL_MARKS:
            axes.append(axis)
    names = {axis.column for axis in axes}
    hidden = (*(axis.column for axis in nomogram.axes if axis.column not in names), *nomogram.hidden)
    return replace(nomogram, axes=tuple(axes), hidden=hidden)


def _thin(axis: Axis) -> Axis:
    """Return an axis of at most `MAX_MARKS` values, those of the least and the most points among them."""
    if len(axis.marks) <= MAX_MARKS:
        return axis
    order = np.argsort(axis.log_odds, kind="stable")
    chosen = np.sort(order[np.unique(np.linspace(0, len(order) - 1, MAX_MARKS).round().astype(np.intp))])
    marks, values = (tuple(items[k] for k in chosen.tolist()) for items in (axis.marks, axis.values))
    return Axis(axis.column, marks, values, axis.log_odds[chosen])


def keys_of(nomogram: Nomogram) -> list[str]:
    """Return the parameter of each axis: its name, or its position if the name is long or not unique."""
    names = Counter(axis.column for axis in nomogram.axes)
    return [
        f"p.{axis.column}" if names[axis.column] == 1 and len(axis.column) <= MAX_KEY else f"q.{i}"
        for i, axis in enumerate(nomogram.axes)
    ]


def _positions(page: Page, nomogram: Nomogram) -> list[int]:
    """Return the chosen value of each axis, from 1; 0 is a value that is not known."""
    positions = []
    for axis, key in zip(nomogram.axes, keys_of(nomogram), strict=True):
        text = page.parameter(key)
        position = 0 if text is None else whole_number(text, "the position on an axis")
        if position > len(axis.values):
            raise Problem(400, f"the axis {axis.column!r} has {len(axis.values)} values, and no value {position}.")
        positions.append(position)
    return positions


def _read_off(model: Model, nomogram: Nomogram, positions: list[int]) -> JsonObject:
    """Return the points of the chosen values, their sum, and the probability by the nomogram and by the model."""
    presence = _presence_axes(model, nomogram)
    by_column = {axis.column: position for axis, position in zip(nomogram.axes, positions, strict=True)}
    axes, total, row, can_compare = [], 0.0, {}, True
    for i, (axis, key, position) in enumerate(zip(nomogram.axes, keys_of(nomogram), positions, strict=True)):
        column = presence.get(i)
        if column is not None:  # whether a column has a value follows from its own axis
            position = axis.values.index(1.0) + 1 if by_column.get(column) else 0
        value = axis.values[position - 1] if position else None
        chosen = nomogram.points(axis, value)
        total += chosen
        if position and column is None:
            can_compare = can_compare and axis.column in model.schema.names
            row[axis.column] = value
        points = [(x - axis.minimum) * nomogram.unit for x in axis.log_odds.tolist()]
        axes.append(
            {
                "name": axis.column,
                "parameter": key,
                "is_derived": column is not None,
                "position": position,
                "marks": list(axis.marks),
                "points": points,
                "missing_points": nomogram.points(axis, None),
                "chosen_points": chosen,
            }
        )
    return {
        "of": nomogram.of,
        "against": nomogram.against,
        "axes": axes,
        "hidden": list(nomogram.hidden),
        "note": nomogram.note,
        "start": nomogram.start,
        "unit": nomogram.unit,
        "max_points": math.fsum(axis.range * nomogram.unit for axis in nomogram.axes),
        "total_points": total,
        "probability": nomogram.probability(total),
        "by_model": _by_model(model, nomogram, row) if can_compare else None,
        "row": {name: _text(value, model.schema.kinds().get(name, "number")) for name, value in row.items()},
    }


def _presence_axes(model: Model, nomogram: Nomogram) -> dict[int, str]:
    """Return the axes that stand for whether a column has a value, with the column."""
    columns = {n for b in model.chosen.schema.blocks if b.family.role == "presence" for n in b.names}
    return {
        i: axis.column.removesuffix(PRESENT)
        for i, axis in enumerate(nomogram.axes)
        if axis.column.endswith(PRESENT) and axis.column.removesuffix(PRESENT) in columns and _is_presence(axis)
    }


def _is_presence(axis: Axis) -> bool:
    return tuple(axis.marks) == ("missing", "has a value")


def _text(value: Any, kind: Kind) -> str:
    """Return a value as a form has it."""
    return str(format_value(value, kind)[0]) if isinstance(value, (float, int, np.number)) else str(value)


def _by_model(model: Model, nomogram: Nomogram, row: JsonObject) -> float:
    """Return the probability that the model gives to the row, between the two classes."""
    kinds, table = model.schema.kinds(), table_of(model, {})
    for name, value in row.items():
        is_number = isinstance(value, (float, np.floating))
        values = np.array([value], dtype=np.float64) if is_number else (value,)
        table = table.with_values(0, table.names.index(name), kinds[name], values)
    posterior = model.without_floor().posterior(table)[0]
    first, second = (model.classes.index(label) for label in (nomogram.of, nomogram.against))
    return float(posterior[first] / (posterior[first] + posterior[second]))
