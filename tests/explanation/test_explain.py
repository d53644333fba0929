"""Explanations against hand computations, how they are rendered, and counterfactuals."""

import datetime
import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.strange_rows import mixed_rows, quiet
from tests.support.strategies import Rows, rows

import naively as nb
from naively.explanation import Change, counterfactual
from naively.model.calibrate import Tuning

EVIL = "<script>alert(1)</script>"


@pytest.fixture
def weather() -> nb.Model:
    table = {"sky": ["sun", "sun", "rain", "rain", None], "wind": [1.0, 2, 30, 31, 3]}
    return nb.fit(table, ["yes", "yes", "no", "no", "yes"], columns={"wind": nb.Gaussian()}, tune=False)


def test_a_value_by_hand(weather: nb.Model) -> None:
    explanation = weather.explain({"sky": ["sun"], "wind": [None]})[0]
    assert (explanation.of, explanation.against, explanation.answer) == ("yes", "no", "yes")
    assert explanation.prior == pytest.approx(math.log(3 / 2))
    line, missing = explanation.contributions
    assert (line.column, line.value, line.count, line.note) == ("sky", "sun", 1.0, "")
    assert line.log_odds == pytest.approx(math.log((3 / 4) / (1 / 4)))
    assert (line.counts, line.counts_against) == ({"count": 2.0, "all": 2.0}, {"count": 0.0, "all": 2.0})
    assert (missing.column, missing.value, missing.log_odds, missing.note) == ("wind", None, 0.0, "missing")
    assert explanation.total == pytest.approx(math.log(1.5 * 3))
    assert explanation.posterior["yes"] == pytest.approx(4.5 / 5.5)


def test_unseen_values_and_given_classes(weather: nb.Model) -> None:
    explanation = weather.explain({"sky": ["hail"], "wind": [30.0]}, of="yes", against="no")[0]
    assert explanation.answer == "no"
    assert explanation.total < 0
    lines = {line.column: line for line in explanation.contributions}
    assert (lines["sky"].log_odds, lines["sky"].note) == (0.0, "never seen in training")
    assert lines["wind"].counts == {"rows": 3.0, "mean": 2.0, "deviation": pytest.approx(math.sqrt(2 / 3))}


def test_words_by_hand() -> None:
    model = nb.fit(["cheap pills cheap", "lunch at noon"], ["spam", "ham"], tune=False)
    explanation = model.explain(["Cheap cheap lunch, friend"], of="spam")[0]
    lines = {line.value: line for line in explanation.contributions}
    assert lines["cheap"].count == 2
    assert lines["cheap"].log_odds == pytest.approx(2 * math.log((3 / 8) / (1 / 8)))
    assert lines["cheap"].counts == {"count": 2.0, "all": 3.0}
    assert lines["friend"].note == "never seen in training"
    assert explanation.texts is not None
    assert dict(explanation.texts["text"])["Cheap"] == pytest.approx(math.log(3))


def test_notes_name_the_classes_under_which_a_row_is_impossible() -> None:
    table = {"sky": ["sun", "rain", "fog"], "sea": ["calm", "calm", "rough"]}
    model = nb.fit(table, ["a", "b", "c"], columns=nb.Categorical(alpha=0), tune=False)
    one = model.explain({"sky": ["sun"], "sea": ["calm"]}, of="a", against="b")[0]
    assert one.total == math.inf
    assert [line.note for line in one.contributions] == ["impossible under b", ""]
    with pytest.warns(nb.ImpossibleRowsWarning):
        both = model.explain({"sky": ["sun"], "sea": ["rough"]}, of="a", against="b")[0]
    assert both.total == both.prior == 0.0
    assert {line.note for line in both.contributions} == {"impossible under b", "impossible under a and b"}


def test_a_bin_is_an_interval() -> None:
    age = np.concatenate([np.arange(20.0, 40), np.arange(50.0, 70)])
    model = nb.fit({"age": age}, [0] * 20 + [1] * 20, columns=nb.Binned(), tune=False)
    (line,) = model.explain({"age": [55.0]}, leave_out=False)[0].contributions
    assert line.shown == "55 (44.5 and more)"
    assert (line.counts, line.counts_against) == ({"count": 20.0, "all": 20.0}, {"count": 0.0, "all": 20.0})


