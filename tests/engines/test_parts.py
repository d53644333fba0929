"""Parts: counted anywhere and added, they are what `fit` counts, bit for bit, in any split and order."""

from __future__ import annotations

import datetime
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.engines import assert_same_counts, mixed_table, text_table

import naively
from naively.store.meta import digest_of

TABLES = {"mixed": mixed_table(1500), "texts": text_table(400)}


def local(name: str) -> tuple[naively.Schema, naively.Model]:
    table = TABLES[name]
    schema = naively.infer_schema(table, "y")
    with pytest.warns(naively.LeftOutWarning):
        return schema, naively.fit(table, "y", schema=schema)


LOCAL = {name: local(name) for name in TABLES}


def split(table: pa.Table, n_parts: int) -> list[pa.Table]:
    ends = np.linspace(0, table.num_rows, n_parts + 1).astype(int).tolist()
    return [table.slice(a, b - a) for a, b in pairwise(ends)]


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("n_parts", [1, 2, 7, 100])
def test_parts_add_up_to_the_fit(name: str, n_parts: int) -> None:
    schema, model = LOCAL[name]
    tables = split(TABLES[name], n_parts)
    tables += [TABLES[name].slice(0, 0)]  # a part without rows
    order = np.random.default_rng(n_parts).permutation(len(tables))
    parts = [naively.count(iter([tables[i]]), schema, "y") for i in order]
    sent = [naively.Part.from_bytes(part.to_bytes()) for part in parts]
    with pytest.warns(naively.LeftOutWarning, match=r"rows have no 'y' and were left out"):
        total = naively.total(sent).to_model()
    assert_same_counts(total, model)
    assert total.tuning == model.tuning


@pytest.mark.parametrize("name", TABLES)
def test_the_fit_without_a_schema_is_the_same(name: str) -> None:
    with pytest.warns(naively.LeftOutWarning):
        assert_same_counts(naively.fit(TABLES[name], "y"), LOCAL[name][1])


def test_parts_with_tables_of_columns_add_up_to_the_fit() -> None:
    """The tables are planned once, with the schema, and each part counts them."""
    schema = naively.infer_schema(TABLES["mixed"], "y", together=True)
    parts = [naively.count(rows, schema, "y") for rows in split(TABLES["mixed"], 7)]
    total = naively.total([naively.Part.from_bytes(part.to_bytes()) for part in reversed(parts)])
    with pytest.warns(naively.LeftOutWarning):
        model, expected = total.to_model(), naively.fit(TABLES["mixed"], "y", together=True)
    assert expected.schema.tables is not None
    assert_same_counts(model, expected)
    assert model.tuning == expected.tuning


def test_parts_sorted_by_class_and_parts_without_labels() -> None:
    """Each part has one class, one has no label at all, and one has no rows."""
    schema, model = LOCAL["mixed"]
    table = TABLES["mixed"]
    labels = np.array(table["y"].to_pylist(), dtype=object)
    parts = [
        naively.count(iter([table.filter(pa.array(labels == label))]), schema, "y") for label in ("a", "b", "c", None)
    ]
    parts += [naively.count(iter([]), schema, "y")]
    assert parts[3].counts is None
    assert parts[3].tally.n_unlabelled == parts[3].tally.n_rows > 0
    with pytest.warns(naively.LeftOutWarning):
        assert_same_counts(naively.total(parts[::-1]).to_model(), model)


CELL = st.sampled_from([None, 0.0, -1.5, 1e7 + 0.5, 1e-300])
ROWS = st.lists(
    st.tuples(CELL, st.sampled_from([None, "p", "q q", "ß"]), st.sampled_from([None, "u", "v"]), st.integers(0, 2)),
    max_size=25,
)


@settings(max_examples=30, deadline=None)
@given(ROWS, st.randoms())
def test_any_split_and_order(rows: list[tuple[Any, ...]], random: Any) -> None:
    kinds = {"x": pa.float64(), "s": pa.string(), "y": pa.string(), "w": pa.int64()}

    def table(some: list[tuple[Any, ...]]) -> pa.Table:
        columns: list[Any] = list(zip(*some, strict=True)) or [[]] * 4
        return pa.table({name: pa.array(c, kind) for (name, kind), c in zip(kinds.items(), columns, strict=True)})

    schema = naively.infer_schema({"x": [0.5], "s": ["p"]}, ["u"])
    shuffled = random.sample(rows, len(rows))
    cuts = sorted(random.choices(range(len(rows) + 1), k=random.randint(0, 6)))
    pieces = [shuffled[a:b] for a, b in zip([0, *cuts], [*cuts, len(rows)], strict=True)]
    parts = [naively.count(iter([table(piece)]), schema, "y", weight="w") for piece in pieces]
    whole, added = naively.count(table(rows), schema, "y", weight="w"), naively.total(parts)
    assert whole.tally == added.tally
    if whole.counts is None:
        assert added.counts is None
        with pytest.raises(naively.InputError, match=r"no rows to count|all weights are zero"):
            added.to_model()
    else:
        assert added.counts is not None
        assert_same_counts(whole.counts, added.counts)


