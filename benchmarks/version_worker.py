"""One version of naively at work, for versions.py: only public names, in the spelling of old and new versions.

Reads requests from standard input and answers each with one line of JSON: `list`, `prepare WORK` (null, or what was
wrong), and `run` (CPU seconds of this process and its children, per call).
"""

from __future__ import annotations

import gc
import json
import resource
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import naively

NAME, FOLDER = sys.argv[1], Path(sys.argv[2])
DATA = Path(sys.argv[3]) if sys.argv[3] else None
MIN_SECONDS = 0.05  # of a run; shorter calls are repeated

Call = Callable[[], object]


def command(*words: str) -> None:
    """Run a command of the command line in this process."""
    [script] = [script for script in distribution("naively").entry_points if script.name == "naively"]
    script.load().main(list(words), standalone_mode=False)


def numbers(n_classes: int, kind: str = "float64", n_rows: int = 500_000) -> tuple[Any, Any]:
    """Return dense numbers and labels."""
    random = np.random.default_rng(0)
    return random.normal(size=(n_rows, 50)).astype(kind), random.integers(0, n_classes, n_rows)


def counts(n_classes: int) -> tuple[Any, Any]:
    """Return sparse counts and labels."""
    random = np.random.default_rng(0)
    position = random.integers(0, 100_000, (50_000, 100))
    values: Any = (np.ceil(4 * random.random(position.size)), (np.repeat(np.arange(50_000), 100), position.ravel()))
    return sp.csr_matrix(values, shape=(50_000, 100_000)), random.integers(0, n_classes, 50_000)


def texts(n_classes: int) -> tuple[list[str], Any]:
    """Return 20 MB of texts, and the class of each."""
    [path] = FOLDER.glob("corpus-*.txt")
    arrays, data = np.load(path.with_suffix(".npz")), path.read_bytes()
    ends = arrays["offsets"].tolist()
    return [data[a:b].decode() for a, b in zip(ends, ends[1:])], arrays["label"] % n_classes  # noqa: RUF007, B905


def fit_text(texts: Any, label: Any, longest: int = 1) -> Any:
    """Fit the textbook, with its parameters."""
    model = naively.fit(texts, label, columns=naively.Text(ngrams=(1, longest)), tune=False, n_jobs=1)
    assert model.parameters
    return model


def words(n_words: int) -> tuple[list[str], list[str]]:
    """Return 10,000 texts with this many words, and their classes."""
    random = np.random.default_rng(0)
    tokens = np.concatenate([np.arange(n_words), np.minimum(random.zipf(1.3, 500_000), n_words) - 1])
    random.shuffle(tokens)
    rows = [" ".join(f"w{i:x}" for i in part) for part in np.array_split(tokens, 10_000)]
    return rows, ["ham", "spam"] * 5_000


def tuned_words() -> Any:
    """Return a model of 200,000 words, tuned with a length exponent."""
    random = np.random.default_rng(1)
    rows, _ = words(200_000)
    label = np.where(random.random(10_000) < 0.5, "ham", "spam")
    rows = [f"{row} {' '.join(['offer', 'win'] if c == 'spam' else ['lunch'])}" for row, c in zip(rows, label)]  # noqa: B905
    model = naively.fit(rows, label.tolist())
    assert model.tuning is not None
    return replace(model, tuning=replace(model.tuning, weights={"text": 1.3}, exponents={"text": 0.5}))


def saved(name: str, n_words: int = 100_000) -> Path:
    """Return a model file of texts."""
    path = FOLDER / f"{name}-{NAME}.naively"
    path.unlink(missing_ok=True)
    naively.fit(*words(n_words), tune=False).save(path)
    return path


def adult() -> tuple[Any, str]:
    """Return the table adult, and the name of its target."""
    import pandas as pd

    assert DATA is not None, "needs --data"
    return pd.read_csv(DATA / "tables" / "adult.csv").drop(columns="split"), "income"


def newsgroups() -> tuple[list[str], list[str]]:
    """Return the texts of 20 Newsgroups, and their groups."""
    import pandas as pd

    assert DATA is not None, "needs --data"
    frame = pd.read_parquet(DATA / "text" / "20news_bydate.parquet")
    return frame["text"].tolist(), frame["label"].astype(str).tolist()


