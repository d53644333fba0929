"""Row hashes: equal content has equal hashes in any container and order; other content has other hashes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from tests.twins.text import hash_texts as twin

from naively._kernels.text import hash_texts
from naively.data.read import read

AGE, JOB, PAID = [30.0, None, -0.0, 30.0], ["cook", "smith", None, "cook"], [True, False, None, True]


def containers() -> list[Any]:
    columns: dict[str, Any] = {"age": AGE, "job": JOB, "paid": PAID}
    frame = pd.DataFrame(columns)
    arrow = pa.table(columns)
    coded = arrow.set_column(1, "job", arrow["job"].dictionary_encode())
    return [
        columns,
        frame,
        frame.assign(job=frame["job"].astype("category")),
        arrow,
        coded,
        arrow.select(["paid", "job", "age"]),
        arrow.set_column(1, "job", arrow["job"].cast(pa.large_string())),
        pa.concat_tables([arrow.slice(0, 1), arrow.slice(1)]),
        pl.DataFrame(columns),
        {"age": [30, None, 0, 30], "job": JOB, "paid": [1, 0, None, 1]},
    ]


@pytest.mark.parametrize("table", containers())
def test_any_container(table: Any) -> None:
    expected = read(containers()[0]).row_hashes()
    np.testing.assert_array_equal(read(table).row_hashes(), expected)
    assert len(set(expected.tolist())) == 3
    assert expected[0] == expected[3]


def test_matrices() -> None:
    x = np.array([[0, 1, 2], [0, 0, 0], [5, -0.0, 0], [np.nan, 0, 1]])
    expected = read(x).row_hashes()
    for other in (sp.csr_array(x), sp.csc_array(x), x.astype(np.float32), np.asfortranarray(x), pd.DataFrame(x)):
        names = tuple(f"x{j}" for j in range(3))
        table = read(other.rename(columns=dict(enumerate(names))) if isinstance(other, pd.DataFrame) else other)
        np.testing.assert_array_equal(table.row_hashes(), expected)
    np.testing.assert_array_equal(read(x[:3].astype(int)).row_hashes(), expected[:3])
    np.testing.assert_array_equal(read(x[:, :2]).row_hashes(), read(x).row_hashes(names=("x0", "x1")))
    assert len(set(expected.tolist())) == 4


def test_columns_are_not_confused() -> None:
    result = [read({"a": [a], "b": [b]}).row_hashes()[0] for a, b in [(1, 2), (2, 1), (1, 1), (2, 2), (None, 1)]]
    assert len(set(result)) == 5


def test_hashes_are_spread_evenly() -> None:
    result = read({"a": np.arange(60_000)}).row_hashes()
    assert len(np.unique(result)) == 60_000
    share = np.bincount((result % np.uint64(5)).astype(int)) / 60_000
    assert abs(share - 0.2).max() < 0.01
    assert abs((result >> np.uint64(63)).mean() - 0.5) < 0.01


LONG_TEXTS = st.builds(str.__mul__, st.text(min_size=1, max_size=5), st.integers(1, 99))  # several are hashed together


@given(st.lists(st.none() | st.text(max_size=40) | LONG_TEXTS, max_size=12))
def test_kernel_and_twin(texts: list[str | None]) -> None:
    result = hash_texts(texts, n_jobs=2)
    np.testing.assert_array_equal(result, twin(texts))
    assert [h == 0 for h in result.tolist()] == [text is None for text in texts]
