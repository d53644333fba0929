"""Describe a model: as text for people, and as plain data for JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from naively.cli.output import format_table
from naively.data.names import listed
from naively.errors import InputError
from naively.families.binned import BinnedParameters
from naively.model.calibrate import column_key
from naively.statistics import Moments, Sums, TokenCounts, ValueCounts, WordCounts

if TYPE_CHECKING:
    from naively.model.calibrate import Tuning
    from naively.model.model import Model

MAX_LINES = 20  # columns, classes, values or words of a list for people


def describe_classes(model: Model) -> str:
    """Return a table of the classes: prior, rows and weight."""
    rows = [
        (str(label), f"{np.exp(log_p):.6g}", f"{n:,}", f"{weight:,.10g}")
        for label, log_p, n, weight in zip(
            model.classes, model.log_prior, model.seen.rows.tolist(), model.class_counts.tolist(), strict=True
        )
    ]
    return format_table(("class", "prior", "rows", "weight"), rows, right=("prior", "rows", "weight"))


def describe_columns(model: Model, n_missing: Mapping[str, int] | None = None) -> str:
    """Return a table of the columns: how many cells are missing, if that is known, and the family."""
    families = model.chosen.families()
    if n_missing is None:
        return format_table(("column", "family"), families.items())
    rows = [(name, f"{n_missing.get(name, 0):,}", family) for name, family in families.items()]
    return format_table(("column", "missing", "family"), rows, right=("missing",))


def describe_tuning(model: Model) -> str:
    """Return tables of what tuning chose: the weight of each column and the offset of each class."""
    tuning = model.tuning
    if tuning is None:
        return "Not tuned: plain Naive Bayes."
    keys = {column_key(block.family, name) for block in model.chosen.schema.blocks for name in block.names}
    own = sorted((key for key in tuning.weights if key in keys), key=lambda key: -tuning.weights[key])
    weights = [(_with_exponent(key, tuning), f"{tuning.weights[key]:.4g}") for key in own[:MAX_LINES]]
    if len(own) > MAX_LINES:
        weights.append((f"… {len(own) - MAX_LINES} more", ""))
    if keys - set(own):
        weights.append(("every other column", f"{tuning.common:.4g}"))
    offsets = [(str(label), f"{offset:+.4g}") for label, offset in tuning.offsets.items()]
    tables = ["Weight of each column's evidence (1: plain Naive Bayes):", format_table(("column", "weight"), weights)]
    if offsets:
        tables += ["", format_table(("class", "offset"), offsets[:MAX_LINES], right=("offset",))]
    return "\n".join(tables)


def _with_exponent(key: str, tuning: Tuning) -> str:
    exponent = tuning.exponents.get(key)
    return f"{key}, times words to the power of {-exponent:.4g}" if exponent else key


def describe_quality(model: Model) -> str:
    """Return how good tuning expects the predictions on new rows to be; an empty string without tuning."""
    if model.tuning is None or not model.tuning.report:
        return ""
    report = model.tuning.report
    return (
        f"Expected on new rows like these (leave-one-out on {model.tuning.rows:,} rows; "
        "too good if rows belong together):\n"
        f"accuracy {report['accuracy']:.4f}, log-loss {report['log_loss']:.4f} "
        f"(class shares alone: {report['prior_log_loss']:.4f})"
    )


def model_data(model: Model) -> dict[str, Any]:
    """Return target, classes, columns and tuning as plain data."""
    priors = np.exp(model.log_prior).tolist()
    counts = zip(model.classes, model.seen.rows.tolist(), model.class_counts.tolist(), priors, strict=True)
    return {
        "target": model.target,
        "classes": [{"class": c, "rows": n, "weight": w, "prior": p} for c, n, w, p in counts],
        "columns": [{"column": name, "family": family} for name, family in model.chosen.families().items()],
        "tuning": None if model.tuning is None else json.loads(model.tuning.to_json()),
    }


def column_data(model: Model, column: str) -> dict[str, Any]:
    """Return what the model has learnt of one column, class by class, as plain data."""
    chosen = model.chosen
    for block, statistic, fitted in zip(chosen.schema.blocks, chosen.statistics, model.parameters, strict=True):
        if column in block.names:
            place = list(block.names).index(column)
            known = fitted if isinstance(fitted, BinnedParameters) else statistic
            return {"column": column, "family": chosen.families()[column], "classes": _known(model, known, place)}
    if column in chosen.left_out:
        return {"column": column, "family": chosen.families()[column], "classes": []}
    raise InputError(f"the model has no column {column!r}; it has {listed(model.schema.names)}.")


def _known(model: Model, statistic: Any, place: int) -> list[dict[str, Any]]:
    of_class = [_of_class(statistic, c, place) for c in range(len(model.classes))]
    return [{"class": label} | found for label, found in zip(model.classes, of_class, strict=True)]


def _of_class(found: Any, c: int, j: int) -> dict[str, Any]:
    if isinstance(found, BinnedParameters):
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
        order = np.argsort(-cells.sums[0, cell], kind="stable")[:MAX_LINES]
        counts, numbers = cells.sums[0, cell][order].tolist(), cells.index[cell][order].tolist()
        words = [[found.name(k), w] for k, w in zip(numbers, counts, strict=True)]
        return {"texts": float(found.seen.weight[c]), "words": len(cells.index[cell]), "most_frequent": words}
    return {}
