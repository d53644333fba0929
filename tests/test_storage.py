"""Models written to a file come back the same, bit for bit; rubbish is refused by name."""

import io
import json
import zipfile
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
from naively.kernels import Cells, HistogramCells
from naively.kernels.text import Vocabulary
from naively.names import Numbered
from naively.schema import Schema
from naively.statistics import Statistic

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
    if isinstance(a, (Cells, HistogramCells)):
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
    assert same(a.seen, b.seen)
    for one, two in zip(a.statistics, b.statistics, strict=True):
        assert same(one, two)


def test_every_family_comes_back(tmp_path: Path) -> None:
    model = naively.fit(DATA, LABEL, columns=COLUMNS, prior={"ham": 0.25, "spam": 0.75})
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
        model = naively.fit(x, label, columns=family)
        assert_same(model, saved(model, tmp_path))


def test_numbered_columns_stay_a_rule(tmp_path: Path) -> None:
    import scipy.sparse as sp

    model = naively.fit(sp.csr_array(([1, 2], ([0, 1], [5, 99_999])), shape=(2, 100_000)), [0, 1])
    back = saved(model, tmp_path)
    assert_same(model, back)
    assert isinstance(back.schema.names, Numbered)
    assert (tmp_path / "m.naively").stat().st_size < 10_000


def test_forgotten_words_are_not_written(tmp_path: Path) -> None:
    model = naively.fit(["one two", "three secret"], ["a", "b"])
    less = model.forget(["three secret"], ["b"])
    back = saved(less, tmp_path)
    assert b"secret" not in (tmp_path / "m.naively").read_bytes()
    assert np.array_equal(less.log_joint(["one three"]), back.log_joint(["one three"]))


@given(st.lists(st.tuples(st.floats(-1e9, 1e9), st.text(max_size=4), st.sampled_from("abc")), min_size=1, max_size=20))
def test_any_values_come_back(rows: list[tuple[float, str, str]]) -> None:
    import tempfile

    x, words, label = (list(column) for column in zip(*rows, strict=True))
    model = naively.fit({"x": x, "word": words}, label)
    with tempfile.TemporaryDirectory() as folder:
        assert_same(model, saved(model, Path(folder)))


def test_a_failed_save_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "m.naively"
    path.write_text("old")
    model = naively.fit(["a b"], ["x"], columns=Text(tokens=str.split))
    with pytest.raises(InputError, match="cannot be written to a file"):
        model.save(path)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["m.naively"]


def test_no_such_file_and_rubbish(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.naively: cannot be read"):
        naively.load(tmp_path / "none.naively")
    for rubbish in (b"", b"rubbish", b"PK\3\4", bytes(range(256)) * 10):
        (tmp_path / "r").write_bytes(rubbish)
        with pytest.raises(InputError, match=r"r: is not a model file"):
            naively.load(tmp_path / "r")


def rewritten(path: Path, change: Any) -> None:
    """The model file with its members changed."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def test_damaged_headers_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "m"
    model = naively.fit(DATA, LABEL, columns=COLUMNS)
    model.save(path)
    whole = json.loads(zipfile.ZipFile(path).read("model.json"))
    changes: list[tuple[str, Any]] = [
        ("format", 99),
        ("classes", ["spam", "ham"]),
        ("classes", ["ham"]),
        ("classes", ["ham", 1]),
        ("target", 3),
        ("prior", {"alpha": 0, "uniform": False, "given": [["ham", 1.0]]}),
        ("schema", {"names": [], "blocks": []}),
        ("schema", {"names": ["x"], "blocks": [{"names": ["x"], "kinds": "odd", "family": {"family": "Gaussian"}}]}),
        ("statistics", whole["statistics"][:-1]),
        ("statistics", whole["statistics"][::-1]),
        ("seen", {"statistic": "Statistic", "fields": {}}),
        ("seen", {"array": -1}),
    ]
    for key, value in changes:
        model.save(path)
        rewritten(path, lambda m, k=key, v=value: m.update({"model.json": json.dumps(whole | {k: v}).encode()}))
        with pytest.raises(InputError, match=str(path)):
            naively.load(path)


def test_damaged_arrays_are_refused_or_harmless(tmp_path: Path) -> None:
    path = tmp_path / "m"
    model = naively.fit(DATA, LABEL, columns=COLUMNS)
    model.save(path)
    names = [name for name in zipfile.ZipFile(path).namelist() if name.endswith(".npy")]
    for name in names:
        for bad in (np.zeros(3, np.int16), np.full((1,), np.nan), np.zeros((2, 2), dtype="<i8") - 1):
            model.save(path)
            file = io.BytesIO()
            np.save(file, bad)
            rewritten(path, lambda m, n=name, f=file: m.update({n: f.getvalue()}))
            with pytest.raises(InputError):
                naively.load(path)
        model.save(path)
        rewritten(path, lambda m, n=name: m.update({n: m[n][:-1] if len(m[n]) > 128 else b"x"}))
        with pytest.raises(InputError):
            naively.load(path)


@given(st.integers(0, 2**32 - 1))
def test_flipped_bits_never_crash(seed: int) -> None:
    """Any byte of any member changed: a model that answers, or an InputError."""
    import tempfile

    generator = np.random.default_rng(seed)
    model = naively.fit(DATA, LABEL, columns=COLUMNS)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m"
        model.save(path)

        def flip(members: dict[str, bytes]) -> None:
            name = sorted(members)[generator.integers(len(members))]
            content = bytearray(members[name])
            content[generator.integers(len(content))] ^= 1 << int(generator.integers(8))
            members[name] = bytes(content)

        rewritten(path, flip)
        try:
            back = naively.load(path)
        except InputError:
            return
        with np.errstate(all="ignore"):
            back.log_joint(DATA)


def test_schema_json() -> None:
    schema = naively.fit(DATA, LABEL, columns=COLUMNS).schema
    assert Schema.from_json(schema.to_json()) == schema
    for bad in ("", "[]", "{}", '{"names": ["x"], "blocks": []}', '{"names": 3, "blocks": []}'):
        with pytest.raises(naively.SchemaError, match="this"):
            Schema.from_json(bad)


def test_a_histogram_round_trips(tmp_path: Path) -> None:
    rows = {"a": [1.0, 2.0, 2.0, None, float("inf"), -0.0], "b": np.random.default_rng(0).normal(size=6)}
    model = naively.fit(rows, list("xyxyxy"), columns=naively.Numeric())
    model.save(tmp_path / "m.naively")
    again = naively.load(tmp_path / "m.naively")
    np.testing.assert_array_equal(again.log_joint(rows), model.log_joint(rows))
    assert (again - model.of_rows(rows, list("xyxyxy"))).class_counts.tolist() == [0.0, 0.0]
