"""The tables of a model: what it has learnt of each column, as numbers from which a prediction can be computed by hand.

    log p(c | x) ∝ log π_c + b_c + Σ_j w_j · log p(x_j | c)                                             (1)

`Tables` has π and b; the table of a column has w, and p(x | c) by value, or the parameters of its distribution. It is
what `tables()` of R's naive Bayes packages shows, with the counts and the smoothing behind the probabilities.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from naively._kernels.types import Floats
from naively.data.html import more, paragraph, section, table_html
from naively.data.kinds import Kind
from naively.data.labelled import Label
from naively.data.names import counted, listed
from naively.data.plain import CellValue, JsonObject, as_plain
from naively.data.text_table import format_number, format_table
from naively.errors import InputError
from naively.explanation.explain import class_pair
from naively.explanation.render_text import shorten
from naively.families.evidence import Pair, format_mean_of_dates
from naively.families.learnt import Learnt
from naively.model.calibrate import EvidenceKey
from naively.model.model import Model
from naively.schema.schema import Block

if TYPE_CHECKING:
    import pyarrow as pa

MAX_LINES = 20  # values of a column that are printed
MAX_TABLES = 12  # columns that are printed
MAX_WORDS = 1_000  # most frequent words of a text that a table has
WIDTH = 100  # characters of a printed table
MAX_VALUE_WIDTH = 40


@dataclass(frozen=True, eq=False)
class ColumnTable:
    """What a model has learnt of one column; prints as a table.

    Attributes
    ----------
    column, kind, family
        The column, the kind of its values, and its family with its settings. "age present" is whether age has a value.
    classes, pair
        The classes, and the positions of the two that log-odds compare.
    learnt
        Values, counts, pseudo-counts, log probabilities and parameters.
    weight
        w of equation (1), 1 without tuning. That of a text may depend on its length L: w·L^(−`exponent`).
    is_likelihood
        Whether log probabilities are those of values; else they are evidence, as of `Complement`.
    """

    column: str
    kind: Kind
    family: str
    classes: tuple[Label, ...]
    pair: Pair
    learnt: Learnt
    weight: float = 1.0
    exponent: float = 0.0
    is_likelihood: bool = True

    @property
    def values(self) -> tuple[CellValue, ...]:
        """The values, bins (as pairs of ends) or words."""
        return self.learnt.values

    @property
    def counts(self) -> Floats:
        """The weight of the rows with each value, (value, class)."""
        return self.learnt.counts

    @property
    def probability(self) -> Floats:
        """p(value | class), (value, class)."""
        return np.asarray(np.exp(self.learnt.log_probability))

    @property
    def log_odds(self) -> Floats:
        """What each value adds to the log-odds of the pair, before the weight."""
        if not self.learnt.values:
            return np.zeros(0)
        first, second = (self.learnt.log_probability[:, c] for c in self.pair)
        return np.asarray(first - second)

    @property
    def parameters(self) -> Mapping[str, Floats]:
        """Means, deviations, rates and other numbers, (class,)."""
        return self.learnt.parameters

    def to_dict(self) -> JsonObject:
        """Return plain data that JSON can hold."""
        learnt, of, against = self.learnt, *(self.classes[c] for c in self.pair)
        numbers = learnt.counts, learnt.alpha, self.probability, learnt.log_probability, self.log_odds
        by_value = zip(learnt.values, *numbers, strict=True)
        return {
            "column": self.column,
            "family": self.family,
            "weight": self.weight,
            "length_exponent": self.exponent,
            "classes": list(self.classes),
            "of": of,
            "against": against,
            "totals": learnt.totals.tolist(),
            "total_alpha": learnt.total_alpha.tolist(),
            "n_values": learnt.n_values,
            "values": [
                as_plain(
                    {
                        "value": value,
                        "count": n,
                        "alpha": alpha,
                        "probability": p if self.is_likelihood else None,
                        "log_probability": log_p,
                        "log_odds": float(log_odds),
                    }
                )
                for value, n, alpha, p, log_p, log_odds in by_value
            ],
            "parameters": as_plain(dict(learnt.parameters)),
        }

    def to_arrow(self) -> pa.Table:
        """Return one row for each value and class, and for each parameter and class, as an Arrow table."""
        import pyarrow as pa

        learnt, rows = self.learnt, list[JsonObject]()
        for c, label in enumerate(map(str, self.classes)):
            common = {"column": self.column, "family": self.family, "weight": self.weight, "class": label}
            for v, shown in enumerate(learnt.shown):
                of_value = {
                    "count": learnt.counts[v, c],
                    "total": learnt.totals[c],
                    "alpha": learnt.alpha[v, c],
                    "total_alpha": learnt.total_alpha[c],
                    "probability": self.probability[v, c] if self.is_likelihood else None,
                    "log_probability": learnt.log_probability[v, c],
                }
                rows.append(common | {"value": shown} | of_value)
            rows += [common | {"parameter": name, "number": x[c]} for name, x in learnt.parameters.items()]
        texts = ("column", "family", "value", "parameter", "class")
        numbers = ("weight", "count", "total", "alpha", "total_alpha", "probability", "log_probability", "number")
        fields = [pa.field(name, pa.string()) for name in texts] + [pa.field(name, pa.float64()) for name in numbers]
        return pa.Table.from_pylist(rows, schema=pa.schema(fields))

    def __str__(self) -> str:
        return self.as_text()

    def __repr__(self) -> str:
        return f"<ColumnTable of {self.column!r}: {self.family}>"

    def as_text(self, width: int = WIDTH) -> str:
        """Return the table as text; a narrow one has fewer columns of numbers.

        Parameters
        ----------
        width
            The number of characters of a line.
        """
        lines = [self._heading()]
        if self.learnt.parameters:
            lines += ["", self._parameter_table(width)]
        if self.learnt.values:
            lines += ["", *self._value_table(width)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        parts = [paragraph(self._heading())]
        if self.learnt.parameters:
            parts.append(table_html(["", *map(str, self.classes)], self._parameter_rows(range(len(self.classes)))))
        if self.learnt.values:
            columns = [column for column, _ in self._value_columns(MAX_VALUE_WIDTH)]
            parts.append(table_html([c[0] for c in columns], zip(*(c[1:] for c in columns), strict=True)))
            parts += map(paragraph, self._notes())
        return section("table", *parts)

    def _heading(self) -> str:
        weight = f"weight {self.weight:.4g}"
        if self.exponent:
            weight += f" times words to the power of {format_number(-self.exponent, '.4g')}"
        return f"{self.column}: {self.family}; {weight}"

    def _parameter_rows(self, classes: Sequence[int]) -> list[list[str]]:
        return [[name, *(self._parameter(name, c) for c in classes)] for name in self.learnt.parameters]

    def _parameter(self, name: str, c: int) -> str:
        """Return a parameter of a class as text."""
        numbers = {key: float(by_class[c]) for key, by_class in self.learnt.parameters.items()}
        if self.kind == "date" and name in ("mean", "deviation"):
            mean, deviation = format_mean_of_dates(numbers["mean"], numbers.get("deviation", np.inf))
            return mean if name == "mean" else deviation
        return format_number(numbers[name], ",.6g" if name in ("rows", "texts", "weight") else ".4g")

    def _parameter_table(self, width: int) -> str:
        """Return a line per parameter and a column per class; a line per class if there are many classes."""
        every = range(len(self.classes))
        header = ["", *map(str, self.classes)]
        table = format_table(header, self._parameter_rows(every), right=header[1:])
        if _width_of(table) <= width:
            return table
        lines = [list(column) for column in zip(header, *self._parameter_rows(every), strict=True)]
        n_more = len(self.classes) - MAX_LINES
        rows = [[shorten(line[0], MAX_VALUE_WIDTH), *line[1:]] for line in lines[1 : MAX_LINES + 1]]
        table = format_table(["class", *lines[0][1:]], rows, right=lines[0][1:])
        return table + (f"\nand {n_more:,} more" if n_more > 0 else "")

    def _value_columns(self, value_width: int) -> list[tuple[list[str], int]]:
        """Return the columns of the table of values, each with its rank: those of higher ranks are left out first."""
        learnt, (first, second) = self.learnt, self.pair
        lines = self._lines()

        def column(name: str, numbers: Floats, form: str, total: str = "") -> list[str]:
            return [name, *(format_number(x, form) for x in numbers[lines].tolist()), total]

        others = [c for c in range(len(self.classes)) if c not in self.pair]
        columns = [(["value", *(shorten(learnt.shown[v], value_width) for v in lines), "all"], 0)]
        for rank, classes in ((3, (second, first)), (5, others)):
            columns += [
                (
                    column(
                        f"n | {self._label(c)}", learnt.counts[:, c], ",.6g", format_number(learnt.totals[c], ",.6g")
                    ),
                    rank,
                )
                for c in classes
            ]
        for rank, classes in ((1, (second, first)), (4, others)):
            if self.is_likelihood:
                columns += [(column(f"p | {self._label(c)}", self.probability[:, c], ".4g"), rank) for c in classes]
        columns.append((column("log-odds", self.log_odds, "+.4g"), 2))
        if self.weight != 1.0 and not self.exponent:
            with np.errstate(invalid="ignore"):
                columns.append((column("weighted", self.weight * self.log_odds, "+.4g"), 1))
        return columns

    def _label(self, c: int) -> str:
        return shorten(self.classes[c], 12)

    def _lines(self) -> list[int]:
        """Return the positions of the values that are printed: all, or the most frequent."""
        n_values = len(self.learnt.values)
        if n_values <= MAX_LINES:
            return list(range(n_values))
        return [int(v) for v in np.argsort(-self.learnt.counts.sum(axis=1), kind="stable")[:MAX_LINES]]

    def _value_table(self, width: int) -> list[str]:
        columns = self._value_columns(MAX_VALUE_WIDTH if width >= 80 else 20)
        n_columns, table = len(columns), ""
        for max_rank in range(5, -1, -1):
            columns = [(column, rank) for column, rank in columns if rank <= max_rank]
            header = [column[0] for column, _ in columns]
            rows = list(zip(*(column[1:] for column, _ in columns), strict=True))
            rows = rows if any(rows[-1][1:]) else rows[:-1]
            table = format_table(header, rows, right=set(header[1:]) - {"value"})
            if _width_of(table) <= width:
                break
        below = self._notes()
        if len(columns) < n_columns:
            below.append(f"{n_columns - len(columns)} columns of numbers do not fit: widen the terminal, or use --csv.")
        return [table, *below]

    def _notes(self) -> list[str]:
        """Return what stands below the table of values: how many are not shown, and what the log-odds mean."""
        first, second = (shorten(self.classes[c]) for c in self.pair)
        n_more = self.learnt.n_values - len(self._lines())
        meaning = f"log-odds of {first} against {second}; {self._smoothing()}"
        return [f"and {n_more:,} more", meaning] if n_more > 0 else [meaning]

    def _smoothing(self) -> str:
        """Return how a probability follows from the counts."""
        alphas = np.unique(self.learnt.alpha[self.learnt.alpha > 0])
        if not self.is_likelihood:
            return "evidence, computed from the counts of the other classes"
        if len(alphas) == 1 and (self.learnt.alpha == alphas[0]).all():
            total = np.unique(self.learnt.total_alpha)
            added = f"{total[0]:.4g}" if len(total) == 1 else "α of all values"
            return f"p = (n + {alphas[0]:.4g}) / (all + {added})"
        return "p = (n + α) / (all + α of all values)" if len(alphas) else "p = n / all"


@dataclass(frozen=True, eq=False)
class Tables(Mapping[str, ColumnTable]):
    """The tables of a model by column, with π and b of equation (1) in `prior` and `offset`, (class,)."""

    model: Model
    pair: Pair
    top: int | None

    @property
    def classes(self) -> tuple[Label, ...]:
        """The classes."""
        return self.model.classes

    @property
    def prior(self) -> Floats:
        """π_c, the probability of each class before any column is seen."""
        return np.asarray(np.exp(self.model.log_prior))

    @property
    def offset(self) -> Floats:
        """b_c, the offset of each class under the tuning."""
        return self.model.weighted_blocks.offset

    @cached_property
    def _places(self) -> dict[str, tuple[int, int]]:
        """The block of each column, and its position there."""
        return {
            EvidenceKey((name,), block.role).to_json(): (b, j)
            for b, block in enumerate(self.model.chosen.schema.blocks)
            for j, name in enumerate(block.names)
        }

    def of_column(self, column: str) -> list[ColumnTable]:
        """Return the table of a column, and those of its pairs of words, or of whether it has a value, if it has them.

        Parameters
        ----------
        column
            The name of a column, or a key of the tables, such as "age present".
        """
        keys = [key for key in self._places if EvidenceKey.from_json(key).columns == (column,)]
        if keys:
            return [self[key] for key in keys]
        if column in self._places:
            return [self[column]]
        if column in self.model.chosen.left_out:
            raise InputError(f"the model does not use column {column!r}: {self.model.chosen.left_out[column]}.")
        raise InputError(f"the model has no column {column!r}; it has {listed(self.model.schema.names)}.")

    def __getitem__(self, column: str) -> ColumnTable:
        b, j = self._places[column]
        model, block = self.model, self.model.chosen.schema.blocks[b]
        family, statistic, parameters = block.family, model.chosen.statistics[b], model.parameters[b]
        learnt = family.learnt(statistic, parameters, j, model.classes, block.kind(j), self.top)
        weight, exponent = _weight_of(model, block, j)
        place = column, block.kind(j), str(family), model.classes, self.pair
        return ColumnTable(*place, learnt, weight, exponent, family.is_likelihood)

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def to_arrow(self) -> pa.Table:
        """Return the tables of all columns, one below the other; see `ColumnTable.to_arrow`."""
        import pyarrow as pa

        if not self:
            raise InputError("the model uses no column: there are no tables.")
        return pa.concat_tables([table.to_arrow() for table in self.values()])

    def __repr__(self) -> str:
        return f"<Tables of {counted(len(self), 'column')}, {counted(len(self.classes), 'class', 'classes')}>"

    def _repr_html_(self) -> str:
        shown = [self[column]._repr_html_() for column in list(self)[:MAX_TABLES]]
        return section("tables", *shown, more(len(self) - len(shown), "columns"))

    def __str__(self) -> str:
        shown = [str(self[column]) for column in list(self)[:MAX_TABLES]]
        n_more = len(self) - len(shown)
        return "\n\n".join(shown + ([f"and {n_more:,} more"] if n_more > 0 else []))


def make_tables(
    model: Model, of: Label | None = None, against: Label | None = None, top: int | None = MAX_WORDS
) -> Tables:
    """Return the tables of a model; see `Model.tables`."""
    if len(model.classes) < 2:
        return Tables(model, (0, 0), top)
    of = model.classes[-1] if of is None else of
    return Tables(model, class_pair(model, of, against, range(len(model.classes))), top)


def _weight_of(model: Model, block: Block, j: int) -> tuple[float, float]:
    """Return w and β of a column."""
    if model.tuning is None:
        return 1.0, 0.0
    return model.tuning.weight_of_column(block, j), model.tuning.exponent(block)


def _width_of(table: str) -> int:
    from rich.cells import cell_len

    return max(map(cell_len, table.split("\n")))
