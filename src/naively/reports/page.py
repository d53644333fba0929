"""Write the report of a model."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from importlib.resources import files
from pathlib import Path

import numpy as np

from naively.data.labelled import Label, LabelledRows, LabelsLike, WeightLike, read_labelled
from naively.data.read import TableLike
from naively.data.table import Table
from naively.errors import InputError
from naively.evaluation import Evaluation
from naively.evaluation.scored_rows import score_rows
from naively.explanation import Explanation
from naively.explanation.nomogram import order_of_classes
from naively.explanation.palette import style_sheet
from naively.model.contributions import contributions
from naively.model.counted import MIN_SHARE, counted_rows
from naively.model.model import Model, ModelLike
from naively.model.score import read_rows
from naively.reports import sections
from naively.reports.sections import Worth
from naively.reports.svg import bdi
from naively.store.entries import Entry
from naively.store.ledger import open as open_ledger
from naively.store.write import atomic_write

MAX_WORTH_ROWS = 10_000  # whose contributions are averaged
N_SAMPLES = 3  # rows drawn from the model, if there are no others to explain


@dataclass(frozen=True)
class Report:
    """A report: `html` is the page, which a notebook shows and `save` writes."""

    html: str

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the page to a file.

        Parameters
        ----------
        path
            The file, such as report.html.
        overwrite
            Replace a file of this name.
        """
        if Path(path).exists() and not overwrite:
            raise InputError(f"{path} already exists: give overwrite=True, or another name.")
        with atomic_write(Path(path)) as unfinished:
            Path(unfinished).write_text(self.html, encoding="utf-8")

    def _repr_html_(self) -> str:
        page = escape(self.html)
        return f'<iframe srcdoc="{page}" style="width:100%;height:80vh;border:0" title="Report of a model"></iframe>'

    def __repr__(self) -> str:
        return f"<Report of {len(self.html):,} characters>"


def report(
    model: ModelLike,
    X: TableLike | None = None,
    y: LabelsLike = None,
    weight: WeightLike = None,
    *,
    source: str = "",
) -> Report:
    """Write a report of a model: what it has learnt, how good it is, which columns matter, and rows explained.

    Parameters
    ----------
    model
        A model, a fitted estimator, or the path of a model file, whose log is then part of the report.
    X
        Rows whose class is known, of any kind that `fit` takes: the report measures the model on them.
    y, weight
        Labels and weights of X. Default of y: the column that the model predicts.
    source
        Where the rows of X come from, for the reader.

    >>> import naively
    >>> model = naively.fit({"sky": ["sun", "sun", "rain", "rain"] * 5}, ["yes", "yes", "no", "yes"] * 5)
    >>> page = report(model, {"sky": ["sun", "rain"]}, ["yes", "no"]).html
    >>> page.startswith("<!doctype html>"), "How good it is" in page
    (True, True)
    """
    entries: tuple[Entry, ...] = ()
    if isinstance(model, (str, Path)):
        with open_ledger(model) as ledger:
            entries = ledger.log()
    model = Model.of(model)
    rows = None if X is None else read_labelled(X, model.target if y is None else y, weight, like=model)
    evaluation, rows_are = (None, "") if rows is None else evaluate_rows(model, rows)
    worths, meaning = column_worths(model, rows)
    parts = [
        _header(model, evaluation),
        sections.classes_section(model),
        sections.quality_section(model, evaluation, (f" of {bdi(source)}" if source else "") + rows_are),
        "" if evaluation is None else sections.calibration_section(model, evaluation),
        sections.columns_section(model, worths, meaning),
        sections.distributions_section(model, [worth.column for worth in worths]),
        sections.nomogram_section(model) if len(model.classes) > 1 else "",
        sections.rows_section(model, *explained_rows(model, rows)) if len(model.classes) > 1 else "",
        sections.settings_section(model, _n_used(model)),
        sections.provenance_section(entries),
    ]
    return Report(_page(model, "".join(parts)))


def evaluate_rows(model: Model, rows: LabelledRows) -> tuple[Evaluation, str]:
    """Measure a model on rows; if it has counted most of them, as if it had not counted them. Return which it was."""
    labels = _labels(rows)
    counted = counted_rows(model, rows.table, rows.classes, rows.label)
    if counted.share > MIN_SHARE:
        try:
            left_out = model.evaluate_training(rows.table, labels, rows.weight)
            return left_out, ", which the model has counted: each is predicted as if it had not been"
        except InputError:  # some of the rows were counted with other weights
            pass
    return model.evaluate(rows.table, labels, rows.weight), ""


def _labels(rows: LabelledRows) -> list[Label]:
    return [rows.classes[c] for c in rows.label.tolist()]