def test_top_keeps_the_strongest_lines_and_sums_up_the_rest() -> None:
    model = nb.fit(np.eye(6, dtype=int).repeat(2, axis=0), [0, 1] * 6, columns=nb.Bernoulli(), tune=False)
    row = np.ones((1, 6), dtype=int)
    full, cut = model.explain(row)[0], model.explain(row, top=2)[0]
    assert len(cut.contributions) == 2
    assert cut.n_rest == 4
    assert cut.rest == pytest.approx(math.fsum(line.log_odds for line in full.contributions[2:]))
    assert "4 other columns" in str(cut)


def test_plain_data(weather: nb.Model) -> None:
    explanation = weather.explain({"sky": ["sun"], "wind": [2.0]})[0]
    data = json.loads(json.dumps(explanation.to_dict()))
    assert data["prior"] + sum(line["log_odds"] for line in data["contributions"]) == pytest.approx(data["total"])
    assert data["posterior"] == pytest.approx(explanation.posterior)
    table = explanation.to_arrow()
    assert table.num_rows == 2
    assert table["log_odds"].to_pylist() == [line.log_odds for line in explanation.contributions]
    none = nb.fit({"sky": ["a", "b"]}, [0, 1], tune=False).explain({"sky": ["a"]}, top=0)[0]
    assert none.to_arrow().num_rows == 0


def test_everything_is_escaped() -> None:
    model = nb.fit(
        {EVIL: [EVIL, "b"], "text": [f"{EVIL} one two", "three"]},
        [EVIL, "&amp;"],
        columns={"text": nb.Text()},
        tune=False,
    )
    page = model.explain({EVIL: [EVIL], "text": [f"{EVIL} one"]})[0]._repr_html_()
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "&amp;amp;" in page


def test_markup_for_the_terminal_is_printed_literally() -> None:
    model = nb.fit({"[bold]c[/]": ["[red]x[/red]", "b\x1b[31m"]}, ["[i]a", "z"], tune=False)
    text = str(model.explain({"[bold]c[/]": ["[red]x[/red]"]})[0])
    assert "[bold]c[/]" in text
    assert "[red]x[/red]" in text
    assert "[i]a" in text
    assert "\x1b" not in str(model.explain({"[bold]c[/]": ["b\x1b[31m"]})[0])


def test_counterfactual_of_one_value(weather: nb.Model) -> None:
    explanation = weather.explain({"sky": ["sun"], "wind": [None]})[0]
    assert explanation.counterfactual is not None
    assert explanation.counterfactual.changes == (Change("sky", "sun", "rain"),)
    changed = weather.posterior({"sky": ["rain"], "wind": [None]})[0]
    assert explanation.counterfactual.answer == "no"
    assert explanation.counterfactual.probability == pytest.approx(changed[0])


def test_counterfactual_leaves_out_the_fewest_words() -> None:
    texts = ["free cash now", "free cash prize", "free prize", "lunch at noon", "see you at noon", "meeting now"]
    model = nb.fit(texts, ["spam"] * 3 + ["ham"] * 3, tune=False)
    explanation = model.explain(["Free cash at noon, free prize!"])[0]
    assert explanation.answer == "spam"
    assert explanation.counterfactual is not None
    words_left_out = {change.before for change in explanation.counterfactual.changes}
    left = " ".join(word for word in ["free", "cash", "at", "noon", "free", "prize"] if word not in words_left_out)
    assert model.predict([left]).tolist() == ["ham"]
    assert "without 'free' and 'cash' in text" in str(explanation)


