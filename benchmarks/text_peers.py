"""The peers of benchmarks/text.py, each doing its kind of the same work on one thread."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB

from benchmarks.text_corpus import Corpus

SAME_WORDS = r"(?u)\w+(?:['\u2019]\w+)*"  # our words as a pattern, but for combining marks

Run = Callable[[], Any]


def fit_sklearn(corpus: Corpus, longest: int = 1) -> tuple[CountVectorizer, MultinomialNB]:
    """The required peer, with the same words."""
    vectorizer = CountVectorizer(token_pattern=SAME_WORDS, ngram_range=(1, longest))
    return vectorizer, MultinomialNB().fit(vectorizer.fit_transform(corpus.texts), corpus.label)


def group_by_polars(corpus: Corpus) -> Any:
    """Words per class by a group-by; polars chooses its own threads (POLARS_MAX_THREADS)."""
    import polars as pl

    words = pl.col("text").str.to_lowercase().str.extract_all(SAME_WORDS.removeprefix("(?u)"))
    frame = pl.LazyFrame({"text": corpus.texts, "label": corpus.label}).select("label", words).explode("text")
    return frame.group_by("label", "text").len().collect()


def group_by_duckdb(corpus: Corpus) -> Any:
    """The same in SQL."""
    import duckdb
    import pyarrow as pa

    table = pa.table({"text": pa.array(corpus.texts), "label": pa.array(corpus.label)})
    connection = duckdb.connect(config={"threads": 1})
    connection.register("documents", table)
    pattern = "[\\p{L}\\p{M}\\p{N}_]+(['\u2019][\\p{L}\\p{M}\\p{N}_]+)*"
    words = f"unnest(regexp_extract_all(lower(text), '{pattern.replace(chr(39), chr(39) * 2)}'))"
    query = f"select label, word, count(*) from (select label, {words} as word from documents) group by all"
    return connection.sql(query).to_arrow_table()


def fasttext_of(corpus: Corpus) -> Run:
    """One epoch of fastText on its own format, written beforehand."""
    import fasttext

    path = corpus.path.with_suffix(".fasttext")
    with path.open("w", encoding="utf-8") as file:
        lines = zip(corpus.texts, corpus.label.tolist(), strict=True)
        file.writelines(f"__label__{c} {' '.join(t.split())}\n" for t, c in lines)
    return partial(fasttext.train_supervised, str(path), epoch=1, thread=1, verbose=0)


def vowpal_wabbit_of(corpus: Corpus) -> Run:
    """Vowpal Wabbit on its own format, written beforehand; two classes."""
    import vowpalwabbit

    path = corpus.path.with_suffix(".vw")
    clean = str.maketrans(":|\n", "   ")
    with path.open("w", encoding="utf-8") as file:
        lines = zip(corpus.texts, (corpus.label % 2).tolist(), strict=True)
        file.writelines(f"{2 * c - 1} | {t.translate(clean)}\n" for t, c in lines)

    def train() -> None:  # a workspace with a data file reads it to its end
        vowpalwabbit.Workspace(f"-d {path} --quiet --loss_function logistic --no_stdin").finish()

    return train


def those_installed(corpus: Corpus) -> dict[str, Run]:
    """The peers besides scikit-learn that are there; what is not is said."""
    peers: dict[str, tuple[str, Callable[[], Run]]] = {
        "polars group-by": ("polars", lambda: partial(group_by_polars, corpus)),
        "DuckDB group-by": ("duckdb", lambda: partial(group_by_duckdb, corpus)),
        "fastText, one epoch": ("fasttext", lambda: fasttext_of(corpus)),
        "Vowpal Wabbit, its own format": ("vowpalwabbit", lambda: vowpal_wabbit_of(corpus)),
    }
    found: dict[str, Run] = {}
    for name, (module, make) in peers.items():
        try:
            __import__(module)
            found[name] = make()
        except ImportError as missing:
            print(f"  (passed over: {name}: {missing})")
    return found
