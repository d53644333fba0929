"""Every public function that takes rows or models also takes the path of a file."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import naively
from naively import plot

LABELS = ["yes", "no", "yes", "yes", "no", "no"] * 5
ROWS: dict[str, list[Any]] = {
    "sky": ["sun", "rain", "sun", "sun", "rain", "sun"] * 5,
    "wind": [float(i % 7) for i in range(30)],
}


def public_functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    for name in naively.__all__:
        value = getattr(naively, name)
        if inspect.isfunction(value):
            yield name, value
    for name in plot.__all__:
        yield f"plot.{name}", getattr(plot, name)
    for owner in (naively.Model, naively.Ledger):
        for name, value in vars(owner).items():
            method = value.__func__ if isinstance(value, classmethod) else value
            if not name.startswith("_") and inspect.isfunction(method):
                yield f"{owner.__name__}.{name}", inspect.unwrap(method)


def parameters(function: Callable[..., Any], kind: str) -> list[str]:
    """Return the parameters of a function whose annotation names this type."""
    types = {name: str(p.annotation).split(" | ") for name, p in inspect.signature(function).parameters.items()}
    return [name for name, names in types.items() if kind in names]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = zip(ROWS["sky"], ROWS["wind"], LABELS, strict=True)
    Path("rows.csv").write_text("sky,wind,play\n" + "".join(f"{s},{w},{play}\n" for s, w, play in lines))
    Path("row.csv").write_text("sky\nsun\n")
    naively.fit("rows.csv", "play").save("play.naively")


Call = Callable[[Any, Any], Any]  # of a model or its file, and the path of rows
TAKE_ROWS: dict[str, Call] = {
    "fit": lambda _, rows: naively.fit(rows, "play"),
    "infer_schema": lambda _, rows: naively.infer_schema(rows, "play"),
    "count": lambda _, rows: naively.count(rows, naively.infer_schema(rows, "play"), "play"),
    "compare": lambda model, rows: naively.compare(model, model, rows).rows,
    "cross_validate": lambda model, rows: naively.cross_validate(model, rows).log_loss.value,
    "predict_batches": lambda model, rows: [t.to_pydict() for t in naively.predict_batches(model, rows)],
    "report": lambda model, rows: len(naively.report(model, rows).html) > 1000,
}
TAKE_MODELS: dict[str, Call] = {
    **{name: TAKE_ROWS[name] for name in ("compare", "cross_validate", "predict_batches", "report")},
    "diff": lambda model, _: naively.diff(model, model),
    "plot.distributions": lambda model, _: len(plot.distributions(model).axes),
    "plot.importance": lambda model, _: len(plot.importance(model).axes),
    "plot.nomogram": lambda model, _: len(plot.nomogram(model).axes),
}
DRAW_ROWS = ("plot.calibration", "plot.confusion", "plot.precision_recall", "plot.roc")
OTHER_ROWS = {"Ledger.fit", "Ledger.teach", "Ledger.forget_keys", "Model.relabel", "Ledger.relabel"}  # below


def test_every_function_that_takes_rows_or_models_is_tried_here() -> None:
    for name, function in public_functions():
        assert not parameters(function, "Model"), f"{name} takes a model but not its file"
        if parameters(function, "ModelLike"):
            assert name in TAKE_MODELS or name in ("Model.of", "plot.words"), name
        if parameters(function, "TableLike") and "." not in name:
            assert name in TAKE_ROWS, name
        if parameters(function, "Judged"):
            assert name in DRAW_ROWS, name


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("name", TAKE_ROWS)
def test_functions_that_take_the_path_of_rows(name: str) -> None:
    model = naively.load("play.naively")
    for rows in ("rows.csv", Path("rows.csv"), naively.Files("rows.csv")):
        assert TAKE_ROWS[name](model, rows) is not None


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("name", TAKE_MODELS)
def test_functions_that_take_the_path_of_a_model(name: str) -> None:
    expected = TAKE_MODELS[name](naively.load("play.naively"), "rows.csv")
    for path in ("play.naively", Path("play.naively")):
        assert repr(TAKE_MODELS[name](path, "rows.csv")) == repr(expected)


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("name", DRAW_ROWS)
def test_pictures_of_rows_take_paths(name: str) -> None:
    draw = getattr(plot, name.removeprefix("plot."))
    for model in ("play.naively", Path("play.naively"), naively.load("play.naively")):
        assert draw(model, "rows.csv").axes


@pytest.mark.usefixtures("files")
@pytest.mark.filterwarnings("ignore:these 30 rows were counted before")
def test_every_method_that_takes_rows_takes_a_path() -> None:
    model = naively.load("play.naively")
    for name, function in public_functions():
        owner, _, method = name.partition(".")
        if owner not in ("Model", "Ledger") or name in OTHER_ROWS or not parameters(function, "TableLike"):
            continue
        rows = "row.csv" if method == "next_question" else "rows.csv"
        if owner == "Model":
            assert getattr(model, method)(rows) is not None, name
        else:
            with naively.open("play.naively") as ledger:
                assert getattr(ledger, method)(rows) is not None, name
    assert model.relabel("rows.csv", to=["no"] * 30).classes
    naively.Ledger.fit("new.naively", "rows.csv", "play").close()
    with naively.open("new.naively") as ledger:
        ledger.relabel("rows.csv", to=["no"] * 30)
        assert ledger.model().class_counts.tolist() == [30]


@pytest.mark.usefixtures("files")
def test_two_files_are_compared_without_their_common_entries() -> None:
    naively.copy("play.naively", "now.naively")
    with naively.open("now.naively") as ledger:
        ledger.update({"sky": ["rain"] * 40, "wind": [9.0] * 40}, ["no"] * 40)
    of_files = naively.diff("play.naively", "now.naively")
    of_models = naively.diff(naively.load("play.naively"), naively.load("now.naively"))
    assert of_files[1].G > of_models[1].G


@pytest.mark.usefixtures("files")
def test_the_next_question_of_a_file_is_that_of_its_row() -> None:
    model = naively.load("play.naively")
    assert model.next_question("row.csv") == model.next_question({"sky": "sun"})


def test_words_are_drawn_of_a_file(tmp_path: Path) -> None:
    texts = ["cheap pills", "cheap cash", "cheap loans now", "lunch at noon"]
    naively.fit({"text": texts}, ["spam", "spam", "spam", "ham"], columns={"text": naively.Text()}).save(tmp_path / "m")
    assert len(plot.words(tmp_path / "m", min_count=1).axes) == 2


def test_what_is_no_model_is_refused_by_its_type() -> None:
    with pytest.raises(naively.InputError, match="path of a model file"):
        naively.diff(3, 4)  # type: ignore[arg-type]
    with pytest.raises(naively.InputError, match="fit an estimator"):
        naively.diff(naively.GaussianNB(), naively.GaussianNB())
    estimator = naively.GaussianNB().fit(np.arange(6.0)[:, None], [0, 0, 0, 1, 1, 1])
    assert naively.diff(estimator, estimator)[0].p == 1
