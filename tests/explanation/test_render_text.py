"""Explanations in terminals of any width."""

import pytest
from rich.cells import cell_len

import naively
from naively.explanation import Explanation
from naively.explanation.render_text import as_text, shorten

TEXTS = ["cheap pills now", "lunch at noon", "cheap offer", "see you at lunch", "buy cheap pills", "meeting at noon"]


def explained(target: tuple[str, str] = ("ham", "spam")) -> Explanation:
    """Return the explanation of a row with texts, CJK names, weights, and a value that is new."""
    rows = {
        "text": TEXTS * 20,
        "a column with a long name": ["one value that is long", "another value"] * 60,
        "プランの名前": ["基本プラン", "プレミアム"] * 60,
    }
    labels = [target[(i + (i % 7 == 0)) % 2] for i in range(120)]
    model = naively.fit(rows, labels, columns={"text": naively.Text()})
    new = {
        "text": ["cheap lunch"],
        "a column with a long name": ["another value"],
        "プランの名前": ["学生"],
    }
    return model.explain(new)[0]


@pytest.mark.parametrize("width", [36, 45, 60, 61, 79, 80, 100, 120, 140, 160, 200])
@pytest.mark.parametrize("target", [("ham", "spam"), ("通常のメール", "迷惑メールです")])
def test_value_and_log_odds_stay_at_any_width(width: int, target: tuple[str, str]) -> None:
    explanation = explained(target)
    lines = as_text(explanation, width).split("\n")
    assert max(map(cell_len, lines)) <= width
    header = next(line for line in lines if line.startswith(" column"))
    assert header.split()[1] == "value"
    assert "log-odds" in header
    cheap = next(line for line in lines if " cheap " in line)
    total = next(line for line in lines if line.startswith(" total"))
    assert f"{explanation.total:+.2f}".replace("-", "−") in total
    assert "…" not in cheap.replace(" … ", "")  # numbers are not cut; " … " is between the ends of an interval


def test_a_wider_terminal_has_more_columns() -> None:
    explanation = explained()
    n_columns = []
    for width in (45, 60, 80, 110, 200):
        header = next(line for line in as_text(explanation, width).split("\n") if line.startswith(" column"))
        n_columns.append(len(header.replace("95 %", "95").replace("in ", "in_").split()))
    assert n_columns == sorted(n_columns)
    assert n_columns[0] == 3  # column, value, log-odds
    assert n_columns[1] == 4  # and bars
    assert n_columns[-1] == 9


@pytest.mark.parametrize("width", range(4, 20))
@pytest.mark.parametrize(
    "name", ["a name that is much too long", "中文字符太长了所以要缩短", "mixed 混合 letters 字母 here"]
)
def test_short_names_take_no_more_room(name: str, width: int) -> None:
    assert cell_len(shorten(name, width)) <= width
    assert shorten(name, 100) == name


def test_a_column_that_is_left_out_has_its_reason_in_place_of_a_value() -> None:
    X = {"same": ["s"] * 40, "x": ["a", "b", "b", "b"] * 10}
    text = str(naively.fit(X, ["no", "yes", "yes", "yes"] * 10, tune=False).explain({"same": "s", "x": "a"})[0])
    assert "not used: one value only" in text
    assert "''" not in text