def column_worths(model: Model, rows: LabelledRows | None) -> tuple[list[Worth], str]:
    """Return what each column is worth, the largest first, and what the number means.

    It is the importance that tuning has computed. Without it, it is the mean size of contributions in the rows, or in
    rows that are drawn from the model.
    """
    if len(model.classes) < 2:
        return [], "The model has one class, so no column matters."
    if model.tuning is not None and model.tuning.importance:
        worths = [Worth(c.column, max(c.nats, 0.0), c.low, c.high, c.remark) for c in model.importance()]
        return worths, "The worth of a column is by how much the log-loss grows, in nats per row, without it."
    try:
        table = rows.table if rows is not None else _samples(model, 500)
    except InputError as error:
        return [], f"What the columns are worth is not known without rows: {escape(str(error))}"
    of, against = order_of_classes(model)[:2]
    table = table.take(np.arange(min(table.n_rows, MAX_WORTH_ROWS)))
    worths = sections.mean_contributions(model.schema.names, contributions(model, table, of, against))
    pair = f"{bdi(model.classes[of])} against {bdi(model.classes[against])}"
    drawn = "these rows" if rows is not None else "rows drawn from the model"
    return worths, f"The worth of a column is by how much it changes the log-odds of {pair}, on average over {drawn}."


def _samples(model: Model, n: int) -> Table:
    """Return rows that are drawn from the model."""
    return read_rows(model, model.sample(n, seed=1).drop_columns([model.target]))


def explained_rows(model: Model, rows: LabelledRows | None) -> tuple[list[tuple[str, Label | None, Explanation]], str]:
    """Return rows to explain, each with a title and its class: a sure one, an unsure one and the worst mistake."""
    titled: list[tuple[str, Label | None, Explanation]]
    if rows is None:
        try:
            explanations = model.explain(_samples(model, N_SAMPLES), leave_out=False)
        except InputError:
            return [], ""
        titled = [(f"Row {i + 1}", None, explanation) for i, explanation in enumerate(explanations)]
        return (
            titled,
            "These rows are drawn from the model. Each line adds to the log-odds, and the lines add up to the total.",
        )
    position = {label: c for c, label in enumerate(model.classes)}
    labels = _labels(rows)
    truth = np.array([position.get(label, -1) for label in labels])
    posterior, known = model.posterior(rows.table), np.flatnonzero(truth >= 0)
    if len(known):  # rows that the model has counted are chosen as they are explained: without them
        scored = score_rows(model, rows.table.take(known), [labels[i] for i in known])
        posterior[known] = np.exp(scored.log_posterior)
    best = np.sort(posterior, axis=1)
    margin = best[:, -1] - best[:, -2]
    is_right = posterior.argmax(axis=1) == truth
    chosen: dict[str, int] = {}
    if is_right.any():
        typical = np.flatnonzero(is_right)
        chosen["A sure prediction that is right"] = int(typical[np.argsort(margin[typical])[len(typical) * 3 // 4]])
    chosen["An unsure prediction"] = int(margin.argmin())
    if (~is_right).any():
        wrong = np.flatnonzero(~is_right)
        chosen["A sure prediction that is wrong"] = int(wrong[margin[wrong].argmax()])
    explanations = model.explain(rows.table.take(np.array(list(chosen.values()))))
    titled = [
        (f"{title}: row {i + 1:,}", labels[i], explanation)
        for (title, i), explanation in zip(chosen.items(), explanations, strict=True)
    ]
    return (
        titled,
        "Each line adds to the log-odds, and the lines add up to the total. Counts are those of both classes.",
    )


def _has_weight(model: Model, column: str) -> bool:
    """Return whether a column can change a prediction: whether tuning has left it, or a table with it, a weight."""
    tuning, tables = model.tuning, model.schema.tables
    if tuning is None or (tables is not None and any(tuning.table_weights) and column in tables.columns):
        return True
    blocks = [block for block in model.chosen.schema.blocks if column in block.names]
    return any(tuning.weight_of_column(block, block.names.index(column)) != 0 for block in blocks)


def _n_used(model: Model) -> int:
    """Return the number of columns that can change a prediction."""
    return sum(_has_weight(model, name) for name in model.used_columns)


def _header(model: Model, evaluation: Evaluation | None) -> str:
    tiles = [
        sections.tile(f"{int(model.class_weights.rows.sum()):,}", "rows learnt from"),
        sections.tile(
            f"{_n_used(model):,}", f"columns used of {len(model.schema.names):,}; {len(model.classes):,} classes"
        ),
    ]
    report = {} if model.tuning is None else model.tuning.report
    if evaluation is not None:
        value, interval = sections.with_interval(evaluation.accuracy, is_share=True)
        share = evaluation.baseline["accuracy"]
        tiles.append(sections.tile(value, f"right ({interval}); always the same class: {100 * share:.1f} %"))
        value, interval = sections.with_interval(evaluation.log_loss, is_share=False)
        tiles.append(sections.tile(f"{evaluation.log_loss.value:.3f}", f"log-loss ({interval})"))
    elif report:
        tiles.append(sections.tile(f"{100 * report['accuracy']:.1f} %", "right, expected by leave-one-out"))
        caption = f"log-loss expected; class shares alone: {report['prior_log_loss']:.3f}"
        tiles.append(sections.tile(f"{report['log_loss']:.3f}", caption))
    return (
        f'<header><p class="eyebrow">Report of a model</p><h1>What predicts {bdi(model.target)}</h1>'
        f'<div class="tiles">{"".join(tiles)}</div></header>'
    )


def _page(model: Model, body: str) -> str:
    from importlib.metadata import version

    style = files("naively.reports").joinpath("style.css").read_text(encoding="utf-8")
    made = f"naively {version('naively')}, {datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    title = escape(f"What predicts {model.target}")
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<style>{style_sheet()}{style}</style></head><body><main>{body}<footer>{made}</footer></main></body></html>\n"
    )
