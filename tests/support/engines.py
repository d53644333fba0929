"""Tables that every engine counts, and what must be equal in two models."""

from __future__ import annotations

import datetime

import numpy as np
import pyarrow as pa
from tests.support.strategies import assert_same_model, assert_same_statistic

import naively
from naively.statistics import NumberSummary


def mixed_table(n_rows: int, seed: int = 0) -> pa.Table:
    """Make rows with missing values, dates, booleans, strings, numbers 10⁷ from zero, and some without a label."""
    random = np.random.default_rng(seed)
    label = random.choice(["a", "b", "c"], n_rows, p=[0.6, 0.39, 0.01])
    shift = np.select([label == "a", label == "b"], [0.0, 1.0], 3.0)

    def with_missing(values: list[object]) -> list[object]:
        return [None if k < 0.1 else value for k, value in zip(random.random(n_rows), values, strict=True)]

    days = [datetime.date(2024, 1, 1) + datetime.timedelta(days=int(k)) for k in random.integers(0, 300, n_rows)]
    columns = {
        "far": pa.array(with_missing((1e7 + shift + random.normal(size=n_rows)).tolist()), pa.float64()),
        "count": pa.array(with_missing(random.poisson(2 + shift).tolist()), pa.int64()),
        "town": pa.array(with_missing(random.choice(["Ulm", "Köln", "d'Or; \\", ""], n_rows).tolist()), pa.string()),
        "member": pa.array(with_missing((random.random(n_rows) < 0.3 + 0.2 * shift).tolist()), pa.bool_()),
        "day": pa.array(with_missing(list(days)), pa.date32()),
        "y": pa.array([None if k < 0.02 else c for k, c in zip(random.random(n_rows), label.tolist(), strict=True)]),
    }
    return pa.table(columns)


def text_table(n_rows: int, seed: int = 1) -> pa.Table:
    """Make texts of two classes, of which some rows have none, with words that one row has."""
    random = np.random.default_rng(seed)
    label = random.random(n_rows) < 0.4
    words = np.array([f"word{k}" for k in range(200)])
    texts: list[str | None] = []
    for i, is_second in enumerate(label.tolist()):
        low, high = (0, 150) if is_second else (50, 200)
        texts.append(" ".join(words[random.integers(low, high, 12)]) + f" Übung{i}")
    texts[3] = None
    classes = ["second" if c else "first" for c in label.tolist()]
    return pa.table({"text": pa.array(texts, pa.string()), "y": pa.array([None, *classes[1:]], pa.string())})


def assert_same_counts(one: naively.Model, two: naively.Model) -> None:
    """Assert that two models have counted the same under the same schema: all bit for bit, also mean and squares."""
    assert one.schema == two.schema
    assert_same_model(one, two)
    for a, b in zip(one.statistics, two.statistics, strict=True):
        if isinstance(a, NumberSummary) and isinstance(b, NumberSummary):
            for name in ("mean", "squares"):
                np.testing.assert_array_equal(getattr(a.moments, name), getattr(b.moments, name), err_msg=name)
    assert (one.table_counts is None) == (two.table_counts is None)
    if one.table_counts is not None and two.table_counts is not None:
        assert_same_statistic(one.table_counts, two.table_counts)
    assert one.row_hashes is not None
    assert two.row_hashes is not None
    assert one.row_hashes.equals(two.row_hashes)
