"""A scorecard in JSON holds all that scoring needs: a scorer of plain Python returns the posteriors of the model."""

from __future__ import annotations

import datetime
import json
import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from tests.support.exported import Floats, assert_same_posterior, draw_labels, draw_model, draw_table

import naively
from naively import Tuning
from naively.cli.output import json_text
from naively.data.kinds import Support
from naively.export.scorecard import scorecard_of
from naively.families import Family
from naively.statistics import Sums


def score(card: dict[str, Any], row: dict[str, Any]) -> list[float]:
    """Return the log posterior of a row from a scorecard that was read from JSON; shares no code with the package."""
    classes = range(len(card["classes"]))
    total = [float(p) + float(b) for p, b in zip(card["log_prior"], card["offset"], strict=True)]
    for block in card["blocks"]:
        scores, length = [0.0] * len(total), 0.0
        for column in block["columns"]:
            x = row[column["column"]]
            x = x.replace(tzinfo=datetime.UTC).timestamp() if isinstance(x, datetime.datetime) else x
            is_missing = x is None or x != x
            for c in classes:
                scores[c] += term(column, None if is_missing else x, c)
            length += x if column.get("in_length") and not is_missing else 0.0
        factor = max(length, 1.0) ** -block["exponent"]
        total = [t + (factor * s) for t, s in zip(total, scores, strict=True)]
    if max(total) == -math.inf:
        total = list(map(float, card["log_prior"]))
    best = max(total)
    shares = [t - best - math.log(sum(math.exp(u - best) for u in total)) for t in total]
    if not any(card["floor"]):
        return shares
    rest = 1.0 - sum(card["floor"])
    return [math.log(rest * math.exp(share) + floor) for share, floor in zip(shares, card["floor"], strict=True)]


def term(column: dict[str, Any], x: Any, c: int) -> float:
    kind = column["score"]
    if kind == "values":
        if x is None:
            return float(column["missing"][c])
        listed = [s for v, s in zip(column["values"], column["scores"], strict=True) if v == x]
        return float(listed[0][c] if listed else column["other"][c])
    if x is None:
        return 0.0
    if kind == "intervals":
        return float(column["scores"][sum(float(cut) <= x for cut in column["cuts"])][c])
    if kind == "gaussian":
        x = math.log(x) if column["of_logarithm"] else x
        return float(column["base"][c] - 0.5 * ((x - column["mean"][c]) / column["deviation"][c]) ** 2)
    assert kind == "linear"
    if column["zero_only"][c] and x > 0:
        return -math.inf
    return float(column["intercept"][c] + column["slope"][c] * x)


def scored(model: naively.Model, table: dict[str, list[Any]]) -> Floats:
    card = json.loads(json_text(model.to_dict()))
    rows = [dict(zip(table, values, strict=True)) for values in zip(*table.values(), strict=True)]
    return np.array([score(card, row) for row in rows])


@pytest.mark.parametrize("tune", [False, True])
@pytest.mark.parametrize("classes", [("no", "yes"), ("a", "b", "c", "d")], ids=str)
def test_json_has_all_that_scoring_needs(classes: tuple[str, ...], tune: bool) -> None:
    model, table = draw_model(classes, tune), draw_table(draw_labels(300, classes, 5), classes, 6, unseen=True)
    assert_same_posterior(scored(model, table), model.log_posterior(table))


def test_weights_offsets_and_the_length_of_a_row() -> None:
    classes = ("no", "yes")
    model, table = draw_model(classes, tune=False), draw_table(draw_labels(300, classes, 5), classes, 6)
    tuning = Tuning({"yes": 0.7}, {"word1": 0.8, "few": 0.0}, {"word1": 0.6}, default_weight=0.5)
    model = model.with_tuning(tuning)
    assert_same_posterior(scored(model, table), model.log_posterior(table))
    assert "few" not in {column.name for column in scorecard_of(model).columns}


def test_columns_without_evidence_are_left_out() -> None:
    table = {"same": ["u", "v", "u", "v"], "x": ["u", "u", "v", "v"], "empty": [None] * 4}
    model = naively.fit(table, [0, 0, 1, 1], tune=False, columns={"same": naively.Categorical()})
    assert [column.name for column in scorecard_of(model).columns] == ["x"]


def test_text_is_refused_by_name() -> None:
    model = naively.fit({"body": ["cheap pills", "lunch at noon"]}, ["spam", "ham"], columns={"body": naively.Text()})
    for act in (model.to_dict, lambda: model.to_sql("duckdb"), model.to_onnx):
        with pytest.raises(naively.InputError, match="column 'body' is Text"):
            act()


@dataclass(frozen=True)
class Geometric(Family[Sums, Floats]):
    """A family of another package, over all counts."""

    statistic = Sums
    support: ClassVar[Support] = "count"

    def estimate(self, stats: Sums, classes: Any, structure: Any = None) -> Floats:
        return (stats.weight + 1) / (stats.weight + stats.total + 2)

    def log_likelihood(self, x: Any, parameters: Floats, out: Floats, length: Floats | None = None) -> None:
        for place, values in x.dense():
            out += np.nansum(np.log(parameters[:, place]) + values[:, None] * np.log1p(-parameters[:, place]), axis=2)


@dataclass(frozen=True)
class Coin(Geometric):
    """A family of another package, over 0 and 1: its two values are all there is."""

    support = "binary"


def test_a_family_of_another_package_is_refused_by_name() -> None:
    table = {"n": [0, 1, 2, 5]}
    model = naively.fit(table, ["x", "x", "y", "y"], columns={"n": Geometric()}, tune=False)
    with pytest.raises(naively.InputError, match=r"Geometric cannot be exported .column 'n'."):
        model.to_dict()


def test_a_family_of_another_package_over_two_values_is_tabulated() -> None:
    table: dict[str, list[Any]] = {"n": [0, 1, 0, None], "m": [1, 1, 0, 0]}
    model = naively.fit(table, ["x", "x", "y", "y"], columns={"n": Coin(), "m": Coin()}, tune=False)
    np.testing.assert_allclose(scored(model, table), model.log_posterior(table), atol=1e-12)


def test_every_registered_family_is_exported_or_refused() -> None:
    """Families are public names; the other tests export all of these but Text, and families that are never chosen."""
    families = {
        name
        for name in naively.__all__
        if isinstance(getattr(naively, name), type) and issubclass(getattr(naively, name), Family)
    } - {"Family"}
    exported = {column.family for column in scorecard_of(draw_model(("no", "yes"), tune=False)).columns}
    assert families - exported <= {"Automatic", "Text"}
