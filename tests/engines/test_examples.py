"""The examples of docs/large_data.md with a process pool, joblib and Dask."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest
from tests.support.engines import assert_same_counts, mixed_table

import naively

N_ROWS, N_PARTS = 400, 4
STEP = N_ROWS // N_PARTS


def count_rows(schema_json: str, first: int) -> bytes:
    """Count some rows of the table, in another process."""
    schema = naively.Schema.from_json(schema_json)
    return naively.count(mixed_table(N_ROWS).slice(first, STEP), schema, "y", n_jobs=1).to_bytes()


def check(schema: naively.Schema, parts: list[bytes]) -> None:
    total = naively.total(map(naively.Part.from_bytes, parts))
    with pytest.warns(naively.LeftOutWarning):
        expected = naively.fit(mixed_table(N_ROWS), "y", schema=schema)
    with pytest.warns(naively.LeftOutWarning):
        model = total.to_model()
    assert_same_counts(model, expected)
    assert model.tuning == expected.tuning


def test_a_pool_of_processes() -> None:
    schema = naively.infer_schema(mixed_table(N_ROWS), "y")
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        parts = list(pool.map(count_rows, [schema.to_json()] * N_PARTS, range(0, N_ROWS, STEP)))
    check(schema, parts)


def test_joblib() -> None:
    from joblib import Parallel, delayed

    schema = naively.infer_schema(mixed_table(N_ROWS), "y")
    jobs = (delayed(count_rows)(schema.to_json(), first) for first in range(0, N_ROWS, STEP))
    check(schema, Parallel(n_jobs=2, backend="threading")(jobs))


def test_dask() -> None:
    dask = pytest.importorskip("dask", reason="dask is not installed (make engines installs it)")
    schema = naively.infer_schema(mixed_table(N_ROWS), "y")
    jobs = [dask.delayed(count_rows)(schema.to_json(), first) for first in range(0, N_ROWS, STEP)]
    check(schema, list(dask.compute(*jobs, scheduler="threads")))
