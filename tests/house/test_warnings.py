"""Every warning points to the user's line: the file of each is this one."""

import sqlite3
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import naively
from naively.errors import (
    ImpossibleRowsWarning,
    InputError,
    LeftOutWarning,
    LostDigitsWarning,
    RepeatedRowsWarning,
    TuningWarning,
)
from naively.store import sqlite

SKY: dict[str, list[Any]] = {"sky": ["sun", "rain", "sun", "rain"] * 5, "wind": [1.0, 9.0, 2.0, 8.0] * 5}
PLAY = ["yes", "no", "yes", "no"] * 5


def plain(**settings: Any) -> naively.Model:
    return naively.fit(SKY, PLAY, tune=False, **settings)


def unlabelled_rows(_: Path) -> object:
    return naively.fit(SKY, [None, *PLAY[1:]], tune=False)


def unlabelled_rows_of_a_file(folder: Path) -> object:
    (folder / "a.csv").write_text("x,y\n1,a\n2,b\n3,\n")
    return naively.fit(folder / "a.csv", "y", tune=False)


def a_wider_type(folder: Path) -> object:
    (folder / "a.csv").write_text("x,y\n" + "1111111111,a\n2222222222,b\n" * 200_000 + "many,a\n")
    return naively.fit(folder / "a.csv", "y", tune=False)


def a_missing_column(_: Path) -> object:
    return plain().predict({"wind": [1.0]})


def a_missing_column_of_batches(_: Path) -> object:
    return list(naively.predict_batches(plain(), iter([{"wind": [1.0]}])))


def an_unknown_column(folder: Path) -> object:
    plain().save(folder / "m.naively")
    return naively.open(folder / "m.naively").update({"sky": ["sun"], "wind": [1.0], "moon": [1]}, ["yes"])


def impossible_rows(_: Path) -> object:
    model = naively.fit({"sky": ["sun", "rain"]}, ["yes", "no"], columns=naively.Categorical(alpha=0), tune=False)
    both = naively.fit({"a": ["x", "y"], "b": ["x", "y"]}, [0, 1], columns=naively.Categorical(alpha=0), tune=False)
    return model, both.predict({"a": ["x"], "b": ["y"]})


def different_tunings(_: Path) -> object:
    return naively.fit(SKY, PLAY) + plain()


def lost_digits(_: Path) -> object:
    x = {"x": np.array([1.0, 2.0, 3.0, 1e150])}
    model = naively.fit(x, ["a", "b", "a", "b"], columns=naively.Gaussian(), tune=False)
    return model.forget({"x": np.array([1e150])}, ["b"])


def a_small_alpha(_: Path) -> object:
    return naively.MultinomialNB(alpha=0.0, force_alpha=False).fit([[1, 0], [0, 1]], [0, 1])


