"""The share that is shown is that of the rows which the caller has got, over all files, also compressed ones."""

from __future__ import annotations

import bz2
import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from naively.data.files import csv, lines
from naively.data.files.batches import ReadProgress
from naively.data.files.read import read_files

COMPRESS: dict[str, Callable[[bytes], bytes]] = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress}
BLOCK = 1 << 16


def write(path: Path, n_rows: int, kind: str, suffix: str) -> Path:
    values = np.random.default_rng(n_rows).integers(0, 10**9, n_rows).tolist()
    path = path.with_name(f"{path.name}.{kind}{suffix}")
    if kind == "parquet":
        pq.write_table(pa.table({"x": values, "y": values}), path)
    elif kind == "csv":
        path.write_bytes(COMPRESS[suffix]("".join(["x,y\n", *(f"{v},{v}\n" for v in values)]).encode()))
    else:
        path.write_bytes(COMPRESS[suffix]("".join(f'{{"x": {v}, "y": {v}}}\n' for v in values).encode()))
    return path


@pytest.mark.parametrize("raw", [False, True])
@pytest.mark.parametrize(
    ("kind", "suffix"), [("csv", ""), ("csv", ".gz"), ("csv", ".bz2"), ("jsonl", ""), ("jsonl", ".gz"), ("parquet", "")]
)
def test_the_share_is_that_of_the_rows(
    kind: str, suffix: str, raw: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv, "BLOCK_BYTES", BLOCK)
    monkeypatch.setattr(csv, "SMALL_BLOCK_BYTES", BLOCK)
    monkeypatch.setattr(lines, "BLOCK_BYTES", BLOCK)
    n_rows = [60_000, 5_000, 180_000]
    tolerance = {"": 0.06, ".gz": 0.12, ".bz2": 0.3}[suffix]  # a block of bzip2 is 900 kB, a fifth of all files
    tolerance = 0.25 if kind == "parquet" else tolerance
    files = [write(tmp_path / str(i), n, kind, suffix) for i, n in enumerate(n_rows)]
    progress = ReadProgress()
    n_read, last = 0, 0.0
    for n_batches, batch in enumerate(read_files(files, raw=raw, progress=progress), start=1):
        n_read += batch.num_rows
        share = progress.share(n_batches)
        assert share is not None
        assert share >= last
        assert abs(share - n_read / sum(n_rows)) < tolerance
        last = share
    assert n_read == sum(n_rows)
    assert last > 0.97
    assert n_batches >= 3


def test_the_share_is_unknown_before_the_first_batch(tmp_path: Path) -> None:
    progress = ReadProgress()
    assert progress.share(0) is None
    batches = read_files(write(tmp_path / "a", 10, "csv", ""), progress=progress)
    assert progress.share(0) is None
    next(batches)
    assert progress.share(1) == 1.0
    assert progress.share(5) is None
