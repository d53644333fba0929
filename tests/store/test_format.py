"""Models are read from a file as they were written, bit for bit; invalid files are refused."""

import json
import struct
import zlib
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naively
from naively import (
    Bernoulli,
    Categorical,
    Complement,
    Dirichlet,
    Exponential,
    Gaussian,
    InputError,
    LogNormal,
    Model,
    Multinomial,
    Poisson,
    Text,
)
from naively._kernels.text import Vocabulary
from naively.data.names import Numbered
from naively.model.count import count_rows
from naively.schema.schema import Schema
from naively.statistics import Statistic
from naively.store.codec import decode_counts, encode_counts, pack, unpack
from naively.store.sqlite import DECODE_ERRORS

DATA: dict[str, list[Any]] = {
    "age": [30.5, 41.0, None, 22.25],
    "visits": [1, 2, 0, 7],
    "price": [1.5, 2.5, 0.5, 4.0],
    "job": ["cook", None, "späher", "cook"],
    "offer": [True, False, None, True],
    "a": [1, 0, 2, 0],
    "b": [0, 0, 1, 3],
    "gone": [None, None, None, None],
    "note": ["cheap pills now", "lunch at noon", None, "cheap cheap offer"],
    "hashed": ["x y", "y z", "z", None],
}
COLUMNS: dict[Any, Any] = {
    "visits": Poisson(a=2),
    "price": LogNormal(),
    ("a", "b"): Multinomial(alpha=0.5),
    "job": Categorical(alpha=Dirichlet({"cook": 3.0}, other=0.5)),
    "note": Text(ngrams=(1, 2), stop_words=("at",)),
    "hashed": Text(hash_bits=10),
}
LABEL = ["spam", "ham", "ham", "spam"]


def same(a: Any, b: Any) -> bool:
    if isinstance(a, Statistic):
        return type(a) is type(b) and all(same(getattr(a, f.name), getattr(b, f.name)) for f in fields(a))  # type: ignore[arg-type]
    if isinstance(a, tuple):  # cells, or several statistics
        return all(same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, Vocabulary):
        return bool(a.words() == b.words())
    if isinstance(a, np.ndarray):
        return bool(a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes())
    return type(a) is type(b) and bool(a == b)


def saved(model: Model, folder: Path) -> Model:
    model.save(folder / "m.naively")
    return naively.load(folder / "m.naively")


def assert_same(a: Model, b: Model) -> None:
    assert (a.schema, a.classes, a.prior, a.target) == (b.schema, b.classes, b.prior, b.target)
    assert same(a.class_weights, b.class_weights)
    for one, two in zip(a.statistics, b.statistics, strict=True):
        assert same(one, two)


def test_every_family_is_restored(tmp_path: Path) -> None:
    model = naively.fit(DATA, LABEL, columns=COLUMNS, prior={"ham": 0.25, "spam": 0.75}, tune=False)
    back = saved(model, tmp_path)
    assert_same(model, back)
    assert np.array_equal(model.log_joint(DATA), back.log_joint(DATA))
    assert (back + model - model).class_counts.tolist() == model.class_counts.tolist()


@pytest.mark.parametrize(
    "family", [Gaussian(), Bernoulli(0.5, 2), Categorical(shared=True), Complement(), Exponential()]
)
def test_arrays(family: Any, tmp_path: Path) -> None:
    x = np.array([[0, 1, 0], [1, 1, 0], [0, 0, 1.0]])
    for label in ([0, 1, 1], [True, False, True], [0.5, 1.5, 0.5]):
        model = naively.fit(x, label, columns=family, tune=False)
        assert_same(model, saved(model, tmp_path))


def test_numbered_columns_take_no_space(tmp_path: Path) -> None:
    import scipy.sparse as sp

    model = naively.fit(sp.csr_array(([1, 2], ([0, 1], [5, 99_999])), shape=(2, 100_000)), [0, 1], tune=False)
    back = saved(model, tmp_path)
    assert_same(model, back)
    assert isinstance(back.schema.names, Numbered)
    assert (tmp_path / "m.naively").stat().st_size < 40_000


def test_forgotten_words_are_not_written(tmp_path: Path) -> None:
    model = naively.fit(["one two", "three secret"], ["a", "b"], tune=False)
    less = model.forget(["three secret"], ["b"])
    back = saved(less, tmp_path)
    assert b"secret" not in (tmp_path / "m.naively").read_bytes()
    assert np.array_equal(less.log_joint(["one three"]), back.log_joint(["one three"]))


