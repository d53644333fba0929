"""Descriptions for people stay short."""

import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from rich.cells import cell_len

import naively
from naively.cli.describe import MAX_LINES, describe_classes, describe_columns, describe_tuning
from naively.cli.main import main
from naively.evaluation import compare


@pytest.mark.parametrize(("n_classes", "n_lines"), [(2, 3), (30, 31), (31, 22), (400, 22)])
def test_many_classes_are_not_all_listed(n_classes: int, n_lines: int) -> None:
    label = np.concatenate([np.arange(n_classes), np.repeat(np.arange(min(n_classes, 20)), 2)])
    names = [f"c{c:03}" for c in label]
    model = naively.fit({"x": np.arange(len(label)) % 7}, names, tune=False, many_classes=True)
    lines = describe_classes(model).splitlines()
    assert len(lines) == n_lines
    if n_classes > 30:
        assert lines[-1].strip() == f"and {n_classes - 20} more"
        assert [line.split()[0] for line in lines[1:-1]] == [f"c{c:03}" for c in range(20)]  # the most frequent ones


def test_numbers_for_people_have_one_minus_sign_and_no_negative_zero() -> None:
    rng = np.random.default_rng(0)
    is_b = rng.random(200) < 0.5
    X = {"x": is_b + rng.normal(0, 1, 200), "y": rng.normal(0, 1, 200), "k": rng.choice(list("uvw"), 200)}
    y = np.where(is_b, "b", "a")
    model, plain = naively.fit(X, y), naively.fit(X, y, tune=False)
    evaluation, comparison = model.evaluate(X, y), compare(model, plain, X, y)
    shown = (evaluation, comparison, model.tables()["k"])
    texts = [describe_tuning(model), *map(str, shown), evaluation._repr_html_()]
    assert any("−" in text for text in texts)
    for text in texts:
        assert re.search(r"(?<![\w-])-[\d.]", re.sub(r"<[^>]*>", " ", text)) is None
        assert re.search(r"−[0.,]+(?![\d.])", text) is None


def test_an_evaluation_of_chinese_classes_is_aligned() -> None:
    evaluation = naively.fit({"x": [1, 2, 3, 4] * 5}, ["苹果", "b", "苹果", "b"] * 5).evaluate(
        {"x": [1, 2]}, ["苹果", "b"]
    )
    lines = str(evaluation).split("\n\n")[2].splitlines()
    assert len({cell_len(line) for line in lines}) == 1


def test_a_long_list_of_offsets_says_how_many_more() -> None:
    classes = tuple(f"c{i}" for i in range(30))
    model = naively.fit({"x": [float(i) for i in range(60)]}, [*classes, *classes], tune=False)
    tuned = model.with_tuning(naively.Tuning(offsets=dict.fromkeys(classes, 0.5), default_weight=0.5))
    assert "and 10 more" in describe_tuning(tuned)


def test_the_gain_that_columns_together_promise_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    sun, dry = np.random.default_rng(0).random((2, 400)) < 0.5
    lines = [f"{s},{d},{'grows' if s == d else 'dies'}" for s, d in zip(sun, dry, strict=True)]
    Path("plants.csv").write_text("\n".join(["sun,dry,y", *lines]), "utf-8")

    def printed(*arguments: str) -> str:
        result = CliRunner().invoke(main, arguments)
        assert result.exit_code == 0, result.output
        return result.output

    assert "Columns act together here" in printed("fit", "plants.csv", "--target", "y", "-o", "alone.naively")
    assert "Columns act together here" in printed("show", "alone.naively")
    together = printed("fit", "plants.csv", "--target", "y", "--together", "-o", "together.naively")
    assert "tables are used" in together
    assert "act together here" not in together


def test_many_columns_are_not_all_listed() -> None:
    label = np.arange(300) % 2
    table = {f"v{i}": (label + np.random.default_rng(i).normal(size=300)).tolist() for i in range(70)}
    table |= {f"same{i}": [1.0] * 300 for i in range(5)}
    model = naively.fit(table, label, tune=False)
    lines = describe_columns(model).split("\n")
    assert len(lines) == 1 + MAX_LINES + 1
    assert lines[-1] == "and 55 more: 50 Binned, 5 left out"
    few = {name: table[name] for name in list(table)[:60]}
    assert len(describe_columns(naively.fit(few, label, tune=False)).split("\n")) == 61
