"""Tables of columns: keys, counts, evidence and leave-one-out against a plain Python twin, and the laws of counts."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.twins import together as twin

import naively
from naively._kernels.together import score_tables
from naively.data.labelled import read_labelled
from naively.data.read import read
from naively.families.base import Leaving, NotCountedError
from naively.families.together import OTHER_CODE, TableColumn, TablePlan, TableTree, WeightedTables
from naively.schema.infer import infer
from naively.schema.plan_tables import N_TABLES, with_tables
from naively.schema.schema import Schema
from naively.statistics import Histogram

few = settings(max_examples=25, deadline=None)
NUMBERS, CATEGORIES, FLAGS = ("height", "weight"), ("eye", "job"), ("member",)


def rows_of(seed: int, n: int, missing: float = 0.1) -> dict[str, list[Any]]:
    """Return a table of numbers, categories and booleans, with missing values."""
    rng = np.random.default_rng(seed)
    columns: dict[str, list[Any]] = {name: rng.integers(0, 9, n).astype(float).tolist() for name in NUMBERS}
    columns |= {name: rng.choice(["a", "b", "c"], n).tolist() for name in CATEGORIES}
    columns |= {name: (rng.random(n) < 0.5).tolist() for name in FLAGS}
    for values in columns.values():
        for i in np.flatnonzero(rng.random(n) < missing).tolist():
            values[i] = None
    return columns


def labels_of(seed: int, n: int, n_classes: int = 3) -> list[str]:
    labels: list[str] = np.random.default_rng(seed + 1000).choice(list("xyz")[:n_classes], n).tolist()
    return labels


def planned(columns: dict[str, list[Any]]) -> TablePlan:
    table = read(columns)
    plan = with_tables(infer(table), table).tables
    assert plan is not None
    return plan


def take(columns: dict[str, list[Any]], rows: Any) -> dict[str, list[Any]]:
    return {name: [values[i] for i in rows] for name, values in columns.items()}


def counted(plan: TablePlan, columns: dict[str, list[Any]], labels: list[str], weight: Any = None) -> Histogram:
    rows = read_labelled(columns, labels, weight)
    return plan.count(rows.table, rows.label, rows.weight, len(rows.classes))


def same(a: Histogram, b: Histogram) -> bool:
    pairs: Any = zip(a.cells, b.cells, strict=True)
    return all(np.array_equal(x, y) for x, y in pairs)


def paths_of(plan: TablePlan, columns: dict[str, list[Any]], table: int) -> list[twin.Path]:
    n = len(next(iter(columns.values())))
    return [twin.path_of({name: values[i] for name, values in columns.items()}, plan, table) for i in range(n)]


@few
@given(st.integers(0, 10_000), st.integers(1, 700))
def test_keys_as_its_twin(seed: int, n: int) -> None:
    columns = rows_of(seed, n, missing=0.3)
    plan = planned(columns)
    keys = plan.view(read(columns)).keys()
    for m in range(0, N_TABLES, 7):
        assert keys[m].tolist() == [twin.key_of(path) for path in paths_of(plan, columns, m)]
    numbers = keys.view(np.float64)
    assert ((numbers > np.finfo(float).tiny) & np.isfinite(numbers) | np.isnan(numbers)).all()


def test_tables_begin_with_different_columns() -> None:
    """Each column begins 6 or 7 of the 32 tables, each pair of columns 3 or 4."""
    plan = planned(rows_of(1, 100))
    beginnings = [[column.position for column in table] for table in plan.tables]
    assert sorted(Counter(path[0] for path in beginnings).values()) == [6, 6, 6, 7, 7]
    pairs = Counter(frozenset(path[:2]) for path in beginnings)
    assert (len(pairs), set(pairs.values())) == (10, {3, 4})


def test_values_that_the_plan_does_not_know_share_a_code() -> None:
    columns = rows_of(1, 200, missing=0.0)
    plan = planned(columns)
    new = take(columns, range(3)) | {"eye": ["green", "blue", "a"]}
    position = plan.columns.index("eye")
    m, t = next((m, t) for m, table in enumerate(plan.tables) for t, c in enumerate(table) if c.position == position)
    codes = (plan.view(read(new)).keys()[m] >> (56 - 8 * t)) & 0xFF
    assert codes[0] == codes[1] == OTHER_CODE != codes[2]


@pytest.mark.parametrize("has_weights", [False, True])
def test_rows_are_counted_in_parts(has_weights: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts start at the levels of the first, and the sum is the count of all rows, at levels above 0, too."""
    n = 12_000
    rng = np.random.default_rng(5)
    columns = {f"x{j}": rng.normal(size=n).tolist() for j in range(6)}
    weight = rng.integers(1, 4, n).astype(float) if has_weights else None
    plan, labels = planned(columns), labels_of(5, n)
    all_rows = counted(plan, columns, labels, weight)
    assert all_rows.cells.levels.min() > 0
    monkeypatch.setattr("naively.families.together.MAX_COUNTED_ROWS", 5000)
    assert same(counted(plan, columns, labels, weight), all_rows)