def _dense_fit(n_classes: int, kind: str) -> Call:
    x, y = numbers(n_classes, kind)
    return partial(naively.GaussianNB().fit, x, y)


def _dense_predict(n_classes: int, kind: str) -> Call:
    x, y = numbers(n_classes, kind, 100_000)
    return partial(naively.GaussianNB().fit(x, y).predict_proba, x)


def _counts_fit(name: str, n_classes: int) -> Call:
    x, y = counts(n_classes)
    return partial(getattr(naively, name)().fit, x, y)


def _counts_predict(name: str, n_classes: int) -> Call:
    x, y = counts(n_classes)
    return partial(getattr(naively, name)().fit(x, y).predict_proba, x[:20_000])


def _codes(predict: bool) -> Call:
    random = np.random.default_rng(0)
    x, y = random.integers(0, 20, (500_000, 20)), random.integers(0, 2, 500_000)
    model = naively.CategoricalNB()
    return partial(model.fit(x, y).predict_proba, x) if predict else partial(model.fit, x, y)


def _one_row(name: str, learn: bool) -> Call:
    random = np.random.default_rng(0)
    y = random.integers(0, 10, 2000)
    x: Any = random.normal(size=(2000, 50)) if name == "GaussianNB" else random.integers(0, 5, (2000, 50))
    model = getattr(naively, name)().fit(x, y)
    return partial(model.partial_fit, x[:1], y[:1]) if learn else partial(model.predict, x[:1])


def _text_fit(n_classes: int, longest: int = 1) -> Call:
    return partial(fit_text, *texts(n_classes), longest)


def _text_predict(n_classes: int) -> Call:
    rows, label = texts(n_classes)
    return partial(fit_text(rows, label).predict, rows)


def _file_fit(name: str) -> Call:
    return partial(naively.fit, FOLDER / name, "label", tune=False, n_jobs=1)


def _file_predict(*options: str) -> Call:
    model, output = FOLDER / f"rows-{NAME}.naively", FOLDER / f"out-{NAME}.parquet"
    naively.fit(FOLDER / "rows.csv", "label", tune=False).save(model)

    def run() -> None:
        output.unlink(missing_ok=True)
        command("predict", str(model), str(FOLDER / "rows.csv"), "-o", str(output), *options)

    return run


def _save() -> Call:
    model, path = naively.fit(*words(100_000), tune=False), FOLDER / f"saved-{NAME}.naively"

    def run() -> None:
        path.unlink(missing_ok=True)
        model.save(path)

    return run


def _load() -> Call:
    return partial(naively.load, saved("load"))


def _load_many() -> Call:
    path = saved("many", 1000)
    with naively.open(path) as ledger:
        for i in range(2000):
            ledger.update([f"message {i} about lunch"], ["ham"])
    return partial(naively.load, path)


def _learn() -> Call:
    ledger = naively.open(saved("learn"))
    number = iter(range(10**9))
    return lambda: ledger.update([f"one more message number {next(number)} about lunch"], ["ham"])


def _learn_and_forget() -> Call:
    ledger = naively.open(saved("forget"))
    number = iter(range(10**9))

    def run() -> None:
        rows = [f"one more message number {next(number)} about lunch"]
        ledger.update(rows, ["ham"])
        ledger.forget(rows, ["ham"])

    return run


def _add() -> Call:
    x, y = words(100_000)
    first, second = naively.fit(x[:5000], y[:5000], tune=False), naively.fit(x[5000:], y[5000:], tune=False)
    return lambda: first + second


def _tuned_fit_of_adult() -> Call:
    return partial(naively.fit, *adult(), n_jobs=1)


def _untuned_fit_of_adult() -> Call:
    return partial(naively.fit, *adult(), tune=False, n_jobs=1)


def _posterior_of_adult() -> Call:
    frame, target = adult()
    model = naively.fit(frame, target, n_jobs=1)
    return partial(model.posterior, frame.drop(columns=target))


def _tuned_fit_of_newsgroups() -> Call:
    return partial(naively.fit, *newsgroups(), n_jobs=1)


def _leave_one_out() -> Call:
    x, y = newsgroups()
    return partial(naively.fit(x, y, n_jobs=1).leave_one_out, x, y)


def _explain() -> Call:
    frame, target = adult()
    model = naively.fit(frame, target, n_jobs=1)
    return partial(model.explain, frame.drop(columns=target)[:20])


