"""Requests per second of `naively serve`, compared with a bare echo of the same bytes, and with FastAPI + scikit-learn.

Everything stays on the loopback address, and every measurement has a fixed time. Contenders take turns. `wrk` (Debian)
sends the requests; without it the benchmark ends with a message. On a machine with other work the rates depend on it;
the CPU time of the server for each request hardly does.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np

import naively
from benchmarks.results import record

ECHO = """
import sys, uvicorn
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route
async def echo(request):
    await request.body()
    return Response(ANSWER, media_type="application/json")
ANSWER = open(sys.argv[2], "rb").read()
app = Starlette(routes=[Route("/{path:path}", echo, methods=["POST"])])
uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning", access_log=False)
"""

PEER = """
import sys, pickle, uvicorn
import pandas as pd
from fastapi import FastAPI
from pydantic import BaseModel
class Input(BaseModel):
    name: str
    shape: list[int]
    datatype: str
    data: list[float | str | None]
class Call(BaseModel):
    inputs: list[Input]
with open(sys.argv[2], "rb") as file:
    model, is_text = pickle.load(file)
app = FastAPI()
@app.post("/{path:path}")
def infer(path: str, call: Call) -> dict:
    columns = {column.name: column.data for column in call.inputs}
    rows = columns["text"] if is_text else pd.DataFrame(columns)
    posterior = model.predict_proba(rows)
    return {"predict": model.classes_[posterior.argmax(axis=1)].tolist(), "posterior": posterior.tolist()}
uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning", access_log=False)
"""

Row = dict[str, Any]


def table(n_rows: int) -> tuple[dict[str, list[Any]], list[str]]:
    """Return a table of 7 columns of numbers and 8 of values, and two classes."""
    random = np.random.default_rng(0)
    label = random.integers(0, 2, n_rows)
    columns: dict[str, list[Any]] = {}
    for j in range(7):
        columns[f"number{j}"] = random.normal(label * 0.5 + j, 1 + j).round(2).tolist()
    for j in range(8):
        columns[f"value{j}"] = [f"v{v}" for v in random.integers(0, 5 + j, n_rows) + label * (j % 2)]
    return columns, ["yes" if k else "no" for k in label]


def texts(n_rows: int) -> tuple[list[str], list[str]]:
    """Return texts of 100 words, and two classes."""
    random = np.random.default_rng(1)
    label = random.integers(0, 2, n_rows)
    words = np.array([f"word{i}" for i in range(20_000)])
    shares = 1 / (np.arange(len(words)) + 10)
    orders = [shares / shares.sum(), np.roll(shares, 50) / shares.sum()]
    return [" ".join(random.choice(words, 100, p=orders[k])) for k in label], [f"class{k}" for k in label]


def body_of(row: Row) -> bytes:
    """Return a request of the Open Inference Protocol with one row."""
    inputs = [
        {"name": name, "shape": [1], "datatype": "BYTES" if isinstance(value, str) else "FP64", "data": [value]}
        for name, value in row.items()
    ]
    return json.dumps({"inputs": inputs}).encode()


def free_port() -> int:
    """Return a port that nothing listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