def test_parts_of_other_columns_types_and_schemas_are_refused() -> None:
    schema = naively.infer_schema({"x": [1.0, 2.0], "s": ["a", "b"]}, ["u", "v"])
    with pytest.raises(naively.SchemaError, match="'s'"):
        naively.count({"x": [1.0]}, schema, ["u"])
    with pytest.raises(naively.SchemaError, match="'x'"):
        naively.count({"x": ["1"], "s": ["a"]}, schema, ["u"])
    part = naively.count({"x": [1.0], "s": ["a"], "more": [1]}, schema, ["u"])
    other = naively.infer_schema({"x": [1.0, 2.0]}, ["u", "v"])
    with pytest.raises(naively.SchemaError, match="'s'"):
        naively.total([part, naively.count({"x": [1.0]}, other, ["u"])])
    with pytest.raises(naively.InputError, match="no parts"):
        naively.total([])
    gaussian = naively.infer_schema({"x": [1.0, 2.0]}, ["u", "v"], columns=naively.Gaussian())
    with pytest.raises(naively.InputError, match="'x' holds an infinity"):
        naively.count({"x": [np.inf]}, gaussian, ["u"])


def test_bytes_are_checked() -> None:
    schema = naively.infer_schema(["a b", "c"], ["u", "v"])
    data = naively.count(["a b", "c"], schema, ["u", "v"]).to_bytes()
    assert naively.Part.from_bytes(data).tally.n_counted == 2
    random = np.random.default_rng(0)
    for position in random.choice(len(data), 60, replace=False).tolist():
        changed = bytearray(data)
        changed[position] ^= 1 << int(random.integers(8))
        with pytest.raises(naively.InputError):
            naively.Part.from_bytes(bytes(changed))
    for junk in (b"", b"naively part", data[:-1], data + b"x"):
        with pytest.raises(naively.InputError, match="not a part"):
            naively.Part.from_bytes(junk)


@pytest.mark.parametrize(("field", "message"), [("FORMAT", "format 99"), ("UNICODE_VERSION", "Unicode 99")])
def test_other_versions_are_refused(field: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from naively.engines import parts

    schema = naively.infer_schema({"x": [1, 2]}, [0, 1])
    part = naively.count({"x": [1, 2]}, schema, [0, 1])
    with monkeypatch.context() as patch:
        patch.setattr(parts, field, 99 if field == "FORMAT" else "99")
        data = part.to_bytes()
    with pytest.raises(naively.InputError, match=f"{message}.*same version"):
        naively.Part.from_bytes(data)


def test_bytes_that_lie_are_refused() -> None:
    """A digest that fits does not help: what it covers is checked."""
    from naively.engines.parts import DIGEST_BYTES, MAGIC
    from naively.store.codec import pack, unpack

    schema = naively.infer_schema({"x": [1.5, 2]}, [0, 1])
    data = naively.count({"x": [1.5, 2]}, schema, [0, 1]).to_bytes()
    head, arrays = unpack(data[len(MAGIC) + DIGEST_BYTES :])
    for change in ({"rows": [2, 0, 3]}, {"rows": [2, 3, 2]}, {"schema": "{}"}, {"rows": "x"}):
        body = pack({**head, **change}, arrays)
        with pytest.raises(naively.InputError):
            naively.Part.from_bytes(MAGIC + digest_of(body) + body)


def test_dates_booleans_and_counts_of_rows() -> None:
    table = TABLES["mixed"]
    part = naively.count(table, LOCAL["mixed"][0], "y")
    assert part.tally.n_rows == table.num_rows
    assert part.tally.n_unlabelled == table["y"].null_count
    assert "without a label" in repr(part)
    assert isinstance(table["day"][0].as_py(), datetime.date | None)
