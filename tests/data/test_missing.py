"""Missing columns and labels: predictions and counts do without them, with a warning; scikit-learn's classes refuse."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_array

import naively
from naively import InputError, LeftOutWarning, SchemaError

ROWS: dict[str, list[Any]] = {
    "sky": ["sun", "rain", "sun", "rain"],
    "wind": [1.0, 9.0, 2.0, 8.0],
    "id": ["a", "b", "c", "d"],
}
PLAY = ["yes", "no", "yes", "no"]


@pytest.mark.parametrize("frame", [dict, pd.DataFrame, pl.DataFrame, pa.table])
def test_a_missing_column_is_like_missing_values(frame: Any) -> None:
    model = naively.fit(ROWS, PLAY, tune=False)
    for score in (
        model.predict,
        model.posterior,
        model.log_posterior,
        model.log_joint,
        model.log_odds,
        model.explain,
    ):
        with pytest.warns(LeftOutWarning, match=r"^column 'sky' is not in the data; .* without it\.$") as caught:
            score(frame({"wind": [1.0, 9.0], "more": [0, 0], "id": ["a", "b"]}))
        assert len(caught) == 1
    with pytest.warns(LeftOutWarning):
        result = model.posterior(frame({"wind": [1.0, 9.0], "id": ["a", "z"]}))
    expected = model.posterior({"sky": [None, None], "wind": [1.0, 9.0], "id": ["a", "z"]})
    assert result.tolist() == expected.tolist()


def test_the_error_names_a_column_of_another_type() -> None:
    model = naively.fit(ROWS, PLAY, tune=False)
    with pytest.raises(SchemaError, match="column 'wind' is of type string, but was of type number"):
        model.predict(ROWS | {"wind": list("abcd")})


@pytest.mark.parametrize("kind", [float, int, bool, object, str, "csr"])
@pytest.mark.parametrize("n_columns", [1, 2, 4, 5])
def test_an_array_of_another_width_is_an_error(kind: Any, n_columns: int) -> None:
    def array(n: int) -> Any:
        numbers = np.arange(4.0 * n).reshape(4, n) % 7
        return csr_array(numbers) if kind == "csr" else numbers.astype(kind)

    model = naively.fit(array(3), PLAY, tune=False)
    words = f"the array has {n_columns} columns, but the model was trained with 3"
    for act in (model.predict, model.posterior, model.log_joint, model.explain):
        with pytest.raises(SchemaError, match=words):
            act(array(n_columns))
    for count in (model.update, model.forget, model.evaluate):
        with pytest.raises(SchemaError, match=words):
            count(array(n_columns), PLAY)
    assert len(model.predict(array(3))) == 4


def test_scikit_learn_estimators_refuse_missing_columns_and_labels() -> None:
    frame = pd.DataFrame(ROWS)
    estimator = naively.NaiveBayes(tune=False).fit(frame, PLAY)
    with pytest.raises(ValueError, match="missing"):
        estimator.predict(frame.drop(columns="sky"))
    for missing in (None, np.nan):
        with pytest.raises(ValueError, match="1 of 4 labels are missing, the first in row 1"):
            naively.NaiveBayes(tune=False).fit(frame, ["yes", missing, "yes", "no"])
    named = naively.NaiveBayes(tune=False).fit(ROWS, PLAY)
    with pytest.raises(SchemaError, match="column 'sky' is not in the data"):
        named.predict({"wind": [1.0], "id": ["a"]})


@pytest.mark.parametrize("frame", [dict, pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize("labels", [["yes", None, "yes", "no"], [1, None, 1, 0], [True, None, True, False]])
def test_rows_without_a_label_are_left_out(frame: Any, labels: list[Any]) -> None:
    labelled: dict[str, Any] = {name: [values[i] for i in (0, 2, 3)] for name, values in ROWS.items()}
    expected = naively.fit(labelled, [label for label in labels if label is not None], tune=False)
    given: list[Any] = [(frame(ROWS | {"play": labels}), "play"), (frame(ROWS), labels)]
    if frame is pd.DataFrame:
        given.append((frame(ROWS), pd.Series(labels, name="play")))
    for X, y in given:
        with pytest.warns(LeftOutWarning, match="1 of 4 rows have no .* and were left out"):
            model = naively.fit(X, y, tune=False)
        assert model.classes == expected.classes
        assert model.posterior(ROWS).tolist() == expected.posterior(ROWS).tolist()


def test_weights_follow_their_rows() -> None:
    with pytest.warns(LeftOutWarning):
        model = naively.fit(ROWS, ["yes", None, "no", "no"], weight=[1, 5, 2, 3], tune=False)
    assert model.class_counts.tolist() == [5.0, 1.0]
    with pytest.warns(LeftOutWarning, match="1 of 4 rows"):
        assert model.update(ROWS, ["yes", None, "no", "no"]).class_weights.rows.sum() == 6
    with pytest.raises(InputError, match="4 of them without a label"):
        naively.fit(ROWS, [None] * 4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        naively.fit(ROWS, PLAY, tune=False)
