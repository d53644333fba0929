"""Calibration: a Tuning, how it weighs the evidence of each column, and its JSON.

    log p(c | x) ∝ log π_c + b_c + Σ_j w_j · L_j^(−β_j) · e_jc + Σ_m u_m · e_mc             (1)
    p(c | x) ← (1 − ε) p(c | x) + ε / C,    ε = 1 / (2 · rows that were looked at)          (2)

e_jc is the evidence of column j for class c, its log-likelihood. w_j ≥ 0 is the weight of the column and b_c the offset
of the class. For texts and blocks of counts, L_j is the number of known words in the row. β_j lowers the weight of a
long text, whose words repeat each other. Without a Tuning w = 1 and b = β = 0: plain Naive Bayes. The score stays a sum
over columns and words, so that explanations are exact. `tuning` chooses the numbers by leave-one-out.

e_mc is the evidence of table m of columns (families/together.py), u_m ≥ 0 its weight; most models have no tables.

Equation (2) is the floor: no prediction is surer than a sample of this size can show. C is the number of classes whose
prior is not zero. The textbook has no floor, nor have tunings of earlier files.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from naively._kernels.types import Floats
from naively.data.labelled import Label
from naively.data.names import counted
from naively.data.plain import JsonObject
from naively.data.text_table import format_number
from naively.errors import InputError
from naively.families import Family
from naively.families.together import WeightedTables
from naively.schema.choose import Chosen, split
from naively.schema.family_json import family_from_json, family_to_json
from naively.schema.schema import Block, Schema, name_of_part


class EvidenceKey(NamedTuple):
    """What a weight belongs to: the value of a column, whether it has one (role "presence"), or a part of it ("pairs").

    A block of counts has the key of its first column.
    """

    columns: tuple[str, ...]
    role: str = "value"

    def __str__(self) -> str:
        column = ", ".join(self.columns)
        return f"{column} present" if self.role == "presence" else name_of_part(column, self.role)

    def to_json(self) -> str:
        """Return the name in JSON: "age", "age present", "text [pairs]"; "age present value" for a column called so."""
        return f"{self} value" if self.role == "value" and _LIKE_ROLE.search(str(self)) else str(self)

    @classmethod
    def from_json(cls, name: str) -> EvidenceKey:
        """Return the key that has this name in JSON."""
        role = _LIKE_ROLE.search(name)
        if role is None:
            return cls((name,))
        if role["value"]:
            return cls((name.removesuffix(" value"),))
        return cls((name[: role.start()],), role["part"] or "presence")


_LIKE_ROLE = re.compile(r" (?:present|\[(?P<part>pairs|\d+-grams)\])(?P<value>(?: value)*)$")

ROUNDING = 1e-9  # nats: what is worth less is worth nothing
REDUNDANT_SHARE = 0.01  # of what a column is worth alone: one that adds less to the others repeats them
REDUNDANT_SHARE_BY_CHANCE = 0.1  # the same, of a column that may add nothing
MAX_SHOWN = 4  # columns in a line
ANSWER_SHARE = 0.95  # of the uncertainty about the class that a column alone removes, if it may hold the answer


class ColumnImportance(NamedTuple):
    """What a column is worth: how much the log-loss grows, in nats per row, when the model does without it.

    Parameters
    ----------
    column
        The name; of columns that share one distribution the first.
    nats, low, high
        The mean over rows by leave-one-out, the other weights fitted again, and its 95 % interval.
    alone, alone_low, alone_high
        How much the column alone lowers the log-loss of the class shares, and its 95 % interval.
    n_columns
        The number of columns that share the distribution.
    """

    column: str
    nats: float
    low: float
    high: float
    alone: float
    alone_low: float
    alone_high: float
    n_columns: int = 1

    @property
    def name(self) -> str:
        """The column, and how many more share its distribution."""
        return self.column if self.n_columns == 1 else f"{self.column} and {self.n_columns - 1:,} more"

    @property
    def remark(self) -> str:
        """What the intervals say: "redundant", "no more than chance", or nothing.

        A redundant column repeats others. It adds less than a hundredth of what it is worth alone, or less than a tenth
        and no more than chance.
        """
        if self.alone_low <= ROUNDING:
            return "no more than chance" if self.low <= ROUNDING else ""
        share = REDUNDANT_SHARE if self.low > 0 else REDUNDANT_SHARE_BY_CHANCE
        return "redundant" if self.high < share * self.alone else ""

    def to_dict(self) -> JsonObject:
        """Return the numbers and the remark as plain data."""
        return {**self._asdict(), "remark": self.remark}


class Importance(tuple[ColumnImportance, ...]):
    """What each column is worth, the highest first: a tuple of `ColumnImportance`."""

    __slots__ = ()

    def __repr__(self) -> str:
        shown = [f"{column.name} {format_number(column.nats, '.4g')}" for column in self[:MAX_SHOWN]]
        return f"<Importance of {counted(len(self), 'column')}: {', '.join(shown)}{', …' * (len(self) > MAX_SHOWN)}>"


ByColumn = Mapping[EvidenceKey | str, float]  # a name is short for the key of the column's value


@dataclass(frozen=True)
class Tuning:
    """The numbers of equation (1), and the families that were chosen with them.

    Parameters
    ----------
    offsets
        b by class; 0 for a class that is not named.
    weights
        w by column, or by `EvidenceKey`.
    exponents
        β by column, or by `EvidenceKey`.
    families
        The families that replace those of the rules, by column; for a part of a column by "text [pairs]".
    default_weight
        w of a column that is not named.
    rows
        The number of rows that the numbers were chosen by.
    report
        How good the predictions are by leave-one-out: accuracy, log_loss, prior_log_loss.
    importance
        What each column is worth by leave-one-out, the highest first; empty where it was not computed.
    counted_rows
        The number of rows that the model had counted then; 0 if it is not known.
    floor
        ε of equation (2), from 0 to less than 1.
    table_weights
        The weight of each table of columns; empty if they are not used.
    together
        What tables of columns gain over the columns alone: nats per row by leave-one-out, and its 95 % interval. Empty
        if the model has none.
    plain
        The tuning of the columns alone, for a model that has lost its tables; None if tables are not used.
    together_expected
        What a model without tables of columns would gain by them: at least this many nats per row, and the 95 %
        interval, from tables of the sampled rows only. Empty if that is no more than chance.
    """

    offsets: Mapping[Any, float] = field(default_factory=dict)
    weights: ByColumn = field(default_factory=dict)
    exponents: ByColumn = field(default_factory=dict)
    families: Mapping[str, Family] = field(default_factory=dict)
    default_weight: float = 1.0
    rows: int = 0
    report: Mapping[str, float] = field(default_factory=dict)
    importance: tuple[ColumnImportance, ...] = ()
    counted_rows: int = 0
    floor: float = 0.0
    table_weights: tuple[float, ...] = ()
    together: tuple[float, ...] = ()
    plain: Tuning | None = None
    together_expected: tuple[float, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        for name in ("weights", "exponents"):
            by_key = {EvidenceKey((k,)) if isinstance(k, str) else k: v for k, v in getattr(self, name).items()}
            object.__setattr__(self, name, by_key)

    def __repr__(self) -> str:
        n_zero = sum(weight == 0 for weight in self.weights.values())
        parts = ["plain Naive Bayes"] if self.is_textbook else [counted(len(self.weights), "weight")]
        parts += [f"{n_zero} of them 0"] if n_zero else []
        parts += [f"log-loss {self.report['log_loss']:.4f}"] if "log_loss" in self.report else []
        return f"<Tuning by {counted(self.rows, 'row')}: {', '.join(parts)}>"

    def __hash__(self) -> int:
        return hash((self.default_weight, self.rows, len(self.weights)))

    @property
    def is_textbook(self) -> bool:
        """Whether tuning has kept plain Naive Bayes: nothing else was better by more than chance."""
        return self.default_weight == 1.0 and not (self.weights or self.offsets or self.families)

    def offset(self, classes: Sequence[Label]) -> Floats:
        """Return b for each class."""
        return np.array([self.offsets.get(label, 0.0) for label in classes], dtype=np.float64)

    def weight(self, block: Block) -> Floats:
        """Return w for each column of a block, one number for a joint block."""
        by_name = self._weights_by_role.get(block.role, {})
        names = block.names[:1] if block.family.joint else block.names
        return np.array([by_name.get(name, self.default_weight) for name in names])

    @cached_property
    def _weights_by_role(self) -> dict[str, dict[str, float]]:
        """The weight of each column, by the role of its evidence."""
        by_role: dict[str, dict[str, float]] = {}
        for key, w in self.weights.items():
            by_role.setdefault(key[1], {})[key[0][0]] = w
        return by_role

    def weight_of_column(self, block: Block, j: int) -> float:
        """Return w of one column of a block."""
        weight = self.weight(block)
        return float(weight[j if len(weight) > 1 else 0])

    def exponent(self, block: Block) -> float:
        """Return β of a block."""
        return self.exponents.get(EvidenceKey((block.names[0],), block.role), 0.0) if len(block.names) else 0.0

    def describe_together(self) -> str:
        """Return whether tables of columns are used, and what they gain; or would gain, if that is more than chance."""
        if self.together_expected:
            nats, low, high = map(format_number, self.together_expected)
            return (
                "Columns act together here, and this model takes them one by one. With together=True (--together),\n"
                f"expect a log-loss that is lower by {nats} nats per row or more (leave-one-out on sampled rows,\n"
                f"95 % interval {low} – {high})."
            )
        if not self.together:
            return ""
        nats, low, high = map(format_number, self.together)
        gain = f"{nats} nats per row (leave-one-out, 95 % interval {low} – {high})"
        if not self.table_weights:
            return f"Columns together: nothing gained by more than chance, not used. {gain[0].upper() + gain[1:]}."
        n_used = sum(weight > 0 for weight in self.table_weights)
        return f"Columns together: {n_used} of {len(self.table_weights)} tables are used, which gain {gain}."

    def to_json(self) -> str:
        """Return the tuning as JSON."""
        content: JsonObject = {
            "offsets": [[label, b] for label, b in self.offsets.items()],
            "weights": _by_name(self.weights),
            "exponents": _by_name(self.exponents),
            "families": {name: family_to_json(family) for name, family in self.families.items()},
            "common": self.default_weight,
            "rows": self.rows,
            "report": dict(self.report),
        }
        if self.importance:  # a tuning of an earlier version stays as it was written
            content["importance"] = [list(column) for column in self.importance]
        if self.counted_rows:
            content["counted_rows"] = self.counted_rows
        if self.floor:
            content["floor"] = self.floor
        if self.together:
            content["together"] = list(self.together)
        if self.together_expected:
            content["together_expected"] = list(self.together_expected)
        if self.plain is not None:
            content["table_weights"], content["plain"] = list(self.table_weights), json.loads(self.plain.to_json())
        return json.dumps(content, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Tuning:
        """Return the tuning that this JSON describes; refuse anything else.

        Parameters
        ----------
        text
            The result of `to_json`.

        >>> tuning = Tuning({"ham": 0.5}, {"age": 0.25}, default_weight=0.5, rows=100)
        >>> Tuning.from_json(tuning.to_json()) == tuning
        True
        """
        try:
            content = json.loads(text)
            weights, exponents, report = (
                {str(name): _number(value) for name, value in content[part].items()}
                for part in ("weights", "exponents", "report")
            )
            rows, counted_rows = content["rows"], content.get("counted_rows", 0)
            is_number = type(rows) is int and type(counted_rows) is int
            if not is_number or rows < 0 or counted_rows < 0 or any(w < 0 for w in weights.values()):
                raise ValueError("rows and weights are not negative")
            floor = _number(content.get("floor", 0.0))
            if not 0 <= floor < 1:
                raise ValueError("the floor is a probability below 1")
            table_weights, together, together_expected = (
                tuple(_number(value) for value in content.get(part, ()))
                for part in ("table_weights", "together", "together_expected")
            )
            plain = None if content.get("plain") is None else cls.from_json(json.dumps(content["plain"]))
            if any(w < 0 for w in table_weights) or bool(table_weights) != (plain is not None):
                raise ValueError("tables of columns have weights from 0 on, and a tuning without them")
            if not {len(together), len(together_expected)} <= {0, 3}:
                raise ValueError("the gain of tables of columns has an interval")
            return cls(
                {label: _number(b) for label, b in content["offsets"]},
                {EvidenceKey.from_json(name): w for name, w in weights.items()},
                {EvidenceKey.from_json(name): b for name, b in exponents.items()},
                {str(name): family_from_json(family) for name, family in content["families"].items()},
                _number(content["common"]),
                rows,
                report,
                tuple(_column_importance(*column) for column in content.get("importance", ())),
                counted_rows,
                floor,
                table_weights,
                together,
                plain,
                together_expected,
            )
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError) as error:
            raise InputError(f"this is not a tuning in JSON ({type(error).__name__}: {error}).") from None


def _by_name(numbers: ByColumn) -> dict[str, float]:
    return {EvidenceKey(*key).to_json(): number for key, number in numbers.items()}


def _column_importance(name: object, *numbers: object) -> ColumnImportance:
    *nats, n_columns = numbers
    if not isinstance(name, str) or len(nats) != 6 or type(n_columns) is not int or n_columns < 1:
        raise ValueError("the importance of a column is its name, six numbers and the number of columns")
    worth, low, high, alone, alone_low, alone_high = map(_number, nats)
    return ColumnImportance(name, worth, low, high, alone, alone_low, alone_high, n_columns)


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not np.isfinite(value):
        raise ValueError(f"{str(value)[:40]} is not a finite number")
    return float(value)


@dataclass(frozen=True, eq=False)
class WeightedBlocks:
    """What posteriors are computed from: blocks, their parameters, w and β of each block, and tables of columns.

    The factor of a block is None if the weights are in its parameters, or if there is no tuning.
    """

    schema: Schema
    parameters: tuple[Any, ...]
    factors: tuple[tuple[float, float] | None, ...]
    offset: Floats
    tables: WeightedTables | None = None


def weigh_blocks(
    chosen: Chosen, parameters: Sequence[Any], classes: Sequence[Label], tuning: Tuning | None
) -> WeightedBlocks:
    """Return the blocks of equation (1); weights go into the parameters of families that can hold them."""
    if tuning is None:
        no_factors = (None,) * len(chosen.schema.blocks)
        return WeightedBlocks(chosen.schema, tuple(parameters), no_factors, np.zeros(len(classes)))
    parts: list[tuple[Block, Any, tuple[float, float] | None]] = []
    for block, statistic, plain in zip(chosen.schema.blocks, chosen.statistics, parameters, strict=True):
        weight = tuning.weight(block)
        with_weight = block.family.weighted(plain, weight) if len(weight) else plain
        if with_weight is not None:
            parts.append((block, with_weight, None))
        elif len(set(weight.tolist())) == 1:
            parts.append((block, plain, (float(weight[0]), tuning.exponent(block))))
        else:
            for columns, part, w, positions in split(block, statistic, weight):
                parameters_of = columns.family.columns_of(plain, positions, part, classes)
                parts.append((columns, parameters_of, (w, 0.0)))
    blocks, weighted, factors = zip(*parts, strict=True) if parts else ((), (), ())
    return WeightedBlocks(Schema(chosen.schema.names, blocks), weighted, factors, tuning.offset(classes))