@given(st.lists(st.tuples(st.floats(-1e9, 1e9), st.text(max_size=4), st.sampled_from("abc")), min_size=1, max_size=20))
def test_any_values_are_restored(rows: list[tuple[float, str, str]]) -> None:
    import tempfile

    x, words, label = (list(column) for column in zip(*rows, strict=True))
    model = naively.fit({"x": x, "word": words}, label, tune=False)
    with tempfile.TemporaryDirectory() as folder:
        assert_same(model, saved(model, Path(folder)))


def test_failed_save_keeps_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "m.naively"
    path.write_text("old")
    model = naively.fit(["a b"], ["x"], columns=Text(tokens=str.split), tune=False)
    with pytest.raises(InputError, match="cannot be written to a file"):
        model.save(path, overwrite=True)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["m.naively"]


def test_missing_and_invalid_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.naively: cannot be read"):
        naively.load(tmp_path / "none.naively")
    for content in (b"", b"content", b"PK\3\4", b"SQLite format 3", bytes(range(256)) * 10):
        (tmp_path / "r").write_bytes(content)
        with pytest.raises(InputError, match=r"r: is not a model file"):
            naively.load(tmp_path / "r")


def payloads(model: Model) -> tuple[bytes, Schema]:
    return encode_counts(model), model.schema


def test_damaged_heads_are_refused() -> None:
    payload, schema = payloads(naively.fit(DATA, LABEL, columns=COLUMNS, tune=False))
    head, arrays = unpack(payload)
    changes: list[tuple[str, Any]] = [
        ("classes", ["spam", "ham"]),
        ("classes", ["ham"]),
        ("classes", ["ham", 1]),
        ("classes", []),
        ("statistics", head["statistics"][:-1]),
        ("statistics", head["statistics"][::-1]),
        ("seen", {"statistic": "Statistic", "fields": {}}),
        ("seen", {"array": -1}),
        ("seen", {"array": 10**9}),
        ("seen", {"numbered": 2**40}),
    ]
    for key, value in changes:
        with pytest.raises(DECODE_ERRORS):
            decode_counts(pack(head | {key: value}, arrays), schema)
    assert decode_counts(pack(head, arrays), schema).classes == ("ham", "spam")


def test_histogram_without_capacity_is_refused() -> None:
    """It could be read, but not added to another one."""
    payload, schema = payloads(naively.fit({"x": [0.5, 1.5]}, ["a", "b"], columns=naively.Binned(), tune=False))
    head, arrays = unpack(payload)
    (counted,) = head["statistics"]
    for cap in (-1, 0, 1, 2**25):
        changed = {**counted, "fields": {**counted["fields"], "cap": cap}}
        with pytest.raises(DECODE_ERRORS):
            decode_counts(pack(head | {"statistics": [changed]}, arrays), schema)


def test_damaged_arrays_are_refused() -> None:
    payload, schema = payloads(naively.fit(DATA, LABEL, columns=COLUMNS, tune=False))
    head, arrays = unpack(payload)
    for i in range(len(arrays)):
        for bad in (np.full((1,), np.nan), np.zeros((2, 2), dtype="<i8") - 1, np.zeros((0,), dtype="u1")):
            with pytest.raises(DECODE_ERRORS):
                decode_counts(pack(head, [*arrays[:i], bad, *arrays[i + 1 :]]), schema)


def payload_of(head: list[Any], chunk: bytes = b"", deflated: bool = False) -> bytes:
    """Return a payload with one array that `pack` would not write."""
    text = json.dumps({"arrays": [head]}).encode()
    body = struct.pack("<I", len(text)) + text + chunk
    stored = zlib.compress(body) if deflated else body
    return struct.pack("<BBQQ", 1, deflated, len(body), len(stored)) + stored


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        bytes(10),
        struct.pack("<BBQQ", 2, 0, 0, 0),
        struct.pack("<BBQQ", 1, 0, 5, 5) + b"abc",
        struct.pack("<BBQQ", 1, 0, 4, 4) + struct.pack("<I", 2**31),
        struct.pack("<BBQQ", 1, 1, 2**60, 9) + zlib.compress(b"a"),
        struct.pack("<BBQQ", 1, 1, 10, 14) + b"no zlib at all",
        payload_of(["u1", [3], "apart", 1], bytes(3)),
        payload_of(["u1", [3], "apart", 1]) + bytes(4),
        payload_of(["f8", [2**40], "bits", 8]),
        payload_of(["f8", [2**40, 2**40, 2**40], "whole", 1]),
        payload_of(["f8", [-1], "bits", 8]),
        payload_of(["f8", [3], [1, 2]]),
        payload_of(["f8", [1], ["1"]]),
        payload_of(["i8", [1], [1.5]]),
        payload_of(["i4", [1], [2**40]]),
        payload_of(["i4", [1], "whole", 8], struct.pack("<Q", 2**40)),
        payload_of(["f8", [1], "whole", 8], struct.pack("<Q", 2**62)),
        payload_of(["b1", [2], "bits", 1], b"\x01\x02"),
        payload_of(["f8", [1], "odd", 8], bytes(8)),
        payload_of(["f8", [1], "bits", 3], bytes(8)),
        payload_of(["f8", [1], "bits", 8], bytes(16)),
        payload_of(["f8", [10**6], "whole", 1], bytes(10**6), deflated=True),  # a bomb: 1 MB from 1 kB
    ],
)
def test_invalid_payloads(payload: bytes) -> None:
    with pytest.raises(DECODE_ERRORS):
        unpack(payload)


