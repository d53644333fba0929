"""Find the next best question: the missing column whose value is expected to make the class most certain.

    gain_j = Σ_v p(v | x) · [H(C | x) − H(C | x, v)]                                        (1)
    p(v | x) = Σ_c p(c | x) p(v | c)                                                        (2)
    H(C | x) = −Σ_c p(c | x) log p(c | x)                                                   (3)

p(c | x) and p(c | x, v) are the posterior of the model itself, with its tuning. p(v | c) is the likelihood of the
column, without the tuning. The sum runs over all values of a column that has a list of them: categories, bins, small
counts. Other numbers are represented by 32 quantiles of each class, each with probability 1/32 in that class.
Source: Lindley, On a measure of the information provided by an experiment, Annals of Mathematical Statistics 27 (1956)
986–1005.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from naively._kernels.types import Floats
from naively.data.files.paths import is_path
from naively.data.names import counted, positions_of, require_same_width
from naively.data.plain import as_plain
from naively.data.read import TableLike, read
from naively.data.table import ColumnTable, Table
from naively.data.text_table import format_number
from naively.data.views import Codes, Texts
from naively.errors import ImpossibleRowsWarning, InputError, LeftOutWarning
from naively.explanation.explain import scored_blocks
from naively.families.base import score_column
from naively.model.model import Model
from naively.model.score import read_rows
from naively.schema.schema import Block
from naively.statistics import Statistic

N_QUANTILES = 32  # of each class, for a column without a list of values
ROWS_AT_A_TIME = 4096
MAX_SHOWN = 4  # columns in a line


@dataclass(frozen=True, slots=True)
class Question:
    """A missing column, and what its value is worth.

    Attributes
    ----------
    column
        The column.
    gain
        The expected decrease of the entropy of the class, equation (1), in nats.
    cost
        What it costs to get the value, 1 unless it was given. Questions are ordered by gain / cost.
    """

    column: str
    gain: float
    cost: float = 1.0


@dataclass(frozen=True)
class NextQuestion:
    """The missing columns of a row, the best question first.

    Attributes
    ----------
    entropy
        The entropy of the class as the row is, equation (3), in nats.
    questions
        The columns that can be asked for, by gain / cost.
    not_asked
        The other missing columns, each with the reason.
    """

    entropy: float
    questions: tuple[Question, ...]
    not_asked: Mapping[str, str]

    to_dict = as_plain

    def __repr__(self) -> str:
        shown = [f"{q.column} {format_number(q.gain, '.4g')}" for q in self.questions[:MAX_SHOWN]]
        more = ", …" if len(self.questions) > MAX_SHOWN else ""
        return f"<NextQuestion of {counted(len(self.questions), 'column')}: {', '.join(shown)}{more}>"


def next_question(model: Model, row: TableLike, costs: Mapping[str, float] | None = None) -> NextQuestion:
    """Rank the missing columns of a row. See `Model.next_question`."""
    costs = _checked_costs(model, costs or {})
    table = _read_row(model, row)
    log_posterior = _log_posterior(model, table)[0]
    posterior = np.exp(log_posterior)
    entropy = float(_entropy(log_posterior))
    position = positions_of(table.names)
    questions: list[Question] = []
    not_asked: dict[str, str] = {}
    for block, statistic, parameters in scored_blocks(model):
        if block.family.role == "presence":
            continue
        for j in _missing_columns(table, block, position):
            name = block.names[j]
            if block.family.statistic.view is Texts:
                not_asked[name] = "it is a text"
                continue
            values = _values(block, statistic, parameters, j, posterior)
            if values is None:
                not_asked[name] = f"{block.family} has no list of its values"
                continue
            gain = 0.0
            for start in range(0, len(values[1]), ROWS_AT_A_TIME):
                part, weight = (items[start : start + ROWS_AT_A_TIME] for items in values)
                rows = table.with_values(0, position[name], block.kind(j), part)
                gain += float(weight @ (entropy - _entropy(_log_posterior(model, rows))))
            questions.append(Question(name, gain, costs.get(name, 1.0)))
    not_asked |= {name: f"not used: {reason}" for name, reason in model.chosen.left_out.items()}
    questions.sort(key=lambda question: -question.gain / question.cost)
    return NextQuestion(entropy, tuple(questions), not_asked)


def _checked_costs(model: Model, costs: Mapping[str, float]) -> Mapping[str, float]:
    """Refuse a cost of a column that the model does not have, and one that is not above zero."""
    for name, cost in costs.items():
        if name not in model.schema.names:
            raise InputError(f"costs= names {name!r}, which is not a column of the model.")
        if not (isinstance(cost, (int, float)) and 0 < cost < np.inf):
            raise InputError(f"costs= gives {name!r} the cost {cost!r}: a cost is a number above 0.")
    return costs


def _read_row(model: Model, row: TableLike) -> Table:
    """Return the row with every column of the model; one that was not given is missing, without a warning."""
    if is_path(row):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LeftOutWarning)
            table = read_rows(model, row)
    else:
        nothing_known = isinstance(row, Mapping) and not row
        table = ColumnTable((), 1, ()) if nothing_known else read(row)
    if table.n_rows != 1:
        raise InputError(f"the next question is that of one row, and these are {table.n_rows}.")
    if table.names != model.schema.names:
        require_same_width(table.names, model.schema.names)
        table, _ = table.with_absent_columns(model.schema.names)
    return table


def _missing_columns(table: Table, block: Block, position: Mapping[str, int]) -> list[int]:
    """Return the columns of a block that have no value in the only row."""
    present = table.present([position[name] for name in block.names])
    values = np.concatenate([piece[0].astype(np.float64) for _, piece in present.dense()])
    return [j for j, value in enumerate(values.tolist()) if value != 1.0]


def _values(
    block: Block, statistic: Statistic, parameters: Any, j: int, posterior: Floats
) -> tuple[Any, Floats] | None:
    """Return values of a column with p(v | x) by equation (2); None if the family does not know its values."""
    family = block.family
    grid = family.grid(statistic, parameters, j, block.kind(j))
    if grid is None:
        return None
    values: Any = grid.values if family.statistic.view is Codes else np.asarray(grid.values, dtype=np.float64)
    is_list = grid.marks is not None or (family.support == "count" and bool((np.diff(values) == 1).all()))
    if is_list:
        likelihood = np.exp(score_column(family, statistic, parameters, j, values))
        total = likelihood.sum(axis=0)
        return values, np.divide(likelihood, total, out=np.zeros_like(likelihood), where=total > 0) @ posterior
    levels = (np.arange(N_QUANTILES) + 0.5) / N_QUANTILES
    quantiles = family.quantiles(statistic, parameters, j, levels)
    if quantiles is None or not np.isfinite(quantiles).all():
        return None
    if family.support == "count":
        quantiles = np.round(quantiles)
    return quantiles.T.ravel(), np.repeat(posterior, N_QUANTILES) / N_QUANTILES


def _log_posterior(model: Model, table: Table) -> Floats:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ImpossibleRowsWarning)
        return model.log_posterior(table)


def _entropy(log_posterior: Floats) -> Floats:
    """Return equation (3) for each row; a class of probability zero adds nothing."""
    finite = np.maximum(log_posterior, -1e3)
    return np.asarray(-(np.exp(log_posterior) * finite).sum(axis=-1))
