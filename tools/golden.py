"""Golden comparison: record what the code computes, and compare two such records.

    python tools/golden.py record FOLDER [--tunings OLD_FOLDER]
    python tools/golden.py compare OLD_FOLDER NEW_FOLDER
    python tools/golden.py check OLD_FOLDER             record to a temporary folder, then compare

Run it before and after a change that must not change results. It uses public names and the command line only, and
knows the old and the new spelling of names that are being renamed. Each set has a folder with these files:

    schema.json           the schema                                                     equal
    statistics.json       bytes of the counted statistics, as in a model file            equal
    structure.json        each array of the statistics, to locate a difference           information
    predictions/*.npy     untuned, under the stored tuning, from the stored model file   1e-12
    tuning.json           the tuning that the code chooses                               see `compare_tunings`
    explanations.json     explanations of five rows                                      1e-9
    results.json          all other answers                                              1e-9
    commands.json         exit codes, JSON, CSV and Parquet of commands                  1e-9
    tuned_commands.json   the same where the code chooses a tuning                       1e-2
    text.json             tables and messages for people                                 information

With --tunings, predictions use the tunings of an older record, and its model files are loaded; `check` does so.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
import json
import multiprocessing
import os
import re
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import chdir
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache, partial
from importlib.util import find_spec
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
from numpy.typing import NDArray
from scipy import sparse

import naively

DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data"
N_ROWS = 200  # rows that are predicted, evaluated, updated and forgotten
N_JOBS = 2  # threads of every fit, so that the number of cores does not matter
TOLERANCES = {
    "schema.json": 0.0,
    "statistics.json": 0.0,
    "structure.json": 0.0,
    "explanations.json": 1e-9,
    "results.json": 1e-9,
    "commands.json": 1e-9,
    "tuned_commands.json": 1e-2,
    "text.json": 0.0,
}
PREDICTION_TOLERANCE = 1e-12
WEIGHT_TOLERANCE, WEIGHT_FLOOR, LOG_LOSS_TOLERANCE = 1e-3, 0.1, 1e-4  # below the floor, the tolerance is absolute
INFORMATION_FILES = {"structure.json", "text.json"}
TEXT_KEYS = {"message", "note", "shown", "payload", "spelling"}  # strings that may differ
ENTRY_KEYS = {"id", "time", "written", "corrects", "first", "last"}  # times and random ids of log entries

RENAMED = {  # new name → old name: keys of JSON objects, and words in the text of a family
    "min_probability": "unsure",
    "counts": "of",
    "counts_against": "against",
    "counterfactual": "turn",
    "coverage": "answered",
    "observed": "came",
    "goal": "asked",
    "default_weight": "common",
    "var_smoothing": "added",
    "pool_zero_variance": "borrow",
    "is_current": "in_force",
    "Binned": "Numeric",
    "NumberSummary": "Measured",
    "EmptyStatistic": "Nothing",
}


def keyword(function: Callable[..., Any], new: str) -> str:
    """Return the new name of a parameter if the function has it, else the old one."""
    return new if new in signature(function).parameters else RENAMED[new]


def gaussian(variance_added: float, pool: bool, **settings: Any) -> Any:
    """Return a Gaussian family under either spelling of its parameters."""
    added, borrow = (keyword(naively.Gaussian, name) for name in ("var_smoothing", "pool_zero_variance"))
    settings |= {added: variance_added, borrow: pool}
    return naively.Gaussian(**settings)


# ---- the sets


@dataclass(frozen=True)
class Case:
    """How to fit one data set, and rows of it to ask about."""

    read: Callable[[], Any]  # X, read again for each fit
    target: Any  # y, or the name of a column
    rows: Any  # the first rows of X, in memory
    labels: Any
    strange_rows: Any  # missing, unseen and extreme values
    settings: Mapping[str, Any] = field(default_factory=dict)  # columns, prior, weight
    row_weight: Any = None


def read_csv(path: Path, n_rows: int | None = None) -> Any:
    """Return a CSV file as a table with its rows in a random order; empty cells are missing."""
    missing, lines = pa_csv.ConvertOptions(strings_can_be_null=True), pa_csv.ParseOptions(newlines_in_values=True)
    table = pa_csv.read_csv(path, parse_options=lines, convert_options=missing)
    return table.take(np.random.default_rng(0).permutation(table.num_rows)[:n_rows])


def make_strange_rows(table: Any) -> Any:
    """Return three rows with the columns of a table: all missing, unseen values, extreme values."""
    columns: dict[str, Any] = {}
    for name, kind in zip(table.column_names, table.schema.types, strict=True):
        if pa.types.is_string(kind):
            columns[name] = pa.array([None, "never seen before", ""], kind)
        elif pa.types.is_floating(kind) or pa.types.is_integer(kind):
            columns[name] = pa.array([None, 1, 100], kind)
        else:
            columns[name] = pa.nulls(3, kind)
    return pa.table(columns)


def table_case(table: Any, target: str, convert: Callable[[Any], Any] = lambda table: table, **settings: Any) -> Case:
    """Return the case of a table in memory, converted to another kind of frame."""
    features, labels, weight = table.drop_columns([target]), table[target].to_pylist(), settings.get("weight")
    rows, row_weight = convert(features.slice(0, N_ROWS)), None if weight is None else weight[:N_ROWS]
    strange_rows = make_strange_rows(features)
    return Case(lambda: convert(features), labels, rows, labels[:N_ROWS], strange_rows, settings, row_weight)


def file_case(table: Any, target: str, read: Callable[[], Any]) -> Case:
    """Return the case of files or batches that hold a table."""
    features, labels = table.drop_columns([target]), table[target].slice(0, N_ROWS).to_pylist()
    return Case(read, target, features.slice(0, N_ROWS), labels, make_strange_rows(features))


def matrix_case(matrix: Any, labels: Any, strange_rows: Any, **settings: Any) -> Case:
    """Return the case of a matrix or of a list of texts."""
    return Case(lambda: matrix, labels, matrix[:N_ROWS], labels[:N_ROWS], strange_rows, settings)


def titanic(path: Path) -> Case:
    """Return a case of missing values as values, with a given prior."""
    missing = naively.Automatic(missing="value")
    columns = {"age": missing, "cabin": missing, "embarked": naively.Categorical(missing="value")}
    return table_case(read_csv(path), "survived", columns=columns, prior={0: 0.7, 1: 0.3})


def weighted_case(path: Path, weight: NDArray[Any]) -> Case:
    """Return a case of weighted rows."""
    table = read_csv(path)
    return table_case(table, "class", weight=np.resize(weight, table.num_rows))


def parquet_file(path: Path) -> Case:
    """Return the case of a Parquet file with several row groups."""
    table = read_csv(path)
    pq.write_table(table, "rows.parquet", row_group_size=1000)
    return file_case(table, table.column_names[-1], lambda: "rows.parquet")


def csv_glob(path: Path) -> Case:
    """Return the case of a glob of CSV files that hold more rows than are counted at a time."""
    table = read_csv(path)
    for k in range(4):
        pa_csv.write_csv(table.slice(0, 20_000 + k), f"part{k}.csv")
    return file_case(table, "class", lambda: "part*.csv")


def batches(path: Path) -> Case:
    """Return the case of an iterator of record batches."""
    table = read_csv(path)
    return file_case(table, "class", lambda: iter(table.to_batches(max_chunksize=500)))


def dense_float64(path: Path) -> Case:
    """Return the case of a dense matrix of float64 with ten classes."""
    table = read_csv(path, 3000)
    matrix = np.column_stack([table[name].to_numpy() for name in table.column_names[:-1]])
    return matrix_case(matrix, table["class"].to_numpy(), np.array([[np.nan] * 16, [1e6] * 16, [-1.0] * 16]))


def dense_float32(path: Path) -> Case:
    """Return the case of a dense matrix of float32, with a column that is constant in one class."""
    generator = np.random.default_rng(8)
    labels = generator.integers(0, 2, 500)
    matrix = (generator.normal(size=(500, 6)) + labels[:, None] * np.arange(6)).astype(np.float32)
    matrix[labels == 1, 0] = 3.0
    strange_rows = np.full((2, 6), [[np.nan], [1e4]], dtype=np.float32)
    return matrix_case(matrix, labels, strange_rows, columns=gaussian(0.01, True, ddof=1.0))


def token_counts(family: Any, n_classes: int) -> Case:
    """Return the case of a sparse matrix of counts."""
    generator = np.random.default_rng(n_classes)
    labels = generator.integers(0, n_classes, 600)
    counts = generator.poisson(generator.gamma(0.2, 1.0, (n_classes, 80))[labels])
    counts = np.minimum(counts, 1) if isinstance(family, naively.Bernoulli) else counts
    strange_rows = sparse.csr_array(np.array([[0] * 80, [1] * 80, [0] * 79 + [1]]))
    return matrix_case(sparse.csr_array(counts), labels, strange_rows, columns=family)


def list_of_texts(path: Path) -> Case:
    """Return the case of a list of texts."""
    table = read_csv(path)
    return matrix_case(table["text"].to_pylist(), table["label"].to_pylist(), ["", "zyxw vutsrq", "free FREE entry"])


def text_options(path: Path) -> Case:
    """Return a case with one column for each option of Text."""
    table = read_csv(path, 1200)
    columns = {
        "binary": naively.Text(binary=True, alpha=0.3, min_count=2),
        "bernoulli": naively.Text(model="bernoulli", max_tokens=300),
        "chars": naively.Text(tokens="chars", ngrams=(2, 3), max_tokens=500),
        "chars_in_words": naively.Text(tokens="chars_in_words", ngrams=(3, 3), lowercase=False),
        "hashed": naively.Text(hash_bits=12),
        "vocabulary": naively.Text(vocabulary=("free", "call", "lor", "ok", "unseen")),
        "stop_words": naively.Text(stop_words=("the", "a", "to"), strip_accents=True, max_share=0.5, ngrams=(1, 2)),
    }
    texts = dict.fromkeys(columns, table["text"])
    return table_case(pa.table({"label": table["label"], **texts}), "label", columns=columns)


def news(path: Path) -> Case:
    """Return the case of a large Parquet file of texts with 20 classes."""
    table = pq.read_table(path)
    return file_case(table.take(np.random.default_rng(0).permutation(table.num_rows)), "label", lambda: path)


def federalist(path: Path) -> Case:
    """Return a case with unlabelled rows; texts are cut, so that explanations take little time."""
    table = read_csv(path).select(["venue", "date", "author", "text"])
    return table_case(table.set_column(3, "text", pc.utf8_slice_codeunits(table["text"], 0, 1500)), "author")


def letters(path: Path) -> Case:
    """Return a case of 26 classes."""
    generator = np.random.default_rng(9)
    label = generator.integers(0, 26, 1300)
    numbers: dict[str, Any] = {f"x{j}": generator.normal(label % (j + 3), 1.0).round(2) for j in range(4)}
    shape = np.array(["round", "open", "tall", "wide", "low"])[(label + (generator.random(1300) < 0.3)) % 5]
    names = [chr(ord("a") + c) for c in label.tolist()]
    return table_case(pa.table({"letter": names, **numbers, "shape": shape.tolist()}), "letter")


def every_family(path: Path) -> Case:
    """Return a case with a column for each family, and with families of several columns."""
    generator = np.random.default_rng(10)
    c = generator.integers(0, 3, 600)
    binned = getattr(naively, "Binned" if hasattr(naively, "Binned") else "Numeric")
    colours = np.array(["red", "green", "blue", "pink"])
    columns: dict[str, Any] = {
        "coin": pa.array(generator.random(600) < 0.2 + 0.3 * c),
        "colour": colours[(c + generator.integers(0, 2, 600)) % 4].tolist(),
        "height": generator.normal(c, 1.0),
        "income": generator.lognormal(c, 1.0),
        "calls": generator.poisson(1 + 2 * c),
        "wait": generator.exponential(1.0 + c),
        "age": pa.array(generator.normal(30 + 5 * c, 9).round(), mask=generator.random(600) < 0.1),
        "remark": [" ".join(colours[: k + 1]) for k in c.tolist()],
    }
    columns |= {f"n{j}": generator.poisson(1 + (c == j)) for j in range(3)}
    columns |= {f"s{j}": colours[(c + j + generator.integers(0, 2, 600)) % 2].tolist() for j in range(2)}
    families: dict[Any, Any] = {
        "coin": naively.Bernoulli(a=0.5, b=2.0),
        "colour": naively.Categorical(alpha=0.5, values=("red", "green", "blue", "pink", "grey")),
        "height": gaussian(0.0, False, floor=1e-6),
        "income": naively.LogNormal(),
        "calls": naively.Poisson(a=2.0),
        "wait": naively.Exponential(a=2.0, b=1.0),
        "age": binned(alpha=0.5, missing="value"),
        "remark": naively.Text(model="bernoulli", alpha=0.5),
        ("n0", "n1", "n2"): naively.Multinomial(alpha=naively.Dirichlet({"n0": 2.0}, 1.0), coefficient=True),
        ("s0", "s1"): naively.Categorical(shared=True),
    }
    return table_case(pa.table({"y": [f"class {k}" for k in c.tolist()], **columns}), "y", columns=families)


def odd_columns(path: Path) -> Case:
    """Return a case of dates, booleans, constants, identifiers, infinite and huge numbers, and an empty column."""
    generator = np.random.default_rng(11)
    y = generator.random(400) < 0.4
    days = (20_000 + 50 * y + generator.integers(0, 200, 400)).astype("datetime64[D]")
    numbers = generator.normal(y, 1.0)
    columns: dict[str, Any] = {
        "y": pa.array(y),
        "day": pa.array(days, mask=generator.random(400) < 0.05),
        "moment": pa.array(days.astype("datetime64[us]") + generator.integers(0, 10**9, 400)),
        "flag": pa.array(y ^ (generator.random(400) < 0.2), mask=generator.random(400) < 0.1),
        "constant": ["same"] * 400,
        "identifier": [f"id{k:05}" for k in generator.permutation(400).tolist()],
        "running": np.arange(400),
        "infinite": np.where(generator.random(400) < 0.1, np.inf, numbers),
        "huge": numbers * 1e200,
        "empty": pa.nulls(400),
        "few values": generator.integers(0, 4, 400) + y,
        "ünïcode": np.array(["ä", "ß", "日本"])[generator.integers(0, 2, 400) + y].tolist(),
    }
    return table_case(pa.table(columns), "y")


SETS: dict[str, tuple[str, Callable[[Path], Case]]] = {  # file of the data folder, its case
    "iris_pandas": ("tables/iris.csv", lambda path: table_case(read_csv(path), "class", lambda t: t.to_pandas())),
    "penguins_polars": ("tables/penguins.csv", lambda path: table_case(read_csv(path), "species", pl.from_arrow)),
    "titanic_missing": ("tables/titanic_kaggle_train.csv", titanic),
    "vote_unsmoothed": (
        "tables/vote.csv",
        lambda path: table_case(read_csv(path), "Class", columns=naively.Categorical(alpha=0.0), prior="uniform"),
    ),
    "mushroom_integer_weights": ("tables/mushroom.csv", lambda path: weighted_case(path, np.array([1, 0, 3, 1, 2]))),
    "credit_fractional_weights": (
        "tables/credit.g.csv",
        lambda path: weighted_case(path, np.array([0.1, 0, 0.7, 1.3])),
    ),
    "adult_csv_file": ("tables/adult.csv", lambda path: file_case(read_csv(path), "income", lambda: str(path))),
    "hypothyroid_parquet_file": ("tables/hypothyroid.csv", parquet_file),
    "elec_csv_glob": ("tables/stream_elec.csv", csv_glob),
    "segment_batches": ("tables/segment.csv", batches),
    "pendigits_float64": ("tables/pendigits.csv", dense_float64),
    "gaussian_float32": ("", dense_float32),
    "sparse_multinomial": ("", lambda _: token_counts(naively.Multinomial(alpha=0.5, unseen="smooth"), 2)),
    "sparse_bernoulli": ("", lambda _: token_counts(naively.Bernoulli(), 3)),
    "sparse_complement": ("", lambda _: token_counts(naively.Complement(alpha=0.5, norm=True), 4)),
    "sms_list_of_texts": ("text/sms_spam.csv", list_of_texts),
    "sms_text_options": ("text/sms_spam.csv", text_options),
    "trec_word_pairs": (
        "text/trec_qc.csv",
        lambda path: table_case(read_csv(path), "label", columns={"text": naively.Text(ngrams=(1, 2), min_count=2)}),
    ),
    "polarity_complement": (
        "text/mr_rt_polarity.csv",
        lambda path: table_case(
            read_csv(path), "label", columns={"text": naively.Text(model="complement", binary=True)}
        ),
    ),
    "news_parquet_file": ("text/20news_bydate.parquet", news),
    "federalist_unlabelled": ("federalist/federalist.csv", federalist),
    "letters_26_classes": ("", letters),
    "every_family": ("", every_family),
    "odd_columns": ("", odd_columns),
}
QUICK = (
    "iris_pandas", "penguins_polars", "titanic_missing", "credit_fractional_weights", "sparse_multinomial",
    "gaussian_float32", "every_family", "odd_columns", "scikit_learn", "wrong_inputs",
)  # fmt: skip


# ---- recording


def plain(value: Any) -> Any:
    """Return a value as JSON data."""
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if hasattr(value, "to_dict"):
        return plain(value.to_dict())
    if isinstance(value, pa.Table):
        return {"types": [str(kind) for kind in value.schema.types], "rows": plain(value.to_pylist())}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    return [plain(item) for item in value] if isinstance(value, Iterable) else str(value)


def attempt(compute: Callable[[], Any]) -> Any:
    """Return the result as JSON data, or the type and message of the error."""
    try:
        return plain(compute())
    except Exception as error:
        return {"refused": type(error).__name__, "message": str(error)}


def write_json(path: Path, data: Any) -> None:
    """Write JSON data."""
    path.write_text(json.dumps(data, ensure_ascii=False, indent=1), encoding="utf-8")


def read_json(path: Path) -> Any:
    """Return JSON data."""
    return json.loads(path.read_text(encoding="utf-8"))


def digest(content: bytes) -> str:
    """Return the SHA-256 of bytes."""
    return hashlib.sha256(content).hexdigest()


def structure(value: Any) -> Any:
    """Return all arrays and plain values inside a statistic, in the order of its fields; caches are not fields."""
    if isinstance(value, np.ndarray):
        return [str(value.dtype), list(value.shape), digest(np.ascontiguousarray(value).tobytes())]
    if is_dataclass(value) and not isinstance(value, type):
        names = [part.name for part in fields(value)]
        return {"spelling": [type(value).__name__, *names], "values": [structure(getattr(value, n)) for n in names]}
    if isinstance(value, (tuple, list)):
        return {"spelling": list(getattr(value, "_fields", ())), "values": [structure(item) for item in value]}
    if hasattr(value, "export"):  # the compiled vocabulary
        return structure(value.export())
    return value if value is None or isinstance(value, (str, bool, int, float)) else type(value).__name__


def stored_entries(path: Path) -> list[dict[str, Any]]:
    """Return the entries of a model file without times and ids; `content` is of the payload before compression."""
    joined = "entries JOIN schemas ON schemas.number = entries.schema ORDER BY entries.number"
    connection = sqlite3.connect(path)
    lines = connection.execute(f"SELECT act, sign, rows, json, statistics FROM {joined}").fetchall()
    connection.close()
    entries = []
    for act, sign, rows, schema, payload in lines:
        entry = {"act": act, "sign": sign, "rows": rows, "schema": digest(schema.encode())}
        if payload is not None:
            _, is_deflated, _, size = struct.unpack_from("<BBQQ", payload)
            body, tail = payload[18 : 18 + size], payload[18 + size :]
            content = zlib.decompress(body) if is_deflated else body
            entry |= {"content": digest(content + tail), "payload": digest(payload)}
        entries.append(entry)
    return entries


def entries_of(model: Any) -> list[dict[str, Any]]:
    """Return the entries of a file to which the model is saved."""
    path = Path("saved.naively")
    path.unlink(missing_ok=True)
    model.save(path)
    return stored_entries(path)


def predictions(model: Any, case: Case) -> dict[str, NDArray[Any]]:
    """Return scores and answers for the rows of a case and for its strange rows."""
    scores = {}
    for name in ("posterior", "log_posterior", "log_joint", "predict"):
        ask = getattr(model, name)
        scores[name] = np.concatenate([np.asarray(ask(rows)) for rows in (case.rows, case.strange_rows)])
    return scores | {"predict": scores["predict"].astype(str)}


def counting_questions(model: Any, case: Case) -> dict[str, Callable[[], Any]]:
    """Return functions that count: updates, forgetting, sums and differences of models, and a ledger."""
    rows, labels, weight, half = case.rows, case.labels, case.row_weight, len(case.labels) // 2
    settings = {**case.settings, "tune": False, "n_jobs": N_JOBS}
    halves = [
        naively.fit(rows[part], labels[part], **settings | {"weight": None if weight is None else weight[part]})
        for part in (slice(0, half), slice(half, len(labels)))
    ]

    def ledger_entries() -> Any:
        model.save("ledger.naively", source="first")
        with naively.open("ledger.naively") as ledger:
            entry = ledger.update(rows, labels, weight=weight, source="second")
            second = entries_of(ledger.model(sources="second"))
            ledger.forget(rows, labels, weight=weight, entry=entry.id)
            acts = [[line.act, line.sign, line.rows, line.source] for line in ledger.log()]
            return {"second": second, "model": entries_of(ledger.model()), "acts": acts}

    return {
        "ledger": ledger_entries,
        "update": lambda: entries_of(model.update(rows, labels, weight)),
        "update_forget": lambda: entries_of(model.update(rows, labels, weight).forget(rows, labels, weight)),
        "forget": lambda: model.forget(rows, labels, weight).posterior(case.strange_rows),
        "sum": lambda: entries_of(halves[0] + halves[1]),
        "difference": lambda: entries_of(halves[0] + halves[1] - halves[1]),
    }


def other_questions(model: Any, tuned_model: Any, case: Case) -> dict[str, Callable[[], Any]]:
    """Return functions that ask an untuned model, or the model under the stored tuning, for everything else."""
    rows, labels, weight = case.rows, case.labels, case.row_weight
    first, last, n_classes = model.classes[0], model.classes[-1], len(model.classes)
    evaluate, predict = partial(tuned_model.evaluate, rows, labels, weight), partial(tuned_model.predict, rows)
    costs = np.arange(1.0, n_classes + 1)[:, None] * (1.0 - np.eye(n_classes))
    probable = {keyword(tuned_model.predict, "min_probability"): 0.9}
    columns = [b["names"][0] for b in json.loads(model.schema.to_json())["blocks"] if b["family"]["family"] == "Text"]

    def leave_one_out(**settings: Any) -> Any:
        scores = model.leave_one_out(rows, labels, weight, **settings)
        return {name: getattr(scores, name) for name in ("columns", "rows", "label", "weight", "log_joint")}

    def linear() -> Any:
        form = model.linear(of=last, against=first)
        return {"weights": form.weights, "bias": form.bias, "features": form.features}

    return {
        "classes": lambda: model.classes,
        "target": lambda: model.target,
        "class_counts": lambda: model.class_counts,
        "class_rows": lambda: getattr(model, "class_weights" if hasattr(model, "class_weights") else "seen").rows,
        "log_prior": lambda: model.log_prior,
        "log_odds": lambda: tuned_model.log_odds(rows, of=last),
        "log_odds_of_pair": lambda: tuned_model.log_odds(rows, of=last, against=first),
        "log_marginal": lambda: model.log_marginal(rows),
        "uniform_prior": lambda: model.with_prior("uniform").posterior(rows),
        "leave_one_out": leave_one_out,
        "leave_folds_out": lambda: leave_one_out(folds=5),
        "evaluate": lambda: evaluate(**probable),
        "evaluate_precision": lambda: evaluate(precision=0.9),
        "evaluate_training": lambda: model.evaluate_training(rows, labels, weight),
        "predict_odds": lambda: predict(odds=3.0, of=last),
        "predict_threshold": lambda: predict(threshold=0.2, of=last),
        "predict_costs": lambda: predict(costs=costs),
        "predict_min_probability": lambda: predict(**probable),
        "predict_batches": lambda: list(naively.predict_batches(tuned_model, [case.strange_rows], proba=True)),
        "sample": lambda: model.sample(20, seed=1),
        "linear": linear,
        "words": lambda: {name: model.evidence(name).top(last, 20) for name in columns},
    }


def record_set(case: Case, folder: Path, old: Path) -> None:
    """Record one set; `old` is the folder, of this record or an older one, whose tuning and model file are used."""
    with warnings.catch_warnings(record=True) as messages:
        warnings.simplefilter("always")
        fit: Any = partial(naively.fit, n_jobs=N_JOBS, **case.settings)
        model, self_tuned_model = (fit(case.read(), case.target, tune=tune) for tune in (False, True))
        (folder / "tuning.json").write_text(self_tuned_model.tuning.to_json(), encoding="utf-8")
        tuning = naively.Tuning.from_json((old / "tuning.json").read_text(encoding="utf-8"))
        tuned_model = model.with_tuning(tuning)
        tuned_model.save(folder / "model.naively")
        models = {"untuned": model, "stored_tuning": tuned_model, "stored_file": naively.load(old / "model.naively")}
        write_json(folder / "schema.json", json.loads(model.schema.to_json()))
        write_json(folder / "statistics.json", entries_of(model))
        write_json(folder / "structure.json", structure(tuple(model.statistics)))
        (folder / "predictions").mkdir()
        for kind, predictor in models.items():
            for score, array in predictions(predictor, case).items():
                np.save(folder / "predictions" / f"{kind}_{score}.npy", array)
        explanations = {kind: models[kind].explain(case.rows[:5]) for kind in ("untuned", "stored_tuning")}
        write_json(folder / "explanations.json", plain(explanations))
        questions = counting_questions(model, case) | other_questions(model, tuned_model, case)
        answers = {question: attempt(compute) for question, compute in questions.items()}
    answers["warnings"] = sorted({message.category.__name__ for message in messages})
    write_json(folder / "results.json", answers)
    texts = {kind: [str(row) for row in rows] for kind, rows in explanations.items()}
    texts |= {"model": [repr(model)], "schema": [str(model.schema)]}
    write_json(folder / "text.json", texts | {"warnings": sorted({str(message.message) for message in messages})})


def record_scikit_learn(folder: Path) -> None:
    """Record the scikit-learn classes: probabilities, and attributes that end with an underscore."""
    generator = np.random.default_rng(12)
    labels = generator.integers(0, 3, 300)
    counts, weight = generator.poisson(1.0 + (labels[:, None] == np.arange(12) % 3)), generator.random(300)
    inputs: dict[str, tuple[Any, Any]] = {
        "gaussian": (naively.GaussianNB(), generator.normal(labels[:, None], 1.0, (300, 4))),
        "multinomial": (naively.MultinomialNB(alpha=0.5), sparse.csr_array(counts)),
        "complement": (naively.ComplementNB(), sparse.csr_array(counts)),
        "bernoulli": (naively.BernoulliNB(binarize=1.0), sparse.csr_array(counts)),
        "categorical": (naively.CategoricalNB(), np.minimum(counts, 3)),
        "naive_bayes": (naively.NaiveBayes(tune=False), counts),
    }
    answers = {}
    for name, (estimator, X) in inputs.items():
        estimator.fit(X, labels, sample_weight=weight)
        names = [n for n in dir(estimator) if n.endswith("_") and n[0] != "_" and n != "model_"]
        answers[name] = {n: attempt(partial(getattr, estimator, n)) for n in names}
        answers[name]["predict_proba"] = plain(estimator.predict_proba(X[:N_ROWS]))
        if hasattr(estimator, "partial_fit"):
            estimator.partial_fit(X[:50], labels[:50])
            answers[name]["partial_fit"] = plain(estimator.predict_joint_log_proba(X[:N_ROWS]))
    write_json(folder / "results.json", answers)


# ---- commands


def command_line() -> list[str]:
    """Return the console script next to the interpreter, or a module to run."""
    script = Path(sys.executable).with_name("naively")
    module = "naively" if find_spec("naively.__main__") else "naively.cli"
    return [str(script)] if script.exists() else [sys.executable, "-m", module]


def run(line: str) -> subprocess.CompletedProcess[str]:
    """Run one command."""
    return subprocess.run([*command_line(), *line.split()], capture_output=True, text=True, check=False)


@cache
def option(command: str, *names: str) -> str:
    """Return the first of these options that a command has, by its help."""
    words = re.findall(r"--[a-z-]+", run(f"{command} --help").stdout)
    return next((name for name in names if name in words), names[0])


def without_ids(value: Any) -> Any:
    """Return JSON data in which times and ids only say whether they are given."""
    if isinstance(value, dict):
        is_entry = value.keys() >= ENTRY_KEYS
        return {k: v is not None if is_entry and k in ENTRY_KEYS else without_ids(v) for k, v in value.items()}
    return [without_ids(item) for item in value] if isinstance(value, list) else value


def parse_output(line: str, stdout: str) -> Any:
    """Return what a command wrote to standard output or to its file as JSON data; None if it is text for people."""
    words = line.split()
    output = words[words.index("-o") + 1] if "-o" in words else ""
    content = Path(output).read_text(encoding="utf-8") if output.endswith((".csv", ".jsonl")) else stdout
    if output.endswith(".parquet"):
        return plain(pq.read_table(output))
    if output.endswith(".csv") or "--format csv" in line:
        return list(csv.reader(io.StringIO(content)))
    if output.endswith(".jsonl"):
        return [json.loads(row) for row in content.splitlines()]
    return without_ids(json.loads(content)) if "json" in line else None


class Session:
    """Commands run one after the other, with their exit codes and outputs."""

    def __init__(self) -> None:
        """Start without results."""
        self.outputs: dict[str, Any] = {}
        self.texts: dict[str, list[str]] = {}

    def run(self, line: str) -> str:
        """Run a command, store its exit code and output, and return its standard output."""
        process = run(line)
        key = f"{len(self.outputs) + 1:02} {line.split()[0]}"
        output = parse_output(line, process.stdout) if process.returncode == 0 else None
        self.outputs[key] = {"exit": process.returncode, "output": output}
        self.texts[key] = [line, process.stderr, process.stdout if output is None else ""]
        return process.stdout

    def last_id(self) -> str:
        """Return the id of the last entry of the log."""
        return str(json.loads(self.run("log m.naively --json"))[-1]["id"])


def record_commands(path: Path, folder: Path, target: str, column: str) -> None:
    """Record commands over the two halves of a CSV file."""
    table = read_csv(path, 1000)
    half = table.num_rows // 2
    for name, rows in {"a.csv": table.slice(0, half), "b.csv": table.slice(half, 150)}.items():
        pa_csv.write_csv(rows, name)
    no_tune = option("fit", "--no-tune", "--textbook", "--untuned")
    untuned_session, tuned_session = Session(), Session()
    untuned_session.run(f"fit a.csv --target {target} -o m.naively {no_tune}")
    untuned_session.run(f"fit b.csv --target {target} -o other.naively {no_tune}")
    for line in (
        "predict m.naively b.csv --proba -o answers.csv",
        "predict m.naively b.csv --proba -o answers.jsonl",
        "predict m.naively b.csv --proba -o answers.parquet",
        f"predict m.naively b.csv --format csv {option('predict', '--min-probability', '--unsure')} 0.9",
        "evaluate m.naively b.csv --json",
        "evaluate m.naively b.csv",
        "explain m.naively b.csv --row 1 --row 3 --json",
        "explain m.naively b.csv --row 2",
        "show m.naively --json",
        f"show m.naively {column} --json",
        "show m.naively",
        "sample m.naively -n 20 --seed 1 --format json",
        "sample m.naively -n 20 --seed 1 --format csv",
        "merge m.naively other.naively -o both.naively --json",
        "diff m.naively other.naively --json",
        "diff m.naively other.naively",
        "update m.naively b.csv --source here --comment word --json",
    ):
        untuned_session.run(line)
    untuned_session.run(f"forget m.naively b.csv --entry {untuned_session.last_id()} --json")
    untuned_session.run(f"undo m.naively {untuned_session.last_id()} --json")
    untuned_session.run("log m.naively")
    untuned_session.run("copy m.naively copy.naively --json")
    untuned_session.run(f"compact copy.naively {option('compact', '--force', '--yes')} --json")
    files = {name: stored_entries(Path(f"{name}.naively")) for name in ("m", "both", "copy")}
    tuned_session.run(f"fit a.csv --target {target} -o tuned.naively")
    tuned_session.run("show tuned.naively --json")
    tuned_session.run("tune other.naively b.csv --json")
    tuned_session.run("show other.naively --json")
    tuned_session.run(f"tune other.naively {option('tune', '--no-tune', '--textbook', '--untuned')} --json")
    tuned_session.run("show other.naively --json")
    write_json(folder / "commands.json", untuned_session.outputs | {"files": files})
    write_json(folder / "tuned_commands.json", tuned_session.outputs)
    write_json(folder / "text.json", {"untuned": untuned_session.texts, "tuned": tuned_session.texts})


def record_wrong_inputs(folder: Path) -> None:
    """Record exit codes and messages of commands, and errors of functions, that are given wrong input."""
    Path("d.csv").write_text("id,sky,wind,play\n1,sun,1.5,yes\n2,rain,9,no\n3,sun,2,yes\n4,,8,no\n")
    Path("bad.csv").write_text("id,sky,wind,play\n1,sun,strong,yes\n")
    Path("ragged.csv").write_text("id,sky,wind,play\n1,sun\n")
    Path("empty.csv").write_text("")
    session = Session()
    session.run("fit d.csv --target play --ignore id -o m.naively")
    good = Path("m.naively").read_bytes()
    Path("short.naively").write_bytes(good[: len(good) // 2])
    Path("damaged.naively").write_bytes(good.replace(b"Categorical", b"Kategorical").replace(b"fit", b"fat"))
    for line in (
        "fit none.csv --target play -o x.naively",
        "fit empty.csv --target play -o x.naively",
        "fit ragged.csv --target play -o x.naively",
        "fit d.csv -o x.naively",
        "fit d.csv --target none -o x.naively",
        "fit d.csv --target play -o m.naively",
        "fit d.csv --target play -o none/x.naively",
        "fit d.csv --target play --ignore none -o x.naively",
        "fit d.csv --target play --column sky=odd -o x.naively",
        "fit d.csv --target play --column sky=gaussian -o x.naively",
        "fit d.csv --target play --weight sky -o x.naively",
        "fit d.csv --target play --prior yes=0.9,no=0.9 -o x.naively",
        "predict m.naively bad.csv",
        "predict m.naively none.csv",
        "predict m.naively d.csv -o x.odd",
        "predict m.naively d.csv --threshold 0.5 --min-probability 0.9",
        "predict none.naively d.csv",
        "predict d.csv d.csv",
        "predict short.naively d.csv",
        "predict damaged.naively d.csv",
        "log damaged.naively",
        "show m.naively none",
        "evaluate m.naively d.csv --target none",
        "evaluate m.naively d.csv --target sky",
        "explain m.naively",
        "explain m.naively d.csv --row 9",
        "update m.naively bad.csv",
        "forget m.naively bad.csv",
        "undo m.naively ffff",
        "tune m.naively",
        "merge m.naively none.naively -o x.naively",
        "diff m.naively d.csv",
        "nothing",
    ):
        session.run(line)
    x, y = {"x": [1.0, 2.0, 3.0, 4.0]}, [0, 1, 0, 1]
    model = naively.fit(x, y, tune=False)
    wrong: dict[str, Callable[[], Any]] = {
        "too few labels": lambda: naively.fit(x, [0, 1]),
        "unknown column": lambda: naively.fit(x, y, columns={"z": naively.Gaussian()}),
        "text as Gaussian": lambda: naively.fit({"x": ["a", "b"]}, [0, 1], columns=naively.Gaussian()),
        "infinite as Gaussian": lambda: naively.fit([[np.inf], [1.0]], [0, 1], columns=naively.Gaussian()),
        "negative counts": lambda: naively.fit([[-1], [1]], [0, 1], columns=naively.Multinomial()),
        "negative weight": lambda: naively.fit(x, y, weight=[1, -1, 1, 1]),
        "no rows": lambda: naively.fit({"x": []}, []),
        "prior above 1": lambda: naively.fit(x, y, prior={0: 0.9, 1: 0.9}),
        "wrong number of columns": lambda: naively.fit(np.eye(3), [0, 1, 0]).posterior(np.eye(4)),
        "text as a number": lambda: model.posterior({"x": ["a"]}),
        "forget uncounted rows": lambda: model.forget({"x": [9.0]}, [0]).class_counts,
        "unknown class": lambda: model.log_odds(x, of="none"),
        "evaluate an unknown class": lambda: model.evaluate(x, [7, 7, 7, 7]),
        "not a tuning": lambda: naively.Tuning.from_json("{}"),
        "no such file": lambda: naively.load("none.naively"),
        "damaged file": lambda: naively.load("damaged.naively"),
    }
    write_json(folder / "commands.json", session.outputs)
    write_json(folder / "results.json", {name: attempt(compute) for name, compute in wrong.items()})
    write_json(folder / "text.json", session.texts)


OTHERS: dict[str, tuple[str, Callable[[Path, Path], None]]] = {  # file of the data folder, (its path, folder)
    "penguins_commands": ("tables/penguins.csv", lambda path, folder: record_commands(path, folder, "species", "sex")),
    "titanic_commands": (
        "tables/titanic_kaggle_train.csv",
        lambda path, folder: record_commands(path, folder, "survived", "age"),
    ),
    "sms_commands": ("text/sms_spam.csv", lambda path, folder: record_commands(path, folder, "label", "text")),
    "scikit_learn": ("", lambda _, folder: record_scikit_learn(folder)),
    "wrong_inputs": ("", lambda _, folder: record_wrong_inputs(folder)),
}


def record_one(name: str, data: Path, out: Path, tunings: Path | None) -> str:
    """Record one set in a folder of its own, and return a line about it."""
    needs = (SETS | OTHERS)[name][0]
    if needs and not (data / needs).exists():
        return f"{name}: skipped, {needs} is not in the data folder"
    folder, start = out / name, time.perf_counter()
    folder.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as scratch, chdir(scratch):  # messages then name relative paths
        try:
            if name in SETS:
                old = folder if tunings is None or not (tunings / name).exists() else tunings / name
                record_set(SETS[name][1](data / needs), folder, old)
            else:
                OTHERS[name][1](data / needs, folder)
        except Exception:
            (folder / "failure.txt").write_text(traceback.format_exc(), encoding="utf-8")
            return f"{name}: FAILED\n{traceback.format_exc()}"
    return f"{name}: {time.perf_counter() - start:.1f} s"


def record(out: Path, data: Path, tunings: Path | None, names: Iterable[str]) -> int:
    """Record sets in two processes with one BLAS thread each; return 1 if one fails."""
    if out.exists() and any(out.iterdir()) and not (out / "names.json").exists():
        sys.exit(f"{out} is not empty and is not a record: give another folder.")
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    write_json(out / "names.json", sorted(names))
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "COLUMNS": "120", "PYTHONHASHSEED": "0"}
    exit_code = 0
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        for line in pool.map(partial(record_one, data=data, out=out, tunings=tunings), names):
            print(line, flush=True)
            exit_code |= ": FAILED" in line
    return exit_code


# ---- comparison


@dataclass(frozen=True)
class Difference:
    """One difference; `size` is relative to the old number, or absolute if that is below 1; inf if not a number."""

    path: str
    size: float
    text: str
    is_information: bool = False


def old_spelling(value: str) -> str:
    """Return a text with new names replaced by old ones; the reason why a column is not used is dropped."""
    words = re.sub(r"\w+", lambda word: RENAMED.get(word[0], word[0]), value)
    return re.sub(r"^(left out|dropped|not used): .*", "not used", words)


def is_same_text(old: str, new: str, is_for_people: bool) -> bool:
    """Return whether two texts agree but for renamed words and, if people read them, times and ids of log entries."""
    volatile = r"\d{4}-\d\d-\d\dT[\d:.]+Z|\b[0-9a-f]{8}([0-9a-f]{24})?\b" if is_for_people else "(?!)"
    return re.sub(volatile, "", old_spelling(old)) == re.sub(volatile, "", old_spelling(new))


def as_number(value: Any) -> float | None:
    """Return a number, or the number in a text; None for anything else."""
    try:
        return None if value is None or isinstance(value, (bool, list, dict)) else float(value)
    except ValueError:
        return None


def differences(old: Any, new: Any, path: str = "", floor: float = 1.0, is_text: bool = False) -> Iterator[Difference]:
    """Yield all differences between JSON data."""
    if isinstance(old, dict) and isinstance(new, dict):
        old, new = ({RENAMED.get(key, key): value for key, value in side.items()} for side in (old, new))
        for key in [*old, *(key for key in new if key not in old)]:
            inside = f"{path}/{key}"
            if key in old and key in new:
                yield from differences(old[key], new[key], inside, floor, is_text or key in TEXT_KEYS)
            else:
                yield Difference(inside, np.inf, "only in the " + ("old" if key in old else "new"), is_text)
    elif isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            yield Difference(path, np.inf, f"{len(old)} items, now {len(new)}", is_text)
        for i, (one, other) in enumerate(zip(old, new, strict=False)):
            yield from differences(one, other, f"{path}/{i}", floor, is_text)
    elif old != new or type(old) is not type(new):
        a, b = as_number(old), as_number(new)
        if a is not None and b is not None and isinstance(old, str) == isinstance(new, str):
            size = 0.0 if a == b or (a != a and b != b) else abs(a - b) / max(floor, abs(a))
            yield Difference(path, size if size == size else np.inf, f"{old} → {new}", is_text)
        elif not (isinstance(old, str) and isinstance(new, str) and is_same_text(old, new, is_text)):
            before, after = str(old), str(new)
            unequal = (i for i, (p, q) in enumerate(zip(before, after, strict=False)) if p != q)
            part = slice(max(0, next(unequal, 0) - 20), None)
            yield Difference(path, np.inf, f"{before[part][:60]!r} → {after[part][:60]!r}", is_text)


def array_differences(old: Path, new: Path) -> Iterator[Difference]:
    """Yield the largest difference of each array of predictions."""
    for path in sorted(old.glob("*.npy")):
        if not (new / path.name).exists():
            yield Difference(path.stem, np.inf, "not recorded")
            continue
        a, b = np.load(path), np.load(new / path.name)
        if a.shape != b.shape:
            yield Difference(path.stem, np.inf, f"shape {a.shape}, now {b.shape}")
        elif a.dtype.kind == "U":
            n_different = int((a != b).sum())
            yield Difference(path.stem, np.inf if n_different else 0.0, f"{n_different} of {len(a)} answers")
        else:
            with np.errstate(invalid="ignore"):
                sizes = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, abs(a - b) / np.maximum(1.0, abs(a)))
            size = float(np.nan_to_num(sizes, nan=np.inf).max(initial=0.0))
            yield Difference(path.stem, size, f"{int((sizes > PREDICTION_TOLERANCE).sum())} of {a.size} numbers")


def compare_tunings(old: Any, new: Any) -> Iterator[Difference]:
    """Yield what is wrong with a new tuning: other families, weights beyond 1e-3, or a larger log-loss."""
    old, new = ({RENAMED.get(key, key): value for key, value in side.items()} for side in (old, new))
    for key in ("families", "rows"):
        yield from (Difference(d.path, np.inf, d.text) for d in differences(old[key], new[key], key) if d.size > 0)
    for key in ("offsets", "weights", "exponents", "common"):
        yield from differences(old[key], new[key], key, WEIGHT_FLOOR)
    before, after = (side["report"].get("log_loss", 0.0) for side in (old, new))
    if after > before + LOG_LOSS_TOLERANCE:
        yield Difference("log_loss", np.inf, f"{before} → {after}")


def compare_set(old: Path, new: Path) -> dict[str, tuple[list[Difference], float]]:
    """Return the differences and the tolerance of each kind of result of a set."""
    kinds: dict[str, tuple[list[Difference], float]] = {}
    for name, tolerance in TOLERANCES.items():
        if (old / name).exists():
            pair = read_json(old / name), read_json(new / name)
            kinds[name] = list(differences(*pair, is_text=name in INFORMATION_FILES)), tolerance
    if (old / "tuning.json").exists():
        pair = read_json(old / "tuning.json"), read_json(new / "tuning.json")
        kinds["tuning.json"] = list(compare_tunings(*pair)), WEIGHT_TOLERANCE
        kinds["predictions"] = list(array_differences(old / "predictions", new / "predictions")), PREDICTION_TOLERANCE
    return kinds


def verdict(all_differences: list[Difference], tolerance: float) -> str:
    """Return ok, info or DIFFERENT, with the largest difference."""
    beyond = [d for d in all_differences if d.size > tolerance]
    failures = [d for d in beyond if not d.is_information]
    if beyond:
        largest = max(failures or beyond, key=lambda d: d.size)
        status, n = ("DIFFERENT", len(failures)) if failures else ("info", len(beyond))
        return f"{status} {n} beyond {tolerance:g}; {largest.path}: {largest.text} ({largest.size:.3g})"
    largest_size = max((d.size for d in all_differences), default=0.0)
    return f"ok (largest difference {largest_size:.1e})" if largest_size else "ok"


def compare(old: Path, new: Path) -> int:
    """Print a line for each set and kind; return 1 if anything is different."""
    names = read_json(new / "names.json")
    n_lines = n_different = 0
    for name in (path.name for path in sorted(old.iterdir()) if path.is_dir() and path.name in names):
        files = [path.name for path in (old / name).iterdir() if not (new / name / path.name).exists()]
        if files or (new / name / "failure.txt").exists():
            lines = {"all": f"DIFFERENT: it was skipped or failed in the new record; {len(files)} files are missing"}
        else:
            lines = {kind: verdict(*result) for kind, result in compare_set(old / name, new / name).items()}
        for kind, line in lines.items():
            print(f"{name:<26} {kind.removesuffix('.json'):<15} {line}")
            n_lines, n_different = n_lines + 1, n_different + line.startswith("DIFFERENT")
    print(f"{n_lines} comparisons, {n_different} different")
    return 1 if n_different or not n_lines else 0


def main() -> int:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser(description="Record what the code computes, and compare two such records.")
    actions = parser.add_subparsers(dest="action", required=True)
    for action in ("record", "check"):
        one = actions.add_parser(action)
        one.add_argument("folder", type=Path)
        one.add_argument("--data", type=Path, default=DATA, help="folder of real data")
        one.add_argument("--quick", action="store_true", help="only the sets that take least time")
        one.add_argument("--sets", nargs="+", choices=[*SETS, *OTHERS], help="only these sets")
        if action == "record":
            one.add_argument("--tunings", type=Path, help="an older record, whose tunings and model files are used")
    two = actions.add_parser("compare")
    two.add_argument("old", type=Path)
    two.add_argument("new", type=Path)
    arguments = parser.parse_args()
    if arguments.action == "compare":
        return compare(arguments.old, arguments.new)
    names = arguments.sets or (QUICK if arguments.quick else [*OTHERS, *SETS])
    data, tunings = arguments.data.resolve(), getattr(arguments, "tunings", None)
    if arguments.action == "record":
        return record(arguments.folder.resolve(), data, tunings and tunings.resolve(), names)
    with tempfile.TemporaryDirectory() as folder:
        record(Path(folder) / "new", data, arguments.folder.resolve(), names)
        return compare(arguments.folder, Path(folder) / "new")


if __name__ == "__main__":
    sys.exit(main())
