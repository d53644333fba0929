"""A few texts at a time, as a mail filter learns: by a shorter way, to the same counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.models import same

import naively
from naively import InputError
from naively.store.rows import count_rows, count_texts, read_rows

READ = {
    "words": naively.Text(),
    "pairs": naively.Text(ngrams=(1, 2), stop_words=("a",)),
    "hashed": naively.Text(hash_bits=12),
    "split": naively.Text(tokens=str.split),
    "letters": naively.Text(tokens="chars", ngrams=(2, 3)),
}
texts = st.lists(
    st.tuples(st.sampled_from(["a b a", "c", "", "b d", "É é x1 你好"]), st.sampled_from("xyz")), min_size=1
)


@pytest.mark.parametrize("how", READ)
@given(drawn=texts)
def test_a_shorter_way_to_the_same_counts(how: str, drawn: list[tuple[str, str]]) -> None:
    model = naively.fit(["a b", "c d"], ["x", "y"], columns=READ[how], tune=False)
    x, y = [text for text, _ in drawn], [label for _, label in drawn]
    (rows,) = read_rows(model, x, y)
    short, long = count_texts(model, x, y, None), count_rows(model, rows)
    assert short is not None
    assert short.classes == long.classes
    assert same(short, long)
    assert same(model + short, model.update(x, y))


OTHERS: list[tuple[Any, Any, Any]] = [
    (["a", None], ["x", "y"], None),
    (["a", b"b"], ["x", "y"], None),
    (["a", "b"], ["x", None], None),
    (["a", "b"], np.array(["x", "y"]), None),
    (["a", "b"], ["x", "y"], [1.0, 2.0]),
    (np.array(["a", "b"]), ["x", "y"], None),
    ({"text": ["a", "b"]}, ["x", "y"], None),
    ([], [], None),
    (["a"] * 64, ["x"] * 64, None),
]


@pytest.mark.parametrize(("x", "y", "weight"), OTHERS)
def test_anything_else_goes_the_long_way(x: Any, y: Any, weight: Any) -> None:
    assert count_texts(naively.fit(["a b", "c d"], ["x", "y"], tune=False), x, y, weight) is None


def test_a_model_of_more_than_texts_goes_the_long_way() -> None:
    model = naively.fit(
        {"text": ["a b", "c d"], "n": [1.0, 2.0]}, ["x", "y"], columns={"text": naively.Text()}, tune=False
    )
    assert count_texts(model, ["a"], ["x"], None) is None
    named = naively.fit({"mail": ["a b", "c d"]}, ["x", "y"], columns=naively.Text(), tune=False)
    assert count_texts(named, ["a"], ["x"], None) is None


def test_wrong_texts_and_labels_are_refused_as_ever(tmp_path: Path) -> None:
    naively.fit(["a b", "c d"], ["x", "y"], tune=False).save(tmp_path / "m")
    ledger = naively.open(tmp_path / "m")
    with pytest.raises(InputError, match="1 rows but 2 labels"):
        ledger.update(["a"], ["x", "y"])
    with pytest.raises(InputError, match="classes have different types"):
        ledger.update(["a"], [1])
    with pytest.raises(InputError):
        ledger.update([], [])
    naively.fit(["a b", "c d"], [1, 2], tune=False).save(tmp_path / "n")
    with pytest.raises(InputError, match="classes have different types"):
        naively.open(tmp_path / "n").update(["a"], ["x"])
    assert len(ledger.log()) == 1


def test_a_source_of_another_kind_of_string(tmp_path: Path) -> None:
    """What is written has the checksum of what is read back."""
    naively.fit(["a b", "c d"], ["x", "y"], tune=False).save(tmp_path / "m")
    with naively.open(tmp_path / "m") as ledger:
        ledger.update(["a"], ["x"], source=np.array(["anna"])[0], comment="𝄞 " + "long " * 20_000)
    assert naively.open(tmp_path / "m").log()[1].source == "anna"
