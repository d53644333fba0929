"""A column that the data does not have says nothing; a missing cell in a column that it has may."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naively as nb
from naively.data.read import read
from naively.data.table import concat_tables

GENERATOR = np.random.default_rng(8)
LABEL = np.repeat(["no", "yes"], 300)
IS_MISSING = GENERATOR.random(600) < np.where(LABEL == "yes", 0.6, 0.1)
FRAME = pd.DataFrame(
    {
        "number": np.where(IS_MISSING, np.nan, GENERATOR.normal(size=600)),
        "word": np.where(IS_MISSING, np.array([None]), GENERATOR.choice(["a", "b"], 600)),
        "other": GENERATOR.normal(size=600) + (LABEL == "yes"),
    }
)
FAMILIES = {
    "number": nb.Gaussian(missing="value"),
    "word": nb.Categorical(missing="value"),
    "other": nb.Gaussian(),
}


def posterior(model: nb.Model, table: pd.DataFrame) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.posterior(table)


@settings(max_examples=20)
@given(st.sets(st.sampled_from(["number", "word"]), min_size=1), st.booleans())
def test_absent_columns_say_nothing(absent: set[str], tune: bool) -> None:
    """The posterior is that of a model without the columns."""
    families = FAMILIES if not tune else {"other": FAMILIES["other"]}
    model = nb.fit(FRAME, LABEL, columns=families, tune=False)
    present = FRAME.drop(columns=list(absent))
    without = nb.fit(present, LABEL, columns={n: f for n, f in families.items() if n not in absent}, tune=False)
    np.testing.assert_allclose(posterior(model, present), without.posterior(present), atol=1e-12)


def test_missing_cells_are_evidence_where_the_column_is_present() -> None:
    model = nb.fit(FRAME, LABEL, columns=FAMILIES, tune=False)
    row = pd.DataFrame({"number": [np.nan], "word": [None], "other": [0.5]})
    absent = posterior(model, row[["other"]])[0]
    assert model.posterior(row)[0, 1] > absent[1] + 0.2
    assert model.posterior(FRAME.iloc[:50]) == pytest.approx(posterior(model, FRAME)[:50])


def test_tuned_model_does_not_shift_a_table_without_the_column() -> None:
    """Tuning makes missing values evidence here; without the column the classes keep their shares."""
    model = nb.fit(FRAME, LABEL)
    answers = posterior(model, FRAME[["other"]])
    assert abs(answers[:, 1].mean() - 0.5) < 0.05


def test_explanation_of_absent_columns_adds_nothing() -> None:
    model = nb.fit(FRAME, LABEL, columns=FAMILIES, tune=False)
    with pytest.warns(UserWarning, match="number"):
        (explanation,) = model.explain(FRAME[["other"]].iloc[:1])
    lines = {line.column: line.log_odds for line in explanation.contributions}
    assert lines.pop("other") != 0.0
    assert not any(lines.values())


def test_batches_without_the_column() -> None:
    model = nb.fit(FRAME, LABEL, columns=FAMILIES, tune=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (batch,) = nb.predict_batches(model, [FRAME[["other"]]], proba=True)
    np.testing.assert_allclose(batch["p_yes"], posterior(model, FRAME[["other"]])[:, 1], atol=1e-12)


def test_rows_of_tables_without_the_column_can_be_joined() -> None:
    model = nb.fit(FRAME, LABEL, columns=FAMILIES, tune=False)
    table, names = read(FRAME[["other"]].iloc[:10]).with_absent_columns(model.schema.names)
    assert names == ["number", "word"]
    joined = concat_tables([table.take(np.arange(4)), table.take(np.arange(4, 10))])
    np.testing.assert_allclose(model.posterior(joined), posterior(model, FRAME[["other"]].iloc[:10]), atol=1e-12)
