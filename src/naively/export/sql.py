"""A model as one SQL query, which returns the posterior of each class and the predicted class.

The query is a chain of steps. Each step uses the results of the one before, so that nothing is computed twice:

    read      each column as the position of its value in a list, or as a number
    score     the score of each class: the sum over the columns, from lists or from lookup tables
    best      the largest score of each row
    part      exp(score − best) of each class, 0 below exp(−700), which is an underflow in PostgreSQL
    total     the sum of these parts, or its logarithm
    (last)    the share of each class, and the class with the largest score

Two classes that are never impossible need their log-odds only, so `best`, `part` and `total` are left out.

Values that the family of a column refuses, such as an infinity or a negative count, give NULL.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from naively.data.columns import MAX_EXACT_INTEGER
from naively.data.views import Value
from naively.errors import InputError
from naively.export.dialects import DIALECTS, Dialect
from naively.export.scorecard import MAX_DISTANCE, MAX_NUMBER, Scorecard, ScoredColumn, scorecard_of
from naively.families.scores import GaussianScores, IntervalScores, LinearScores, ValueScores
from naively.model.model import Model

MAX_LISTED = 32  # values of a column that stand in the query itself; more of them are a lookup table
MIN_EXPONENT = -700.0  # PostgreSQL refuses exp(−800)
MIN_MEAN = 1e-20  # in deviations: a shift that changes no score
MAX_SHIFT = 100.0  # in deviations: means that are nearer to each other can be compared by a polynomial
MAX_SCALE = 1e50  # of a deviation, so that no product of a few of them is infinite or 0
MIN_NUMBER = 1e-290
PREDICTION = "prediction"
READ = re.compile(r"\br\.(c\d+|refused)\b")  # what the step read has computed


def to_sql(
    model: Model, dialect: str, table: str | Sequence[str] = "data", keys: Sequence[str] = (), log: bool = False
) -> str:
    """Return a query that scores the rows of a table; see `Model.to_sql`."""
    if dialect not in DIALECTS:
        raise InputError(f"dialect={dialect!r}: naively writes SQL for {', '.join(DIALECTS)}.")
    parts = [table] if isinstance(table, str) else list(table)
    keys = [keys] if isinstance(keys, str) else list(keys)
    return _Query(scorecard_of(model), DIALECTS[dialect], parts, keys).text(log)


@dataclass
class _Query:
    """A query that is being written."""

    card: Scorecard
    dialect: Dialect
    table: Sequence[str]
    keys: Sequence[str]
    read: list[str] = field(default_factory=list)  # expressions of the first step, c1, c2, …
    refusals: list[str] = field(default_factory=list)  # conditions under which a row has no posterior
    lookups: list[str] = field(default_factory=list)
    joins: list[tuple[str, str]] = field(default_factory=list)  # a lookup table, and the condition on what is read

    @property
    def n_classes(self) -> int:
        return len(self.card.classes)

    @property
    def has_two(self) -> bool:
        """Whether there are two classes, none of which can be impossible: their log-odds are enough."""
        return self.n_classes == 2 and not self.has_zeros

    def text(self, log: bool) -> str:
        """Return the query."""
        self.refuse_same_names([column.name for column in self.card.columns], self.keys)
        sums = self.score_classes()
        compare = self.compare_two if self.has_two else self.compare_all
        has_floor = bool(self.card.floor.any())
        steps, prediction, posteriors = compare(sums, log and not has_floor)
        posteriors = self.with_floor(posteriors, log) if has_floor else posteriors
        names = [*self.keys, PREDICTION, *self.posterior_names()]
        outputs = [*self.key_names(), prediction, *posteriors]
        final = [f"{output} AS {self.dialect.name(name)}" for output, name in zip(outputs, names, strict=True)]
        last = self.step_name("score" if self.has_two else "total")
        return "WITH " + ",\n".join([*self.lookups, *steps]) + _select(final, last, indent="") + "\n"

    def compare_all(self, sums: Sequence[str], log: bool) -> tuple[list[str], str, list[str]]:
        """Return the steps, the prediction, and the posterior of each class."""
        d, keys, is_possible = self.dialect, self.key_names(), not self.has_zeros
        scores, parts = ([f"{letter}{c}" for c in range(1, self.n_classes + 1)] for letter in "se")
        shares = [
            f"CASE WHEN {s} - best < {d.number(MIN_EXPONENT)} THEN {d.number(0)} ELSE exp({s} - best) END"
            for s in scores
        ]
        needed = [] if log else parts
        total = f"ln({_sum(parts)})" if log else _sum(parts)
        columns = {
            "best": [*keys, *scores, f"{d.greatest(scores)} AS best"],
            "part": [*keys, *scores, "best", *_aliased(shares, parts)],
            "total": [*keys, *scores, "best", *needed, f"{total} AS total"],
        }
        steps, last = self.score_steps(_aliased(sums, scores)), "score"
        for step, selected in columns.items():
            steps.append(d.step(self.step_name(step), _select(selected, self.step_name(last))))
            last = step
        posterior = [f"{s} - best - total" if log else f"{e} / total" for s, e in zip(scores, parts, strict=True)]
        results = [self.or_prior(p, prior, is_possible) for p, prior in zip(posterior, self.prior(log), strict=True)]
        return steps, self.prediction(scores, is_possible), results

    def with_floor(self, posteriors: Sequence[str], log: bool) -> list[str]:
        """Return posteriors after equation (2) of the scorecard, or their logarithms."""
        number, rest = self.dialect.number, 1.0 - float(self.card.floor.sum())
        results = []
        for posterior, floor in zip(posteriors, self.card.floor.tolist(), strict=True):
            mixed = f"{number(rest)} * ({posterior}) + {number(floor)}"
            impossible = f"({posterior}) + {number(-math.inf)}"  # a class whose prior is zero; NULL stays NULL
            results.append(mixed if not log else f"ln({mixed})" if floor else impossible)
        return results

    def compare_two(self, sums: Sequence[str], log: bool) -> tuple[list[str], str, list[str]]:
        """Return the same for two classes that are never impossible, from the log-odds alone."""
        d, zero, one, limit = self.dialect, *map(self.dialect.number, (0.0, 1.0, -MIN_EXPONENT))
        first, second = map(d.literal, self.card.classes)
        prediction = f"CASE WHEN d > {zero} THEN {second} WHEN d <= {zero} THEN {first} END"
        posteriors = []
        for odds, less in (("-d", "d"), ("d", "-d")):
            cases = f"WHEN {odds} > {limit} THEN {one} WHEN {odds} < -{limit} THEN {zero}"
            rest = f"{one} / ({one} + exp({less}))"
            if log:
                cases = f"WHEN {odds} > {limit} THEN {zero} WHEN {odds} < -{limit} THEN {odds}"
                cases += f" WHEN {odds} < {zero} THEN {odds} - ln({one} + exp({odds}))"
                rest = f"-ln({one} + exp({less}))"
            posteriors.append(f"CASE {cases} ELSE {rest} END")
        return self.score_steps([f"({sums[1]}) - ({sums[0]}) AS d"]), prediction, posteriors

    def score_steps(self, scores: Sequence[str]) -> list[str]:
        """Return the steps read and score; they are one step if nothing that is read is used twice."""
        d, table = self.dialect, f"{'.'.join(map(self.dialect.name, self.table))} AS t"
        read = {f"c{i}": expression for i, expression in enumerate(self.read, 1)}
        if self.refusals:
            read["refused"] = f"CASE WHEN {' OR '.join(self.refusals)} THEN NULL ELSE 0 END"
        key_names = self.key_names()
        keys = [f"t.{d.name(name)} AS {key}" for name, key in zip(self.keys, key_names, strict=True)]
        uses = Counter(READ.findall(" ".join([*scores, *(condition for _, condition in self.joins)])))
        if max(uses.values(), default=0) <= 1:

            def fill(text: str) -> str:
                return READ.sub(lambda use: f"({read[use[1]]})", text)

            source = "\n    ".join([table, *(f"LEFT JOIN {lookup} ON {fill(on)}" for lookup, on in self.joins)])
            return [d.step(self.step_name("score"), _select([*keys, *map(fill, scores)], source))]
        joins = (f"LEFT JOIN {lookup} ON {condition}" for lookup, condition in self.joins)
        source = "\n    ".join([f"{self.step_name('read')} AS r", *joins])
        return [
            d.step(self.step_name("read"), _select([*keys, *_aliased(list(read.values()), list(read))], table)),
            d.step(self.step_name("score"), _select([*key_names, *scores], source)),
        ]

    def key_names(self) -> list[str]:
        """Return the names of the keys between the steps."""
        return [f"k{i}" for i in range(1, len(self.keys) + 1)]

    def step_name(self, step: str) -> str:
        """Return the name of a step."""
        return f"{self.prefix()}_{step}"

    def prefix(self) -> str:
        """Return a prefix of the names of the steps, which no part of the table's name has."""
        prefix = "naively"
        while any(part.casefold().startswith(prefix) for part in self.table):
            prefix += "_"
        return prefix

    def refuse_same_names(self, columns: Sequence[str], keys: Sequence[str]) -> None:
        """Refuse names that the database does not tell apart, and keys that are columns of the result."""
        results = [PREDICTION, *self.posterior_names()]
        for names in (sorted(set(columns)), [*keys, *results]):
            by_name: dict[str, str] = {}
            for name in names:
                other = by_name.get(self.fold(name))
                if other is not None:
                    raise InputError(
                        f"{other!r} and {name!r} are one name in {self.dialect.title}: rename one of them."
                    )
                by_name[self.fold(name)] = name

    def fold(self, name: str) -> str:
        return name.casefold() if self.dialect.ignores_case else name

    def posterior_names(self) -> list[str]:
        """Return a name for the posterior of each class: p_CLASS, shortened and numbered if need be."""
        limit, names, taken = self.dialect.max_name_bytes, list[str](), {PREDICTION}
        for label in self.card.classes:
            full = f"p_{label}"
            name, number = _shortened(full, limit), 1
            while self.fold(name) in taken:
                number += 1
                name = _shortened(full, limit and limit - len(f"_{number}")) + f"_{number}"
            taken.add(self.fold(name))
            names.append(name)
        return names

    @cached_property
    def has_zeros(self) -> bool:
        """Return whether a class can be impossible."""
        tables = [self.card.start]
        for column in self.card.columns:
            scores = column.scores
            if scores.form == "values" or scores.form == "intervals":
                tables.append(scores.scores)
            elif scores.form == "linear" and scores.zero_only.any():
                return True
        return any(bool(np.isneginf(table).any()) for table in tables)

    def prior(self, log: bool) -> list[float]:
        """Return the posterior of a row that is impossible in every class."""
        log_prior = self.card.log_prior - np.logaddexp.reduce(self.card.log_prior)
        prior: list[float] = (log_prior if log else np.exp(log_prior)).tolist()
        return prior

    def or_prior(self, result: str, prior: float, is_possible: bool) -> str:
        """Return a result, or the prior for a row that is impossible in every class."""
        if is_possible:
            return result
        return f"CASE WHEN best = {self.dialect.number(-math.inf)} THEN {self.dialect.number(prior)} ELSE {result} END"

    def prediction(self, scores: Sequence[str], is_possible: bool) -> str:
        """Return the class with the largest score, the first of several."""
        label = self.dialect.literal
        cases = [f"WHEN {s} = best THEN {label(c)}" for s, c in zip(scores, self.card.classes, strict=True)]
        if not is_possible:
            by_prior = self.card.classes[int(np.argmax(self.card.log_prior))]
            cases.insert(0, f"WHEN best = {self.dialect.number(-math.inf)} THEN {label(by_prior)}")
        return f"CASE {' '.join(cases)} END"

    # The steps read and score: for each column what is read, and what it adds to each class.

    def score_classes(self) -> list[str]:
        """Return the score of each class as an expression over what was read."""
        terms = [[self.dialect.number(start)] for start in self.card.start.tolist()]
        for block in self.card.blocks:
            first = len(self.read)
            added = [self.score_column(column) for column in block.columns]
            by_class = [list(filter(None, of_class)) for of_class in zip(*added, strict=True)]
            if block.exponent:
                factor = self.length_factor(block.columns, first, block.exponent)
                by_class = [[f"({_sum(of_class)}) * {factor}"] if of_class else [] for of_class in by_class]
            for c, of_class in enumerate(by_class):
                terms[c] += of_class
        if self.refusals:
            terms[-1].append("r.refused")
            if not self.has_two:  # the log-odds need it once
                terms[:-1] = [[*of_class, "r.refused"] for of_class in terms[:-1]]
        return [_sum(of_class) for of_class in terms]

    def length_factor(self, columns: Sequence[ScoredColumn], first: int, exponent: float) -> str:
        """Return L^(−β), where L is the sum of the counts of columns that were read from position `first` on."""
        counts = [
            f"coalesce(r.c{first + i}, {self.dialect.number(0)})"
            for i, column in enumerate(columns, 1)
            if column.scores.form == "linear" and column.scores.in_length
        ]
        length = self.dialect.greatest([_sum(counts), self.dialect.number(1)]) if counts else self.dialect.number(1)
        return f"power({length}, {self.dialect.number(-exponent)})"

    def score_column(self, column: ScoredColumn) -> list[str]:
        """Add what is to be read of a column; return what it adds to each class."""
        scores = column.scores
        try:
            if scores.form == "values":
                return self.score_values(column, scores)
            if scores.form == "intervals":
                return self.score_intervals(column, scores)
            return (
                self.score_gaussian(column, scores) if scores.form == "gaussian" else self.score_linear(column, scores)
            )
        except InputError as error:
            raise InputError(f"column {column.name!r} ({column.family}): {error}") from None

    def add(self, expression: str) -> str:
        """Add an expression to what is read; return its name in the next step."""
        self.read.append(expression)
        return f"r.c{len(self.read)}"

    def number_of(self, column: ScoredColumn) -> tuple[str, str]:
        """Return a column as a number, and the condition that it is present; refuse anything that is not a number."""
        x = f"t.{self.dialect.name(column.name)}"
        number = self.dialect.as_number(x, column.kind)
        is_other = self.dialect.is_not_number(x, column.kind)
        if is_other is not None:
            self.refusals.append(is_other)
        return number, self.dialect.is_present(number)

    def score_values(self, column: ScoredColumn, scores: ValueScores) -> list[str]:
        """Read the place of the value in a list, which ends with any other value and a missing one."""
        d, x, is_text = self.dialect, f"t.{self.dialect.name(column.name)}", column.kind == "string"
        table = [
            (value, row)
            for value, row in zip(scores.values, scores.scores.tolist(), strict=True)
            if isinstance(value, str) == is_text
        ]
        table.sort(key=lambda pair: -max(pair[1]))  # frequent values are compared first
        missing = scores.missing.tolist()
        other = None if scores.other is None else scores.other.tolist()
        if not table:  # only whether there is a value
            is_present = f"{x} IS NOT NULL" if is_text or column.kind == "unknown" else self.number_of(column)[1]
            return self.choose(is_present, [], [], other, missing)
        value, is_present, write = d.as_text(x), f"{x} IS NOT NULL", d.literal
        if not is_text:
            value, is_present = self.number_of(column)
            write = self.write_float
            if other is not None:
                self.refusals.append(f"{value} IN ({d.number(math.inf)}, {d.number(-math.inf)})")
            if any(isinstance(v, int) and abs(v) > MAX_EXACT_INTEGER for v, _ in table):
                value, write = x, d.literal
        keys, rows = [write(v) for v, _ in table], [row for _, row in table]
        if len(rows) <= MAX_LISTED:
            cases = [f"WHEN {key} THEN" for key in keys]
            return self.choose(is_present, cases, rows, other, missing, value)
        key = self.add(value if is_text else f"CASE WHEN {is_present} THEN {value} END")
        rest = self.choose_among(f"CASE WHEN {key} IS NULL THEN 1 ELSE 2 END", [missing, other or missing])
        pairs = zip(self.look_up(key, keys, rows), rest, strict=True)
        return [
            f"coalesce({score or 'NULL'}, {default or d.number(0)})" if score or default else ""
            for score, default in pairs
        ]

    def write_float(self, value: Value) -> str:
        return self.dialect.number(float(value))

    def choose(
        self,
        is_present: str,
        cases: Sequence[str],
        rows: Sequence[Sequence[float]],
        other: Sequence[float] | None,
        missing: Sequence[float],
        value: str = "",
    ) -> list[str]:
        """Read which of several cases holds; return the score of each class in that case."""
        table = [*rows, [0.0] * self.n_classes if other is None else other, missing]
        by_class = self.by_class(table)
        needed = [c for c, scores in enumerate(by_class) if any(scores)]

        def listing(results: Sequence[str]) -> str:
            *of_cases, of_other, of_missing = results
            rest = of_other
            if other is None or of_other != of_missing or not cases:
                rest = f"CASE WHEN {is_present} THEN {'NULL' if other is None else of_other} ELSE {of_missing} END"
            if not cases:
                return rest
            return f"CASE {value} {' '.join(map(' '.join, zip(cases, of_cases, strict=True)))} ELSE {rest} END"

        if len(needed) == 1 and not self.has_zeros:
            read = self.add(listing([self.dialect.number(s) for s in by_class[needed[0]]]))
            terms = [read if c in needed else "" for c in range(self.n_classes)]
        else:
            read = self.add(listing([str(k) for k in range(1, len(table) + 1)]))
            terms = self.choose_among(read, table)
        if other is not None or (self.has_two and any(terms)):
            return terms
        return [term or f"0 * {read}" for term in terms]  # NULL in every class

    def score_intervals(self, column: ScoredColumn, scores: IntervalScores) -> list[str]:
        """Read the number of the interval; the one after the last is a missing value."""
        d, cuts = self.dialect, scores.cuts.tolist()
        number, is_present = self.number_of(column)
        table = [*scores.scores.tolist(), [0.0] * self.n_classes]
        position = f"CASE WHEN {is_present} THEN {d.find_interval(number, cuts)} ELSE {len(table)} END"
        if len(table) > MAX_LISTED + 1:
            return self.look_up(self.add(position), list(map(str, range(1, len(table) + 1))), table)
        by_class = self.by_class(table)
        needed = [c for c, scores_of_class in enumerate(by_class) if any(scores_of_class)]
        if len(needed) > 1:
            return self.choose_among(self.add(position), table)
        if not needed:
            return [""] * self.n_classes
        chosen = d.choose_by_interval(number, cuts, list(map(d.number, by_class[needed[0]][:-1])))
        score = self.add(f"CASE WHEN {is_present} THEN {chosen} ELSE {d.number(0)} END")
        return [score if c in needed else "" for c in range(self.n_classes)]

    def score_gaussian(self, column: ScoredColumn, scores: GaussianScores) -> list[str]:
        """Read the number, or its logarithm, so far from overflow that its square is finite.

        No mean is 0: so the distance of a number from it is 0, or not so small that its square would be 0.
        """
        d = self.dialect
        number, _ = self.number_of(column)
        is_refused = f"abs({number}) = {d.number(math.inf)}"
        mean = np.where(np.abs(scores.mean) < MIN_MEAN * scores.deviation, MIN_MEAN * scores.deviation, scores.mean)
        limit = d.number(float(np.abs(mean).max() + MAX_DISTANCE * scores.deviation.min()))
        bounded = d.least([d.greatest([number, f"-{limit}"]), limit])
        read = f"WHEN abs({number}) <= {limit} THEN {number} WHEN abs({number}) < {d.number(math.inf)} THEN {bounded}"
        if scores.of_logarithm:
            is_refused = f"({is_refused} OR {number} <= {d.number(0)})"
            read = f"WHEN {number} > {d.number(0)} AND {number} < {d.number(math.inf)} THEN ln({number})"
        self.refusals.append(is_refused)
        near = np.abs(mean - mean[0]).max() < MAX_SHIFT * scores.deviation.min()
        is_usual = scores.deviation.min() > 1 / MAX_SCALE and scores.deviation.max() < MAX_SCALE
        if near and is_usual and not (self.has_zeros or scores.of_logarithm):
            return self.compare_gaussians(replace(scores, mean=mean), number, limit)
        u = self.add(f"CASE {read} END")
        terms = []
        for base, centre, deviation in zip(scores.base.tolist(), mean.tolist(), scores.deviation.tolist(), strict=True):
            z = f"({u} - {d.number(centre)}) * {d.number(math.sqrt(0.5) / deviation)}"
            terms.append(f"coalesce({d.number(base)} - ({z}) * ({z}), {d.number(0)})")
        return terms

    def compare_gaussians(self, scores: GaussianScores, x: str, limit: str) -> list[str]:
        """Read the score of each class less that of the first: one polynomial of degree two instead of two squares.

        Means that are near each other lose no digits by that.
        """
        d, (mean, deviation) = self.dialect, (scores.mean, scores.deviation)
        v = f"({x} - {d.number(float(mean[0]))})"
        slope = (mean - mean[0]) / deviation**2
        constant = scores.base - scores.base[0] - 0.5 * (mean - mean[0]) * slope
        curvature = 0.5 / deviation[0] ** 2 - 0.5 / deviation**2
        terms = [""]
        for a, b, c in list(zip(constant.tolist(), slope.tolist(), curvature.tolist(), strict=True))[1:]:
            line = d.number(b) if not c else f"({d.number(b)} + {v} * {d.number(c)})"
            score = f"{d.number(a)} + {v} * {line}"
            above, below = (score.replace(v, f"({end} - {d.number(float(mean[0]))})") for end in (limit, f"-{limit}"))
            terms.append(
                self.add(
                    f"CASE WHEN abs({x}) <= {limit} THEN {score} WHEN {x} < {d.number(0)} THEN {below} "
                    f"WHEN {self.dialect.is_present(x)} THEN {above} ELSE {d.number(0)} END"
                )
            )
        return terms

    def score_linear(self, column: ScoredColumn, scores: LinearScores) -> list[str]:
        """Read the number, so far from overflow and underflow that its product with the slope is finite and not 0."""
        d = self.dialect
        number, is_present = self.number_of(column)
        is_good = f"{number} >= {d.number(0)} AND {number} <= {d.number(MAX_NUMBER)}"
        is_good += f" AND {number} = floor({number})" if scores.integers_only else ""
        self.refusals.append(f"({is_present} AND NOT ({is_good}))")
        slope = np.abs(scores.slope[scores.slope != 0])
        high = d.number(MAX_NUMBER / max(1.0, float(slope.max(initial=0.0))))
        low = d.number(MIN_NUMBER / min(1.0, float(slope.min(initial=1.0))))
        u = self.add(
            f"CASE WHEN {is_good} THEN CASE WHEN {number} < {low} THEN {d.number(0)} "
            f"ELSE {d.least([number, high])} END END"
        )
        terms = []
        columns = zip(scores.intercept.tolist(), scores.slope.tolist(), scores.zero_only.tolist(), strict=True)
        for intercept, factor, zero_only in columns:
            line = f"coalesce({d.number(intercept)} + {u} * {d.number(factor)}, {d.number(0)})"
            impossible = f"CASE WHEN {u} > {d.number(0)} THEN {d.number(-math.inf)} ELSE {line} END"
            terms.append(impossible if zero_only else line)
        return terms

    def by_class(self, table: Sequence[Sequence[float]]) -> list[list[float]]:
        """Return the scores of each class, compared with the first class if no class can be impossible.

        Then the first class has no scores of its own, which saves half of the work with two classes.
        """
        scores = np.array(table).T
        by_class: list[list[float]] = (scores if self.has_zeros else scores - scores[0]).tolist()
        return by_class

    def choose_among(self, position: str, table: Sequence[Sequence[float]]) -> list[str]:
        """Return the score of each class at a position of a small table, (position, class); none if all are 0."""
        return [self.dialect.pick(position, scores) if any(scores) else "" for scores in self.by_class(table)]

    def look_up(self, key: str, keys: Sequence[str], table: Sequence[Sequence[float]]) -> list[str]:
        """Join a lookup table; return the score of each class, NULL where the key is not in it."""
        d, number = self.dialect, len(self.joins) + 1
        if d.max_joins is not None and number > d.max_joins:
            raise InputError(f"{d.title} cannot join more than {d.max_joins} lookup tables in one query.")
        name, alias = f"{self.prefix()}_lookup_{number}", f"l{number}"
        by_class = self.by_class(table)
        needed = [c for c, scores in enumerate(by_class) if any(scores)]
        rows = [
            f"({key_of_row}, {', '.join(self.dialect.number(by_class[c][i]) for c in needed)})"
            for i, key_of_row in enumerate(keys)
        ]
        steps, lookup = d.lookup(name, alias, ["k", *(f"s{c + 1}" for c in needed)], rows)
        self.lookups += steps
        self.joins.append((lookup, f"{alias}.k = {key}"))
        return [f"{alias}.s{c + 1}" if c in needed else "" for c in range(self.n_classes)]


def _sum(terms: Sequence[str]) -> str:
    """Return a sum as a balanced tree: databases limit the depth of an expression."""
    if len(terms) <= 8:
        return " + ".join(terms)
    middle = len(terms) // 2
    return f"({_sum(terms[:middle])}) + ({_sum(terms[middle:])})"


def _aliased(expressions: Sequence[str], names: Sequence[str]) -> list[str]:
    return [f"{expression} AS {name}" for expression, name in zip(expressions, names, strict=True)]


def _select(columns: Sequence[str], source: str, indent: str = "  ") -> str:
    break_ = f",\n{indent}  "
    return f"\n{indent}SELECT {break_.join(columns)}\n{indent}FROM {source}"


def _shortened(name: str, max_bytes: int | None) -> str:
    """Return the beginning of a name, in whole characters."""
    return name if max_bytes is None else name.encode()[:max_bytes].decode(errors="ignore")
