"""Peak memory of one fit of text, without the texts; benchmarks/text.py runs it in a separate process.

python -m benchmarks.text_memory naively|scikit-learn FILE CLASSES THREADS
"""

from __future__ import annotations

import ctypes
import gc
import sys
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB

import naively
from benchmarks.text_corpus import Corpus, many_words
from benchmarks.text_peers import fit_sklearn


def main() -> None:
    """Print megabytes: after the fit, and after the parameters and one prediction."""
    who, path, n_classes, n_jobs = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    if str(path) == "many-words":
        texts, label = many_words(n_classes, 1_000_000, 5_000_000)
        corpus = Corpus(texts, label, n_classes, np.zeros(1, np.int64), path)
    else:
        corpus = Corpus.load(path, n_classes)
    naively.fit(["a b", "c"], [0, 1], tune=False).predict(["a"])  # so that what the first use loads is not measured
    MultinomialNB().fit(CountVectorizer().fit_transform(["aa bb", "cc"]), [0, 1])
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # Linux only, as are the two files of /proc
    Path("/proc/self/clear_refs").write_text("5")
    before = status("VmRSS")
    if who == "naively":
        model = naively.fit(corpus.texts, corpus.label, tune=False, n_jobs=n_jobs)
        fitted = status("VmHWM")
        model.predict(corpus.texts[:10])
    else:
        vectorizer, classifier = fit_sklearn(corpus)
        fitted = status("VmHWM")
        classifier.predict(vectorizer.transform(corpus.texts[:10]))
    print(f"{fitted - before:.0f} {status('VmHWM') - before:.0f}")


def status(field: str) -> float:
    """Return a field of this process's status, in megabytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith(field)) / 1024


if __name__ == "__main__":
    main()