@given(rows(), st.integers(0, 2**32))
def test_counterfactual_changes_the_prediction(drawn: Rows, seed: int) -> None:
    """Make each change in the row itself and predict again."""
    model = drawn.fit()
    if len(model.classes) < 2:
        return
    x = mixed_rows(drawn, seed)
    for i, explanation in enumerate(quiet(lambda: model.explain(x))):
        if explanation.counterfactual is not None:
            row: dict[str, list[Any]] = {name: [values[i]] for name, values in x.items()}
            for change in explanation.counterfactual.changes:
                assert row[change.column][0] == pytest.approx(change.before)
                row[change.column][0] = change.after
            assert (
                quiet(lambda row=row: model.predict(row))[0] == explanation.counterfactual.answer != explanation.answer
            )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"of": "maybe"}, "'maybe' is not a class"),
        ({"of": "yes", "against": "yes"}, "the same class, 'yes'"),
        ({"top": -1}, "top=-1"),
    ],
)
def test_wrong_arguments(weather: nb.Model, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(nb.InputError, match=message):
        weather.explain({"sky": ["sun"], "wind": [1.0]}, **arguments)


def test_a_model_of_one_class_is_refused() -> None:
    with pytest.raises(nb.InputError, match="compares two classes"):
        nb.fit({"a": [1.0, 2.0]}, ["x", "x"], tune=False).explain({"a": [1.0]})


def tuned_weather() -> tuple[nb.Model, dict[str, list[Any]]]:
    table = {"sky": ["sun", "sun", "rain", "rain", "sun"], "wind": [1.0, 2, 30, 31, 3]}
    model = nb.fit(table, ["yes", "yes", "no", "no", "yes"], columns={"wind": nb.Gaussian()}, tune=False)
    return model.with_tuning(Tuning({"yes": 0.5, "no": 0.2}, {"sky": 0.5, "wind": 0.0})), {
        "sky": ["sun"],
        "wind": [2.0],
    }


def test_prior_and_offset_are_separate_and_the_weight_is_shown() -> None:
    model, row = tuned_weather()
    explanation = model.explain(row, leave_out=False)[0]
    assert explanation.prior == pytest.approx(math.log(3 / 2))
    assert explanation.offset == pytest.approx(0.5 - 0.2)
    sky, wind = explanation.contributions
    assert sky.evidence == pytest.approx(math.log((4 / 5) / (1 / 4)))
    assert sky.weight == 0.5
    assert sky.log_odds == pytest.approx(0.5 * sky.evidence)
    assert (wind.weight, wind.log_odds, wind.note, wind.low, wind.high) == (0.0, 0.0, "not used", 0.0, 0.0)
    assert explanation.total == pytest.approx(explanation.prior + explanation.offset + sky.log_odds)
    text, page = str(explanation), explanation._repr_html_()
    for rendering in (text, page):
        for part in ("class offset", "evidence", "weight", "× 0.50", "+1.16", "+0.58"):
            assert part in rendering
    assert "class offset" not in str(model.with_tuning(None).explain(row)[0])
    assert {"offset", "others", "is_left_out"} <= explanation.to_dict().keys()
    assert {"evidence", "weight"} <= set(explanation.to_arrow().column_names)


def test_long_tails_are_grouped_by_text() -> None:
    words = [f"w{k:02}" for k in range(40)]
    table = {"text": [" ".join(words[:20]), " ".join(words[20:])], "sky": ["sun", "rain"]}
    model = nb.fit(table, ["a", "b"], columns={"text": nb.Text(), "sky": nb.Categorical(alpha=0.1)}, tune=False)
    explanation = model.explain({"text": [" ".join(words[:30])], "sky": ["sun"]}, changes=False)[0]
    assert explanation.n_rest == 0
    text = str(explanation)
    assert "11 other words" in text
    assert "11 other words" in explanation._repr_html_()
    assert "other columns" not in text
    cut = model.explain({"text": [" ".join(words[:30])], "sky": ["sun"]}, top=0, changes=False)[0]
    assert [(group.text, group.n) for group in cut.others] == [(None, 1), ("text", 30)]
    assert sum(group.log_odds for group in cut.others) == pytest.approx(cut.rest)
    assert "30 other words" in str(cut)
    assert "1 other column " in str(cut)


@given(rows(), st.integers(0, 2**32))
def test_sums_and_scored_rows_find_the_same_counterfactual(drawn: Rows, seed: int) -> None:
    """Search by sums of evidence, and by scoring each changed row: between two classes, the same number of changes."""
    model = drawn.fit()
    if len(model.classes) != 2:
        return
    x = mixed_rows(drawn, seed)
    by_sums = quiet(lambda: model.explain(x))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counterfactual, "_are_additive", lambda rows: [False] * len(rows.blocks))
        by_rows = quiet(lambda: model.explain(x))
    for one, two in zip(by_sums, by_rows, strict=True):
        if one.counterfactual is not None:
            assert two.counterfactual is not None
            assert len(two.counterfactual.changes) <= len(one.counterfactual.changes)
            assert one.counterfactual.answer == two.counterfactual.answer
        if two.counterfactual is not None and two.counterfactual.probability > 0.5 + 1e-6:
            assert one.counterfactual is not None
            assert len(one.counterfactual.changes) == len(two.counterfactual.changes)


