"""Models with tables of columns do everything that models do: add, subtract, save, explain."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse

import naively
from naively import Tuning
from naively.data.files import batches
from naively.schema import plan_tables

ROW_COUNT = 600


def world(seed: int = 0, n: int = ROW_COUNT) -> tuple[dict[str, list[Any]], list[str]]:
    """Return rows whose class depends on two columns together: neither says anything alone."""
    rng = np.random.default_rng(seed)
    a, b = rng.choice(["p", "q"], n), rng.choice(["r", "s"], n)
    x, z = rng.normal(size=n), rng.normal(size=n)
    is_yes = ((a == "p") == (b == "r")) ^ (rng.random(n) < 0.05)
    table: dict[str, list[Any]] = {"a": a.tolist(), "b": b.tolist(), "x": x.tolist(), "z": z.tolist()}
    for values in table.values():
        for i in np.flatnonzero(rng.random(n) < 0.02).tolist():
            values[i] = None
    return table, np.where(is_yes, "yes", "no").tolist()


@pytest.fixture(scope="module")
def model() -> naively.Model:
    return naively.fit(*world(), together=True)


def part(table: dict[str, list[Any]], rows: slice) -> dict[str, list[Any]]:
    return {name: values[rows] for name, values in table.items()}


def same_counts(a: naively.Model, b: naively.Model) -> bool:
    one, two = a.table_counts, b.table_counts
    assert one is not None
    assert two is not None
    pairs: Any = zip(one.cells, two.cells, strict=True)
    return all(np.array_equal(x, y) for x, y in pairs)


def test_columns_together_are_used_where_they_help(model: naively.Model) -> None:
    table, labels = world(1)
    plain = naively.fit(*world())
    assert model.tuning is not None
    assert plain.tuning is not None
    assert model.tuning.together[0] > 0.3
    losses = [m.evaluate(table, labels).log_loss[0] for m in (model, plain)]
    assert losses[0] < 0.35 < 0.65 < losses[1]
    assert model.tuning.report["log_loss"] == pytest.approx(losses[0], abs=0.1)


def test_the_plain_solution_is_the_model_without_tables(model: naively.Model) -> None:
    table, labels = world()
    plain = naively.fit(table, labels)
    assert model.without_tables().tuning == plain.tuning
    np.testing.assert_array_equal(model.without_tables().posterior(table), plain.posterior(table))
    assert plain.schema.tables is None
    assert plain.table_counts is None
    assert naively.fit(table, labels, together=False).tuning == plain.tuning


def test_independent_columns_keep_the_plain_model() -> None:
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 400)
    table = {f"x{j}": (rng.normal(size=400) + 0.5 * y).tolist() for j in range(4)}
    model = naively.fit(table, y.tolist(), together=True)
    plain = naively.fit(table, y.tolist())
    assert model.tuning is not None
    assert model.tuning.table_weights == ()
    assert len(model.tuning.together) == 3
    assert replace(model.tuning, together=()) == plain.tuning
    np.testing.assert_array_equal(model.posterior(table), plain.posterior(table))


def test_a_model_without_tables_reports_what_they_would_gain(model: naively.Model) -> None:
    table, labels = world()
    plain = naively.fit(table, labels)
    assert plain.tuning is not None
    assert model.tuning is not None
    gain, low, high = plain.tuning.together_expected
    assert 0.2 < low < gain < high < 1
    assert abs(gain - model.tuning.together[0]) < 0.1
    assert model.tuning.together_expected == ()  # it has tables
    assert Tuning.from_json(plain.tuning.to_json()).together_expected == (gain, low, high)
    twice = naively.fit(table, labels, weight=np.full(ROW_COUNT, 2.0))
    assert twice.tuning is not None
    assert twice.tuning.together_expected[0] == pytest.approx(gain, abs=0.05)
    with pytest.raises(naively.InputError, match="interval"):
        Tuning.from_json(Tuning(together_expected=(0.5,)).to_json())


@pytest.mark.parametrize("seed", range(8))
def test_chance_is_not_reported_as_a_gain_of_tables(seed: int) -> None:
    table, _ = world(seed, n=200)
    labels = np.random.default_rng(100 + seed).choice(["yes", "no"], 200)
    tuning = naively.fit(table, labels).tuning
    assert tuning is not None
    assert tuning.together_expected == ()


def test_a_gain_of_tables_is_not_expected_where_it_cannot_be_tried() -> None:
    table, labels = world()
    groups: list[Any] = [str(i // 3) for i in range(ROW_COUNT)]
    text = {"text": [f"{a} {b}" for a, b in zip(table["a"], table["b"], strict=True)]}
    for tuning in (
        naively.fit(table | {"patient": groups}, labels, group="patient").tuning,
        naively.fit(text, labels, columns={"text": naively.Text()}).tuning,
        naively.fit({"a": table["a"]}, labels).tuning,
        naively.fit(sparse.csr_matrix(np.random.default_rng(0).poisson(1.0, (ROW_COUNT, 4))), labels).tuning,
    ):
        assert tuning is not None
        assert tuning.together_expected == ()


def test_parts_add_up_and_subtract(model: naively.Model) -> None:
    table, labels = world()
    first = part(table, slice(0, 200)), labels[:200]
    rest = part(table, slice(200, None)), labels[200:]
    without = model.forget(*first)
    again = without.update(*first)
    assert same_counts(again, model)
    np.testing.assert_array_equal(again.posterior(table), model.posterior(table))
    one = naively.fit(*first, schema=model.schema)
    two = naively.fit(*rest, schema=model.schema)
    both = one.with_tuning(None) + two.with_tuning(None)
    assert same_counts(both, model)
    assert same_counts(two.with_tuning(None) + one.with_tuning(None), model)


def test_leaving_a_row_out_equals_fitting_without_it(model: naively.Model) -> None:
    """The row is explained by a model without it: the same as forgetting it, under the same tuning."""
    table, labels = world()
    for i in (0, 7, 100):
        row = part(table, slice(i, i + 1))
        [left_out] = model.explain(row, of="yes", against="no", changes=False)
        assert left_out.is_left_out
        forgotten = model.forget(row, labels[i : i + 1])
        assert left_out.total == pytest.approx(float(forgotten.log_odds(row, "yes")[0]), abs=1e-9)


def test_a_weight_of_two_is_two_rows(model: naively.Model) -> None:
    table, labels = world()
    some = part(table, slice(0, 50)), labels[:50]
    twice = model.update(*some, weight=[2.0] * 50)
    copies = model.update(*some).update(*some)
    np.testing.assert_allclose(twice.posterior(table), copies.posterior(table), rtol=1e-12)


def test_files_keep_tables(model: naively.Model, tmp_path: Any) -> None:
    path, (table, labels) = tmp_path / "model.naively", world()
    model.save(path)
    loaded = naively.load(path)
    assert loaded.schema == model.schema
    assert loaded.tuning == model.tuning
    assert same_counts(loaded, model)
    np.testing.assert_array_equal(loaded.posterior(table), model.posterior(table))
    with naively.open(path) as ledger:
        ledger.update(part(table, slice(0, 30)), labels[:30])
        ledger.forget(part(table, slice(0, 30)), labels[:30])
        entry = ledger.update(part(table, slice(30, 40)), labels[30:40])
        ledger.undo(entry.id)
    assert same_counts(naively.load(path), model)


def test_another_plan_drops_the_tables_and_says_so(model: naively.Model) -> None:
    other_rows, labels = world(5)
    other_rows = {
        "a": other_rows["a"],
        "b": other_rows["b"],
        "x": [v and v * 9 for v in other_rows["x"]],
        "z": other_rows["z"],
    }
    other = naively.fit(other_rows, labels, together=True).with_tuning(model.tuning)
    with pytest.warns(naively.TuningWarning, match="schema=FIRST"):
        both = model + other
    assert both.table_counts is None
    assert both.schema.tables is None
    assert model.tuning is not None
    assert both.tuning == model.tuning.plain
    assert both.class_weights.rows.sum() == 2 * ROW_COUNT


def test_new_classes_and_missing_columns(model: naively.Model) -> None:
    table, _ = world()
    more = model.update(part(table, slice(0, 5)), ["maybe"] * 5, new_classes=True)
    posterior = more.posterior(table)
    assert np.isfinite(posterior).all()
    np.testing.assert_allclose(posterior.sum(axis=1), 1.0)
    with pytest.warns(UserWarning, match="'a', 'b'"):
        missing = model.posterior({"x": table["x"], "z": table["z"]})
    blank = {name: [None] * len(table["x"]) for name in ("a", "b")} | {"x": table["x"], "z": table["z"]}
    np.testing.assert_array_equal(missing, model.posterior(blank))


def test_a_row_of_missing_values_gets_what_it_gets_without_tables(model: naively.Model) -> None:
    nothing = {name: [None] for name in "abxz"}
    assert model.tuning is not None
    offset = model.tuning.offset(model.classes)
    expected = np.exp(model.log_prior + offset)
    expected = (1 - model.floor) * expected / expected.sum() + model.floor / 2
    np.testing.assert_allclose(model.posterior(nothing)[0], expected, rtol=1e-12)


def test_without_weights_the_tables_say_nothing(model: naively.Model) -> None:
    table, _ = world()
    assert model.tuning is not None
    silent = model.with_tuning(replace(model.tuning, table_weights=(0.0,) * 32))
    plain = replace(silent, schema=replace(model.schema, tables=None), table_counts=None)
    plain = plain.with_tuning(replace(model.tuning, table_weights=(), plain=None))
    np.testing.assert_array_equal(silent.posterior(table), plain.posterior(table))


@pytest.mark.parametrize("leave_out", [True, False])
def test_every_grain_of_an_explanation_adds_up(model: naively.Model, leave_out: bool) -> None:
    table, _ = world()
    rows = part(table, slice(0, 12))
    for i, e in enumerate(model.explain(rows, leave_out=leave_out)):
        assert e.together is not None
        total = e.prior + e.offset + sum(line.log_odds for line in e.contributions) + e.rest
        total += e.together.log_odds + e.floor
        assert total == pytest.approx(e.total, abs=1e-9)
        if not leave_out:
            row = part(rows, slice(i, i + 1))
            assert e.total == pytest.approx(float(model.log_odds(row, e.of, e.against)[0]), abs=1e-9)
        assert sum(e.together.by_column.values()) == pytest.approx(e.together.log_odds, abs=1e-9)
        assert sum(rule.log_odds for rule in e.together.rules) == pytest.approx(e.together.log_odds, abs=1e-9)
        assert "columns together" in str(e)
        assert "columns together" in e._repr_html_()
        assert e.to_dict()["together"]["log_odds"] == e.together.log_odds
        for rule in e.together.rules:
            assert rule.all >= rule.count + rule.count_against - 1e-9


def fulfils(frame: pd.DataFrame, condition: str) -> Any:
    """Return which rows fulfil a condition as it is printed."""
    if condition.endswith(" has a value"):
        return frame[condition.removesuffix(" has a value")].notna()
    if " has another value" in condition:
        raise AssertionError(condition)  # all values are known
    if "=" in condition:
        name, value = condition.split("=")
        return frame[name].astype(str) == value
    words = condition.split()
    low, high = (words[0] if len(words) == 5 else None), (words[-1] if "≤" in words else None)
    name = words[2] if low else words[0]
    low = words[2] if words[1] == ">" else low
    x = frame[name]
    bounds = [end and (pd.Timestamp(end) if name == "day" else float(end)) for end in (low, high)]
    is_inside = x.notna()
    if bounds[0] is not None:
        is_inside &= x > bounds[0]
    return is_inside if bounds[1] is None else is_inside & (x <= bounds[1])


def test_rules_say_which_rows_they_count() -> None:
    """Rules of dates, booleans and numbers without a cut, too; the counts are those of the rows that fulfil them."""
    n, rng = 800, np.random.default_rng(7)
    frame = pd.DataFrame({"flag": rng.random(n) < 0.5, "all": np.ones(n, bool), "kind": rng.choice(list("abc"), n)})
    frame["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 400, n), unit="D")
    frame["size"] = rng.integers(0, 90, n).astype(float)
    frame["new"] = np.nan  # has values after the plan was made
    frame.loc[rng.random(n) < 0.1, "day"] = None
    frame["flag"] = frame["flag"].astype("boolean").mask(rng.random(n) < 0.1)
    frame.loc[frame.index[-50:], "new"] = 5.0
    frame.loc[[0, *frame.index[-50:]], "all"] = False  # most tables of the plan have no cut between False and True
    is_late = frame["day"] > pd.Timestamp("2024-07-15")
    labels = np.where((frame["flag"].fillna(False) ^ is_late) ^ (rng.random(n) < 0.05), "yes", "no")
    columns = {"new": naively.Gaussian()}
    schema = naively.infer_schema(frame[:400], labels[:400], together=True, columns=columns)
    assert schema.tables is not None
    assert {*frame} == {*schema.tables.columns}
    model = naively.fit(frame, labels, schema=schema)
    assert model.tuning is not None
    assert model.tuning.table_weights
    conditions: set[str] = set()
    for e in model.explain(frame[::20], leave_out=False):
        assert e.together is not None
        for rule in e.together.rules:
            keep = np.logical_and.reduce([fulfils(frame, part) for part in rule.condition.split(", ")])
            assert keep.sum() == rule.all
            counts = [int((labels[keep] == c).sum()) for c in (e.of, e.against)]
            assert counts == [rule.count, rule.count_against]
            conditions |= {*rule.condition.split(", ")}
    assert {"flag=True", "flag=False", "all has a value", "new has a value"} <= conditions
    assert any("day" in condition and "2024-" in condition for condition in conditions)


def test_contributions_have_the_share_of_each_column(model: naively.Model) -> None:
    table, _ = world()
    rows = part(table, slice(0, 20))
    assert model.tuning is not None
    offset = model.tuning.offset(model.classes)
    start = model.log_prior[1] - model.log_prior[0] + offset[1] - offset[0]
    before = model.with_tuning(replace(model.tuning, floor=0.0)).log_odds(rows)
    np.testing.assert_allclose(model.contributions(rows).sum(axis=1) + start, before, atol=1e-9)


def test_a_column_without_a_weight_may_be_used_together(model: naively.Model) -> None:
    assert model.tuning is not None
    weights = dict.fromkeys(model.tuning.weights, 0.0)
    [e] = model.with_tuning(replace(model.tuning, weights=weights)).explain(
        {"a": ["p"], "b": ["r"], "x": [0.0], "z": [0.0]}
    )
    assert e.together is not None
    assert {c.column for c in e.contributions if c.note == "only together"} == {*e.together.by_column}


def test_counterfactuals_take_tables_into_account(model: naively.Model) -> None:
    [e] = model.explain({"a": ["p"], "b": ["r"], "x": [0.0], "z": [0.0]})
    assert e.counterfactual is not None
    changed = {"a": ["p"], "b": ["r"], "x": [0.0], "z": [0.0]} | {c.column: [c.after] for c in e.counterfactual.changes}
    assert model.predict(changed)[0] == e.counterfactual.answer != e.answer
    assert len(e.counterfactual.changes) == 1
    assert e.counterfactual.changes[0].column in "ab"
    assert e.counterfactual.probability == pytest.approx(float(model.posterior(changed).max()), abs=1e-9)


def test_importance_counts_the_share_of_a_column(model: naively.Model) -> None:
    worth = {column.column: column.nats for column in model.importance()}
    assert min(worth["a"], worth["b"]) > 0.3
    assert max(worth["x"], worth["z"]) < 0.06  # the weights of tables are not fitted again
    again = {column.column: column.nats for column in model.importance(*world())}
    assert again["a"] == pytest.approx(worth["a"], abs=0.02)


def test_the_next_question_asks_for_what_decides_together(model: naively.Model) -> None:
    questions = model.next_question({"a": "p", "x": 0.0, "z": 0.0}).questions
    assert questions[0].column == "b"
    assert questions[0].gain > 0.2


def test_what_cannot_be_exported_is_refused_by_name(model: naively.Model) -> None:
    with pytest.raises(naively.InputError, match="tables of columns"):
        model.to_dict()
    with pytest.raises(naively.InputError, match="without_tables"):
        model.to_sql("duckdb")
    assert model.without_tables().to_dict()["classes"] == ["no", "yes"]


def test_order_batches_and_threads_do_not_matter(model: naively.Model) -> None:
    table, labels = world()
    order = np.random.default_rng(0).permutation(ROW_COUNT).tolist()
    shuffled = {name: [values[i] for i in order] for name, values in table.items()}
    again = naively.fit(shuffled, [labels[i] for i in order], together=True, n_jobs=1)
    assert again.schema.tables == model.schema.tables
    assert same_counts(again, model)
    np.testing.assert_allclose(again.posterior(table), model.posterior(table), rtol=1e-9)


@pytest.mark.parametrize("batch_rows", [64, 300])
def test_every_source_has_the_same_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batch_rows: int) -> None:
    """A plan follows from the first rows that are counted, however many a source has in a batch."""
    import duckdb

    monkeypatch.setattr(plan_tables, "MAX_PLANNED_ROWS", 200)
    monkeypatch.setattr(batches, "MAX_ROWS", batch_rows)
    table, labels = world()
    has_label = np.random.default_rng(2).random(ROW_COUNT) < 0.8
    frame = pd.DataFrame(table).sort_values("x", ignore_index=True).round(6).assign(label=labels)
    frame.loc[~has_label, "label"] = None
    rows = pa.Table.from_pandas(frame, preserve_index=False)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    frame.to_parquet(tmp_path / "rows.parquet")
    frame.to_json(tmp_path / "rows.jsonl", orient="records", lines=True)
    with closing(sqlite3.connect(tmp_path / "rows.db")) as connection:
        frame.to_sql("rows", connection, index=False)
    with duckdb.connect(str(tmp_path / "rows.duckdb")) as connection:
        connection.execute("CREATE TABLE rows AS SELECT * FROM frame")
    with pytest.warns(naively.LeftOutWarning):
        model = naively.fit(frame, "label", together=True)
    assert model.schema.tables is not None
    first = frame[has_label][:200]
    assert naively.infer_schema(first, "label", together=True).tables == model.schema.tables
    assert naively.infer_schema(frame[::-1], "label", together=True).tables != model.schema.tables
    kinds = ("csv", "parquet", "jsonl", "db", "duckdb")
    sources: list[Any] = [tmp_path / f"rows.{kind}" for kind in kinds]
    sources += [iter(rows.to_batches(50)), rows.to_reader(70), rows]
    for source in sources:
        with pytest.warns(naively.LeftOutWarning):
            other = naively.fit(source, "label", together=True)
        assert other.schema.tables == model.schema.tables
        assert same_counts(other, model)
        assert other.tuning == model.tuning


def test_a_file_of_many_columns_has_the_tables_of_its_frame(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of many columns is read fewer rows at a time."""
    monkeypatch.setattr(batches, "MAX_CELLS", 40 * 128)
    monkeypatch.setattr(batches, "MIN_ROWS", 100)
    monkeypatch.setattr(plan_tables, "MAX_PLANNED_CELLS", 40 * 400)
    noise = np.random.default_rng(0).normal(size=(ROW_COUNT, 40))
    frame = pd.DataFrame(noise + np.linspace(0, 5, ROW_COUNT)[:, None]).add_prefix("x")
    frame["label"] = np.where(noise[:, 0] > 0, "yes", "no")
    frame.to_csv(tmp_path / "rows.csv", index=False)
    model, of_file = (naively.fit(source, "label", together=True) for source in (frame, tmp_path / "rows.csv"))
    assert model.schema.tables == of_file.schema.tables
    assert model.schema.tables == naively.infer_schema(frame[:400], "label", together=True).tables
    assert model.schema.tables != naively.infer_schema(frame[:128], "label", together=True).tables
    assert of_file.tuning == model.tuning


def test_tables_that_cannot_be_made_are_reported() -> None:
    labels = ["yes", "no"] * 100
    with pytest.warns(naively.TuningWarning, match="together=True changes nothing"):
        model = naively.fit({"x": list(range(200))}, labels, together=True)
    assert model.schema.tables is None
    with pytest.warns(naively.TuningWarning, match="This matrix is sparse"):
        naively.fit(sparse.eye(200, 5, format="csr"), labels, together=True)


def test_groups_with_tables() -> None:
    table, labels = world()
    model = naively.fit(table | {"who": [f"g{i % 60}" for i in range(ROW_COUNT)]}, labels, group="who", together=True)
    assert model.tuning is not None
    assert model.tuning.table_weights
    assert model.tuning.report["log_loss"] < 0.4


def test_wrong_settings_are_refused(model: naively.Model) -> None:
    table, labels = world(n=50)
    with pytest.raises(naively.InputError, match="tune=False"):
        naively.fit(table, labels, together=True, tune=False)
    assert model.tuning is not None
    negative = replace(model.tuning, table_weights=(-1.0,)).to_json()
    with pytest.raises(naively.InputError, match="weights from 0 on"):
        Tuning.from_json(negative)
