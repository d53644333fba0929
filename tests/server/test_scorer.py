"""Requests that arrive together are scored together, and one that is alone does not wait."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import naively
from naively.data.read import read
from naively.data.table import ColumnTable, RowTable
from naively.data.values import column_of_type, column_of_values
from naively.errors import InputError
from naively.server.scorer import score, types_of
from naively.server.served import ServedModel


def test_a_request_that_is_alone_does_not_wait_for_others(model_files: Path) -> None:
    served = ServedModel("mail", model_files / "mail.naively")
    rows = {"text": ["cheap lunch"]}

    def n_turns() -> int:
        """Return how often a prediction gives way to other requests."""
        prediction = served.predict(rows)
        for n in range(3):
            try:
                prediction.send(None)
            except StopIteration:
                return n
        raise AssertionError("the prediction waits")

    async def count() -> tuple[int, int]:
        together = n_turns()
        served.scorer.is_alone = lambda: True
        return together, n_turns()

    assert asyncio.run(count()) == (1, 0)


@pytest.mark.parametrize(
    "values",
    [
        [1.5],
        [None, 0.1],
        [True, None],
        [3],
        [3, None],
        [2**63],
        [2**70, None],
        ["a"],
        [None, "a", "b", "a"],
        [None],
        ["x"] * 99,
    ],
)
def test_a_column_of_known_type_is_that_of_its_values(values: list[Any]) -> None:
    [kind] = types_of({"x": values})
    expected, column = column_of_values("x", values), column_of_type("x", values, kind)
    assert (type(column), column.kind, column.name) == (type(expected), expected.kind, "x")
    arrays = column.to_arrow(), expected.to_arrow()
    assert arrays[0].type == arrays[1].type
    assert repr(arrays[0].to_pylist()) == repr(arrays[1].to_pylist())  # NaN differs from itself
    codes, other = column.codes(), expected.codes()
    assert (codes[0].tolist(), codes[1]) == (other[0].tolist(), other[1])


ROW: dict[str, Any] = {"age": 3.5, "text": "a b", "size": -0.0, "colour": "red", "empty": "", "gap": float("nan")}


def _pieces(view: Any) -> list[Any]:
    return [(piece.dtype, piece.shape, piece.tolist()) for piece in view.pieces]


def test_one_row_is_read_like_its_columns() -> None:
    row = RowTable(tuple(ROW), list(ROW.values()))
    columns = read({name: [value] for name, value in ROW.items()})
    assert isinstance(columns, ColumnTable)
    assert [row.kind(j) for j in range(6)] == [columns.kind(j) for j in range(6)]
    numbers, strings = [2, 0, 5], [3, 1, 4]
    assert repr(_pieces(row.numbers(numbers))) == repr(_pieces(columns.numbers(numbers)))  # NaN differs from itself
    assert _pieces(row.coded(strings)) == _pieces(columns.coded(strings))
    assert _pieces(row.coded([0, 3])) == _pieces(columns.coded([0, 3]))
    assert row.coded([0, 3]).values == columns.coded([0, 3]).values
    assert row.coded(strings).values == columns.coded(strings).values
    assert row.texts(strings).columns == columns.texts(strings).columns
    assert _pieces(row.present(range(6))) == _pieces(columns.present(range(6)))
    assert row.row_hashes().tolist() == columns.row_hashes().tolist()
    two = row.concat([row, columns])
    assert two.n_rows == 2
    assert repr(_pieces(two.numbers(numbers))) == repr(_pieces(columns.concat([columns, row]).numbers(numbers)))
    assert repr(_pieces(row.ranked().numbers(numbers))) == repr(_pieces(columns.ranked().numbers(numbers)))
    for method in ("numbers", "texts"):
        messages = []
        for table in (row, columns):
            with pytest.raises(InputError) as error:
                getattr(table, method)([0, 1])
            messages.append(str(error.value))
        assert messages[0] == messages[1]


@pytest.mark.parametrize("value", [1.5, -2.0, 0.0, "1", "two", None, True, float("inf")])
@pytest.mark.parametrize(
    "values", [[0.0, 1.0, 2.0, 5.0], ["1", "2", "3", "1"], [True, False, True, False], [-1.5, 2.5, 0.1, 9.0]]
)
def test_one_row_is_scored_like_its_column_and_refused_like_it(values: list[Any], value: Any) -> None:
    rows = {"x": values * 10, "y": [0.5, 1.5, -1.0, 2.0] * 10}
    model = naively.fit(rows, ["a", "b", "a", "b"] * 10)
    columns = {"x": [value], "y": [1.25]}

    def results(predict: Callable[[], Any]) -> Any:
        try:
            return predict()
        except InputError as error:
            return str(error)

    expected = results(lambda: model.posterior(columns).tolist())
    assert results(lambda: score(model, columns, 1, types_of(columns))[1].tolist()) == expected
