"""The laws of additive statistics, for every family and any mixture of them in one model."""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.strategies import GROUPS, SINGLE, Rows, assert_same_model, parted_rows, rows, wild

import naively as nb
from naively.model.merge import total
from naively.statistics import WordCounts

each_family = pytest.mark.parametrize("group", SINGLE, ids=lambda names: f"{GROUPS[names][0]}")


def added(parts: list[Rows]) -> nb.Model:
    return functools.reduce(operator.add, (part.fit() for part in parts))


def assert_same_scores(a: nb.Model, b: nb.Model, x: Any) -> None:
    np.testing.assert_allclose(a.log_joint(x), b.log_joint(x), rtol=1e-12, atol=1e-10)


@each_family
@given(data=st.data())
def test_parts_add_up_to_the_total_in_any_split_and_order(group: tuple[str, ...], data: st.DataObject) -> None:
    all_rows, parts = data.draw(parted_rows(groups=[group]))
    assert_same_model(added(parts), all_rows.fit())


@given(parted_rows())
def test_parts_of_a_mixture_add_up(drawn: tuple[Rows, list[Rows]]) -> None:
    all_rows, parts = drawn
    summed, expected = added(parts), all_rows.fit()
    assert_same_model(summed, expected)
    assert_same_scores(summed, expected, all_rows.x)


@given(parted_rows(groups=[("height", "width")], numbers=wild))
def test_moments_of_any_numbers_add_up(drawn: tuple[Rows, list[Rows]]) -> None:
    all_rows, parts = drawn
    assert_same_model(added(parts), all_rows.fit())


@given(parted_rows())
def test_addition_is_associative(drawn: tuple[Rows, list[Rows]]) -> None:
    _, parts = drawn
    models = [part.fit() for part in parts]
    from_the_left = functools.reduce(operator.add, models)
    from_the_right = functools.reduce(lambda sum_so_far, model: model + sum_so_far, models[::-1])
    assert_same_model(from_the_left, from_the_right)


@given(parted_rows())
def test_many_parts_add_up_at_once(drawn: tuple[Rows, list[Rows]]) -> None:
    all_rows, parts = drawn
    summed = total([part.fit() for part in parts])
    assert summed is not None
    expected = all_rows.fit()
    assert_same_model(summed, expected)
    assert_same_scores(summed, expected, all_rows.x)


texts = st.lists(st.tuples(st.sampled_from(["a b a", "c", "", "b d", "e f g h", None]), st.sampled_from("xyz")))


@given(texts)
def test_many_texts_add_up_at_once(drawn: list[tuple[str | None, str]]) -> None:
    """Each has its own words and class; empty texts, and rows without one, are among them."""
    known = [("a b c d e f g h", "x"), ("a", "y"), ("b", "z"), *drawn]
    models = [nb.fit({"t": [text]}, [label], columns=nb.Text(), tune=False) for text, label in known]
    summed, one_by_one = total(models), functools.reduce(operator.add, models)
    all_rows = nb.fit({"t": [text for text, _ in known]}, [label for _, label in known], columns=nb.Text(), tune=False)
    assert summed is not None
    x = {"t": ["a b c", "d e zz", "f", "", None]}
    for other in (one_by_one, all_rows):
        np.testing.assert_array_equal(summed.log_joint(x), other.log_joint(x))
        assert_same_words(summed, other)


def assert_same_words(a: nb.Model, b: nb.Model) -> None:
    counted = []
    for model in (a, b):
        (counts,) = model.statistics
        assert isinstance(counts, WordCounts)
        owner = np.repeat(range(counts.n_classes), np.diff(counts.cells.indptr)).tolist()
        names = counts.names_of(counts.cells.index)
        cells = zip(owner, names, counts.cells.sums.T.tolist(), counts.cells.rows.tolist(), strict=True)
        lengths = [part.tolist() for part in counts.lengths]
        counted.append((sorted(cells), lengths, counts.seen.rows.tolist(), counts.seen.weight.tolist()))
    assert counted[0] == counted[1]


@each_family
@given(data=st.data())
def test_total_minus_part_is_the_rest(group: tuple[str, ...], data: st.DataObject) -> None:
    all_rows, parts = data.draw(parted_rows(groups=[group]))
    if len(parts) > 1:
        assert_same_model(all_rows.fit() - parts[0].fit(), added(parts[1:]))


