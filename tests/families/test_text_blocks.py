"""Words and pairs of words as blocks of their own: equations by hand, the laws, and everything that a model does."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naively
from naively import InputError, Text
from naively.export.scorecard import scorecard_of
from naively.families import TextBlocks
from naively.model.calibrate import EvidenceKey, Tuning
from naively.statistics import WordBlocks

texts = st.lists(st.text(alphabet="abc ", max_size=14), min_size=2, max_size=10)
families = st.sampled_from([Text(ngrams=(1, 2)), Text(window=3), Text(window=4, hash_bits=31), Text(ngrams=(1, 3))])
MAIL = ["cheap pills now", "cheap old pills", "lunch at noon", "see you at noon", "pills cheap cheap", "lunch now"]
LABEL = ["spam", "spam", "ham", "ham", "spam", "ham"]


def pairs(text: str, window: int) -> Counter[str]:
    words = text.split()
    return Counter(
        f"{words[i]} … {words[j]}" for i in range(len(words)) for j in range(i + 1, len(words)) if j - i < window
    )


def log_shares(counts: dict[str, Counter[str]], row: Counter[str], c: str, alpha: float) -> float:
    """Log-likelihood of tokens under smoothed shares; unknown tokens say nothing."""
    known = set().union(*counts.values())
    total = sum(counts[c].values()) + alpha * len(known)
    return sum(n * math.log((counts[c][token] + alpha) / total) for token, n in row.items() if token in known)


@settings(max_examples=60)
@given(rows=texts, new=st.text(alphabet="abc ", max_size=14), window=st.integers(2, 5), hashed=st.booleans())
def test_the_log_likelihood_is_that_of_words_plus_that_of_pairs(
    rows: list[str], new: str, window: int, hashed: bool
) -> None:
    label = ["x" if i % 2 else "y" for i in range(len(rows))]
    family = Text(window=window, hash_bits=31 if hashed else None, alpha=0.5)
    model = naively.fit({"text": rows}, label, columns=family, tune=False)
    assert set(model.classes) <= {"x", "y"}
    expected = np.log([label.count(str(c)) / len(label) for c in model.classes])
    for tokens in (lambda text: Counter(text.split()), lambda text: pairs(text, window)):
        counts = {c: sum((tokens(r) for r, of in zip(rows, label, strict=True) if of == c), Counter()) for c in "xy"}
        expected = expected + [log_shares(counts, tokens(new), str(c), 0.5) for c in model.classes]
    np.testing.assert_allclose(model.log_joint({"text": [new]})[0], expected, rtol=1e-12)


@given(rows=texts, family=families, data=st.data())
def test_parts_add_to_the_total_and_leave_no_trace(rows: list[str], family: Text, data: st.DataObject) -> None:
    label = data.draw(st.lists(st.sampled_from("xy"), min_size=len(rows), max_size=len(rows)))
    cut = data.draw(st.integers(1, len(rows) - 1))

    def fit(part: slice) -> naively.Model:
        return naively.fit({"text": rows[part]}, label[part], columns=family, tune=False)

    def table(model: naively.Model) -> Any:
        blocks = model.statistics[0].blocks  # type: ignore[attr-defined]
        rows = []
        for b in blocks:
            of_class, words = np.repeat(model.classes, np.diff(b.cells.indptr)), b.names_of(b.cells.index)
            rows.append(sorted(zip(of_class.tolist(), words, *b.cells.sums.tolist(), strict=True)))
        return rows

    total, first, second = fit(slice(None)), fit(slice(cut)), fit(slice(cut, None))
    assert isinstance(total.statistics[0], WordBlocks)
    assert table(first + second) == table(second + first) == table(total)
    assert table(total - second) == table(first)
    assert table(first.update({"text": rows[cut:]}, label[cut:])) == table(total)
    assert table(total.forget({"text": rows[cut:]}, label[cut:])) == table(first)


@pytest.fixture(scope="module")
def corpus() -> tuple[list[str], list[str]]:
    """Texts of which the order of two words tells the class, and some words too."""
    draw = np.random.default_rng(3)
    rows, label = [], []
    for i in range(600):
        c = i % 2
        words = [f"w{k}" for k in draw.integers(0, 60, 8)]
        marks = ["not", "good"] if c else ["good", "not"]
        at = int(draw.integers(0, 7))
        rows.append(" ".join([*words[:at], *marks, *words[at:], "x" if draw.random() < 0.2 + 0.2 * c else "z"]))
        label.append("spam" if c else "ham")
    return rows, label


@pytest.mark.parametrize("hash_bits", [None, 31])
def test_tuning_weighs_each_block_and_the_model_does_everything(
    corpus: tuple[list[str], list[str]], hash_bits: int | None, tmp_path: Path
) -> None:
    rows, label = corpus
    family = Text(window=5, hash_bits=hash_bits)
    words = naively.fit({"text": rows}, label, columns=Text(hash_bits=hash_bits))
    model = naively.fit({"text": rows}, label, columns=family)
    assert words.tuning is not None and model.tuning is not None  # noqa: PT018
    assert model.tuning.report["log_loss"] < 0.5 * words.tuning.report["log_loss"]
    assert set(model.tuning.weights) == {EvidenceKey(("text",)), EvidenceKey(("text",), "pairs")}
    assert model.tuning.weights[EvidenceKey(("text",), "pairs")] > 0
    assert [column.column for column in model.tuning.importance] == ["text"]
    assert Tuning.from_json(model.tuning.to_json()) == model.tuning
    new = {"text": ["w1 not good w2", "w1 good not w2", None]}
    assert model.predict(new).tolist()[:2] == ["spam", "ham"]
    model.save(tmp_path / "m.naively")
    loaded = naively.load(tmp_path / "m.naively")
    np.testing.assert_array_equal(loaded.posterior(new), model.posterior(new))
    with naively.open(tmp_path / "m.naively") as file:
        file.update({"text": ["brand new words"]}, ["ham"])
        file.forget({"text": ["brand new words"]}, ["ham"])
        file.compact()
    np.testing.assert_allclose(naively.load(tmp_path / "m.naively").posterior(new), model.posterior(new), rtol=1e-12)
    half = len(rows) // 2
    first, second = (
        naively.fit({"text": rows[part]}, label[part], columns=family, tune=False)
        for part in (slice(half), slice(half, None))
    )
    merged = (first + second).with_tuning(model.tuning)
    np.testing.assert_allclose(merged.posterior(new), model.posterior(new), rtol=1e-12)
    for explanation, row in zip(model.explain(new), model.log_odds(new, of="spam").tolist(), strict=True):
        parts = (
            explanation.prior,
            explanation.offset,
            explanation.floor,
            *(c.log_odds for c in explanation.contributions),
        )
        assert abs(sum(parts) - explanation.total) < 1e-10
        assert abs(abs(explanation.total) - abs(row)) < 1e-10
    shown = {c.shown for c in model.explain({"text": ["not so good"]})[0].contributions}
    assert "not … good" in shown
    pieces = dict(model.explain({"text": ["w1 not good w2"]})[0].texts["text"])  # type: ignore[index]
    assert abs(pieces["not"]) > 4 * abs(pieces["w1"])
    top = model.evidence("text").top("spam", 5)
    assert hash_bits or "not … good" in {word.word for word in top}
    assert list(model.tables()) == ["text", "text [pairs]"]
    assert [table.column for table in model.tables().of_column("text")] == ["text", "text [pairs]"]
    assert model.sample(4, seed=0).num_rows == 4
    assert naively.diff(merged, model)[1].column == "text"
    with pytest.raises(InputError, match="cannot be exported"):
        scorecard_of(model)


def test_a_counterfactual_leaves_out_a_word_once() -> None:
    model = naively.fit({"text": MAIL * 5}, LABEL * 5, columns=Text(window=5), tune=False)
    counterfactual = model.explain({"text": ["cheap lunch pills"]})[0].counterfactual
    assert counterfactual is not None
    assert len(set(counterfactual.changes)) == len(counterfactual.changes)


def test_a_file_of_an_earlier_version_keeps_one_vocabulary() -> None:
    """A Text of several lengths in a schema was counted in one block, and stays so when rows are added."""
    family = Text(ngrams=(1, 2))
    assert isinstance(family.counted_as(), TextBlocks)
    model = naively.load(Path(__file__).parent.parent / "store" / "every_family.naively")
    mixed = [b for b in model.schema.blocks if isinstance(b.family, Text) and b.family.ngrams == (1, 2)]
    assert mixed
    for block in mixed:
        kinds = [b for b in model.chosen.schema.blocks if b.names == block.names and b.role != "presence"]
        assert len(kinds) == 1


@pytest.mark.parametrize(
    ("tokens", "lengths", "n_blocks"), [("words", (1, 3), 3), ("chars", (1, 3), 1), ("words", (2, 2), 1)]
)
def test_one_block_for_each_number_of_words(tokens: Any, lengths: tuple[int, int], n_blocks: int) -> None:
    model = naively.fit({"text": MAIL}, LABEL, columns=Text(tokens=tokens, ngrams=lengths), tune=False)
    assert len(model.chosen.schema.blocks) == n_blocks
    assert [b.role for b in model.chosen.schema.blocks] == ["value", "pairs", "3-grams"][:n_blocks]


def test_keys_of_parts_and_of_columns_with_such_names_survive_json() -> None:
    keys = [("t", "pairs"), ("t [pairs]", "value"), ("t [3-grams] value", "value"), ("t present", "presence")]
    weights: dict[Any, float] = {EvidenceKey((name,), role): 0.5 + i for i, (name, role) in enumerate(keys)}
    tuning = Tuning(weights=weights)
    assert len({EvidenceKey(*key).to_json() for key in weights}) == len(keys)
    assert Tuning.from_json(tuning.to_json()) == tuning


def test_windows_are_for_pairs_of_words() -> None:
    assert Text(window=5) == Text(ngrams=(1, 2), window=5)
    wrong: list[dict[str, Any]] = [{"ngrams": (1, 3)}, {"tokens": "chars"}, {"window": 1}]
    for settings_of_text in wrong:
        with pytest.raises(InputError, match="window is"):
            Text(**{"window": 5, **settings_of_text})
