"""The family of each column, decided from the statistics; see the rules at the top of choosing.py."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naively
from naively import Automatic, Binned, Categorical, Gaussian
from naively.families.automatic import SHRUNK

N = 200
LABEL = np.arange(N) % 2
RANDOM = np.random.default_rng(7)


def family(values: Any, columns: Any = None) -> str:
    return naively.fit({"x": values}, LABEL[: len(values)], columns=columns, tune=False).chosen.families()["x"]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (RANDOM.normal(size=N), "Binned"),
        (RANDOM.normal(size=20), str(SHRUNK)),
        (RANDOM.integers(0, 2, N), "Categorical"),
        (RANDOM.integers(0, 2, 6), "Categorical"),
        (np.where(LABEL, 2.5, -1.0), "Categorical"),
        ([1.0, 9.0], str(SHRUNK)),
        (RANDOM.integers(0, 10, N), "Categorical"),
        (RANDOM.integers(-3, 3, N), "Categorical"),
        (RANDOM.integers(0, 10, N) / 8, "Categorical"),
        (RANDOM.integers(0, 10, 49), "Binned"),
        (RANDOM.integers(0, 11, N), "Binned"),
        (RANDOM.integers(0, 30, N), "Binned"),
        (np.full(N, 3.5), "left out: one value only, 3.5"),
        (np.arange(N) + 1000, "left out: a running number, another one in each row"),
        (np.arange(N) * 1000, "Binned"),
        (np.arange(20), str(SHRUNK)),
        ([True, False] * (N // 2), "Bernoulli"),
        ([True] * N, "left out: one value only, True"),
        (["a", "b"] * (N // 2), "Categorical"),
        (["a"] * N, "left out: one value only, 'a'"),
        ([f"id{i}" for i in range(N)], "left out: an identifier, nearly every row has its own"),
        ([f"id{i // 2}" for i in range(N)], "Categorical"),
        ([f"this is message number {i}" for i in range(N)], "Text"),
        ([None] * N, "left out: no value yet"),
        ([datetime.date(2020, 1, 1) + datetime.timedelta(days=i) for i in range(N)], "Binned"),
        (np.append(RANDOM.normal(size=20), np.inf), "Binned"),
        (np.append(RANDOM.normal(size=N - 1), 1e200), "Binned"),
    ],
)
def test_rules(values: Any, expected: str) -> None:
    assert family(values) == expected


@pytest.mark.parametrize("n", [10, 29, N - 1])
@pytest.mark.parametrize("unit", [1000.0, 1e-3, 2.54, 0.1, 1e-9, -1.0])
@pytest.mark.parametrize("shift", [0.0, 32.0])
@pytest.mark.parametrize("high", [2, 3, 10, 60])
def test_units_do_not_matter(n: int, unit: float, shift: float, high: int) -> None:
    """The family follows from how often the values repeat, not from whether they are whole or below zero."""
    random = np.random.default_rng(high)
    for x in (random.integers(0, high, n), random.normal(size=n).round(1), random.exponential(size=n)):
        assert family(unit * np.append(x, x[0]) + shift) == family(np.append(x, x[0]))


def test_a_running_number_longer_than_the_cap() -> None:
    n = 20_000
    x = {"row": np.arange(n), "score": np.random.default_rng(1).normal(size=n)}
    model = naively.fit(x, np.arange(n) % 2, tune=False)
    assert model.chosen.families() == {
        "row": "left out: a running number, another one in each row",
        "score": "Binned",
    }
    assert model.posterior({"row": [5], "score": [0.1]}).shape == (1, 2)


def test_families_that_are_given_stay() -> None:
    assert family(np.arange(N), {"x": Gaussian()}) == "Gaussian"
    assert family(["same"] * N, {"x": Categorical()}) == "Categorical"
    assert family(np.arange(N) * 1.5, Binned(alpha=0.5)) == "Binned(alpha=0.5)"


@given(st.lists(st.integers(0, 4), min_size=2, max_size=60), st.data())
def test_batches_and_order_do_not_matter(values: list[int], data: st.DataObject) -> None:
    x, y = np.array(values, float), np.arange(len(values)) % 2
    total = naively.fit({"x": x}, y, tune=False)
    cut = data.draw(st.integers(1, len(values) - 1))
    order = np.array(data.draw(st.permutations(range(len(values)))))
    first = naively.fit({"x": x[order[:cut]]}, y[order[:cut]], tune=False)
    rest = naively.fit({"x": x[order[cut:]]}, y[order[cut:]], tune=False)
    assert (first + rest).chosen.families() == total.chosen.families()
    np.testing.assert_allclose(total.log_joint({"x": x}), (first + rest).log_joint({"x": x}), rtol=1e-12, atol=1e-12)


def test_two_values_are_the_coin_of_the_textbook() -> None:
    x, y = np.array([0, 1, 1, 0, 1]), [0, 0, 1, 1, 1]
    ours = naively.fit({"x": x}, y, tune=False)
    coin = naively.fit({"x": x}, y, columns=naively.Bernoulli(), tune=False)
    np.testing.assert_allclose(ours.log_joint({"x": x}), coin.log_joint({"x": x}), rtol=1e-14)


@pytest.mark.parametrize("spec", [Binned(missing="value"), Automatic(missing="value"), Gaussian(missing="value")])
def test_missing_as_a_value(spec: Any) -> None:
    x = RANDOM.normal(size=N)
    gaps = np.where((LABEL == 1) & (np.arange(N) % 3 > 0), np.nan, x)
    plain = naively.fit({"x": gaps}, LABEL, tune=False)
    model = naively.fit({"x": gaps}, LABEL, columns={"x": spec}, tune=False)
    at = {"x": [np.nan, 0.3]}
    present_share = np.array([(N / 2 + 1) / (N / 2 + 2), (np.isfinite(gaps[LABEL == 1]).sum() + 1) / (N / 2 + 2)])
    assert plain.posterior(at)[0].tolist() == pytest.approx([0.5, 0.5])
    without = naively.fit(
        {"x": gaps}, LABEL, columns={"x": type(spec)() if spec != Automatic("value") else spec}, tune=False
    )
    np.testing.assert_allclose(model.log_joint(at)[0] - model.log_prior, np.log1p(-present_share), rtol=1e-13)
    if not isinstance(spec, Automatic):
        seen = model.log_joint(at)[1] - without.log_joint(at)[1]
        np.testing.assert_allclose(seen, np.log(present_share), rtol=1e-10)
    back = model + model - model
    np.testing.assert_allclose(back.log_joint(at), model.log_joint(at), rtol=1e-10)


def test_missing_as_a_value_in_every_container() -> None:
    words = ["cheap pills now please", None, "lunch at noon then", "and a long meeting", None, "one more mail here"]
    frame: dict[str, list[Any]] = {
        "t": words,
        "s": ["a", None, "b", "a", "b", None],
        "b": [True, None, False, True, None, False],
    }
    label = [1, 1, 0, 0, 1, 0]
    model = naively.fit(frame, label, columns=Automatic(missing="value"), tune=False)
    assert all("Presence" in family for family in model.chosen.families().values())
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    for container in (pd.DataFrame, pl.DataFrame, pa.table):
        again = naively.fit(container(frame), label, columns=Automatic(missing="value"), tune=False)
        np.testing.assert_array_equal(again.log_joint(container(frame)), model.log_joint(frame))


def test_wrong_words() -> None:
    with pytest.raises(naively.SchemaError, match="missing='often' for column 'x'"):
        naively.fit({"x": [1.0, 2.0]}, [0, 1], columns={"x": Binned(missing="often")}, tune=False)  # type: ignore[arg-type]
    with pytest.raises(naively.SchemaError, match="family of one column"):
        naively.fit({"x": [1, 2]}, [0, 1], columns={"x": naively.Multinomial(missing="value")}, tune=False)


@pytest.mark.parametrize("name", ["ValueCounts", "TokenCounts", "NumberSummary", "Sums"])
def test_some_columns_of_a_statistic(name: str) -> None:
    """What is left out must not leak into what stays."""
    x = RANDOM.integers(0, 2, (N, 3))
    frame = {"a": x[:, 0], "b": x[:, 1], "c": x[:, 2]}
    families: dict[str, Any] = {
        "ValueCounts": Categorical(),
        "TokenCounts": naively.Bernoulli(),
        "NumberSummary": Automatic(),
        "Sums": naively.Poisson(),
    }
    model = naively.fit(frame, LABEL, columns=families[name], tune=False)
    (statistic,) = model.statistics
    two_columns = statistic.take_columns(np.array([2, 0]))
    again = naively.fit({"c": frame["c"], "a": frame["a"]}, LABEL, columns=families[name], tune=False)
    family = model.schema.blocks[0].family
    ask = [[1, 1], [0, 1]]
    for stats in (two_columns, again.statistics[0]):
        assert type(stats).__name__ == name
    fitted = [family.estimate(stats, (0, 1)) for stats in (two_columns, again.statistics[0])]
    from naively.data.read import read
    from naively.model.count import views_of

    (view,) = views_of(read({"c": [1, 0], "a": [1, 1]}), again.schema)
    out = np.zeros((2, 2, 2))
    for k in range(2):
        family.log_likelihood(view, fitted[k], out[k])
    np.testing.assert_allclose(out[0], out[1], rtol=1e-14, err_msg=str(ask))


def test_constant_date_is_shown_as_a_date() -> None:
    day = np.array(["2024-11-13"] * 20, dtype="datetime64[s]")
    model = naively.fit({"day": day, "x": [1.5] * 20}, [0, 1] * 10, tune=False)
    assert model.chosen.left_out["day"] == "one value only, 2024-11-13"
    assert model.chosen.left_out["x"] == "one value only, 1.5"


@pytest.mark.parametrize("n_copies", [2, 5, 40])
@pytest.mark.parametrize(
    "values",
    [
        RANDOM.normal(size=12),
        RANDOM.normal(size=N),
        np.arange(60),
        np.arange(8),
        np.array([0.0, 1.0]),
        np.array([2.5, -1.0]),
        [f"v{i}" for i in range(25)],
        [f"v{i}" for i in range(12)],
        [f"I agree with sentence {i}" for i in range(7)],
        [f"one of many long sentences, number {i}" for i in range(60)],
    ],
    ids=str,
)
def test_rows_given_by_weight_have_the_family_of_the_rows_written_out(values: Any, n_copies: int) -> None:
    n_copies_of = n_copies + np.arange(len(values)) % 3
    label = np.arange(len(values)) % 2
    written_out = naively.fit({"x": np.repeat(values, n_copies_of)}, np.repeat(label, n_copies_of), tune=False)
    by_weight = naively.fit({"x": values}, label, weight=n_copies_of, tune=False)
    assert by_weight.chosen.families() == written_out.chosen.families()


def test_weights_below_one_do_not_make_rows_fewer() -> None:
    values = RANDOM.integers(0, 50, N) * 2
    light = naively.fit({"x": values}, LABEL, weight=np.full(N, 0.05), tune=False)
    assert light.chosen.families() == naively.fit({"x": values}, LABEL, tune=False).chosen.families()