@few
@given(st.integers(0, 10_000), st.integers(2, 60))
def test_leaving_a_row_out_is_counting_without_it(seed: int, n: int) -> None:
    """The twin counts again without the row; so does the tree of the rest."""
    columns, labels = rows_of(seed, n), labels_of(seed, n)
    weight = np.random.default_rng(seed).integers(1, 4, n).astype(float)
    plan, classes = planned(columns), sorted(set(labels))
    code = [classes.index(label) for label in labels]
    total: Any = np.bincount(code, weight, len(classes))
    tree = TableTree.of(counted(plan, columns, labels, weight), total)
    leaving = Leaving.of(np.array(code), weight, np.ones(n))
    view = plan.view(read(columns))
    actual = tree.leave_one_out(view.keys(), leaving)
    for i in range(min(n, 4)):
        others = [k for k in range(n) if k != i]
        if sum(weight[k] for k in others) == 0:
            continue
        rest: Any = np.bincount([code[k] for k in others], weight[others], len(classes))
        for m in range(0, N_TABLES, 11):
            paths = paths_of(plan, columns, m)
            expected = twin.evidence(paths[i], [(paths[k], code[k], weight[k]) for k in others], rest)
            np.testing.assert_allclose(actual[m, i], expected, rtol=1e-9, atol=1e-11)