def test_the_counts_of_dates_are_dates_and_days() -> None:
    import naively

    first = datetime.date(2024, 1, 1)
    days = [first + datetime.timedelta(days=7 * i % 40 + 100 * (i % 2)) for i in range(80)]
    model = naively.fit({"when": days}, ["early", "late"] * 40, columns={"when": naively.Gaussian()}, tune=False)
    explanation = model.explain({"when": [datetime.date(2024, 2, 1)]}, of="late")[0]
    for text in (str(explanation), explanation._repr_html_()):
        assert "2024-04-30 ± " in text  # 120 days after the first, on average
        assert "days" in text
        assert "e+09" not in text


def test_a_slice_of_explanations_is_shown_as_html_too() -> None:
    model = nb.fit({"sky": ["sun", "rain"] * 6}, ["yes", "no"] * 6)
    explanations = model.explain({"sky": ["sun", "rain", "sun"]})
    assert [str(e) for e in explanations[1:]] == [str(explanations[1]), str(explanations[2])]
    assert explanations[1:]._repr_html_().count("<table") == 2 * explanations[0]._repr_html_().count("<table")


def test_a_missing_value_has_one_line() -> None:
    """Whether there is a value is evidence of its own; the value itself needs no second line that adds nothing."""
    flags = ["x", "y", None, None] * 10
    model = nb.fit(
        {"flag": flags, "z": ["u", "v"] * 20},
        ["a", "b", "b", "b"] * 10,
        columns={"flag": nb.Categorical(missing="value")},
        tune=False,
    )
    (explanation,) = model.explain({"flag": [None], "z": ["u"]}, leave_out=False)
    assert sorted(line.column for line in explanation.contributions) == ["flag", "z"]
    assert explanation.total == pytest.approx(model.log_odds({"flag": [None], "z": ["u"]}, of=explanation.of)[0])
    with pytest.warns(nb.LeftOutWarning):
        (absent,) = model.explain({"z": ["u"]})
    assert sorted(line.column for line in absent.contributions) == ["flag", "z"]


def test_a_counterfactual_of_a_day_is_a_day() -> None:
    first = datetime.date(2024, 1, 1)
    days = [first + datetime.timedelta(days=7 * i % 41 + 101 * (i % 2)) for i in range(81)]
    times = [datetime.datetime(2024, 1, 1, 12, 30) + (day - first) for day in days]
    labels = ["early", "late"] * 40 + ["early"]
    for family in (nb.Gaussian(), nb.Binned()):
        model = nb.fit({"when": days}, labels, columns={"when": family}, tune=False)
        for explanation in model.explain({"when": days}, leave_out=False):
            counterfactual = explanation.counterfactual
            assert counterfactual is not None
            assert len(str(counterfactual.changes[0].after)) == len("2024-01-01"), counterfactual
    of_times = nb.fit({"when": times}, labels, columns={"when": nb.Gaussian()}, tune=False)
    counterfactual = of_times.explain({"when": times[:1]})[0].counterfactual
    assert counterfactual is not None
    assert "T" in str(counterfactual.changes[0].after)


@pytest.mark.parametrize("family", [None, nb.Binned(), nb.Gaussian(), nb.LogNormal(), nb.Exponential()])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 123.0])
def test_numbers_of_a_counterfactual_are_short(family: nb.Family | None, scale: float) -> None:
    """Numbers for people have at most 4 digits, and still change the prediction."""
    rng = np.random.default_rng(0)
    label = rng.integers(0, 2, 300)
    table = {name: scale * rng.lognormal(label, 0.7) for name in ("a", "b")}
    families = None if family is None else dict.fromkeys(table, family)
    model = nb.fit(table, label, columns=families)
    n_changed = 0
    for i in range(60):
        row = {name: column[i].item() for name, column in table.items()}
        [explanation] = model.explain(row, leave_out=False)
        if explanation.counterfactual is not None:
            n_changed += 1
            for change in explanation.counterfactual.changes:
                assert isinstance(change.after, float | int)
                assert change.after == float(f"{change.after:.4g}")
                row[change.column] = change.after
            assert model.predict(row)[0] == explanation.counterfactual.answer
    assert n_changed > 30