def another_process_writes(folder: Path) -> object:
    plain().save(folder / "m.naively")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sqlite, "SILENT_SECONDS", 0.02)
        ledger = naively.open(folder / "m.naively", wait=0.2)
        ledger.update({"sky": ["sun"], "wind": [1.0]}, ["yes"])
        other = sqlite3.connect(folder / "m.naively", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(InputError):
            ledger.update({"sky": ["sun"], "wind": [1.0]}, ["yes"])
        other.close()
        return ledger


def repeated_rows(folder: Path) -> object:
    plain().save(folder / "m.naively")
    return naively.open(folder / "m.naively").update(SKY, PLAY)


@pytest.mark.parametrize(
    ("call", "category"),
    [
        (unlabelled_rows, LeftOutWarning),
        (repeated_rows, RepeatedRowsWarning),
        (unlabelled_rows_of_a_file, LeftOutWarning),
        (a_wider_type, LeftOutWarning),
        (a_missing_column, LeftOutWarning),
        (a_missing_column_of_batches, LeftOutWarning),
        (an_unknown_column, LeftOutWarning),
        (impossible_rows, ImpossibleRowsWarning),
        (different_tunings, TuningWarning),
        (lost_digits, LostDigitsWarning),
        (a_small_alpha, UserWarning),
        (another_process_writes, UserWarning),
    ],
)
def test_a_warning_points_to_the_call(call: Callable[[Path], object], category: type[Warning], tmp_path: Path) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(tmp_path)
    assert [(w.category, w.filename) for w in caught] == [(category, __file__)]


# Every public function that reads rows, called with rows that it warns about: a column is missing, or a label.
WIND = {"wind": [1.0, 9.0]}
UNLABELLED = [None, *PLAY[1:]]


def ledger(folder: Path) -> naively.Ledger:
    plain().save(folder / "m.naively", overwrite=True)
    return naively.open(folder / "m.naively")


def pipeline() -> Any:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    return make_pipeline(FunctionTransformer(), naively.NaiveBayes(tune=False))


def drawn(folder: Path, name: str) -> object:
    import matplotlib as mpl

    mpl.use("Agg")
    return getattr(naively.plot, name)(plain().explain(WIND)[0])


ENTRY_POINTS: dict[str, Callable[[Path], object]] = {
    "fit": lambda _: naively.fit(SKY, UNLABELLED),
    "predict_batches": lambda _: [*naively.predict_batches(plain(), [WIND])],
    **{
        f"Model.{name}": lambda _, name=name: getattr(plain(), name)(WIND)  # type: ignore[misc]
        for name in (
            "log_joint", "log_posterior", "posterior", "predict_proba", "log_marginal", "predict", "log_odds", "odds",
            "explain",
        )
    },
    **{
        f"Model.{name}": lambda _, name=name: getattr(plain(), name)(SKY, UNLABELLED)  # type: ignore[misc]
        for name in ("update", "forget", "evaluate", "tune")
    },
    "Model +": lambda _: plain() + naively.fit(SKY, PLAY),
    "Ledger.fit": lambda folder: naively.Ledger.fit(folder / "m", SKY, UNLABELLED),
    "Ledger.fit, rows": lambda folder: naively.Ledger.fit(folder / "m", SKY, UNLABELLED, remember_rows=True),
    "Ledger.update": lambda folder: ledger(folder).update(SKY, UNLABELLED),
    "Ledger.forget": lambda folder: ledger(folder).forget(SKY, UNLABELLED),
    "Ledger.tune": lambda folder: ledger(folder).tune(SKY, UNLABELLED),
    "plot": lambda folder: drawn(folder, "waterfall"),
    "NaiveBayes.predict": lambda _: naively.NaiveBayes(tune=False).fit(frame(SKY), PLAY).model_.predict(WIND),
    "MultinomialNB": a_small_alpha,
    "BernoulliNB": lambda _: naively.BernoulliNB(alpha=0.0, force_alpha=False).fit([[1, 0], [0, 1]], [0, 1]),
    "Pipeline": lambda _: impossible(pipeline()),
    "cross_val_score": lambda _: cross_validated(),
}  # fmt: skip


def frame(columns: dict[str, list[Any]]) -> Any:
    import pandas as pd

    return pd.DataFrame(columns)


def impossible(pipeline: Any) -> object:
    pipeline.set_params(naivebayes__columns=naively.Categorical(alpha=0))
    pipeline.fit(frame({"a": ["x", "y"], "b": ["x", "y"]}), [0, 1])
    return pipeline.predict(frame({"a": ["x"], "b": ["y"]}))


def cross_validated() -> object:
    from sklearn.model_selection import cross_val_score

    x = np.array([[1, 0], [0, 1]] * 3)
    return cross_val_score(naively.MultinomialNB(alpha=0.0, force_alpha=False), x, [0, 1] * 3, cv=2)


@pytest.mark.parametrize("call", ENTRY_POINTS.values(), ids=ENTRY_POINTS.keys())
def test_warnings_of_every_entry_point_point_here(call: Callable[[Path], object], tmp_path: Path) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(tmp_path)
    assert {warning.filename for warning in caught} == {__file__}, [str(warning.message) for warning in caught]
