"""Text as a family: the same model from any container, forgetting, cut-offs, unknown words, real corpora."""

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
from tests.support.data_sets import needs_data_set, optional_data_set

import naively
from naively import InputError, Text
from naively._kernels.text import Options, tokens
from naively.statistics import WordCounts

TWENTY_NEWSGROUPS = "text/20news_bydate.parquet"
SMS_SPAM = "text/sms_spam.csv"
MAIL = ["cheap pills now", "lunch at noon?", "Cheap, cheap offer!", "", None, "noon meeting: don't be late"]
LABEL = ["spam", "ham", "spam", "ham", "ham", "ham"]
TEXTS = st.lists(st.text("abc d'É", max_size=12), min_size=1, max_size=12)


def word_table(model: naively.Model) -> dict[tuple[Any, str], tuple[float, float, int]]:
    """What a model of one text column has counted, by class and word."""
    counts = model.statistics[0]
    assert isinstance(counts, WordCounts)
    cells = counts.cells
    owner = np.repeat(np.arange(len(cells.indptr) - 1), np.diff(cells.indptr))
    return {
        (model.classes[c], word): (float(n), float(d), int(rows))
        for c, word, n, d, rows in zip(owner, counts.names_of(cells.index), *cells.sums, cells.rows, strict=True)
    }


CONTAINERS: dict[str, Callable[[list[str | None]], Any]] = {
    "list": list,
    "dict": lambda t: {"text": t},
    "pandas": lambda t: pd.DataFrame({"text": t}),
    "series": lambda t: pd.Series(t, name="text"),
    "polars": lambda t: pl.DataFrame({"text": t}),
    "arrow": lambda t: pa.table({"text": pa.array(t, pa.string())}),
    "large": lambda t: pa.table({"text": pa.array(t, pa.large_string())}),
    "chunked": lambda t: pa.concat_tables([pa.table({"text": [x]}, pa.schema([("text", pa.string())])) for x in t]),
    "sliced": lambda t: pa.table({"text": pa.array(["x", None, *t, "y"], pa.string())}).slice(2, len(t)),
}


def test_forgetting_a_row_and_teaching_it_with_less_weight_changes_its_weight() -> None:
    many = [f"word{i} word{i + 1}" for i in range(400)]
    model = naively.fit(["tea", *many], ["a", *["b"] * 400], columns=Text(), weight=[2.0, *[1.0] * 400])
    more = model.update(["tea"], ["a"], [4.0]).forget(["tea"], ["a"], [1.0])
    [counts] = more.statistics
    assert isinstance(counts, WordCounts)
    assert counts.cells.sums[0][0] == 5.0


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("n_jobs", [1, 2, 7])
def test_the_same_model_from_any_container_and_threads(container: str, n_jobs: int) -> None:
    expected = naively.fit(MAIL, LABEL, columns=Text(), n_jobs=1, tune=False)
    model = naively.fit(CONTAINERS[container](MAIL), LABEL, columns=Text(), n_jobs=n_jobs, tune=False)
    assert word_table(model) == word_table(expected)
    np.testing.assert_array_equal(model.posterior(CONTAINERS[container](MAIL)), expected.posterior(MAIL))


@given(TEXTS, st.data())
def test_parts_add_up_and_forgetting_leaves_no_trace(texts: list[str], data: st.DataObject) -> None:
    label = data.draw(st.lists(st.sampled_from("ab"), min_size=len(texts), max_size=len(texts)))
    cut = data.draw(st.integers(0, len(texts)))
    total = naively.fit(texts, label, columns=Text(), tune=False)
    if 0 < cut < len(texts):
        first = naively.fit(texts[:cut], label[:cut], columns=Text(), tune=False)
        second = naively.fit(texts[cut:], label[cut:], columns=Text(), tune=False)
        assert word_table(first + second) == word_table(second + first) == word_table(total)
        assert word_table(total - second) == word_table(first)
        taught = first
        for text, c in zip(texts[cut:], label[cut:], strict=True):
            taught = taught.update([text], [c])
        assert word_table(taught) == word_table(total)
        assert word_table(taught.forget(texts[cut:], label[cut:])) == word_table(first)


@given(TEXTS)
def test_weight_two_is_twice(texts: list[str]) -> None:
    label = ["a" if i % 2 else "b" for i in range(len(texts))]
    heavy = naively.fit(texts, label, columns=Text(), weight=np.full(len(texts), 2.0), tune=False)
    twice = naively.fit(texts * 2, label * 2, columns=Text(), tune=False)
    np.testing.assert_allclose(heavy.log_joint(texts), twice.log_joint(texts), rtol=1e-14)


