"""In a notebook results are tables: short text, HTML with every name escaped, and no colour that one theme hides."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import naively
from naively.explanation import Explanation

EVIL = "<script>alert(1)</script> & \"co'"
VOID = {"rect", "line", "br"}


class Checker(HTMLParser):
    """Collect the texts of the cells; every element must be closed in its order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.texts: list[str] = []
        self.feed(page)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def example(n_classes: int = 2) -> tuple[naively.Model, dict[str, Any], list[str]]:
    code = np.random.default_rng(1).integers(0, n_classes, 20 * n_classes)
    rows: dict[str, Any] = {EVIL: [f"{EVIL}{c % 5}" for c in code], "constant": ["x"] * len(code), "n": code * 1.0}
    labels = [f"{EVIL} {c}" for c in code]
    return naively.fit(rows, labels), rows, labels


@pytest.mark.parametrize("n_classes", [2, 30])
def test_results_are_short_as_text_and_escaped_in_html(tmp_path: Path, n_classes: int) -> None:
    model, rows, labels = example(n_classes)
    model.save(tmp_path / "model.naively", source=EVIL)
    ledger = naively.open(tmp_path / "model.naively")
    evaluation, explanations = model.evaluate(rows, labels), model.explain(rows)
    comparison, tables = naively.compare(model, model.without_floor(), rows, labels), model.tables()
    for result in (model, ledger, evaluation, explanations[0], comparison, tables, *tables.values()):
        assert len(repr(result)) < 600
    values = (model.importance(), naively.diff(model, model), model.tuning, model.next_question({}), explanations)
    for result in (model.schema, model.chosen, ledger.log()[0], *values):
        assert len(repr(result)) < 200
        assert "\n" not in repr(result)
    for shown in (model, ledger, evaluation, explanations, tables):
        page = shown._repr_html_()
        checker = Checker(page)
        assert "script" not in checker.tags
        assert any(EVIL in text for text in checker.texts)
        assert "http" not in page
        assert len(page) < (300_000 if shown is tables else 120_000)


def test_evaluation_has_its_figures_in_html() -> None:
    model, rows, labels = example()
    evaluation = model.evaluate(rows, labels)
    texts = Checker(evaluation._repr_html_()).texts
    assert f"{evaluation.accuracy.value:.4f}" in texts
    assert f"{evaluation.baseline['accuracy']:.4f}" in texts
    assert evaluation.origin in texts
    assert f"{evaluation.log_loss.low:.4f} – {evaluation.log_loss.high:.4f}" in texts


def test_explanations_are_a_list_and_the_first_ten_are_shown() -> None:
    model, rows, _ = example()
    explanations = model.explain(rows)
    assert isinstance(explanations, list)
    assert all(isinstance(explanation, Explanation) for explanation in explanations)
    assert "… and 30 more explanations" in Checker(explanations._repr_html_()).texts
    assert "more" not in "".join(
        Checker(model.explain({name: values[:1] for name, values in rows.items()})._repr_html_()).texts
    )


def test_a_ledger_shows_its_last_entries(tmp_path: Path) -> None:
    path = tmp_path / "mail.naively"
    naively.fit(["cheap pills", "lunch today"], ["spam", "ham"]).save(path, source="first.csv")
    ledger = naively.open(path)
    assert repr(ledger).endswith(" 1 entry>")
    entry = ledger.update(["cheap lunch"], ["ham"], source="anna")
    ledger.undo(entry.id, comment="a mistake")
    texts = Checker(ledger._repr_html_()).texts
    assert texts.index("a mistake") < texts.index("update (undone)") < texts.index("first.csv")


def test_a_comparison_has_its_figures_in_html() -> None:
    model, rows, labels = example()
    comparison = naively.compare(model, model.with_tuning(None), rows, labels)
    texts = Checker(comparison._repr_html_()).texts
    for name in ("accuracy", "log_loss"):
        assert f"{getattr(comparison.b, name).value:.4f}" in texts
        assert f"{comparison.difference[name].low:.4f} – {comparison.difference[name].high:.4f}".replace("-", "−") in [
            text.replace("-", "−") for text in texts
        ]


def test_one_of_a_kind_has_no_plural() -> None:
    one = naively.fit(["cheap pills", "lunch today"], ["spam", "ham"], tune=False)
    assert "2 rows, 2 classes" in repr(one)
    assert "1 column (" in repr(one)
    assert "1 column," in Checker(one._repr_html_()).texts[0]
    assert repr(one.evaluate(["cheap"], ["spam"])).startswith("<Evaluation of 1 row, 2 classes")
    assert str(one.evaluate(["cheap"], ["spam"])).startswith("1 row, 2 classes")
