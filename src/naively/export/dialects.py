"""How four databases write names, strings, numbers and the few functions that scoring needs.

Names and strings of the user are only ever written by `name` and `string`, so that none of them can end its quotes.
Numbers are written so that the database reads back the same float64.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from naively.data.columns import MAX_EXACT_INTEGER
from naively.data.kinds import Kind
from naively.data.views import Value
from naively.errors import InputError

POWER_OF_TWO = 2**62  # a divisor that SQLite reads exactly


class Dialect(ABC):
    """The parts of SQL in which databases differ.

    Attributes
    ----------
    title
        The name of the database, for messages.
    max_name_bytes
        The longest name of a column, in bytes of UTF-8; None if there is no limit.
    ignores_case
        Whether names that differ only in case are the same.
    max_joins
        The number of tables that one query can join; None if there is no limit.
    """

    title: ClassVar[str]
    double: ClassVar[str] = "DOUBLE"
    text: ClassVar[str] = "VARCHAR"
    quote: ClassVar[str] = '"'
    max_name_bytes: ClassVar[int | None] = None
    ignores_case: ClassVar[bool] = True
    max_joins: ClassVar[int | None] = None

    def name(self, name: str) -> str:
        """Return a quoted name."""
        self.check_name(name)
        return self.quote + name.replace(self.quote, 2 * self.quote) + self.quote

    def check_name(self, name: str) -> None:
        """Refuse a name that the database cannot have."""
        if not name or "\0" in name:
            raise InputError(f"the name {name!r} cannot be written in SQL: rename it.")
        if self.max_name_bytes is not None and len(name.encode()) > self.max_name_bytes:
            raise InputError(
                f"the name {name!r} is longer than {self.max_name_bytes} bytes, the limit of {self.title}: rename it."
            )

    def string(self, value: str) -> str:
        """Return a string in quotes."""
        return "'" + value.replace("'", "''") + "'"

    def literal(self, value: Value) -> str:
        """Return a string, a boolean, an integer of any size or a number."""
        if isinstance(value, str):
            if "\0" in value:
                raise InputError(
                    f"the value {value!r} cannot be written in SQL, which has no NUL character: replace it."
                )
            return self.string(value)
        if isinstance(value, bool):
            return self.boolean(value)
        return str(value) if isinstance(value, int) else self.number(value)

    def boolean(self, value: bool) -> str:
        """Return a boolean."""
        return "TRUE" if value else "FALSE"

    @abstractmethod
    def number(self, x: float) -> str:
        """Return a number that is read as exactly this float64."""

    def as_number(self, x: str, kind: Kind) -> str:
        """Return a column as float64: dates as seconds since 1970, booleans as 0 and 1."""
        return self.seconds(x) if kind == "date" else f"CAST({x} AS {self.double})"

    @abstractmethod
    def seconds(self, x: str) -> str:
        """Return a date or a time as seconds, since 1970 for dates."""

    def as_text(self, x: str) -> str:
        """Return a column as text that is compared byte by byte."""
        return f"CAST({x} AS {self.text})"

    def is_present(self, number: str) -> str:
        """Return the condition that a number is not missing: NaN is above all numbers."""
        return f"{number} <= {self.number(math.inf)}"

    def is_not_number(self, x: str, kind: Kind) -> str | None:
        """Return the condition that a column of numbers holds anything else; None if its type excludes that."""
        return None

    def find_interval(self, x: str, cuts: Sequence[float]) -> str:
        """Return the number of cuts ≤ x, plus 1."""
        return self.choose_by_interval(x, cuts, list(map(str, range(1, len(cuts) + 2))))

    def choose_by_interval(self, x: str, cuts: Sequence[float], results: Sequence[str]) -> str:
        """Return the result of the interval in which x lies; by bisection."""

        def search(low: int, high: int) -> str:
            if low == high:
                return results[low]
            middle = (low + high) // 2
            return (
                f"CASE WHEN {x} < {self.number(cuts[middle])} "
                f"THEN {search(low, middle)} ELSE {search(middle + 1, high)} END"
            )

        return search(0, len(cuts))

    @abstractmethod
    def pick(self, position: str, scores: Sequence[float]) -> str:
        """Return the score at a position, counted from 1; NULL for NULL."""

    def greatest(self, numbers: Sequence[str]) -> str:
        """Return the largest of some numbers."""
        return f"greatest({', '.join(numbers)})" if len(numbers) > 1 else numbers[0]

    def least(self, numbers: Sequence[str]) -> str:
        """Return the smallest of some numbers."""
        return f"least({', '.join(numbers)})"

    def step(self, name: str, select: str) -> str:
        """Return a step of a query, a common table expression, that is computed once and not for each use."""
        return f"{name} AS ({select})"

    def lookup(self, name: str, alias: str, columns: Sequence[str], rows: Sequence[str]) -> tuple[list[str], str]:
        """Return the steps that make a table of constant rows, and what is joined."""
        values = "VALUES\n    " + ",\n    ".join(rows)
        return [self.step(f"{name} ({', '.join(columns)})", values)], f"{name} AS {alias}"


class DuckDB(Dialect):
    """DuckDB."""

    title = "DuckDB"

    def number(self, x: float) -> str:
        """Return a number with an exponent: without one it would be a decimal."""
        if math.isinf(x):
            return f"CAST('{'-' * (x < 0)}Infinity' AS DOUBLE)"
        text = repr(float(x))
        return text if "e" in text else f"{text}e0"

    def seconds(self, x: str) -> str:
        """Return a date or a time as seconds."""
        return f"CAST(epoch({x}) AS DOUBLE)"

    def pick(self, position: str, scores: Sequence[float]) -> str:
        """Return an item of a constant list."""
        return f"[{', '.join(map(self.number, scores))}][{position}]"


class PostgreSQL(Dialect):
    """PostgreSQL.

    A step ends with OFFSET 0, which keeps the planner from copying its expressions to every use. Overflow and underflow
    are errors, not infinities and zeros; `sql.py` keeps numbers away from both.
    """

    title = "PostgreSQL"
    double = "double precision"
    text = "text"
    max_name_bytes = 63
    ignores_case = False

    def string(self, value: str) -> str:
        """Return a string in quotes, with escapes if it has a backslash: what one means alone is a setting."""
        plain = super().string(value)
        return "E" + plain.replace("\\", "\\\\") if "\\" in value else plain

    def number(self, x: float) -> str:
        """Return a number of type float8."""
        return f"float8 '{self._digits(x)}'"

    def _digits(self, x: float) -> str:
        return repr(float(x)).replace("inf", "Infinity")

    def as_number(self, x: str, kind: Kind) -> str:
        """Return a column as float64; a boolean becomes an integer first."""
        return super().as_number(f"CAST({x} AS integer)" if kind == "boolean" else x, kind)

    def seconds(self, x: str) -> str:
        """Return a date or a time as seconds."""
        return f"CAST(extract(epoch FROM {x}) AS double precision)"

    def as_text(self, x: str) -> str:
        """Return a column as text that is compared byte by byte."""
        return f'CAST({x} AS text) COLLATE "C"'

    def find_interval(self, x: str, cuts: Sequence[float]) -> str:
        """Return the number of cuts ≤ x, plus 1."""
        if len(cuts) < 2:
            return super().find_interval(x, cuts)
        return f"width_bucket({x}, {self._array(cuts)}) + 1"

    def pick(self, position: str, scores: Sequence[float]) -> str:
        """Return an item of a constant array."""
        return f"({self._array(scores)})[{position}]"

    def _array(self, numbers: Sequence[float]) -> str:
        return f"CAST('{{{','.join(map(self._digits, numbers))}}}' AS float8[])"

    def step(self, name: str, select: str) -> str:
        """Return a step that is not merged with the next one."""
        return f"{name} AS ({select}\n  OFFSET 0)"

    def lookup(self, name: str, alias: str, columns: Sequence[str], rows: Sequence[str]) -> tuple[list[str], str]:
        """Return a table of constant rows in its place: only the leader of several processes can read a step."""
        return [], "(VALUES\n    " + ",\n    ".join(rows) + f") AS {alias} ({', '.join(columns)})"


class SQLite(Dialect):
    """SQLite 3.35 or later, with its mathematical functions.

    A value has a type of its own, whatever the type of its column: text in a column of numbers is refused. Dates are
    text that SQLite's date functions read, or seconds since 1970.
    """

    title = "SQLite"
    double = "REAL"
    text = "TEXT"
    max_joins = 60

    def number(self, x: float) -> str:
        """Return a whole number, or one divided by powers of two: SQLite rounds 17 digits to a neighbour at times."""
        if math.isinf(x):
            return "-9e999" if x < 0 else "9e999"
        if float(x).is_integer() and abs(x) <= MAX_EXACT_INTEGER:
            return f"{int(x)}.0"
        numerator, denominator = abs(float(x)).as_integer_ratio()
        factors = []
        while numerator > MAX_EXACT_INTEGER:  # a multiple of a power of two
            power = min(numerator.bit_length() - 53, 62)
            numerator >>= power
            factors.append(f" * {1 << power}.0")
        while denominator > 1:
            power = min(denominator, POWER_OF_TWO)
            denominator //= power
            factors.append(f" / {power}.0")
        return f"({'-' * (x < 0)}{numerator}.0{''.join(factors)})"

    def boolean(self, value: bool) -> str:
        """Return 1 or 0."""
        return str(int(value))

    def seconds(self, x: str) -> str:
        """Return text as seconds, to the millisecond, and numbers as they are."""
        seconds, with_fraction, without_fraction = (
            f"CAST(strftime('{part}', {x}) AS REAL)" for part in ("%s", "%f", "%S")
        )
        text = f"{seconds} + ({with_fraction} - {without_fraction})"
        return f"CASE typeof({x}) WHEN 'text' THEN {text} ELSE CAST({x} AS REAL) END"

    def as_text(self, x: str) -> str:
        """Return a column as text that is compared byte by byte."""
        return f"CAST({x} AS TEXT) COLLATE BINARY"

    def is_not_number(self, x: str, kind: Kind) -> str:
        """Return the condition that a value is text or bytes, or for dates, text that is not a date."""
        is_other = f"typeof({x}) NOT IN ('integer', 'real', 'null')"
        return f"({is_other} AND strftime('%s', {x}) IS NULL)" if kind == "date" else is_other

    def pick(self, position: str, scores: Sequence[float]) -> str:
        """Return one of several scores; SQLite has no arrays."""
        cases = (f"WHEN {k} THEN {self.number(score)}" for k, score in enumerate(scores, 1))
        return f"CASE {position} {' '.join(cases)} END"

    def greatest(self, numbers: Sequence[str]) -> str:
        """Return the largest of some numbers."""
        return f"max({', '.join(numbers)})" if len(numbers) > 1 else numbers[0]

    def least(self, numbers: Sequence[str]) -> str:
        """Return the smallest of some numbers."""
        return f"min({', '.join(numbers)})"

    def step(self, name: str, select: str) -> str:
        """Return a step that is not merged with the next one."""
        return f"{name} AS MATERIALIZED ({select})"


class Spark(Dialect):
    """Spark 3.4 or later."""

    title = "Spark"
    text = "STRING"
    quote = "`"

    def check_name(self, name: str) -> None:
        """Refuse a name with ${, which Spark would replace by a variable."""
        super().check_name(name)
        if "${" in name:
            raise InputError(
                f"the name {name!r} cannot be written in Spark's SQL, where ${{ begins a variable: rename it."
            )

    def string(self, value: str) -> str:
        """Return a string in quotes, or its bytes: what a backslash and ${…} mean is a setting."""
        if value.isprintable() and not set(value) & set("'\\$"):
            return f"'{value}'"
        return f"CAST(X'{value.encode().hex()}' AS STRING)"

    def literal(self, value: Value) -> str:
        """Return a string, a boolean, an integer of any size or a number."""
        is_long = isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63
        return super().literal(value) + ("L" if is_long else "")

    def number(self, x: float) -> str:
        """Return a number of type double."""
        if math.isinf(x):
            return f"CAST('{'-' * (x < 0)}Infinity' AS DOUBLE)"
        return f"{float(x)!r}D"

    def seconds(self, x: str) -> str:
        """Return a date or a timestamp, with or without a time zone, as seconds."""
        local = f"CAST({x} AS TIMESTAMP_NTZ)"
        clock = f"hour({local}) * 3600D + minute({local}) * 60D + CAST(extract(SECOND FROM {local}) AS DOUBLE)"
        return (
            f"CASE typeof({x}) WHEN 'timestamp' THEN unix_micros(CAST({x} AS TIMESTAMP)) / 1e6D "
            f"ELSE unix_date(CAST({x} AS DATE)) * 86400D + {clock} END"
        )

    def pick(self, position: str, scores: Sequence[float]) -> str:
        """Return an item of a constant array."""
        return f"element_at(array({', '.join(map(self.number, scores))}), {position})"


DIALECTS: dict[str, Dialect] = {
    "duckdb": DuckDB(),
    "postgresql": PostgreSQL(),
    "sqlite": SQLite(),
    "spark": Spark(),
}
