"""The tuning sample is an additive value: each distinct row once, in any split and order, also as bytes."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import naively
from naively.data.labelled import LabelledRows, read_labelled
from naively.data.read import read
from naively.tuning.sample import MAX_HASH, SampledRows, Sampler

CELLS: dict[str, st.SearchStrategy[Any]] = {
    "number": st.sampled_from([None, 0.0, -0.0, 1.5, 1e7 + 0.25, -3.0]),
    "whole": st.sampled_from([None, 0, 7, 2**60 + 1]),
    "word": st.sampled_from([None, "", "ä b", 'it\'s; \\ "x"']),
    "truth": st.sampled_from([None, True, False]),
    "day": st.sampled_from([None, datetime.date(2020, 2, 29), datetime.date(1969, 12, 31)]),
    "empty": st.none(),
}
ROWS = st.lists(st.tuples(*CELLS.values(), st.sampled_from("xyz"), st.integers(1, 3)), min_size=1, max_size=30)


def labelled(rows: list[tuple[Any, ...]]) -> LabelledRows:
    columns = list(zip(*rows, strict=True))
    kinds = dict(zip(("number", "whole"), (pa.float64(), pa.int64()), strict=True))
    kinds |= {"word": pa.string(), "truth": pa.bool_(), "day": pa.date32(), "empty": pa.null()}
    table = pa.table({name: pa.array(column, kinds[name]) for name, column in zip(CELLS, columns[:-2], strict=True)})
    return read_labelled(table, list(columns[-2]), list(columns[-1]))


def sampled(rows: LabelledRows, limit: int) -> SampledRows:
    return SampledRows.count(rows.table, rows.classes, rows.label, rows.weight, limit)


def contents(sample: SampledRows) -> dict[tuple[int, Any], tuple[float, int]]:
    names = [sample.classes[code] for code in sample.label]
    keys = zip(sample.hashes.tolist(), names, strict=True)
    return dict(zip(keys, zip(sample.weight.tolist(), sample.rows.tolist(), strict=True), strict=True))


@settings(max_examples=40, deadline=None)
@given(ROWS, st.integers(1, 40), st.randoms())
def test_samples_add_in_any_split_and_order(rows: list[tuple[Any, ...]], limit: int, random: Any) -> None:
    total = sampled(labelled(rows), limit)
    shuffled = random.sample(rows, len(rows))
    ends = sorted(random.choices(range(len(rows) + 1), k=3))
    parts = [shuffled[a:b] for a, b in zip([0, *ends], [*ends, len(rows)], strict=True)]
    empty = sampled(labelled(rows).where(np.zeros(len(rows), np.bool_)), limit)
    samples = [sampled(labelled(part), limit) if part else empty for part in parts]
    again = SampledRows.sum_of([SampledRows.from_bytes(sample.to_bytes()) for sample in samples])
    assert contents(again) == contents(total)
    assert again.max_hash == total.max_hash
    in_pairs = samples[3] + (samples[1] + (samples[2] + samples[0]))
    assert contents(in_pairs) == contents(total)


@settings(max_examples=40, deadline=None)
@given(ROWS)
def test_samples_hold_each_distinct_row_once(rows: list[tuple[Any, ...]]) -> None:
    def plain(row: tuple[Any, ...]) -> tuple[Any, ...]:
        return (None if row[0] is None else row[0] + 0.0, *row[1:-1])

    by_kind: dict[tuple[Any, ...], list[int]] = {}
    for row in rows:
        by_kind.setdefault(plain(row), []).append(row[-1])
    sample = sampled(labelled(rows), 1000)
    assert sample.max_hash == MAX_HASH
    expected = sorted((sum(weights), len(weights)) for weights in by_kind.values())
    assert sorted(zip(sample.weight, sample.rows, strict=True)) == expected


@pytest.mark.parametrize(
    "X",
    [
        np.arange(12.0).reshape(6, 2),
        np.arange(12, dtype=np.int32).reshape(6, 2) % 3,
        np.arange(12).reshape(6, 2) % 2 == 0,
        csr_array(np.eye(6, 9)),
        ["a b", "c", None, "", "d e", "f"],
        {"large": [2**70, None, 5, 2**70, 6, 7], "mixed": [2**80, 1.5, None, 3, 4, 5]},
        {
            "codes": pa.array([3, 5, None, 3, 9, 3]).dictionary_encode(),
            "unsigned": np.arange(6, dtype=np.uint64) + 2**63,
        },
        pa.table({"words": pa.array(["x", None, "y", "x", "z", "x"]).dictionary_encode()}),
        {"short": np.arange(6, dtype=np.float32), "byte": np.arange(6, dtype=np.int8)},
    ],
)
def test_bytes_keep_every_value(X: Any) -> None:
    table = read(X)
    label = np.arange(6) % 2
    sample = SampledRows.count(table, (False, True), label, None, 100)
    again = SampledRows.from_bytes(sample.to_bytes())
    np.testing.assert_array_equal(again.hashes, sample.hashes)
    assert again.classes == (False, True)
    assert (again.table.names, again.table.is_sparse) == (table.names, table.is_sparse)
    assert [again.table.kind(j) for j in range(len(table.names))] == [table.kind(j) for j in range(len(table.names))]
    if not isinstance(X, list):
        for one, two in zip(again.table.coded([0]).pieces, sample.table.coded([0]).pieces, strict=True):
            np.testing.assert_array_equal(np.asarray(one), np.asarray(two))
    again.sample((False, True))


def test_damaged_bytes_are_refused() -> None:
    rows = read_labelled({"x": [1.5, 2.5, 3.5], "s": ["a", "b", None]}, ["no", "yes", "no"])
    data = sampled(rows, 10).to_bytes()
    for junk in (b"", b"junk", data[:40], data[: len(data) // 2]):
        with pytest.raises(naively.InputError, match="not a sample of rows"):
            SampledRows.from_bytes(junk)
    position = data.index(np.float64(1.5).tobytes())
    changed = data[:position] + np.float64(9.5).tobytes() + data[position + 8 :]
    with pytest.raises(naively.InputError, match="hashes of the rows"):
        SampledRows.from_bytes(changed)


def test_repeated_rows_take_no_memory() -> None:
    sampler = Sampler(100)
    for _ in range(50):
        rows = read_labelled({"x": np.arange(1000) % 4}, np.arange(1000) % 2)
        sampler.add(rows.table, rows.classes, rows.label, rows.weight)
    assert sampler.sampled is not None
    assert len(sampler.sampled) == sampler.sampled.table.n_rows == 4
    assert sampler.sampled.rows.tolist() == [12_500] * 4


def test_categories_of_numbers_with_other_dictionaries_are_one_column() -> None:
    def batches() -> Any:
        for values in ([10, 20, 10], [30, 10, 20]):
            yield pa.table({"code": pa.array(values).dictionary_encode(), "y": ["a", "b", "a"]})

    model = naively.fit(batches(), "y")
    together = naively.fit(pa.table({"code": pa.array([10, 20, 10, 30, 10, 20]).dictionary_encode()}), list("abaaba"))
    assert model.tuning == together.tuning
