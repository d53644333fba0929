"""Models to serve, and servers in the process and in a process of their own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import copyfile
from typing import Any

import pytest
from starlette.testclient import TestClient

import naively
from naively.server import Limits, Token, app

ROOT = Path(__file__).parents[2]
PENGUINS = ROOT / "tests" / "data_sets" / "penguins.csv"
LEARN = Token("anna", "a-token-that-may-learn", True)
READ = Token("bob", "a-token-that-may-read")
TEXTS = ["cheap pills now", "lunch at noon?", "cheap offer, buy now", "see you at lunch", "buy cheap pills", "at noon"]
LABELS = ["spam", "ham", "spam", "ham", "spam", "ham"]


@pytest.fixture(scope="session")
def model_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of models, which are not changed: a table, texts, numbered columns."""
    folder = tmp_path_factory.mktemp("models")
    naively.fit(str(PENGUINS), "species").save(folder / "penguins.naively")
    naively.fit(TEXTS, LABELS).save(folder / "mail.naively")
    naively.fit([[0.5, 1], [1.5, 2], [3.5, 1], [4.5, 9]], [0, 0, 1, 1]).save(folder / "numbers.naively")
    return folder


@pytest.fixture
def models(model_files: Path, tmp_path: Path) -> Path:
    """Return a folder of the same models, which may be changed."""
    for path in model_files.glob("*.naively"):
        copyfile(path, tmp_path / path.name)
    return tmp_path


Client = Callable[..., Any]


@pytest.fixture
def client(models: Path) -> Iterator[Client]:
    """Return a function that starts an application with some options and returns a client of it."""
    clients: list[TestClient] = []

    def start(*, learn: bool = False, limits: Limits | None = None, **options: Any) -> TestClient:
        if learn:
            options.setdefault("tokens", [LEARN, READ])
        application = app(sorted(models.glob("*.naively")), learn=learn, limits=limits, **options)
        new = TestClient(application, base_url="http://127.0.0.1:8000", raise_server_exceptions=False)
        new.__enter__()
        clients.append(new)
        return new

    yield start
    for each in clients:
        each.__exit__(None, None, None)


@dataclass
class Server:
    """A server in a process of its own."""

    process: subprocess.Popen[str]
    url: str
    token: str | None

    def stop(self) -> int:
        """End it as an operator does, and return its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=60)


@contextmanager
def running(*arguments: str | Path, **environment: str) -> Iterator[Server]:
    """Run `naively serve` on a free port of the loopback address."""
    command = [sys.executable, "-m", "naively", "serve", *map(str, arguments)]
    if "--uds" not in command:
        command += ["--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | environment)
    try:
        assert process.stdout is not None
        url, token = "", None
        for line in process.stdout:
            if match := re.search(r"(https?://\S+?)/?(?:\?token=(\S+))?$", line.strip()):
                url, token = match[1], match[2]
                break
        yield Server(process, url, token)
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait(timeout=60)


@pytest.fixture
def serve() -> Callable[..., Any]:
    """Return the context manager that runs `naively serve`."""
    return running