def _predict_of_tuned_text() -> Call:
    return partial(tuned_words().posterior, ["a short message about lunch and an offer w1 w2 w3"])


def _proba_of_adult(kind: str) -> Call:
    frame, target = adult()
    rows, model = FOLDER / "adult.csv", FOLDER / f"adult-{NAME}.naively"
    output = FOLDER / f"adult-{NAME}.{kind}"
    model.unlink(missing_ok=True)
    frame.drop(columns=target)[:32_000].to_csv(rows, index=False)
    naively.fit(frame, target).save(model)

    def run() -> None:
        output.unlink(missing_ok=True)
        command("predict", str(model), str(rows), "--proba", "-o", str(output))

    return run


COUNTED, ROWS = ("MultinomialNB", "BernoulliNB"), ("MultinomialNB", "ComplementNB", "BernoulliNB", "CategoricalNB")
WORK: dict[str, Callable[[], Call]] = {
    **{
        f"dense fit, {n} classes, {kind}": partial(_dense_fit, n, kind)
        for kind in ("float64", "float32")
        for n in (2, 10, 100)
    },
    **{f"dense predict_proba, {n} classes": partial(_dense_predict, n, "float64") for n in (2, 10, 100)},
    **{f"{name} fit, {n} classes": partial(_counts_fit, name, n) for name in COUNTED for n in (2, 20, 1000)},
    **{f"{name} predict_proba, {n} classes": partial(_counts_predict, name, n) for name in COUNTED for n in (2, 20)},
    "CategoricalNB fit": partial(_codes, False),
    "CategoricalNB predict_proba": partial(_codes, True),
    **{f"{name} predict of one row": partial(_one_row, name, False) for name in ("GaussianNB", *ROWS)},
    **{f"{name} partial_fit of one row": partial(_one_row, name, True) for name in ("GaussianNB", *ROWS)},
    **{f"text fit, {n} classes": partial(_text_fit, n) for n in (2, 20, 1000)},
    "text fit, words and pairs of words": partial(_text_fit, 2, 2),
    **{f"text predict, {n} classes": partial(_text_predict, n) for n in (2, 20, 1000)},
    "CSV to model": partial(_file_fit, "rows.csv"),
    "Parquet to model": partial(_file_fit, "rows.parquet"),
    "CSV to predictions in Parquet": _file_predict,
    "CSV to predictions with --proba": partial(_file_predict, "--proba"),
    "save a text model": _save,
    "load a text model": _load,
    "load a file of 2,000 entries": _load_many,
    "learn one text": _learn,
    "learn and forget one text": _learn_and_forget,
    "add two text models": _add,
    "adult: fit without tuning": _untuned_fit_of_adult,
    "adult: tuned fit": _tuned_fit_of_adult,
    "adult: posterior": _posterior_of_adult,
    "adult: explain 20 rows": _explain,
    "adult: predict --proba of 32,000 rows, CSV": partial(_proba_of_adult, "csv"),
    "adult: predict --proba of 32,000 rows, Parquet": partial(_proba_of_adult, "parquet"),
    "20 Newsgroups: tuned fit": _tuned_fit_of_newsgroups,
    "20 Newsgroups: leave_one_out": _leave_one_out,
    "one text, 200,000 words, length exponent": _predict_of_tuned_text,
}


def cpu_seconds() -> float:
    """Return the CPU time of this process and of its children that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def seconds_of(call: Call) -> float:
    """Return the CPU seconds of a call, which is repeated if it is short."""
    gc.collect()
    start, n_calls = cpu_seconds(), 0
    while not n_calls or (cpu_seconds() - start < MIN_SECONDS and n_calls < 200):
        call()
        n_calls += 1
    return (cpu_seconds() - start) / n_calls


def main() -> None:
    """Answer requests until the input ends."""
    answers = sys.stdout
    sys.stdout = sys.stderr  # what commands print is not an answer
    warnings.simplefilter("ignore")
    call: Call | None = None
    for line in sys.stdin:
        request, _, name = line.strip().partition(" ")
        answer: object = None
        if request == "list":
            answer = list(WORK)
        elif request == "prepare":
            try:
                call = WORK[name]()
                call()
            except Exception as error:  # the other version may not have it
                answer = f"{type(error).__name__}: {error}"
        elif call is not None:
            answer = seconds_of(call)
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
