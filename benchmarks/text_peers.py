"""The peers of benchmarks/text.py: each does the same work in its own way, on one thread."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB

from benchmarks.text_corpus import Corpus

SAME_WORDS = r"(?u)\w+(?:['\u2019]\w+)*"  # our words as a pattern, except for combining marks

Run = Callable[[], Any]


def fit_sklearn(corpus: Corpus, longest: int = 1) -> tuple[CountVectorizer, MultinomialNB]:
    """Fit scikit-learn on the same words."""
    vectorizer = CountVectorizer(token_pattern=SAME_WORDS, ngram_range=(1, longest))
    return vectorizer, MultinomialNB().fit(vectorizer.fit_transform(corpus.texts), corpus.label)


def group_by_polars(corpus: Corpus) -> Any:
    """Count words per class by a group-by; POLARS_MAX_THREADS sets the threads."""
    import polars as pl

    words = pl.col("text").str.to_lowercase().str.extract_all(SAME_WORDS.removeprefix("(?u)"))
    frame = pl.LazyFrame({"text": corpus.texts, "label": corpus.label}).select("label", words).explode("text")
    return frame.group_by("label", "text").len().collect()


def group_by_duckdb(corpus: Corpus) -> Any:
    """Count words per class in SQL."""
    import duckdb
    import pyarrow as pa

    table = pa.table({"text": pa.array(corpus.texts), "label": pa.array(corpus.label)})
    connection = duckdb.connect(config={"threads": 1})
    connection.register("documents", table)
    pattern = "[\\p{L}\\p{M}\\p{N}_]+(['\u2019][\\p{L}\\p{M}\\p{N}_]+)*"
    words = f"unnest(regexp_extract_all(lower(text), '{pattern.replace(chr(39), chr(39) * 2)}'))"
    query = f"select label, word, count(*) from (select label, {words} as word from documents) group by all"
    return connection.sql(query).to_arrow_table()


def train_fasttext(corpus: Corpus) -> Run:
    """Return one epoch of fastText on a file in its own format."""
    import fasttext

    path = corpus.path.with_suffix(".fasttext")
    with path.open("w", encoding="utf-8") as file:
        lines = zip(corpus.texts, corpus.label.tolist(), strict=True)
        file.writelines(f"__label__{c} {' '.join(t.split())}\n" for t, c in lines)
    return partial(fasttext.train_supervised, str(path), epoch=1, thread=1, verbose=0)


def train_vowpal_wabbit(corpus: Corpus) -> Run:
    """Return a pass of Vowpal Wabbit over a file in its own format; two classes."""
    import vowpalwabbit

    path = corpus.path.with_suffix(".vw")
    clean = str.maketrans(":|\n", "   ")
    with path.open("w", encoding="utf-8") as file:
        lines = zip(corpus.texts, (corpus.label % 2).tolist(), strict=True)
        file.writelines(f"{2 * c - 1} | {t.translate(clean)}\n" for t, c in lines)

    def train() -> None:  # a workspace with a data file reads it to its end
        vowpalwabbit.Workspace(f"-d {path} --quiet --loss_function logistic --no_stdin").finish()

    return train


def installed_peers(corpus: Corpus) -> dict[str, Run]:
    """Return the peers other than scikit-learn that are installed; print the names of the others."""
    peers: dict[str, tuple[str, Callable[[], Run]]] = {
        "polars group-by": ("polars", lambda: partial(group_by_polars, corpus)),
        "DuckDB group-by": ("duckdb", lambda: partial(group_by_duckdb, corpus)),
        "fastText, one epoch": ("fasttext", lambda: train_fasttext(corpus)),
        "Vowpal Wabbit, its own format": ("vowpalwabbit", lambda: train_vowpal_wabbit(corpus)),
    }
    installed: dict[str, Run] = {}
    for name, (module, make) in peers.items():
        try:
            __import__(module)
            installed[name] = make()
        except ImportError as missing:
            print(f"  (not measured: {name}: {missing})")
    return installed
