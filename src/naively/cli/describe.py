"""What a model knows, as lines for people and as plain data for JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import naively
from naively.families.binned import NumericParameters
from naively.model.calibrate import column_key
from naively.statistics import Moments, Sums, TokenCounts, ValueCounts, WordCounts

__all__ = ["aligned", "column_data", "columns_of", "model_data", "quality_of", "tuning_of"]

LISTED = 20  # values or words told for people; JSON has all values


def columns_of(model: naively.Model, missing: Mapping[str, int] | None = None) -> list[str]:
    """A line for each column: its family, and how many cells were missing."""
    rows = list(model.chosen.families().items())
    wide = max((len(name) for name, _ in rows), default=0)
    gaps = "" if missing is None else "missing  "
    lines = [f"{'column':<{max(wide, 6)}}  {gaps}family"]
    for name, family in rows:
        gap = "" if missing is None else f"{missing.get(name, 0):>7}  "
        lines.append(f"{name:<{max(wide, 6)}}  {gap}{family}")
    return lines


def quality_of(model: naively.Model) -> list[str]:
    """What tuning found out about how good the model is; nothing without it."""
    if model.tuning is None or not model.tuning.report:
        return []
    report = model.tuning.report
    return [
        "",
        f"tuned on {model.tuning.rows:,} rows, each predicted as if it had not been counted (taken as independent):",
        f"accuracy {report['accuracy']:.4f}, log-loss {report['log_loss']:.4f} "
        f"(the class shares alone: {report['prior_log_loss']:.4f})",
    ]


def model_data(model: naively.Model) -> dict[str, Any]:
    """Target, classes and columns."""
    shares = np.exp(model.log_prior).tolist()
    counts = zip(model.classes, model.seen.rows.tolist(), model.class_counts.tolist(), shares, strict=True)
    return {
        "target": model.target,
        "classes": [{"class": c, "rows": n, "weight": w, "prior": p} for c, n, w, p in counts],
        "columns": [{"column": name, "family": family} for name, family in model.chosen.families().items()],
        "tuning": None if model.tuning is None else json.loads(model.tuning.to_json()),
    }


def tuning_of(model: naively.Model) -> list[str]:
    """What tuning has chosen, for people: the weight of each column's evidence, and what each class is given."""
    tuning = model.tuning
    if tuning is None:
        return ["", "not tuned: every column counts in full, as in the textbook"]
    keys = {column_key(block.family, name) for block in model.chosen.schema.blocks for name in block.names}
    named = sorted((key for key in tuning.weights if key in keys), key=lambda key: -tuning.weights[key])
    rows = [("weight", "evidence of")]
    rows += [(f"{tuning.weights[key]:.4g}", _with_exponent(key, tuning)) for key in named[:LISTED]]
    if len(named) > LISTED:
        rows.append(("…", f"{len(named) - LISTED} more"))
    if keys - set(named):
        rows.append((f"{tuning.common:.4g}", "every column that is not named"))
    offsets = [("offset", "class"), *((f"{b:+.4g}", str(label)) for label, b in tuning.offsets.items())]
    return ["", *aligned(rows), *(["", *aligned(offsets[: LISTED + 1])] if tuning.offsets else [])]


def _with_exponent(key: str, tuning: naively.Tuning) -> str:
    beta = tuning.exponents.get(key)
    return key if not beta else f"{key}, by the number of words to the power of {-beta:.4g}"


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns under one another, all but the last filled up.

    >>> aligned([("class", "rows"), ("no", "12")])
    ['class  rows', 'no     12']
    """
    widths = [max(len(row[j]) for row in rows) for j in range(len(rows[0]) - 1)]
    return ["  ".join([*(cell.ljust(w) for cell, w in zip(row, widths, strict=False)), row[-1]]) for row in rows]


def column_data(model: naively.Model, column: str) -> dict[str, Any]:
    """What one column knows, class by class."""
    chosen = model.chosen
    for block, statistic, fitted in zip(chosen.schema.blocks, chosen.statistics, model.parameters, strict=True):
        if column in block.names:
            place = list(block.names).index(column)
            known = fitted if isinstance(fitted, NumericParameters) else statistic
            return {"column": column, "family": chosen.families()[column], "classes": _known(model, known, place)}
    if column in chosen.left_out:
        return {"column": column, "family": chosen.families()[column], "classes": []}
    raise naively.InputError(f"the model has no column {column!r}; it has {', '.join(model.schema.names[:8])}.")


def _known(model: naively.Model, statistic: Any, place: int) -> list[dict[str, Any]]:
    of_class = [_of_class(statistic, c, place) for c in range(len(model.classes))]
    return [{"class": label} | found for label, found in zip(model.classes, of_class, strict=True)]


def _of_class(found: Any, c: int, j: int) -> dict[str, Any]:
    if isinstance(found, NumericParameters):
        edges = ["-inf", *(f"{cut:.10g}" for cut in found.column_cuts(j)), "inf"]
        shares = np.exp(found.column_log_probability(j)[:, c]).tolist()
        return {"bins": [[f"{a} to {b}", p] for a, b, p in zip(edges[:-1], edges[1:], shares, strict=True)]}
    if isinstance(found, Moments):
        n, mean, squares = found.weight[c, j], found.mean[c, j], found.squares[c, j]
        deviation = float(np.sqrt(max(squares, 0.0) / n)) if n else None
        return {"weight": float(n), "mean": float(mean), "deviation": deviation}
    if isinstance(found, Sums):
        return {"weight": float(found.weight[c, j]), "total": float(found.total[c, j])}
    if isinstance(found, ValueCounts):
        start, stop = int(found.offsets[j]), int(found.offsets[j + 1])
        weights = found.table()[c, start:stop].tolist()
        return {"values": [[v, w] for v, w in zip(found.values[j], weights, strict=True) if w]}
    if isinstance(found, TokenCounts):
        cell = slice(int(found.cells.indptr[c]), int(found.cells.indptr[c + 1]))
        here = np.flatnonzero(found.cells.index[cell] == j)
        sums = found.cells.sums[:, cell][:, here].sum(axis=1).tolist()
        return {"occurrences": sums[0], "rows_with": sums[1], "weight": float(found.seen.weight[c])}
    if isinstance(found, WordCounts):
        cells = found.cells
        cell = slice(int(cells.indptr[c]), int(cells.indptr[c + 1]))
        order = np.argsort(-cells.sums[0, cell], kind="stable")[:LISTED]
        counts, numbers = cells.sums[0, cell][order].tolist(), cells.index[cell][order].tolist()
        words = [[found.name(k), w] for k, w in zip(numbers, counts, strict=True)]
        return {"texts": float(found.seen.weight[c]), "words": len(cells.index[cell]), "most_frequent": words}
    return {}
