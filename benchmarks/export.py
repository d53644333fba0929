"""Exported SQL in PostgreSQL: two classes compared with a bare aggregate over the same columns, and 100 classes.

python tools/with_postgres.py python -m benchmarks export --rows 200000
"""

from __future__ import annotations

import argparse
import os
from functools import partial

import numpy as np
import pyarrow as pa

import naively
from benchmarks.measure import report


def draw_table(n_rows: int, n_classes: int = 2) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Draw 11 columns: five of numbers, four of 8 values, one of 100 values and one of booleans; and a label."""
    rng = np.random.default_rng(0)
    number = rng.integers(0, n_classes, n_rows)
    label = number / (n_classes - 1)
    table: dict[str, np.ndarray] = {f"number{j}": rng.normal(size=n_rows) + 0.13 * label * (j + 1) for j in range(5)}
    letters, towns = np.array(list("abcdefgh")), np.array([f"town {k}" for k in range(100)])
    for j in range(4):
        table[f"value{j}"] = letters[np.minimum(rng.geometric(0.3 + 0.1 * label), 8) - 1]
    table["town"] = towns[(rng.random(n_rows) ** (1 + label) * 100).astype(int)]
    table["flag"] = rng.random(n_rows) < 0.3 + 0.2 * label
    return table, np.array(["no", "yes"] if n_classes == 2 else [f"class {k}" for k in range(n_classes)])[number]


def main(arguments: list[str]) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--classes", type=int, default=100)
    options = parser.parse_args(arguments)
    uri = os.environ.get("NAIVELY_POSTGRES")
    if not uri:
        print("skipped: run this by tools/with_postgres.py")
        return
    from adbc_driver_postgresql import dbapi

    table, label = draw_table(options.rows)
    part = {name: values[:50_000] for name, values in table.items()}
    aggregates = {"n": "sum", "v": "max", "t": "max", "f": "count"}
    bare = f"SELECT {', '.join(f'{aggregates[name[0]]}({name})' for name in table)} FROM people"
    with dbapi.connect(uri) as connection, connection.cursor() as cursor:
        rows = pa.table({name: pa.array(values.tolist()) for name, values in table.items()})
        cursor.adbc_ingest("people", rows, mode="create", temporary=True)
        cursor.execute("ANALYZE people")

        def run(query: str) -> object:
            cursor.execute(query)
            return cursor.fetchall()

        def scored(columns: dict[str, np.ndarray], tune: bool) -> str:
            query = naively.fit(columns, label[:50_000], tune=tune).to_sql("postgresql", "people")
            return f"SELECT sum(p_yes), count(prediction) FROM ({query}) AS scored"

        for name, tune in (("textbook", False), ("tuned", True)):
            turns = {"a bare aggregate": partial(run, bare), "exported SQL": partial(run, scored(part, tune))}
            for kind, title in (("n", "numbers"), ("v", "columns of 8 values"), ("t", "the lookup table")):
                others = {column: values for column, values in part.items() if column[0] != kind}
                turns[f"without {title}"] = partial(run, scored(others, tune))
            report(f"{options.rows:,} rows, 11 columns, {name}", turns, options.repeats)

        n_rows = options.rows // 2
        table, label = draw_table(n_rows, options.classes)
        rows = pa.table({name: pa.array(values.tolist()) for name, values in table.items()})
        cursor.adbc_ingest("many", rows, mode="create", temporary=True)
        cursor.execute("ANALYZE many")
        query = naively.fit(table, label, tune=False).to_sql("postgresql", "many")

        def compiled(jit: str) -> object:
            cursor.execute(f"SET jit = {jit}")
            cursor.execute(query)
            return cursor.fetch_arrow_table()

        turns = {"without JIT": partial(compiled, "off"), "with JIT": partial(compiled, "on")}
        report(f"{n_rows:,} rows, 11 columns, {options.classes} classes", turns, min(options.repeats, 3))
