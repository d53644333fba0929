"""Tables from files: `naively.fit` (tune=False) beside pandas, encoders and scikit-learn, and beside just reading.

python -m benchmarks.tables --rows 3000000 --repeats 3
python -m benchmarks.tables --folder DIR --parts read --repeats 15   # the files are made once, and kept
python -m benchmarks.tables --folder DIR --parts predict --formats csv
python -m benchmarks.tables --folder DIR --parts memory --memory 10  # peak memory for the CSV once, and ten times over
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

import naively
from benchmarks.measure import alternate, ratios, report
from naively.cli.answering import answer
from naively.data import read_files

NUMBERS, STRINGS, CLASSES = 10, 6, np.array(["high", "low", "middle"])
CHUNK = 500_000
PARTS = ("fit", "read", "readers", "predict", "memory")


def rows_of(n: int, rng: np.random.Generator) -> pa.Table:
    """Ten columns of numbers, of which some are whole and some have two digits, six of strings, 3 % gaps, a label."""
    label = rng.integers(0, 3, n)
    columns: dict[str, Any] = {}
    for j in range(NUMBERS):
        x = rng.normal(0.3 * (j % 3) * label, 1.0 + 0.1 * j)
        x = np.round(10 * x) if j % 3 == 0 else np.round(x, 2) if j % 3 == 1 else x
        columns[f"n{j}"] = pa.array(x, mask=rng.random(n) < 0.03)
    for j, values in enumerate((3, 8, 20, 50, 200, 1000)[:STRINGS]):
        code = (rng.integers(0, values, n) + label * (rng.random(n) < 0.2)) % values
        names = np.array([f"value_{i}" for i in range(values)])
        columns[f"c{j}"] = pa.array(names[code], mask=rng.random(n) < 0.03)
    columns["label"] = pa.array(CLASSES[label])
    return pa.table(columns)


def write(folder: Path, n: int) -> tuple[Path, Path]:
    """The same rows as CSV and as Parquet."""
    rng = np.random.default_rng(0)
    csv, parquet = folder / "rows.csv", folder / "rows.parquet"
    first = rows_of(0, rng).schema
    with arrow_csv.CSVWriter(csv, first) as lines, pq.ParquetWriter(parquet, first) as columns:
        for start in range(0, n, CHUNK):
            part = rows_of(min(CHUNK, n - start), rng)
            lines.write(part)
            columns.write(part)
    return csv, parquet


class Peer:
    """What a user of scikit-learn writes: impute and encode, a model for the numbers and one for the strings.

    Scores of both are added and the prior, which both have counted, taken once: naive Bayes over mixed columns.
    """

    def fit(self, path: Path) -> Peer:
        """Read a file, and fit."""
        frame = read_frame(path)
        label = frame.pop("label")
        numbers = [name for name in frame.columns if name.startswith("n")]
        strings = [name for name in frame.columns if name.startswith("c")]
        encode = make_pipeline(
            SimpleImputer(strategy="constant", fill_value="missing", missing_values=None),
            OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
        )
        self.encoder = ColumnTransformer([("n", SimpleImputer(), numbers), ("c", encode, strings)])
        x = self.encoder.fit_transform(frame)
        self.gaussian = GaussianNB().fit(x[:, :NUMBERS], label)
        self.categorical = CategoricalNB().fit(x[:, NUMBERS:].astype(np.int64), label)
        return self

    def predict(self, path: Path, out: Path) -> None:
        """Read a file, and write it with the answers."""
        frame = read_frame(path)
        x = self.encoder.transform(frame)
        joint = self.gaussian.predict_joint_log_proba(x[:, :NUMBERS])
        joint += self.categorical.predict_joint_log_proba(x[:, NUMBERS:].astype(np.int64))
        joint -= self.categorical.class_log_prior_
        frame["prediction"] = self.gaussian.classes_[joint.argmax(axis=1)]
        frame.to_parquet(out)


def read_frame(path: Path) -> pd.DataFrame:
    """A file as pandas reads it, with None for strings that are missing."""
    frame = pd.read_csv(path) if path.suffix == ".csv" else pd.read_parquet(path)
    for name in (name for name in frame.columns if str(name).startswith("c")):
        frame[name] = frame[name].astype(object).where(frame[name].notna(), None)
    return frame


def drop(path: Path) -> None:
    """Read all columns as our reader does, and drop them."""
    for _ in read_files(path):
        pass


def predict(model: naively.Model, path: Path, out: Path) -> None:
    """What `naively predict` does."""
    answer(model, [str(path)], str(out), "parquet", {})


PEAK = """
import sys, pathlib, naively
naively.fit([pathlib.Path(sys.argv[1])] * int(sys.argv[2]), "label", tune=False)
[line] = [line for line in open("/proc/self/status") if line.startswith("VmHWM")]
print(int(line.split()[1]) / 1024)
"""


def peak(path: Path, times: int) -> float:
    """Megabytes of a process that fits a file so many times over."""
    return float(subprocess.check_output([sys.executable, "-c", PEAK, str(path), str(times)]))


def beside_peer(files: list[Path], repeats: int) -> None:
    """From file to model."""
    for path in files:
        fits: dict[str, Callable[[], object]] = {
            "ours": partial(naively.fit, path, "label", tune=False),
            "pandas and scikit-learn": partial(Peer().fit, path),
        }
        report(f"fit, {path.stat().st_size / 2**20:.0f} MB {path.suffix[1:]}", fits, repeats)


def by_pyarrow(path: Path) -> None:
    """All rows as Arrow batches, dropped: as the library reads a Parquet file unless told otherwise."""
    with pq.ParquetFile(path) as rows:
        for _ in rows.iter_batches():
            pass


def beside_reading(files: list[Path], repeats: int) -> None:
    """How many times as long a fit takes as reading the same file and dropping the batches.

    Parquet is read by pyarrow, and for a fit as codes instead of strings, which is sooner done: so beside both.
    """
    for path in files:
        readers: dict[str, Callable[[], object]] = {"our reading": partial(drop, path)}
        if path.suffix == ".parquet":
            readers["pyarrow's own"] = partial(by_pyarrow, path)
        seconds = alternate({"fit": partial(naively.fit, path, "label", tune=False), **readers}, repeats)
        least = ", ".join(f"{name} {1e3 * min(times):.0f} ms" for name, times in seconds.items())
        for name in readers:
            print(f"fit beside {name}, {path.suffix[1:]}: {ratios(seconds, name)['fit']}; at best {least}", flush=True)


def by_polars(path: Path) -> None:
    """All rows as Arrow batches, dropped."""
    scanned = pl.scan_csv(path) if path.suffix == ".csv" else pl.scan_parquet(path)
    for frame in scanned.collect_batches(chunk_size=65_536):
        frame.to_arrow()


def by_duckdb(path: Path) -> None:
    """All rows as Arrow batches, dropped."""
    with duckdb.connect() as connection:
        for _ in connection.sql(f"SELECT * FROM '{path}'").to_arrow_reader(65_536):
            pass


def beside_readers(files: list[Path], repeats: int) -> None:
    """How many times as long other readers take to stream the same file and drop it as ours does."""
    for path in files:
        readers = {"polars": partial(by_polars, path), "DuckDB": partial(by_duckdb, path)}
        report(f"read {path.suffix[1:]}", {"ours": partial(drop, path), **readers}, repeats)


def predicting(files: list[Path], repeats: int) -> None:
    """From file to a Parquet file of answers."""
    rows = files[0].with_suffix(".parquet")
    model, peer = naively.fit(rows, "label", tune=False), Peer().fit(rows)
    for path in files:
        out = path.with_name("answers.parquet")
        predicts: dict[str, Callable[[], object]] = {
            "ours": partial(predict, model, path, out),
            "pandas and scikit-learn": partial(peer.predict, path, out),
        }
        report(f"predict {path.suffix[1:]} to Parquet", predicts, repeats)


def main(arguments: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=3_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--memory", type=int, default=1, metavar="TIMES", help="the file so many times over, as well")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--formats", nargs="+", choices=("csv", "parquet"), default=("csv", "parquet"))
    parser.add_argument("--folder", type=Path, help="where the files are, or are made and kept")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        files = (folder / "rows.csv", folder / "rows.parquet")
        if not files[1].exists():
            write(folder, options.rows)
        some = [path for path in files if path.suffix[1:] in options.formats]
        parts = {"fit": beside_peer, "read": beside_reading, "readers": beside_readers, "predict": predicting}
        for name in options.parts:
            if name in parts:
                parts[name](some, options.repeats)
        for times in sorted({1, options.memory}) if "memory" in options.parts else ():
            print(f"peak memory to fit the CSV {times} times over: {peak(files[0], times):.0f} MB", flush=True)


if __name__ == "__main__":
    main()
