"""The linear form keeps the weight of every feature, whatever the columns and values are called."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naively as nb
from naively.families import Family

NAMES = st.sampled_from(["a", "a=b", "b=c", "b", "a present", "'a'", "a present=b"])
VALUES = st.sampled_from(["b", "c", "b=c", "present", "1", "b present"])
FAMILIES: list[Family] = [
    nb.Categorical(),
    nb.Bernoulli(),
    nb.Bernoulli(missing="value"),
    nb.Categorical(missing="value"),
]


@given(st.data())
def test_linear_form_is_the_log_odds(data: st.DataObject) -> None:
    names = data.draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    families = {name: data.draw(st.sampled_from(FAMILIES)) for name in names}
    n_rows = 12
    table: dict[str, list[object]] = {}
    for name, family in families.items():
        cell = VALUES if isinstance(family, nb.Categorical) else st.integers(0, 1)
        column = data.draw(st.lists(cell, min_size=n_rows, max_size=n_rows))
        table[name] = [None if family.missing == "value" and i % 5 == 4 else x for i, x in enumerate(column)]
    model = nb.fit(table, np.arange(n_rows) % 2, columns=families, tune=False)
    linear = model.linear()
    assert len(set(linear.features)) == len(linear.features)
    row = {name: column[:1] for name, column in table.items()}
    expected = float(model.log_odds(row, of=1)[0])
    features = []  # the position of the column, and the feature's value in the row
    for block, parameters in zip(model.chosen.schema.blocks, model.parameters, strict=True):
        for name, value in block.family.linear(parameters, block.names, 1, 0).features:
            x = 1.0 if block.family.role == "presence" else row[name][0] if value is None else row[name][0] == value
            features.append((names.index(name), float(x)))  # type: ignore[arg-type]
    features.sort(key=lambda feature: feature[0])
    assert linear.bias + linear.weights @ [x for _, x in features] == pytest.approx(expected, abs=1e-9)
