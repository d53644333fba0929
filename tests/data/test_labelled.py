"""One reader of rows, labels and weights: every entry point takes the same forms of X, y and weight."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import naively
from naively.data.labelled import code_column, code_labels, labelled_batches, read_labelled
from naively.data.read import read
from naively.errors import InputError, LeftOutWarning

FEATURES: dict[str, list[Any]] = {
    "sky": ["sun", "rain", "sun", "rain", "sun", "rain"],
    "wind": [1.0, 9.0, 2.0, 8.0, 3.0, 7.0],
}
PLAY = ["yes", "no", "yes", "no", "no", "yes"]
WEIGHT = [1.0, 2.0, 1.0, 3.0, 0.5, 1.0]
ALL: dict[str, list[Any]] = FEATURES | {"play": PLAY, "w": WEIGHT}


def csv_file(columns: dict[str, list[Any]], path: Path) -> Path:
    pd.DataFrame(columns).to_csv(path, index=False)
    return path


def forms_of_x(columns: dict[str, list[Any]], folder: Path) -> list[Callable[[], Any]]:
    """The same rows as a mapping, a frame, an Arrow table, an iterator of batches, a CSV and a Parquet file."""
    table = pa.table(columns)
    csv = csv_file(columns, folder / "rows.csv")
    parquet = folder / "rows.parquet"
    pq.write_table(table, parquet)
    batches = table.to_batches(max_chunksize=2)
    return [
        lambda: columns,
        lambda: pd.DataFrame(columns),
        lambda: table,
        lambda: iter(batches),
        lambda: csv,
        lambda: str(parquet),
    ]


def test_every_form_of_x_y_and_weight_gives_the_same_rows(tmp_path: Path) -> None:
    (tmp_path / "all").mkdir()
    (tmp_path / "features").mkdir()
    for x in forms_of_x(ALL, tmp_path / "all"):
        rows = read_labelled(x(), "play", "w")
        assert (tuple(rows.table.names), rows.classes) == (("sky", "wind"), ("no", "yes"))
        assert (rows.label.tolist(), rows.weights.tolist()) == ([1, 0, 1, 0, 0, 1], WEIGHT)
    for x in forms_of_x(FEATURES, tmp_path / "features"):
        for y in (PLAY, np.array(PLAY), pd.Series(PLAY), pa.array(PLAY)):
            rows = read_labelled(x(), y, WEIGHT)
            assert (rows.label.tolist(), rows.weights.tolist()) == ([1, 0, 1, 0, 0, 1], WEIGHT)


@pytest.mark.parametrize("x", range(6))
def test_every_entry_point_takes_names_of_columns(x: int, tmp_path: Path) -> None:
    form = forms_of_x(ALL, tmp_path)[x]
    model = naively.fit(form(), "play", weight="w", tune=False)
    assert model.target == "play"
    assert model.class_counts.tolist() == [5.5, 3.0]
    array = naively.fit(FEATURES, PLAY, weight=WEIGHT, tune=False)
    assert model.posterior(FEATURES).tolist() == array.posterior(FEATURES).tolist()
    twice = model.update(form(), "play", "w")
    assert twice.class_counts.tolist() == [11.0, 6.0]
    assert twice.forget(form(), "play", "w").class_counts.tolist() == [5.5, 3.0]
    assert model.evaluate(form(), "play", "w").weight == 8.5
    assert model.leave_one_out(form(), "play", "w").label.tolist() == [1, 0, 1, 0, 0, 1]
    assert model.evaluate_training(form(), "play", "w").rows == 6
    assert model.tune(form(), "play", "w").tuning is not None
    model.save(tmp_path / "m.naively")
    ledger = naively.open(tmp_path / "m.naively")
    assert ledger.update(form(), "play", weight="w").rows == 6
    assert sum(entry.rows for entry in ledger.forget(form(), weight="w")) == 6


def test_rows_without_a_label_and_of_weight_zero_are_dropped_by_one_rule(tmp_path: Path) -> None:
    columns = ALL | {"play": ["yes", None, "yes", "no", "maybe", "no"], "w": [1.0, 2.0, 1.0, 3.0, 0.0, 1.0]}
    for x in forms_of_x(columns, tmp_path):
        with pytest.warns(LeftOutWarning, match="^1 of 6 rows have no 'play' and were left out.$"):
            rows = read_labelled(x(), "play", "w")
        assert rows.classes == ("no", "yes")  # "maybe" has weight zero
        assert rows.label.tolist() == [1, 1, 0, 0]
        assert rows.table.kind(1) == "number"
        with pytest.raises(InputError, match=r"1 of . labels are missing, the first in row 1"):
            read_labelled(x(), "play", "w", keep_all=True)
    all_rows = read_labelled(FEATURES, PLAY, [1, 0, 1, 1, 1, 1], keep_all=True)
    assert all_rows.weights.tolist() == [1, 0, 1, 1, 1, 1]


def test_the_weight_of_a_dropped_row_is_not_checked() -> None:
    with pytest.warns(LeftOutWarning):
        rows = read_labelled(FEATURES, ["yes", None, *PLAY[2:]], [1, np.nan, 1, 1, 1, 1])
    assert rows.n_rows == 5
    with pytest.raises(InputError, match="the weight of row 1 is nan"):
        read_labelled(FEATURES, PLAY, [1, np.nan, 1, 1, 1, 1])


@pytest.mark.parametrize(
    ("y", "weight", "message"),
    [
        (
            "pla",
            None,
            r"there is no column 'pla' to predict \(did you mean 'play'\?\); the data has sky, wind, play, w",
        ),
        ("play", "ww", r"there is no column 'ww' of weights \(did you mean 'w'\?\); the data has sky, wind, w"),
        ("play", "sky", "column 'sky' holds text: weights are numbers"),
        ([1, 2], None, "6 rows but 2 labels: give one label per row"),
        (PLAY, [1.0], "6 rows but 1 weights: give one weight per row"),
        ([None] * 6, None, "no rows to count: 6 in the data, 6 of them without a label"),
        ("play", [0.0] * 6, "all weights are zero: at least one row must count"),
    ],
)
def test_refusals_are_the_same_for_every_form_of_x(y: Any, weight: Any, message: str, tmp_path: Path) -> None:
    for x in forms_of_x(ALL, tmp_path):
        with pytest.raises(InputError, match=message):
            read_labelled(x(), y, weight)


def test_other_refusals() -> None:
    with pytest.raises(InputError, match="an array has no column 'x0' to predict"):
        read_labelled(np.zeros((2, 2)), "x0")
    with pytest.raises(InputError, match="'play' is the only column"):
        read_labelled({"play": PLAY}, "play")
    with pytest.raises(InputError, match="column 'day' holds dates"):
        read_labelled(FEATURES | {"day": pd.date_range("2020-01-01", periods=6)}, "day")
    with pytest.raises(InputError, match="'perhaps' is not a class of the model, whose classes are 'no', 'yes'"):
        naively.fit(FEATURES, PLAY, tune=False).evaluate(FEATURES, ["perhaps"] * 6)


@pytest.mark.parametrize(
    ("labels", "classes", "codes"),
    [
        (["b", None, "a"], ("a", "b"), [1, -1, 0]),
        ([3, 1, 3], (1, 3), [1, 0, 1]),
        ([3, None, 1], (1, 3), [1, -1, 0]),
        ([True, False, None], (False, True), [1, 0, -1]),
        ([0.5, float("nan"), -1.0], (-1.0, 0.5), [1, -1, 0]),
        ([10**12, -(10**12)], (-(10**12), 10**12), [1, 0]),
        ([None, None], (), [-1, -1]),
        ([], (), []),
    ],
)
def test_codes_of_labels_in_every_container(labels: list[Any], classes: tuple[Any, ...], codes: list[int]) -> None:
    arrow = pa.array(labels, from_pandas=True)
    containers = [labels, tuple(labels), np.array(labels, dtype=object), pd.Series(labels, dtype=object), arrow]
    for y in containers:
        result, code = code_labels(y)
        assert (result, code.tolist(), code.dtype) == (classes, codes, np.dtype(np.int32))
        assert [type(c) for c in result] == [type(c) for c in classes]
    column = read(pa.table({"y": arrow})).columns[0]  # type: ignore[attr-defined]
    result, code = code_column(column)
    assert (result, code.tolist()) == (classes, codes)
    assert [type(c) for c in result] == [type(c) for c in classes]


def test_a_dictionary_may_list_classes_that_no_row_has() -> None:
    play = pa.array(["yes", "no", "yes"]).dictionary_encode().slice(0, 1)
    (rows,) = labelled_batches(pa.table({"x": [1.0], "play": play}), "play")
    assert (rows.classes, rows.label.tolist()) == (("yes",), [0])


def test_labels_of_a_model_in_its_order() -> None:
    rows = read_labelled(FEATURES, PLAY)
    assert rows.label_in(("yes", "maybe", "no")).tolist() == [0, 2, 0, 2, 2, 0]
    assert rows.take(np.array([5, 1])).label.tolist() == [1, 0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert rows.where(np.array([True] + [False] * 5)).without_empty_classes().classes == ("yes",)


@pytest.mark.parametrize("tune", [False, True])
def test_rows_of_weight_zero_are_ignored_also_if_their_class_has_no_other_row(tune: bool, tmp_path: Path) -> None:
    """One rule in every function that takes weights: such a row counts nothing, and its class is not needed."""
    n = 60
    generator = np.random.default_rng(1)
    X = {"x": generator.normal(size=n) + np.arange(n) % 2, "b": generator.choice(["u", "v"], n)}
    y = np.array(["p", "q"] * (n // 2))
    weight = np.ones(n)
    y[[7, 30]], weight[[7, 30, 31]] = "z", 0.0
    counted = weight > 0
    counted_rows = {name: x[counted] for name, x in X.items()}, y[counted], weight[counted]

    model, expected = (
        naively.fit(X, y, weight=weight, tune=tune),
        naively.fit(*counted_rows[:2], weight=counted_rows[2], tune=tune),
    )
    assert model.classes == expected.classes == ("p", "q")
    np.testing.assert_array_equal(model.posterior(X), expected.posterior(X))

    left_out, alone = model.leave_one_out(X, y, weight), expected.leave_one_out(*counted_rows)
    assert left_out.rows.tolist() == [i for i in range(n) if i not in (7, 30)]
    np.testing.assert_array_equal(left_out.log_joint[left_out.weight > 0], alone.log_joint)
    groups = np.arange(n) // 6
    by_group = model.leave_one_out(X, y, weight, groups=groups)
    alone = expected.leave_one_out(*counted_rows, groups=groups[counted])
    np.testing.assert_allclose(by_group.log_joint[by_group.weight > 0], alone.log_joint, atol=1e-9)

    assert model.tune(X, y, weight).tuning == expected.tune(*counted_rows).tuning
    assert model.evaluate(X, y, weight).log_loss == expected.evaluate(*counted_rows).log_loss
    assert model.evaluate_training(X, y, weight).log_loss == expected.evaluate_training(*counted_rows).log_loss
    by_group_loss = model.evaluate_training(X, y, weight, groups=groups).log_loss.value
    assert by_group_loss == pytest.approx(
        expected.evaluate_training(*counted_rows, groups=groups[counted]).log_loss.value
    )
    assert model.update(X, y, weight).classes == model.forget(X, y, weight).classes == ("p", "q")

    model.save(tmp_path / "m.naively")
    with naively.open(tmp_path / "m.naively") as ledger:
        with pytest.warns(naively.RepeatedRowsWarning):
            ledger.update(X, y, weight=weight)
        assert ledger.model().classes == ("p", "q")
