"""Strings are texts or values by what they are, not by how often the rows were copied."""

import numpy as np
import pandas as pd
import pytest

import naively as nb

WORDS = ["quick", "brown", "fox", "jumps", "over", "lazy", "dog", "seven", "green", "birds", "sing", "in", "tall"]


def texts(n: int) -> list[str]:
    generator = np.random.default_rng(n)
    return [" ".join(generator.choice(WORDS, 8)) for _ in range(n)]


def family_of(strings: list[str]) -> str:
    model = nb.fit(pd.DataFrame({"s": strings}), np.arange(len(strings)) % 2, tune=False)
    return type(dict(model.schema.families())["s"]).__name__


@pytest.mark.parametrize("n", [12, 60, 400])
@pytest.mark.parametrize("copies", [1, 2])
def test_copied_texts_stay_texts(n: int, copies: int) -> None:
    assert family_of(texts(n) * copies) == "Text"
    assert family_of(np.repeat(texts(n), copies).tolist()) == "Text"


def test_texts_copied_ten_times_stay_texts() -> None:
    assert family_of(texts(400) * 10) == "Text"


@pytest.mark.parametrize("n", [60, 3000])
def test_a_few_long_answers_are_values(n: int) -> None:
    answers = ["I do not agree with this", "I agree with this somewhat", "I fully agree with all of it"]
    assert family_of((answers * n)[:n]) != "Text"


def test_sixty_descriptions_in_many_rows_are_values() -> None:
    assert family_of(texts(60) * 100) != "Text"


def test_short_distinct_strings_are_values() -> None:
    assert family_of([f"{i} Main Street"[:3] for i in range(200)]) != "Text"