def test_unknown_words_empty_and_missing_texts_leave_the_prior() -> None:
    for model in ("multinomial", "bernoulli", "complement"):
        fitted = naively.fit(MAIL, LABEL, columns=Text(model=model), tune=False)
        prior = np.exp(fitted.log_prior)
        np.testing.assert_allclose(fitted.posterior([None])[0], prior)
        if model != "bernoulli":  # for which absence counts
            np.testing.assert_allclose(fitted.posterior(["", "zyzzyva qwerty"]), np.tile(prior, (2, 1)))


def test_maximum_likelihood_gives_exact_zeros() -> None:
    fitted = naively.fit(["a b", "b c"], ["x", "y"], columns=Text(alpha=0), tune=False)
    assert fitted.posterior(["a", "c", "b"]).tolist() == [[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]
    with pytest.warns(naively.ImpossibleRowsWarning, match="1 of 1"):
        assert fitted.posterior(["a c"]).tolist() == [[0.5, 0.5]]


def test_forgetting_what_was_never_taught_is_refused_by_name() -> None:
    model = naively.fit(MAIL, LABEL, columns=Text(), tune=False)
    with pytest.raises(InputError, match="'pills'"):
        model.forget(["pills"], ["ham"])


def test_cut_offs_are_applied_when_estimating() -> None:
    texts, label = ["a a b", "a c", "a b d"], ["x", "y", "y"]
    full = naively.fit(texts, label, tune=False)
    for family, left in (
        (Text(min_count=2), {"a", "b"}),
        (Text(max_share=0.9), {"b", "c", "d"}),
        (Text(max_tokens=2), {"a", "b"}),
        (Text(vocabulary=("c", "d", "never")), {"c", "d"}),
    ):
        model = naively.fit(texts, label, columns=family, tune=False)
        assert word_table(model) == word_table(full)
        known = {f.removeprefix("text=") for f in model.linear().features}
        assert known == left
        unknown = ({"a", "b", "c", "d"} - left).pop()
        np.testing.assert_allclose(model.posterior([unknown])[0], np.exp(model.log_prior))


def test_ngrams_characters_accents_stop_words_and_functions() -> None:
    assert set(_features(Text(ngrams=(1, 2)), "a b")) == {"a", "b", "a b"}
    assert set(_features(Text(tokens="chars", ngrams=(2, 2)), "abc")) == {"ab", "bc"}
    assert set(_features(Text(tokens="chars_in_words", ngrams=(2, 2)), "ab c")) == {" a", "ab", "b ", " c", "c "}
    assert set(_features(Text(strip_accents=True), "Été")) == {"ete"}
    assert set(_features(Text(lowercase=False), "Ab")) == {"Ab"}
    assert set(_features(Text(stop_words=("the",)), "The end")) == {"end"}
    assert set(_features(Text(stop_words="english"), "The pills of it")) == {"pills"}
    assert set(_features(Text(tokens=str.split), "a,b c")) == {"a,b", "c"}
    assert len(_features(Text(hash_bits=8), "a b c")) == 3


def _features(family: Text, text: str) -> list[str]:
    return [
        f.removeprefix("text=")
        for f in naively.fit([text, text], ["x", "y"], columns=family, tune=False).linear().features
    ]


def test_settings_that_make_no_sense_are_refused() -> None:
    for settings in (
        {"model": "bag"},
        {"ngrams": (2, 1)},
        {"ngrams": (1, 99)},
        {"alpha": -1.0},
        {"max_share": 0.0},
        {"hash_bits": 60},
        {"stop_words": "klingon"},
        {"tokens": "syllables"},
    ):
        with pytest.raises(InputError):
            Text(**settings)


def test_text_columns_beside_other_columns() -> None:
    frame = pd.DataFrame(
        {
            "subject": ["cheap pills for you", "lunch today at noon", "a cheap offer today", "notes from the meeting"],
            "length": [10.0, 200.0, 12.0, None],
            "sender": ["x", "y", "x", "y"],
        }
    )
    model = naively.fit(frame, ["spam", "ham", "spam", "ham"], tune=False)
    assert model.chosen.families() == {
        "subject": "Text",
        "length": "Gaussian(ddof=1.0, pooled_rows=2.0)",
        "sender": "Categorical",
    }
    assert model.predict(frame).tolist() == ["spam", "ham", "spam", "ham"]
    two = naively.fit({"a": MAIL, "b": MAIL}, LABEL, columns=Text(), tune=False)
    one = naively.fit(MAIL, LABEL, columns=Text(), tune=False)
    evidence = one.log_joint(MAIL) - one.log_prior
    np.testing.assert_allclose(two.log_joint({"a": MAIL, "b": MAIL}) - two.log_prior, 2 * evidence, rtol=1e-14)


def test_top_words_say_what_they_are_against() -> None:
    model = naively.fit(["a a b", "b c", "c d"], ["x", "y", "z"], columns=Text(), tune=False)
    top = model.evidence("text").top("x", 1, min_count=1)
    (word,) = top
    assert (word.word, word.count, word.count_against, word.texts) == ("a", 2.0, 0.0, 1.0)
    assert word.log_odds == pytest.approx(np.log((2 + 1) / (3 + 4)) - np.log((0 + 1) / (4 + 4)))
    assert "all other classes together" in str(top)
    (word,) = model.evidence("text").top("x", 1, against="y", min_count=1)
    assert word.log_odds == pytest.approx(np.log((2 + 1) / (3 + 4)) - np.log((0 + 1) / (2 + 4)))


def test_a_different_unicode_version_is_refused() -> None:
    model = naively.fit(MAIL, LABEL, columns=Text(), tune=False)
    from dataclasses import replace

    other = replace(model, statistics=(replace(model.statistics[0], unicode="1.0"),))  # type: ignore[type-var]
    with pytest.raises(InputError, match="Unicode"):
        model + other


def test_pickle_and_estimator() -> None:
    nb = naively.NaiveBayes(tune=False).fit([t or "" for t in MAIL], LABEL)
    again = pickle.loads(pickle.dumps(nb))
    np.testing.assert_array_equal(nb.predict_proba(["cheap lunch"]), again.predict_proba(["cheap lunch"]))
    again.partial_fit(["brand new words"], ["new"])
    assert again.predict(["brand new"]).tolist() == ["new"]


@needs_data_set(TWENTY_NEWSGROUPS)
def test_twenty_newsgroups_equals_scikit_learn_and_the_textbook() -> None:
    frame = pd.read_parquet(optional_data_set(TWENTY_NEWSGROUPS))
    train, test = frame[frame["split"] == "train"], frame[frame["split"] == "test"]
    texts, label, new = train["text"].tolist(), train["label"].tolist(), test["text"].tolist()
    vectoriser = CountVectorizer(analyzer=lambda text: tokens(text, Options()))
    counts = vectoriser.fit_transform(texts)
    new_counts = vectoriser.transform(new)
    for family, peer, prior in (
        (Text(), MultinomialNB(), "empirical"),
        (Text(model="bernoulli"), BernoulliNB(), "empirical"),
        (Text(model="complement"), ComplementNB(), "uniform"),
    ):
        ours = naively.fit(texts, label, columns=family, prior=prior, tune=False).predict(new)
        assert (ours == peer.fit(counts, label).predict(new_counts)).mean() >= 0.999
    for family, published in (
        (Text(), 0.773),
        (Text(alpha=0.01), 0.804),
        (Text(model="complement", binary=True), 0.84),
        (Text(model="complement", binary=True, ngrams=(1, 2)), 0.85),
    ):
        accuracy = (
            naively.fit(texts, label, columns=family, tune=False).predict(new) == test["label"].to_numpy()
        ).mean()
        assert accuracy == pytest.approx(published, abs=0.01)


@needs_data_set(SMS_SPAM)
def test_sms_spam() -> None:
    frame = pd.read_csv(optional_data_set(SMS_SPAM))
    n = int(len(frame) * 0.3)
    model = naively.fit(frame["text"][:n], frame["label"][:n], columns=Text(), tune=False)
    assert (model.predict(frame["text"][n:]) == frame["label"][n:]).mean() == pytest.approx(0.982, abs=0.005)


def test_words_by_evidence_are_ranked_by_occurrences_times_log_odds() -> None:
    texts = ["often often often often rare", "often often lunch", "lunch dinner", "lunch tea often"]
    weights = naively.fit(texts, ["x", "x", "y", "y"], tune=False).evidence("text")
    every = list(weights.top("x", 9, min_count=1))
    by_evidence = list(weights.top("x", 9, min_count=1, by="evidence"))
    assert [word.word for word in by_evidence] == [
        word.word for word in sorted(every, key=lambda word: -word.count * word.log_odds)
    ]
    assert by_evidence[0].word == "often"
    with pytest.raises(InputError, match="ranked by"):
        weights.top("x", by="count")  # type: ignore[arg-type]