@few
@given(st.integers(0, 10_000), st.integers(1, 80))
def test_scores_as_its_twin(seed: int, n: int) -> None:
    columns, labels = rows_of(seed, n), labels_of(seed, n)
    plan, classes = planned(columns), sorted(set(labels))
    code = [classes.index(label) for label in labels]
    total: Any = np.bincount(code, minlength=len(classes)).astype(float)
    weights = np.random.default_rng(seed).random(N_TABLES) * (np.arange(N_TABLES) % 5 == 0)
    tables = WeightedTables.of(plan, counted(plan, columns, labels), total, weights)
    new = rows_of(seed + 1, 5, missing=0.2)
    view = tables.view(read(new))
    out = np.zeros((5, len(classes)))
    tables.score(view, out)
    expected = np.zeros_like(out)
    for m in np.flatnonzero(weights).tolist():
        known = [(path, c, 1.0) for path, c in zip(paths_of(plan, columns, m), code, strict=True)]
        for i, path in enumerate(paths_of(plan, new, m)):
            expected[i] += weights[m] * np.array(twin.evidence(path, known, total))
    np.testing.assert_allclose(out, expected, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(tables.score_columns(view).sum(axis=0), out, rtol=1e-9, atol=1e-11)
    if len(classes) > 1:
        for i in range(5):
            rules = tables.rules(view.rows(i, i + 1), 0, 1)
            assert sum(rule.log_odds for rule in rules) == pytest.approx(out[i, 0] - out[i, 1], abs=1e-9)


def test_scores_of_many_rows_are_those_of_few() -> None:
    """Rows are scored in chunks and batches, on any number of threads: each row as if it were alone."""
    columns, labels = rows_of(3, 9000), labels_of(3, 9000)
    plan, n = planned(columns), np.bincount(np.unique(labels, return_inverse=True)[1]).astype(float)
    tables = WeightedTables.of(plan, counted(plan, columns, labels), n, np.linspace(0.1, 1.0, N_TABLES))
    keys = tables.view(read(columns)).keys()
    scores = []
    for size, n_threads in ((9000, 1), (9000, 3), (701, 1)):
        out = np.zeros((9000, 3))
        for start in range(0, 9000, size):
            part = np.ascontiguousarray(keys[:, start : start + size])
            score_tables(tables.tree.arrays, part, tables.evidence, out[start : start + size], n_threads)
        scores.append(out)
    assert np.array_equal(scores[0], scores[1])
    assert np.array_equal(scores[0], scores[2])


def test_a_high_level_uses_whole_bytes_only() -> None:
    """With few keys allowed, the last columns of a path are not told apart."""
    columns, labels = rows_of(3, 500, missing=0.0), labels_of(3, 500)
    plan, classes = planned(columns), sorted(set(labels))
    histogram = counted(plan, columns, labels).with_max_keys(16)
    code = [classes.index(label) for label in labels]
    total: Any = np.bincount(code).astype(float)
    tables = WeightedTables.of(plan, histogram, total, np.ones(N_TABLES))
    out = np.zeros((500, 3))
    for m in (0, 5):
        alone = WeightedTables.of(plan, histogram, total, np.eye(N_TABLES)[m])
        out[:] = 0
        alone.score(alone.view(read(columns)), out)
        n_bytes = int(64 - histogram.cells.levels[m]) // 8
        assert 0 < n_bytes < 8
        paths = paths_of(plan, columns, m)
        known = [(path, c, 1.0) for path, c in zip(paths, code, strict=True)]
        for i in range(0, 500, 100):
            np.testing.assert_allclose(out[i], twin.evidence(paths[i], known, total, n_bytes), rtol=1e-9, atol=1e-11)
    assert len(tables.tables) == N_TABLES


@few
@given(st.integers(0, 10_000), st.integers(2, 300), st.integers(0, 300), st.booleans())
def test_counts_add_and_subtract_bit_for_bit(seed: int, n: int, cut: int, is_weighted: bool) -> None:
    columns, labels = rows_of(seed, n), labels_of(seed, n)
    weight = np.random.default_rng(seed).integers(1, 4, n).astype(float) if is_weighted else None
    plan, rows = planned(columns), read_labelled(columns, labels, weight)
    label, n_classes, cut = rows.label, len(rows.classes), min(cut, n)
    order = np.random.default_rng(seed).permutation(n)

    def count(keep: Any) -> Histogram:
        return plan.count(rows.table.take(keep), label[keep], None if weight is None else weight[keep], n_classes)

    total, one, two = count(np.arange(n)), count(order[:cut]), count(order[cut:])
    assert same(one + two, total)
    assert same(two + one, total)
    assert same(total - two, one)
    twice = plan.count(rows.table, label, np.full(n, 2.0), n_classes)
    copies = count(np.tile(np.arange(n), 2)) if weight is None else None
    assert copies is None or np.array_equal(copies.cells.weight, twice.cells.weight)
    np.testing.assert_array_equal(rows_present(total), rows_present(one) + rows_present(two))


def rows_present(histogram: Histogram) -> Any:
    return np.bincount(histogram.column, histogram.cells.rows, histogram.n_columns)


def test_the_plan_is_label_free_and_ignores_the_order_of_rows_and_columns() -> None:
    columns = rows_of(5, 300)
    order = np.random.default_rng(5).permutation(300)
    assert planned(take(columns, order)) == planned(columns)
    assert planned(dict(reversed(columns.items()))) == planned(columns)
    twice = {name: values * 2 for name, values in columns.items()}
    assert planned(twice) == planned(columns)


def test_a_plan_as_json() -> None:
    columns = rows_of(6, 100)
    table = read(columns)
    schema = with_tables(infer(table), table)
    assert Schema.from_json(schema.to_json()) == schema
    plain = replace(schema, tables=None)
    assert "tables" not in json.loads(plain.to_json())
    changes: list[dict[str, Any]] = [{"columns": ["a"]}, {"tables": []}, {"values": []}]
    changes += [{"tables": [[[99, []]]]}, {"tables": [[[0, [2, 1]]]]}]
    for change in changes:
        content = json.loads(schema.to_json())
        content["tables"] |= change
        with pytest.raises(naively.SchemaError):
            Schema.from_json(json.dumps(content))


def test_tables_have_eight_columns_if_there_are_numbers() -> None:
    plan = planned(rows_of(7, 100))
    assert len(plan.tables) == N_TABLES
    assert all(len(table) == 8 for table in plan.tables)
    only_categories = planned({name: rows_of(7, 100)[name] for name in CATEGORIES})
    assert all(len(table) == 2 for table in only_categories.tables)
    assert plan.columns[: plan.n_numbers] == ("height", "member", "weight")


def test_columns_that_tables_do_not_read() -> None:
    table = read({"text": [f"some words about {i}" for i in range(60)], "x": list(range(60)), "none": [None] * 60})
    schema = infer(table, {"text": naively.Text()})
    with pytest.warns(naively.TuningWarning, match="1 columns can be read"):
        assert with_tables(schema, table).tables is None
    wide = read(np.zeros((3, 300)))
    with pytest.warns(naively.TuningWarning, match="together=True changes nothing: .* 2 to 256 columns"):
        assert with_tables(infer(wide), wide).tables is None


def test_numbers_are_described_by_their_interval() -> None:
    plan = TablePlan(("age", "job"), (None, ("cook", "smith")), ((TableColumn(0, (30.0, 40.0)), TableColumn(1)),))
    assert plan.describe(0, [2, 1]) == [("age", None, 30.0, 40.0), ("job", "cook", -np.inf, np.inf)]
    assert plan.describe(0, [3, OTHER_CODE]) == [("age", None, 40.0, np.inf), ("job", None, -np.inf, np.inf)]
    assert plan.describe(0, [1]) == [("age", None, -np.inf, 30.0)]


def test_a_row_that_was_not_counted_cannot_leave() -> None:
    columns, labels = rows_of(8, 50, missing=0.0), labels_of(8, 50)
    plan = planned(columns)
    tree = TableTree.of(counted(plan, columns, labels), np.ones(3) * 17)
    other = plan.view(read(rows_of(9, 50, missing=0.0)))
    leaving = Leaving.of(np.zeros(50), np.ones(50), np.ones(50))
    with pytest.raises(NotCountedError):
        tree.leave_one_out(other.keys(), leaving)
