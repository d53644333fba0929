"""Models to serve, and servers in the process and in a process of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import copyfile
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.server.support import LEARN, READ, running

import naively
from naively.server import Limits, app

ROOT = Path(__file__).parents[2]
PENGUINS = ROOT / "tests" / "data_sets" / "penguins.csv"
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


@pytest.fixture(scope="session")
def reader(model_files: Path) -> Iterator[TestClient]:
    """Return a client of a server that does not learn."""
    application = app(sorted(model_files.glob("*.naively")))
    with TestClient(application, base_url="http://127.0.0.1:8000", raise_server_exceptions=False) as new:
        yield new


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


@pytest.fixture
def serve() -> Callable[..., Any]:
    """Return the context manager that runs `naively serve`."""
    return running