@given(parted_rows())
def test_a_mixture_minus_all_parts_but_one_is_that_part(drawn: tuple[Rows, list[Rows]]) -> None:
    all_rows, parts = drawn
    left = functools.reduce(operator.sub, (part.fit() for part in parts[:-1]), all_rows.fit())
    expected = parts[-1].fit()
    assert_same_model(left, expected)
    assert_same_scores(left, expected, all_rows.x)


@each_family
@given(data=st.data())
def test_a_row_counted_and_forgotten_leaves_no_trace(group: tuple[str, ...], data: st.DataObject) -> None:
    before, more = data.draw(rows(groups=[group])), data.draw(rows(groups=[group]))
    assert_same_model(before.fit() + more.fit() - more.fit(), before.fit())


@given(rows())
def test_order_of_rows_does_not_matter(all_rows: Rows) -> None:
    backwards = all_rows.take(range(len(all_rows))[::-1])
    assert_same_model(backwards.fit(), all_rows.fit())


@given(rows())
def test_weight_two_equals_the_row_twice(all_rows: Rows) -> None:
    twice = all_rows.take([i for i in range(len(all_rows)) for _ in range(2)])
    doubled = Rows(all_rows.x, all_rows.label, [2 * w for w in all_rows.weight], all_rows.columns)
    model, expected = doubled.fit(), twice.fit()
    assert_same_model(model, expected, row_counts=False)
    assert_same_scores(model, expected, all_rows.x)


@given(rows(), rows(max_size=3))
def test_rows_of_weight_zero_are_ignored(all_rows: Rows, ignored_rows: Rows) -> None:
    positions = [i % len(ignored_rows) for i in range(2)]
    ignored = {
        name: values + [all_rows.x[name][i % len(all_rows)] for i in positions] for name, values in all_rows.x.items()
    }
    both = Rows(ignored, [*all_rows.label, "unused", "tofu"], [*all_rows.weight, 0.0, 0.0], all_rows.columns)
    assert_same_model(both.fit(), all_rows.fit())


@given(parted_rows())
def test_inference_by_type_gives_the_same_sum(drawn: tuple[Rows, list[Rows]]) -> None:
    """Without families given, a column of one part may have no values; the other parts then decide."""
    all_rows, parts = drawn
    by_type = functools.reduce(operator.add, (nb.fit(p.x, p.label, weight=p.weight, tune=False) for p in parts))
    assert_same_model(by_type, nb.fit(all_rows.x, all_rows.label, weight=all_rows.weight, tune=False))


@given(parted_rows(), st.randoms(use_true_random=False))
def test_order_of_columns_does_not_matter(drawn: tuple[Rows, list[Rows]], random: Any) -> None:
    all_rows, parts = drawn
    models = []
    for part in parts:
        names = random.sample(sorted(part.x), len(part.x))
        models.append(
            nb.fit({n: part.x[n] for n in names}, part.label, weight=part.weight, columns=part.columns, tune=False)
        )
    summed = functools.reduce(operator.add, models)
    expected = all_rows.fit()
    assert_same_model(summed, expected)
    assert_same_scores(summed, expected, all_rows.x)


@pytest.mark.parametrize("family", [nb.Multinomial(), nb.Complement()])
def test_a_word_that_only_one_part_has(family: nb.Family) -> None:
    """A table of words may omit those that none of its rows has."""
    one = nb.fit({"sun": [1, 2], "rain": [0, 3]}, ["a", "b"], columns=family, tune=False)
    two = nb.fit({"snow": [4], "sun": [1]}, ["b"], columns=family, tune=False)
    words = {"sun": [1, 2, 1], "rain": [0, 3, 0], "snow": [0, 0, 4]}
    all_rows = nb.fit(words, ["a", "b", "b"], columns=family, tune=False)
    assert_same_model(one + two, all_rows)
    assert_same_scores(one + two, all_rows, words)
    assert_same_scores(two + one, all_rows, words)
    rest = all_rows - two
    np.testing.assert_array_equal(rest.statistics[0].occurrences(), [[1, 0, 0], [2, 3, 0]])  # type: ignore[attr-defined]


def test_a_class_and_a_value_that_only_one_part_has() -> None:
    one = nb.fit({"x": ["u", "v"]}, ["a", "b"], tune=False)
    two = nb.fit({"x": ["w"]}, ["c"], tune=False)
    all_rows = one + two
    assert all_rows.classes == ("a", "b", "c")
    assert (all_rows - two).classes == ("a", "b")
    assert_same_model(all_rows - two, one)
    assert_same_model(all_rows - one, two)
