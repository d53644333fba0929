"""Requests that arrive together are scored together, and one that is alone does not wait."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from naively.data.values import column_of_type, column_of_values
from naively.server.scorer import types_of
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