@given(
    st.lists(st.integers(-(2**63), 2**63 - 1), max_size=80),
    st.lists(st.floats(allow_nan=False), max_size=80),
    st.lists(st.integers(-1000, 1000), min_size=33, max_size=80),
)
def test_arrays_are_restored(integers: list[int], floats: list[float], small: list[int]) -> None:
    arrays: list[Any] = [
        np.array(integers, np.int64),
        np.array(floats, np.float64),
        np.array(small, np.int32),
        np.array(small, np.float64),
        np.sort(np.array(integers, np.int64)),
        np.array(small, np.float64)[:32].reshape(2, 4, 4),
        np.array(small) > 0,
        np.array(small).astype(np.uint8),
    ]
    head, back = unpack(pack({"x": 1}, arrays))
    assert head == {"x": 1}
    for one, two in zip(arrays, back, strict=True):
        assert (one.dtype, one.shape, one.tobytes()) == (two.dtype, two.shape, two.tobytes())


def test_extremely_compressible_arrays_are_not_deflated() -> None:
    payload = pack({}, [np.zeros(10**6, np.int64)])
    assert len(payload) > 10**6
    assert unpack(payload)[1][0].sum() == 0


def test_large_bodies_are_one_zlib_stream() -> None:
    generator = np.random.default_rng(0)
    arrays: list[Any] = [
        np.sort(generator.integers(0, 2**31, 200_000)).astype(np.int32),  # low bytes are random, high bytes are zero
        generator.poisson(1.5, 200_001).astype(np.float64),
        np.tile(np.array([3, 500, 77]), 100_000),  # repetitions
    ]
    payload = pack({"x": 1}, arrays)
    _, deflated, length, n_bytes = struct.unpack_from("<BBQQ", payload)
    body = zlib.decompress(payload[18:])
    assert (deflated, n_bytes, len(body)) == (1, len(payload) - 18, length)
    assert len(payload) < 1.1 * len(zlib.compress(body, 1))
    for one, two in zip(arrays, unpack(payload)[1], strict=True):
        assert (one.dtype, one.tobytes()) == (two.dtype, two.tobytes())


def test_long_byte_arrays_are_stored_outside_the_body() -> None:
    letters = np.frombuffer(bytes(range(256)) * 40, np.uint8)
    payload = pack({}, [np.arange(100), letters, letters[:5000], np.arange(50.0)])
    assert letters.tobytes() + letters[:5000].tobytes() == payload[-(len(letters) + 5000) :]
    assert [len(array) for array in unpack(payload)[1]] == [100, len(letters), 5000, 50]


def test_schema_json() -> None:
    schema = naively.fit(DATA, LABEL, columns=COLUMNS, tune=False).schema
    assert Schema.from_json(schema.to_json()) == schema
    for bad in ("", "[]", "{}", '{"names": ["x"], "blocks": []}', '{"names": 3, "blocks": []}'):
        with pytest.raises(naively.SchemaError, match="this"):
            Schema.from_json(bad)


def test_histograms_are_restored(tmp_path: Path) -> None:
    rows = {"a": [1.0, 2.0, 2.0, None, float("inf"), -0.0], "b": np.random.default_rng(0).normal(size=6)}
    model = naively.fit(rows, list("xyxyxy"), columns=naively.Binned(), tune=False)
    model.save(tmp_path / "m.naively")
    again = naively.load(tmp_path / "m.naively")
    np.testing.assert_array_equal(again.log_joint(rows), model.log_joint(rows))
    assert (again - count_rows(model, rows, list("xyxyxy"))).class_counts.tolist() == [0.0, 0.0]
