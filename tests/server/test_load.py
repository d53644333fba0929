"""Limits of connections, time and memory, and mixed load on a server in a process of its own. Loopback only."""

from __future__ import annotations

import json
import os
import random
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2 as httpx
import pytest
from tests.server.support import column, running, wait_until

import naively

BODY = json.dumps({"inputs": [column("text", "BYTES", ["cheap lunch"])]})


def address(url: str) -> tuple[str, int]:
    parts = urlsplit(url)
    assert parts.hostname == "127.0.0.1"
    assert parts.port is not None
    return parts.hostname, parts.port


def connect(url: str, start: bytes = b"") -> socket.socket:
    connection = socket.create_connection(address(url), timeout=30)
    connection.sendall(start)
    return connection


def read_all(connection: socket.socket) -> bytes:
    parts = []
    while part := connection.recv(65536):
        parts.append(part)
    return b"".join(parts)


def memory_mb(pid: int, field: str = "VmRSS") -> float:
    match = re.search(rf"{field}:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    assert match is not None
    return int(match[1]) / 1000


def n_handles(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


def test_one_connection_too_many_gets_503_with_retry_after(models: Path) -> None:
    with running(models / "mail.naively", "--limit", "connections=3") as server, ExitStack() as stack:
        for _ in range(3):
            stack.enter_context(connect(server.url))
        time.sleep(0.2)
        answer = read_all(stack.enter_context(connect(server.url, b"GET /v2 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")))
        assert answer.startswith(b"HTTP/1.1 503")
        assert b"retry-after: 1" in answer.lower()
        stack.close()
        wait_until(lambda: httpx.get(f"{server.url}/v2").status_code == 200)


def test_200_slow_connections_stop_nobody(models: Path) -> None:
    with running(models / "mail.naively", "--limit", "seconds=4") as server, ExitStack() as stack:
        head = b"POST /v2/models/mail/infer HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n"
        starts = (b"", b"POST /v2", head, head + b"\r\n", head + b"\r\n{")
        slow = [stack.enter_context(connect(server.url, starts[i % len(starts)])) for i in range(200)]
        for _ in range(5):
            response = httpx.post(f"{server.url}/v2/models/mail/infer", content=BODY, timeout=30)
            assert response.status_code == 200
        for connection in slow:  # all are ended after the time limit
            with suppress(ConnectionError):
                read_all(connection)


def test_large_heads_are_refused(models: Path) -> None:
    with running(models / "mail.naively") as server, connect(server.url) as connection:
        connection.sendall(b"GET /v2 HTTP/1.1\r\nHost: 127.0.0.1\r\n")
        with suppress(ConnectionError):  # the server may close before the answer is read
            for _ in range(200):
                connection.sendall(b"X-Filler: " + b"x" * 1000 + b"\r\n")
            assert b"431" in read_all(connection)
        assert httpx.get(f"{server.url}/v2").status_code == 200


def chunks(n_bytes: int, line: bytes = b"cheap lunch at noon says somebody who writes mail\n") -> Iterator[bytes]:
    block = line * (65536 // len(line))
    sent = 0
    yield b"text\n"
    while sent < n_bytes:
        yield block
        sent += len(block)


@pytest.mark.parametrize("n_bytes", [30_000_000, pytest.param(1_000_000_000, marks=pytest.mark.soak)])
def test_memory_is_bounded_when_much_arrives(models: Path, n_bytes: int) -> None:
    with running(models / "mail.naively") as server:
        pid = server.process.pid
        response = httpx.post(f"{server.url}/v2/models/mail/infer", content=chunks(n_bytes), timeout=300)
        assert response.status_code == 413
        with httpx.stream(
            "POST",
            f"{server.url}/v2/models/mail/predict",
            content=chunks(n_bytes),
            headers={"Content-Type": "text/csv"},
            timeout=600,
        ) as answer:
            assert answer.status_code == 200
            n_lines = sum(part.count(b"\n") for part in answer.iter_raw())
        block = b"cheap lunch at noon says somebody who writes mail\n"
        per_chunk = 65536 // len(block)
        assert n_lines == 1 + per_chunk * -(-n_bytes // (per_chunk * len(block)))
        one_line = httpx.post(
            f"{server.url}/v2/models/mail/predict",
            content=chunks(n_bytes, b"x" * 64),
            headers={"Content-Type": "text/csv"},
            timeout=300,
        )
        assert one_line.status_code == 413
        assert memory_mb(pid, "VmHWM") < 300


def call_at_random(server: Any, seed: int, stop: threading.Event, errors: list[Any], counts: list[int]) -> None:
    """Predict, explain, ask, send files and wrong requests, learn and undo, in random order."""
    choose = random.Random(seed)
    headers = {"Authorization": f"Bearer {server.token}"}
    inputs = [column("text", "BYTES", ["cheap lunch at noon"] * choose.randint(1, 5))]
    learn = [column("text", "BYTES", ["cheap lunch"]), column("class", "BYTES", ["ham"])]
    try:
        with httpx.Client(base_url=server.url, headers=headers, timeout=60) as http:
            while not stop.is_set():
                kind = choose.choice(["infer"] * 20 + ["explain", "ask", "predict", "wrong", "get", "learn", "close"])
                if kind in ("infer", "explain"):
                    status = http.post(f"/v2/models/mail/{kind}", json={"inputs": inputs}).status_code
                elif kind == "ask":
                    status = http.post("/v2/models/mail/ask", json={"inputs": []}).status_code
                elif kind == "predict":
                    csv = {"Content-Type": "text/csv"}
                    status = http.post(
                        "/v2/models/mail/predict", content="text\n" + "a b\n" * 500, headers=csv
                    ).status_code
                elif kind == "wrong":
                    wrong = http.post("/v2/models/mail/infer", content=b"{" * choose.randint(1, 9)).status_code
                    status = 200 if wrong == 400 else wrong
                elif kind == "learn":
                    answer = http.post("/v2/models/mail/learn", json={"inputs": learn})
                    undo = http.post("/v2/models/mail/undo", json={"entry": answer.json()["entry"]})
                    status = max(answer.status_code, undo.status_code)
                elif kind == "close":
                    connect(server.url, b"POST /v2/models/mail/infer HTTP/1.1\r\n").close()
                    status = 200
                else:
                    status = http.get(
                        choose.choice(["/v2", "/metrics", "/openapi.json", "/v2/models/mail"])
                    ).status_code
                if status != 200:
                    errors.append((kind, status))
                counts.append(1)
    except Exception as error:
        errors.append(error)


@pytest.mark.parametrize(("n_warm_up", "seconds"), [(300, 5), pytest.param(3000, 600, marks=pytest.mark.soak)])
def test_mixed_load(models: Path, n_warm_up: int, seconds: float) -> None:
    """Memory grows by at most 20 MB, and no handle is left open."""
    errors: list[Any] = []
    counts: list[int] = []
    with running(models / "mail.naively", "--learn") as server:
        pid, stop = server.process.pid, threading.Event()
        threads = [
            threading.Thread(target=call_at_random, args=(server, seed, stop, errors, counts)) for seed in range(6)
        ]
        for thread in threads:
            thread.start()
        wait_until(lambda: len(counts) > n_warm_up, seconds=300)
        before, handles = memory_mb(pid), n_handles(pid)
        time.sleep(seconds)
        after = memory_mb(pid)
        stop.set()
        for thread in threads:
            thread.join()
        time.sleep(1)
        print(f"{len(counts)} requests, memory {before:.1f} to {after:.1f} MB, handles {handles} to {n_handles(pid)}")
        assert not errors[:3]
        assert n_handles(pid) <= handles + 5
        assert after - before < 20
        assert server.stop() == 0
    assert naively.load(models / "mail.naively").class_counts.sum() == 6


def test_the_parts_of_a_response_are_sent_together_and_a_continue_at_once(models: Path) -> None:
    body = BODY.encode()
    head = f"POST /v2/models/mail/infer HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(body)}\r\n".encode()
    with running(models / "mail.naively") as server, connect(server.url) as connection:
        connection.sendall(head + b"Expect: 100-continue\r\n\r\n")
        assert connection.recv(65536).startswith(b"HTTP/1.1 100")
        connection.sendall(body)
        answer = connection.recv(65536)  # one packet
        assert answer.startswith(b"HTTP/1.1 200")
        assert answer.endswith(b"}")
        connection.sendall(3 * (head + b"\r\n" + body))  # without waiting for answers
        answers = b""
        while answers.count(b"HTTP/1.1 200") < 3 or not answers.endswith(b"}"):
            answers += connection.recv(65536)
