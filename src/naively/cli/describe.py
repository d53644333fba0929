"""Describe a model: as text for people, and as plain data for JSON."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from naively.data.names import counted
from naively.data.plain import JsonObject
from naively.data.text_table import format_number, format_table
from naively.evaluation.intervals import around, wilson
from naively.families.evidence import Z
from naively.model.calibrate import EvidenceKey

if TYPE_CHECKING:
    from naively.model.calibrate import Tuning
    from naively.model.model import Model
    from naively.store.entries import Entry

MAX_LINES = 20  # columns, classes, values or words of a list for people
MAX_CLASSES = 30  # that are all listed
MAX_COLUMNS = 60
MIN_GROWTH = 1.0  # rows since the tuning per row before it, from which tuning again mostly gains 0.01 nats or more


def describe_classes(model: Model) -> str:
    """Return a table of the classes, or of the most frequent ones if there are many: prior, rows and weight."""
    rows = [
        (str(label), f"{np.exp(log_p):.4g}", f"{n:,}", f"{weight:,.10g}")
        for label, log_p, n, weight in zip(
            model.classes, model.log_prior, model.class_weights.rows.tolist(), model.class_counts.tolist(), strict=True
        )
    ]
    n_more = len(rows) - MAX_LINES if len(rows) > MAX_CLASSES else 0
    if n_more:
        frequent = np.argsort(-model.class_counts, kind="stable")[:MAX_LINES]
        rows = [rows[c] for c in np.sort(frequent)] + [(f"and {n_more:,} more", "", "", "")]
    return format_table(("class", "prior", "rows", "weight"), rows, right=("prior", "rows", "weight"))


def describe_columns(model: Model, n_missing: Mapping[str, int] | None = None) -> str:
    """Return a table of the columns, the first ones if there are many: missing cells, if that is known, and family."""
    families = list(model.chosen.families().items())
    more = ""
    if len(families) > MAX_COLUMNS:
        kinds = Counter(re.split(r"[(:;]", family)[0] for _, family in families[MAX_LINES:])
        counts = ", ".join(f"{n:,} {kind}" for kind, n in kinds.most_common())
        more = f"\nand {len(families) - MAX_LINES:,} more: {counts}"
        families = families[:MAX_LINES]
    if n_missing is None:
        return format_table(("column", "family"), families) + more
    rows = [(name, f"{n_missing.get(name, 0):,}", family) for name, family in families]
    return format_table(("column", "missing", "family"), rows, right=("missing",)) + more


def describe_tuning(model: Model) -> str:
    """Return tables of what tuning chose: worth and weight of each column, and the offset of each class."""
    tuning = model.tuning
    if tuning is None:
        return "Not tuned: plain Naive Bayes."
    if tuning.is_textbook:
        stays = "Tuned, and plain Naive Bayes stays: nothing else was better by more than chance."
        parts = [stays, tuning.describe_together(), describe_importance(model) if tuning.importance else ""]
        return "\n\n".join(filter(None, parts))
    offsets = [(str(label), format_number(offset, "+.4g")) for label, offset in tuning.offsets.items()]
    tables = [describe_importance(model) if tuning.importance else _describe_weights(model, tuning)]
    if offsets:
        if (n_more := len(offsets) - MAX_LINES) > 0:
            offsets[MAX_LINES:] = [(f"and {n_more:,} more", "")]
        tables += ["", format_table(("class", "offset"), offsets, right=("offset",))]
    if together := tuning.describe_together():
        tables += ["", together]
    return "\n".join(tables)


def describe_importance(model: Model) -> str:
    """Return a table of what each column is worth, the highest first, and the weight of its evidence."""
    tuning, worth = model.tuning, model.importance()
    assert tuning is not None
    rows = []
    for column in worth[:MAX_LINES]:
        nats, low, high, alone = map(format_number, (column.nats, column.low, column.high, column.alone))
        rows.append((column.name, nats, f"{low} – {high}", alone, _weight_of(column.column, tuning), column.remark))
    lines = [
        "What each column is worth: how much the log-loss grows without it, in nats per row (leave-one-out,",
        "95 % interval); alone: how much less it is by this column alone; weight: 1 is plain Naive Bayes.",
        format_table(
            ("column", "worth", "interval", "alone", "weight", ""), rows, right=("worth", "interval", "alone")
        ),
    ]
    if len(worth) > MAX_LINES:
        lines.append(f"and {len(worth) - MAX_LINES:,} more")
    return "\n".join(lines)


def _weight_of(name: str, tuning: Tuning) -> str:
    """Return the weight of a column, of whether it has a value, and the power of the length of a text."""
    key = EvidenceKey((name,))
    weight = f"{tuning.weights.get(key, tuning.default_weight):.4g}{_power_of_length(key, tuning)}"
    for part in tuning.weights:
        if part[0] == (name,) and part[1] != "value":
            role = "present" if part[1] == "presence" else part[1]
            weight += f", {role} {tuning.weights[part]:.4g}{_power_of_length(part, tuning)}"
    return weight


def _power_of_length(key: EvidenceKey | str, tuning: Tuning) -> str:
    exponent = tuning.exponents.get(key)
    return f" times words to the power of {format_number(-exponent, '.4g')}" if exponent else ""


def _describe_weights(model: Model, tuning: Tuning) -> str:
    """Return a table of the weights, the highest first."""
    keys = {EvidenceKey((name,), block.role) for block in model.chosen.schema.blocks for name in block.names}
    own = sorted((key for key in tuning.weights if key in keys), key=lambda key: -tuning.weights[key])
    weights = [(_with_exponent(key, tuning), f"{tuning.weights[key]:.4g}") for key in own[:MAX_LINES]]
    if len(own) > MAX_LINES:
        weights.append((f"and {len(own) - MAX_LINES:,} more", ""))
    if keys - set(own):
        weights.append(("every other column", f"{tuning.default_weight:.4g}"))
    table = format_table(("column", "weight"), weights)
    return f"Weight of each column's evidence (1: plain Naive Bayes):\n{table}"


def _with_exponent(key: EvidenceKey, tuning: Tuning) -> str:
    power = _power_of_length(key, tuning)
    return f"{key},{power}" if power else str(key)


def describe_quality(model: Model) -> str:
    """Return how good tuning expects the predictions on new rows to be; an empty string without tuning."""
    if model.tuning is None or not model.tuning.report:
        return ""
    report = model.tuning.report
    how = f"leave-one-out on {model.tuning.rows:,} rows; too good if rows belong together: see --group"
    if "by_groups" in report:
        how = f"new groups: models without each fifth of the groups, on {model.tuning.rows:,} rows"
    title = f"Expected on new rows like these ({how}):\n"
    if "n_observations" not in report:  # a file of an earlier version
        figures = f"accuracy {report['accuracy']:.4f}, log-loss {report['log_loss']:.4f}"
        return f"{title}{figures} (class shares alone: {report['prior_log_loss']:.4f})"
    loss, half = report["log_loss"], Z * report["log_loss_error"]
    estimates = {
        "accuracy": wilson(report["accuracy"], report["n_observations"]),
        "log-loss": around(loss, half, 0, inf),
    }
    baselines = (report["prior_accuracy"], report["prior_log_loss"])
    rows = [
        (name, f"{e.value:.4f}", f"{e.low:.4f} – {e.high:.4f}", f"{baseline:.4f}")
        for (name, e), baseline in zip(estimates.items(), baselines, strict=True)
    ]
    header = ("", "value", "95 % interval", "class shares")
    return title + format_table(header, rows, right=header[1:])


def describe_age(model: Model) -> str:
    """Return how many rows came since the tuning, and advice; an empty string if none did, or if it is not known."""
    n_since = model.rows_since_tuning
    if not n_since or model.tuning is None:
        return ""
    then = f"Tuned when it had learnt {counted(model.tuning.counted_rows, 'row')}"
    if n_since < 0:
        return f"{then}; it has {-n_since:,} fewer now."
    advice = " Tuning it again may pay (naively tune)." if has_outgrown(model.tuning, n_since) else ""
    return f"{then}; {n_since:,} more came since.{advice}"


def has_outgrown(tuning: Tuning, n_since: int) -> bool:
    """Return whether so many rows came since the tuning that tuning again is likely to pay."""
    return bool(tuning.counted_rows) and n_since >= MIN_GROWTH * tuning.counted_rows


def advise_tuning(model: Model, entry: Entry) -> str:
    """Return the advice to tune again, if the rows of an update were predicted badly or have doubled the model."""
    n_since, tuning = model.rows_since_tuning, model.tuning
    if entry.before is not None and entry.before.is_worse_than_expected:
        return "these rows were predicted worse than the tuning expected: tuning again may pay (naively tune)."
    if tuning is None or n_since is None or not has_outgrown(tuning, n_since):
        return ""
    if has_outgrown(tuning, n_since - entry.rows):
        return ""  # the update that crossed the line printed it
    return f"the model was tuned with {counted(tuning.counted_rows, 'row')}: tuning again may pay (naively tune)."


def model_data(model: Model) -> JsonObject:
    """Return target, classes, columns and tuning as plain data."""
    priors = np.exp(model.log_prior).tolist()
    counts = zip(model.classes, model.class_weights.rows.tolist(), model.class_counts.tolist(), priors, strict=True)
    return {
        "target": model.target,
        "classes": [{"class": c, "rows": n, "weight": w, "prior": p} for c, n, w, p in counts],
        "columns": [{"column": name, "family": family} for name, family in model.chosen.families().items()],
        "importance": [column.to_dict() for column in model.tuning.importance] if model.tuning else [],
        "rows_since_tuning": model.rows_since_tuning,
        "tuning": None if model.tuning is None else json.loads(model.tuning.to_json()),
    }
