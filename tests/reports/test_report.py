"""The report of a model: its sections, figures and escaping, and that it loads nothing."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import naively as nb
from naively.cli.main import main
from naively.data.labelled import read_labelled
from naively.model.calibrate import EvidenceKey, Tuning
from naively.reports.page import explained_rows

EVIL = "<script>alert(1)</script>"
LONG = "a very long name " * 15
VOID = {"meta", "br", "img", "link", "input"}


class Balance(HTMLParser):
    """Check that every element is closed, and collect tags and texts."""

    def __init__(self) -> None:
        super().__init__()
        self.stack: list[str] = []
        self.tags: set[str] = set()
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, _ in attrs:
            assert not name.startswith("on")
            assert name not in ("href", "src")
        if tag not in VOID:
            self.stack.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def read(page: str) -> Balance:
    balance = Balance()
    balance.feed(page)
    assert not balance.stack
    assert not {"script", "iframe", "link", "img"} & balance.tags
    assert not re.search(r"https?://|@import|url[(]", page)
    return balance


def weather() -> tuple[dict[str, list[Any]], list[str]]:
    generator = np.random.default_rng(3)
    label = np.where(generator.random(300) < 0.4, "no", "yes")
    sky = np.where(generator.random(300) < np.where(label == "yes", 0.8, 0.3), "sun", "rain")
    wind = generator.normal(np.where(label == "yes", 3.0, 6.0), 1.5)
    return {"sky": sky.tolist(), "wind": wind.tolist()}, label.tolist()


def test_sections_and_figures() -> None:
    table, label = weather()
    model = nb.fit({name: values[:200] for name, values in table.items()}, label[:200])
    new = {name: values[200:] for name, values in table.items()}
    page = nb.report(model, new, label[200:], source="new.csv").html
    texts = " ".join(read(page).texts).replace("\u00a0", " ")
    for title in (
        "What it predicts", "How good it is", "Do the probabilities hold?", "Which columns matter",
        "How the columns differ between classes", "The model on one page", "A few rows, explained", "How it was made",
    ):  # fmt: skip
        assert title in texts
    evaluation = model.evaluate(new, label[200:])
    assert f"{100 * evaluation.accuracy.value:.1f} %" in texts
    assert f"{evaluation.log_loss.value:.4f}" in texts
    share = max(label[200:].count("yes"), label[200:].count("no"))
    assert f"{share:.3g} %" in texts
    assert "new.csv" in texts
    assert "prefers-color-scheme: dark" in page
    assert "@media print" in page


def test_rows_that_the_model_has_counted_are_left_out() -> None:
    table, label = weather()
    model = nb.fit(table, label)
    page = nb.report(model, table, label).html
    assert "which the model has counted" in page
    assert f"{model.evaluate_training(table, label).log_loss.value:.4f}" in page
    assert "explained by the model without it" in page


def test_names_of_the_user_are_shown_and_never_run() -> None:
    table = {EVIL: [EVIL, "b"] * 20, LONG: [float(i) for i in range(40)], "שם": ["אדום", "כחול"] * 20}
    label = [EVIL if i % 3 else "مرحبا" for i in range(40)]
    texts = " ".join(read(nb.report(nb.fit(table, label, tune=False), table, label, source=EVIL).html).texts)
    for name in (EVIL, LONG, "שם", "مرحبا"):
        assert name in texts


@pytest.mark.parametrize(
    ("table", "label"),
    [
        ({"x": [1.0, 2.0, 3.0]}, ["a", "a", "a"]),
        ({"text": ["cheap pills", "lunch at noon", "cheap lunch"] * 4}, ["spam", "ham", "ham"] * 4),
        ({"x": [float(i % 7) for i in range(60)]}, [f"c{i % 30}" for i in range(60)]),
        ({"x": [None, None, None, None]}, ["a", "b", "a", "b"]),
    ],
    ids=["one class", "texts", "thirty classes", "no values"],
)
@pytest.mark.filterwarnings("ignore")
def test_any_model_has_a_report(table: dict[str, list[Any]], label: list[str]) -> None:
    model = nb.fit(table, label, tune=False)
    read(nb.report(model).html)
    read(nb.report(model, table, label).html)


def test_the_command_adds_the_log_and_overwrites_nothing(tmp_path: Path) -> None:
    table, label = weather()
    nb.fit(table, label).save(tmp_path / "m.naively", source="weather.csv", comment="first rows")
    output = tmp_path / "report.html"
    arguments = ["report", str(tmp_path / "m.naively"), "-o", str(output)]
    assert CliRunner().invoke(main, arguments).exit_code == 0
    texts = " ".join(read(output.read_text(encoding="utf-8")).texts)
    assert "Where the rows came from" in texts
    assert "weather.csv" in texts
    assert "first rows" in texts
    again = CliRunner().invoke(main, arguments)
    assert again.exit_code == 2
    assert "already exists" in again.output
    with pytest.raises(nb.InputError, match="already exists"):
        nb.report(tmp_path / "m.naively").save(output)
    assert CliRunner().invoke(main, [*arguments, "--force"]).exit_code == 0


def test_redundant_columns_are_named() -> None:
    rows, label = weather()
    model = nb.fit({**rows, "sky again": rows["sky"], "sky and more": rows["sky"]}, label)
    assert "redundant" in [column.remark for column in model.importance()]
    assert "redundant" in " ".join(read(nb.report(model).html).texts)


def test_rows_are_chosen_as_they_are_explained() -> None:
    """A row that the model has counted is chosen by the model without it: the titles are true of the explanations."""
    rng = np.random.default_rng(3)
    n = 120
    label = ["yes" if i % 3 else "no" for i in range(n)]
    table = {
        "ticket": [f"T{i}" for i in range(n)],  # with the row among the counts, every prediction would be right
        "x": [float(rng.normal(0.8 * (i % 3 > 0), 1)) for i in range(n)],
    }
    columns = {"ticket": nb.Categorical(alpha=0.05), "x": nb.Gaussian()}
    model = nb.fit(table, label, columns=columns, tune=False)
    assert (model.predict(table) == np.array(label)).all()
    rows, _ = explained_rows(model, read_labelled(table, label))
    titles = {title.split(":")[0]: (truth, explanation) for title, truth, explanation in rows}
    assert list(titles) == [
        "A sure prediction that is right", "An unsure prediction", "A sure prediction that is wrong",
    ]  # fmt: skip
    assert all(explanation.is_left_out for _, explanation in titles.values())
    truth, wrong = titles["A sure prediction that is wrong"]
    assert wrong.answer != truth
    truth, right = titles["A sure prediction that is right"]
    assert right.answer == truth
    assert abs(titles["An unsure prediction"][1].total) < abs(right.total)


def test_baselines_are_those_of_the_evaluation() -> None:
    rng = np.random.default_rng(0)
    table = {"x": rng.normal(size=90), "y": rng.choice(["no", "yes"], 90, p=[0.7, 0.3])}
    model = nb.fit(table, "y")
    baseline = model.evaluate(table, "y").baseline
    page = nb.report(model, table).html
    cells = re.findall(r"<tr><td>([\w -]+)<span class='note'>.*?</td>.*?<td class=\"number\">([^<]*)</td></tr>", page)
    shown = dict(cells)
    assert shown["Brier score"] == f"{baseline['brier']:.4f}"
    assert shown["log-loss"] == f"{baseline['log_loss']:.4f}"
    assert set(shown) >= {"accuracy", "balanced accuracy", "F1", "MCC", "calibration error"}


def test_the_columns_used_are_those_with_a_weight() -> None:
    rows, labels = weather()
    model = nb.fit(rows, labels)
    assert model.tuning is not None
    weights: dict[EvidenceKey | str, float] = dict.fromkeys(model.schema.names, 1.0)
    weights[model.schema.names[0]] = 0.0
    page = nb.report(model.with_tuning(Tuning(weights=weights, rows=300))).html
    n_used = len(model.used_columns) - 1
    assert f"columns used of {len(model.schema.names)};" in page
    assert f">{n_used}<" in page.partition("columns used of")[0][-200:]
    assert n_used == 1
    assert f"{len(model.schema.names)}, of which 1 is used" in page
    textbook = nb.report(model.with_tuning(None)).html
    assert f">{n_used + 1}<" in textbook.partition("columns used of")[0][-200:]


def test_the_report_says_whether_columns_act_together() -> None:
    sun, dry = np.random.default_rng(0).random((2, 400)) < 0.5
    X, y = {"sun": sun, "dry": dry}, np.where(sun == dry, "grows", "dies")
    assert "Columns act together here" in nb.report(nb.fit(X, y)).html
    assert "tables are used" in nb.report(nb.fit(X, y, together=True)).html