@contextmanager
def server(*command: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server, and end it."""
    process = subprocess.Popen([sys.executable, *command], stdout=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)


def wait_for(url: str, body: bytes | None, seconds: float = 60) -> bytes:
    """Return the first answer of a server that is starting."""
    end = time.monotonic() + seconds
    while True:
        try:
            request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
            with urllib.request.urlopen(request, timeout=10) as answer:
                content: bytes = answer.read()
                return content
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)


def cpu_seconds(process: subprocess.Popen[bytes]) -> float:
    """Return the CPU time, of the process and of the system for it."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def children_seconds() -> float:
    """Return the CPU time of all processes that this one has started and that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def cost(process: subprocess.Popen[bytes], url: str, body: Path, connections: int, seconds: int) -> tuple[float, float]:
    """Return the requests per second, and the CPU time of the server for a request in microseconds."""
    start = cpu_seconds(process)
    requests_per_second = rate(url, body, connections, seconds)
    return requests_per_second, 1e6 * (cpu_seconds(process) - start) / (requests_per_second * seconds)


def rate(url: str, body: Path, connections: int, seconds: int) -> float:
    """Return the requests per second that wrk measures; an answer that is not a success is an error."""
    script = body.with_suffix(".lua")
    script.write_text(
        f'local f = io.open("{body}", "rb"); wrk.body = f:read("*a"); f:close(); wrk.method = "POST"\n'
        'wrk.headers["Content-Type"] = "application/json"\n'
    )
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "-s", str(script), url]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    if "Non-2xx" in output:
        raise RuntimeError(output)
    match = re.search(r"Requests/sec:\s+([\d.]+)", output)
    assert match is not None, output
    return float(match[1])


def compare(name: str, model: naively.Model, peer: Any, row: Row, folder: Path, rounds: int, seconds: int) -> None:
    """Measure one row per request: echo, naively and FastAPI + scikit-learn, in turn."""
    import pickle

    path, body = folder / f"{name}.naively", folder / f"{name}.json"
    model.save(path, overwrite=True)
    body.write_bytes(body_of(row))
    (folder / "echo.py").write_text(ECHO)
    (folder / "peer.py").write_text(PEER)
    (folder / f"{name}.pickle").write_bytes(pickle.dumps((peer, name == "text")))
    ports = [free_port() for _ in range(3)]
    urls = [f"http://127.0.0.1:{port}/v2/models/{name}/infer" for port in ports]
    with server("-m", "naively", "serve", str(path), "--port", str(ports[0])) as ours:
        (folder / "answer.json").write_bytes(wait_for(urls[0], body.read_bytes()))
        with (
            server(str(folder / "echo.py"), str(ports[1]), str(folder / "answer.json")) as echo,
            server(str(folder / "peer.py"), str(ports[2]), str(folder / f"{name}.pickle")) as other,
        ):
            contenders = list(zip((ours, echo, other), urls, strict=True))
            for url in urls:
                wait_for(url, body.read_bytes())
                rate(url, body, 8, 1)
            for connections in (1, 32):
                costs = [[cost(*each, body, connections, seconds) for each in contenders] for _ in range(rounds)]
                report(f"{name}, {connections} connections", np.array(costs))


def report(title: str, costs: Any) -> None:
    """Print and record rates and CPU times, (round, contender, rate or time): medians, and quartiles of ratios."""
    rates, times = costs[..., 0], costs[..., 1]
    ratios = {
        "share of the echo": rates[:, 0] / rates[:, 1],
        "share of the echo by CPU time": times[:, 1] / times[:, 0],
        "times FastAPI + scikit-learn": rates[:, 0] / rates[:, 2],
        "times FastAPI + scikit-learn by CPU time": times[:, 2] / times[:, 0],
    }
    names = ("naively", "echo", "FastAPI + scikit-learn")
    figures: dict[str, Any] = {
        "requests per second": dict(zip(names, np.median(rates, axis=0).tolist(), strict=True)),
        "CPU time of a request, µs": dict(zip(names, np.median(times, axis=0).tolist(), strict=True)),
        **{name: np.quantile(ratio, (0.5, 0.25, 0.75)).tolist() for name, ratio in ratios.items()},
    }
    record(title, None, **figures)
    print(f"{title}: {figures['requests per second']['naively']:.0f}/s")
    for name in ratios:
        print("    {}: {:.2f} ({:.2f}–{:.2f})".format(name, *figures[name]), flush=True)


def million_rows(model: naively.Model, columns: dict[str, list[Any]], folder: Path, n_rows: int) -> None:
    """Measure a file of rows, compared with `naively predict`, by time and by CPU time, and the server's memory."""
    import pyarrow as pa
    from pyarrow import csv

    path, data, out = folder / "table.naively", folder / "rows.csv", folder / "out.csv"
    rows = pa.table(columns)
    with data.open("wb") as file:
        for i in range(-(-n_rows // rows.num_rows)):
            csv.write_csv(rows, file, csv.WriteOptions(include_header=i == 0, quoting_style="none"))
    start, cpu_start = time.perf_counter(), children_seconds()
    command = [sys.executable, "-m", "naively", "predict", str(path), str(data), "-o", str(out), "--force"]
    subprocess.run(command, check=True)
    by_command, cpu_of_command = time.perf_counter() - start, children_seconds() - cpu_start
    port = free_port()
    with server("-m", "naively", "serve", str(path), "--port", str(port)) as process:
        wait_for(f"http://127.0.0.1:{port}/v2/models/table/infer", body_of({"number0": 1.0}))
        start, cpu_start = time.perf_counter(), cpu_seconds(process)
        command = ["curl", "-sS", "-f", "-T", str(data), "-X", "POST", "-H", "Content-Type: text/csv"]
        subprocess.run([*command, f"http://127.0.0.1:{port}/v2/models/table/predict", "-o", str(out)], check=True)
        by_server, cpu_of_server = time.perf_counter() - start, cpu_seconds(process) - cpu_start
        peak = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{process.pid}/status").read_text())
    assert peak is not None
    figures = {
        "naively predict, s": by_command,
        "server, s": by_server,
        "share of the rate": by_command / by_server,
        "share of the rate by CPU time": cpu_of_command / cpu_of_server,
        "peak memory of the server, MB": int(peak[1]) / 1000,
    }
    record(f"{n_rows:,} rows of CSV", None, **figures)
    print(f"{n_rows:,} rows of CSV:", ", ".join(f"{name} {value:.2f}" for name, value in figures.items()), flush=True)


def next_rows(columns: dict[str, list[Any]], folder: Path, n_rows: int) -> None:
    """Measure how long it takes to show the next row of a pool, while rows are labelled one after the other."""
    import pyarrow as pa
    from pyarrow import csv

    rows = pa.table(columns)
    copies = pa.concat_tables([rows] * -(-n_rows // rows.num_rows)).slice(0, n_rows)
    csv.write_csv(copies, folder / "pool.csv", csv.WriteOptions(quoting_style="none"))
    (folder / "tokens").write_text("bench learn 0123456789abcdef\n")
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    command = [
        "serve",
        str(folder / "table.naively"),
        "--learn",
        "--pool",
        str(folder / "pool.csv"),
        "--port",
        str(port),
    ]
    times, cpu_times = [], []
    with server("-m", "naively", *command, "--token-file", str(folder / "tokens")) as process:
        wait_for(f"{address}/v2/health/ready", None)
        fetch(f"{address}/models/table/label.json")  # reads the pool
        for _ in range(30):
            start, cpu_start = time.perf_counter(), cpu_seconds(process)
            row = json.loads(fetch(f"{address}/models/table/label.json"))
            times.append(time.perf_counter() - start)
            cpu_times.append(cpu_seconds(process) - cpu_start)
            form = {"row": row["row"], "label": row["posterior"][0]["class"]}
            fetch(f"{address}/models/table/label", urlencode(form).encode())
    milliseconds = 1000 * np.quantile(times, (0.5, 0.25, 0.75))
    record(f"next row of a pool of {n_rows:,}", {"naively": times}, **{"CPU time, s": {"naively": cpu_times}})
    print("next row of a pool of {:,}: {:.0f} ms ({:.0f}–{:.0f})".format(n_rows, *milliseconds), flush=True)


def fetch(url: str, form: bytes | None = None) -> bytes:
    """Return the answer to a request with the token of this benchmark, or to a form."""
    headers = {"Authorization": "Bearer 0123456789abcdef"}
    with urllib.request.urlopen(urllib.request.Request(url, form, headers), timeout=60) as answer:
        content: bytes = answer.read()
        return content


def readiness(folder: Path) -> None:
    """Measure the time from the start of the command to the first answer, in turn with the echo."""
    body = body_of({"number0": 1.0})
    commands = {
        "naively": ("-m", "naively", "serve", str(folder / "table.naively"), "--port"),
        "echo": (str(folder / "echo.py"),),
    }
    times: dict[str, list[float]] = {name: [] for name in commands}
    cpu_times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(5):
        for name, command in commands.items():
            port, start = free_port(), time.perf_counter()
            answer = [str(folder / "answer.json")] if name == "echo" else []
            with server(*command, str(port), *answer) as process:
                wait_for(f"http://127.0.0.1:{port}/v2/models/table/infer", body)
                times[name].append(time.perf_counter() - start)
                cpu_times[name].append(cpu_seconds(process))
    record("ready", times, **{"CPU time, s": cpu_times})
    for name in commands:
        print(f"ready: {name} {np.median(times[name]):.2f} s, CPU time {np.median(cpu_times[name]):.2f} s")


def main(arguments: list[str]) -> None:
    """Run all measurements."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks serve", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--pool", type=int, default=100_000)
    options = parser.parse_args(arguments)
    if shutil.which("wrk") is None:
        raise SystemExit("this benchmark needs wrk (apt install wrk).")
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.naive_bayes import GaussianNB, MultinomialNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        columns, labels = table(20_000)
        import pandas as pd

        peer = make_pipeline(
            make_column_transformer(
                (OneHotEncoder(handle_unknown="ignore", sparse_output=False), make_column_selector("value")),
                remainder="passthrough",
            ),
            GaussianNB(),
        ).fit(pd.DataFrame(columns), labels)
        model = naively.fit(columns, labels)
        row = {name: column[0] for name, column in columns.items()}
        compare("table", model, peer, row, folder, options.rounds, options.seconds)
        mails, classes = texts(5_000)
        peer = make_pipeline(CountVectorizer(), MultinomialNB()).fit(mails, classes)
        text_model = naively.fit(mails, classes)
        compare("text", text_model, peer, {"text": mails[0]}, folder, options.rounds, options.seconds)
        million_rows(model, columns, folder, options.rows)
        next_rows(columns, folder, options.pool)
        readiness(folder)
