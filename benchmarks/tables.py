"""Tables from files: `naively.fit` (tune=False) compared with pandas and scikit-learn, and with reading alone.

python -m benchmarks tables --rows 3000000 --repeats 3
python -m benchmarks tables --folder DIR --parts read --repeats 15   # makes the files once, and keeps them
python -m benchmarks tables --folder DIR --parts predict --formats csv
python -m benchmarks tables --folder DIR --parts memory --memory 10  # peak memory for the CSV once, and ten times over
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
from benchmarks.results import record
from naively.cli.main import main as main_command
from naively.data.files.read import read_files

NUMBERS, STRINGS, CLASSES = 10, 6, np.array(["high", "low", "middle"])
CHUNK_ROWS = 500_000
PARTS = ("fit", "read", "readers", "predict", "memory")


def make_rows(n: int, rng: np.random.Generator) -> pa.Table:
    """Make ten columns of numbers (integers, two decimals, floats), six of strings, 3 % missing values, a label."""
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
    """Write the same rows as CSV and as Parquet."""
    rng = np.random.default_rng(0)
    csv, parquet = folder / "rows.csv", folder / "rows.parquet"
    first = make_rows(0, rng).schema
    with arrow_csv.CSVWriter(csv, first) as lines, pq.ParquetWriter(parquet, first) as columns:
        for start in range(0, n, CHUNK_ROWS):
            part = make_rows(min(CHUNK_ROWS, n - start), rng)
            lines.write(part)
            columns.write(part)
    return csv, parquet


class Peer:
    """What a user of scikit-learn writes: impute and encode, a model for the numbers and one for the strings.

    The scores of both are added, and the prior, which both contain, is subtracted once: Naive Bayes of mixed columns.
    """

    def fit(self, path: Path) -> Peer:
        """Read a file and fit."""
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
        """Read a file and write it with the predictions."""
        frame = read_frame(path)
        x = self.encoder.transform(frame)
        joint = self.gaussian.predict_joint_log_proba(x[:, :NUMBERS])
        joint += self.categorical.predict_joint_log_proba(x[:, NUMBERS:].astype(np.int64))
        joint -= self.categorical.class_log_prior_
        frame["prediction"] = self.gaussian.classes_[joint.argmax(axis=1)]
        frame.to_parquet(out)


def read_frame(path: Path) -> pd.DataFrame:
    """Read a file with pandas, with None for missing strings."""
    frame = pd.read_csv(path) if path.suffix == ".csv" else pd.read_parquet(path)
    for name in (name for name in frame.columns if str(name).startswith("c")):
        frame[name] = frame[name].astype(object).where(frame[name].notna(), None)
    return frame


def drop(path: Path) -> None:
    """Read all columns with our reader and drop them."""
    for _ in read_files(path):
        pass


def predict(model: Path, path: Path, out: Path) -> None:
    """Run `naively predict`."""
    main_command.main(["predict", str(model), str(path), "-o", str(out), "--force"], standalone_mode=False)


PEAK = """
import sys, pathlib, naively
naively.fit([pathlib.Path(sys.argv[1])] * int(sys.argv[2]), "label", tune=False)
[line] = [line for line in open("/proc/self/status") if line.startswith("VmHWM")]
print(int(line.split()[1]) / 1024)
"""


def peak(path: Path, times: int) -> float:
    """Return the peak megabytes of a process that fits a file `times` times over."""
    return float(subprocess.check_output([sys.executable, "-c", PEAK, str(path), str(times)]))


def compare_fits(files: list[Path], repeats: int) -> None:
    """Compare fits from a file."""
    for path in files:
        fits: dict[str, Callable[[], object]] = {
            "ours": partial(naively.fit, path, "label", tune=False),
            "pandas and scikit-learn": partial(Peer().fit, path),
        }
        report(f"fit, {path.stat().st_size / 2**20:.0f} MB {path.suffix[1:]}", fits, repeats)


def by_pyarrow(path: Path) -> None:
    """Read all rows as Arrow batches with the defaults of pyarrow, and drop them."""
    with pq.ParquetFile(path) as rows:
        for _ in rows.iter_batches():
            pass


def compare_with_reading(files: list[Path], repeats: int) -> None:
    """Compare a fit with reading the same file and dropping the batches.

    Our reader reads strings of Parquet as codes, which is faster than the defaults of pyarrow. A fit is compared with
    both.
    """
    for path in files:
        readers: dict[str, Callable[[], object]] = {"our reader": partial(drop, path)}
        if path.suffix == ".parquet":
            readers["pyarrow"] = partial(by_pyarrow, path)
        seconds = alternate({"fit": partial(naively.fit, path, "label", tune=False), **readers}, repeats)
        least = ", ".join(f"{name} {1e3 * min(times):.0f} ms" for name, times in seconds.items())
        for name in readers:
            ratio = ratios(seconds, name)["fit"]
            print(f"fit compared with {name}, {path.suffix[1:]}: {ratio}; at best {least}", flush=True)
            record(f"fit compared with {name}, {path.suffix[1:]}", seconds, ratios={"fit": ratio.quartiles})


def by_polars(path: Path) -> None:
    """Read all rows as Arrow batches with polars, and drop them."""
    scanned = pl.scan_csv(path) if path.suffix == ".csv" else pl.scan_parquet(path)
    for frame in scanned.collect_batches(chunk_size=65_536):
        frame.to_arrow()


def by_duckdb(path: Path) -> None:
    """Read all rows as Arrow batches with DuckDB, and drop them."""
    with duckdb.connect() as connection:
        for _ in connection.sql(f"SELECT * FROM '{path}'").to_arrow_reader(65_536):
            pass


def compare_readers(files: list[Path], repeats: int) -> None:
    """Compare other readers with ours: stream the file and drop it."""
    for path in files:
        readers = {"polars": partial(by_polars, path), "DuckDB": partial(by_duckdb, path)}
        report(f"read {path.suffix[1:]}", {"ours": partial(drop, path), **readers}, repeats)


def compare_predictions(files: list[Path], repeats: int) -> None:
    """Compare predictions from a file to a Parquet file."""
    rows = files[0].with_suffix(".parquet")
    model, peer = files[0].with_name("rows.naively"), Peer().fit(rows)
    naively.fit(rows, "label", tune=False).save(model)
    for path in files:
        out = path.with_name("predictions.parquet")
        predicts: dict[str, Callable[[], object]] = {
            "ours": partial(predict, model, path, out),
            "pandas and scikit-learn": partial(peer.predict, path, out),
        }
        report(f"predict {path.suffix[1:]} to Parquet", predicts, repeats)


def main(arguments: list[str]) -> None:
    """Print and record the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=3_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--memory", type=int, default=1, metavar="TIMES", help="also fit the file TIMES times over")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--formats", nargs="+", choices=("csv", "parquet"), default=("csv", "parquet"))
    parser.add_argument("--folder", type=Path, help="folder of the files, which are made if they do not exist")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        files = (folder / "rows.csv", folder / "rows.parquet")
        if not files[1].exists():
            write(folder, options.rows)
        chosen_files = [path for path in files if path.suffix[1:] in options.formats]
        parts = {
            "fit": compare_fits,
            "read": compare_with_reading,
            "readers": compare_readers,
            "predict": compare_predictions,
        }
        for name in options.parts:
            if name in parts:
                parts[name](chosen_files, options.repeats)
        for times in sorted({1, options.memory}) if "memory" in options.parts else ():
            megabytes = peak(files[0], times)
            print(f"peak memory to fit the CSV {times} times over: {megabytes:.0f} MB", flush=True)
            record(f"peak memory to fit the CSV {times} times over", megabytes={"ours": megabytes})
