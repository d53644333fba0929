"""Messy data, from a file and from a pipe: `fit` succeeds, or prints one sentence with the file and the line."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import naively
from naively import LeftOutWarning
from naively.cli.input import format_progress, read_with_progress
from naively.cli.main import main
from naively.data.files.batches import ReadProgress
from naively.data.files.paths import Files
from naively.data.files.read import read_files

HEAD = "sky,wind,play\n"
SOME = "sun,1.25,yes\nrain,9.5,no\nsun,2.75,yes\nrain,8.5,no\n"
MANY = SOME * 30_000  # 1.6 MB: longer than the part that decides the encoding
BLOCKS = SOME * 100_000  # 5.3 MB: longer than the block that decides the types


def fit(data: bytes, folder: Path, name: str = "d.csv") -> list[Result]:
    """Fit from a file and from standard input."""
    (folder / name).write_bytes(data)
    arguments = ["fit", "--target", "play", "--no-tune", "--force", "-o", str(folder / "m")]
    runner = CliRunner()
    return [runner.invoke(main, [*arguments, str(folder / name)]), runner.invoke(main, [*arguments, "-"], input=data)]


@pytest.mark.parametrize(
    ("data", "rows"),
    [
        (HEAD + SOME, 4),
        ("\ufeff" + HEAD + SOME, 4),
        ((HEAD + SOME).replace("\n", "\r\n"), 4),
        ((HEAD + SOME).replace("\n", "\r"), 4),
        (HEAD + SOME + 'sun,,yes\n"a ""b"",\nc",NA,no\n', 6),
        ('"sky","wind","play"\n"sun","1","yes"\n"rain","2","no"\n', 2),
        (HEAD + "sun,,yes\nrain,,no\n", 2),
        (HEAD + "sun,1,yes\nrain,2,yes\n", 2),
        (HEAD + BLOCKS + "sun,7,yes\n", 400_001),
        ('{"a": 1, "play": "x"}\n{"a": 2.5, "play": "y"}\n{"a": null, "play": "y"}\n', 3),
    ],
    ids=[
        "plain",
        "mark",
        "windows",
        "mac",
        "quotes",
        "numbers in quotes",
        "missing values",
        "one class",
        "blocks",
        "json",
    ],
)
def test_fit_succeeds(data: str, rows: int, tmp_path: Path) -> None:
    for result in fit(data.encode(), tmp_path, "d.json" if data[:1] == "{" else "d.csv"):
        assert result.exit_code == 0, result.output
        assert f"from {rows:,} rows." in result.stdout
        assert not result.stderr
        assert naively.load(tmp_path / "m").class_weights.rows.sum() == rows


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1"])
def test_encodings(encoding: str, tmp_path: Path) -> None:
    for result in fit((HEAD + SOME + "höll,3,yes\n").encode(encoding), tmp_path):
        assert result.exit_code == 0
        assert naively.load(tmp_path / "m").evaluate({"sky": ["höll"], "wind": [3]}, ["yes"]).rows == 1
        assert "höll" in CliRunner().invoke(main, ["show", str(tmp_path / "m"), "sky"]).stdout


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "empty"),
        (b"\n\n", "empty"),
        (HEAD.encode(), "has a header and no rows"),
        (HEAD.strip().encode(), "has a header and no rows"),
        ((HEAD + SOME + "sun,1\n" + SOME).encode(), ", line 6: 2 cells where the header has 3"),
        ((HEAD + BLOCKS + "sun,1,yes,more\n").encode(), ", line 400002: 4 cells where the header has 3"),
        ((HEAD + SOME + '"sun,1,yes\n' + SOME).encode(), ", line 6: 1 cell where the header has 3"),
        ((HEAD + SOME + 'sun,1,"yes\n' + SOME).encode(), ", line 6: a quote is opened and not closed"),
        ((HEAD + BLOCKS + 'sun,1,"yes\n' + SOME).encode(), ", line 400002: a quote is opened and not closed"),
        (("sky,sky,play\n" + SOME).encode(), ", line 1: column names that occur more than once: sky"),
        ((",,play\n" + SOME).encode(), ", line 1: column names that occur more than once: '' (no name)"),
        (("\ufeff" + HEAD + SOME).encode("utf-32-le"), "is UTF-32"),
        (HEAD.replace("play", "Play").encode() + SOME.encode(), "no column 'play' to predict (did you mean 'Play'?)"),
        ((HEAD + MANY + "höll,3,yes\n").encode("latin-1"), ", line 120002: is not UTF-8"),
        ((HEAD + BLOCKS + "höll,3,yes\n").encode("latin-1"), ", line 400002: is not UTF-8"),
        ((HEAD + SOME).encode() + b"\0\0,1,yes\n", "is not text"),
        ((HEAD + "sun,1,\nsun,2,NA\n").encode(), "no rows to count: 2 in the data, 2 of them without a 'play'"),
        ((HEAD + MANY).encode("utf-16") + b"x", "cannot be read to its end"),
        (b"PAR1 not really", "cannot be read as parquet"),
        (b"\x1f\x8bnot really", "cannot be read"),
        (b'{"a": 1, "play": "x"}\n{"a": 2, "play": "y"\n', ", line 2: is not a JSON object"),
        (b'{"a": 1, "play": "x"}\n\n{"a": "b", "play": "y"}\n', ", line 3: column 'a' is \"b\", of type string"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_errors_name_the_file_and_the_line(data: bytes, message: str, tmp_path: Path) -> None:
    name = "d.csv.gz" if data[:2] == b"\x1f\x8b" else "d.json" if data[:1] == b"{" else "d.csv"
    for result, given in zip(fit(data, tmp_path, name), (name, "standard input"), strict=True):
        assert result.exit_code == 1, result.output
        assert message in result.stderr
        assert result.stderr.count("\n") == 1
        assert given in result.stderr
        assert not (tmp_path / "m").exists()


def test_line_breaks_in_the_last_quoted_cell(tmp_path: Path) -> None:
    for result in fit((HEAD + SOME + 'sun,1,"no\nway"\n').encode(), tmp_path):
        assert result.exit_code == 0, result.output


def test_errors_of_predict_name_the_row(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text(HEAD + SOME)
    naively.fit(tmp_path / "d.csv", "play", tune=False).save(tmp_path / "m")
    (tmp_path / "n.csv").write_text("sky,wind\n" + "sun,1\n" * 70_000 + "rain, much \n")
    for command in (["predict"], ["explain", "--row", "70001"]):
        result = CliRunner().invoke(main, [command[0], str(tmp_path / "m"), str(tmp_path / "n.csv"), *command[1:]])
        assert result.exit_code == 1
        assert "n.csv, line 70,002: column 'wind' is 'much', but should be a number" in result.stderr


def test_a_type_that_changes_late(tmp_path: Path) -> None:
    integers = ("a,play\n" + "1,yes\n2,no\n" * 400_000).encode()
    file, pipe = fit(integers + b"2.5,yes\n", tmp_path)
    assert "line 800002: column 'a' is '2.5', but should be a whole number. It is read as number." in file.stderr
    assert (file.exit_code, pipe.exit_code, pipe.stderr) == (0, 0, "")
    file, pipe = fit(integers + b"many,yes\n", tmp_path)
    assert "line 800002: column 'a' is 'many'" in file.stderr
    assert "It is read as string" in file.stderr
    assert file.exit_code == 0
    assert pipe.exit_code == 1
    assert "standard input, line 800002: column 'a' is 'many'" in pipe.stderr
    assert "save it to a file" in pipe.stderr


def test_thousands_of_columns(tmp_path: Path) -> None:
    names = [f"c{i}" for i in range(3000)]
    lines = [",".join([*(str((i * k) % 7) for i in range(3000)), "ab"[k % 2]]) for k in range(40)]
    (tmp_path / "w.csv").write_text(",".join([*names, "play"]) + "\n" + "\n".join(lines) + "\n")
    model = naively.fit(tmp_path / "w.csv", "play", tune=False)
    assert len(model.schema.names) == 3000
    [predictions] = naively.predict_batches(model, read_files(tmp_path / "w.csv", raw=True))
    assert predictions.num_columns == 3002


def test_predictions_come_before_standard_input_ends(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text(HEAD + SOME)
    naively.fit(tmp_path / "d.csv", "play", tune=False).save(tmp_path / "m")
    command = [sys.executable, "-m", "naively", "predict", str(tmp_path / "m"), "-"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(b"sky,wind\nsun,1\n")
        process.stdin.flush()
        assert [process.stdout.readline() for _ in range(2)] == [b"sky,wind,prediction\n", b"sun,1,yes\n"]
        process.stdin.write(b"rain,9\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"rain,9,no\n"  # and the pipe is still open
        process.stdin.close()
        assert process.stderr.read() == b""  # silence where there is no terminal


def test_progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "d.csv").write_text(HEAD + BLOCKS)
    progress = ReadProgress()
    batches = read_files(tmp_path / "d.csv", progress=progress)
    shares = [progress.share(n_batches) for n_batches, _ in enumerate(batches, start=1)]
    assert shares
    assert all(share is not None and 0 < share <= 1 for share in shares)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(time, "monotonic", iter(range(0, 10**6, 10)).__next__)
    list(read_with_progress(Files(tmp_path / "d.csv")))
    assert "rows, " in capfd.readouterr().err
    assert format_progress(10, 1000.0, 0.5) == "10 rows, 0 a second, 50 %, 16 min left"


def test_readers_are_closed_early(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text(HEAD + BLOCKS * 3)
    before = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else 0
    for _ in range(3):
        batches = read_files(tmp_path / "d.csv")
        next(batches)
        batches.close()  # type: ignore[attr-defined]
    if before:
        assert len(os.listdir("/proc/self/fd")) <= before + 4


def test_a_missing_column_gives_one_warning(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text(HEAD + MANY)
    model = naively.fit(tmp_path / "d.csv", "play", tune=False)
    with pytest.warns(LeftOutWarning, match="column 'wind' is not in the data") as warnings:
        assert sum(t.num_rows for t in naively.predict_batches(model, iter([{"sky": ["sun"]}] * 3), prompt=True)) == 3
    assert len(warnings) == 1


@pytest.mark.parametrize(("cell", "is_comma"), [("1,5", True), ("-,5", True), ("1,500.5", False), ("cold", False)])
def test_a_decimal_comma_is_named(tmp_path: Path, cell: str, is_comma: bool) -> None:
    (tmp_path / "train.csv").write_text("a;y\n" + "".join(f"{i}.5;{'pq'[i % 2]}\n" for i in range(20)))
    (tmp_path / "new.csv").write_text(f'a\n"{cell}"\n')
    run = CliRunner().invoke
    assert run(main, ["fit", str(tmp_path / "train.csv"), "--target", "y", "-o", str(tmp_path / "m")]).exit_code == 0
    result = run(main, ["predict", str(tmp_path / "m"), str(tmp_path / "new.csv")])
    assert result.exit_code == 1
    assert ("--decimal ," in result.stderr) == is_comma
    assert ("Correct the cell" in result.stderr) != is_comma
    given = run(main, ["predict", str(tmp_path / "m"), str(tmp_path / "new.csv"), "--decimal", ","])
    assert given.exit_code == (0 if is_comma else 1)
