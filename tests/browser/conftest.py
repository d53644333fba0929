"""A real browser and a real server: Debian's chromium, driven by playwright, and `naively serve` in a process."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import copyfile, which
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Request, sync_playwright
from tests.server.conftest import PENGUINS
from tests.server.support import Server, running

import naively

CHROMIUM = os.environ.get("CHROMIUM") or which("chromium") or which("chromium-browser")
SCREENSHOTS = Path(__file__).parents[2] / "build" / "screenshots"
OTHER_HOST = "evil.example"  # leads to this machine in the browser
SIZES = {"narrow": (390, 844), "wide": (1280, 900)}


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Start the browser."""
    if CHROMIUM is None:
        pytest.skip("chromium is not installed")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", f"--host-resolver-rules=MAP {OTHER_HOST} 127.0.0.1"]
        )
        yield started
        started.close()


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with models, a pool and test rows."""
    folder = tmp_path_factory.mktemp("site")
    head, *rows = PENGUINS.read_text().splitlines()
    (folder / "train.csv").write_text("\n".join([head, *rows[::2]]) + "\n")
    (folder / "test.csv").write_text("\n".join([head, *rows[1::4]]) + "\n")
    (folder / "pool.csv").write_text("\n".join([head, *rows[3::4]]) + "\n")
    naively.fit(folder / "train.csv", "species").save(folder / "penguins.naively")
    texts = ["win a free prize now", "lunch at noon today", "cheap pills, free entry", "see you at home tonight"] * 10
    naively.fit(texts, ["spam", "ham"] * 20).save(folder / "mail.naively")
    return folder


@pytest.fixture
def server(files: Path, tmp_path: Path) -> Iterator[Server]:
    """Run a server that learns, on copies of the models."""
    for name in ("penguins", "mail"):
        copyfile(files / f"{name}.naively", tmp_path / f"{name}.naively")
    models = [tmp_path / "penguins.naively", tmp_path / "mail.naively"]
    with running(*models, "--learn", "--pool", files / "pool.csv", "--test", files / "test.csv") as started:
        yield started


Visit = Callable[..., Page]


@pytest.fixture
def visit(browser: Browser, server: Server) -> Iterator[Visit]:
    """Return a function that opens a page in a new window; a request to another host or an error of a script fails."""
    contexts: list[BrowserContext] = []
    strangers: list[str] = []
    errors: list[str] = []

    def see(request: Request) -> None:
        if not request.url.startswith((server.url, "data:")):
            strangers.append(request.url)

    def open_window(path: str = "/", size: str = "wide", scheme: Any = "light", script: bool = True) -> Page:
        width, height = SIZES[size]
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, java_script_enabled=script
        )
        contexts.append(context)
        page = context.new_page()
        page.on("request", see)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.goto(f"{server.url}/?token={server.token}")
        page.goto(server.url + path)
        return page

    yield open_window
    for context in contexts:
        context.close()
    assert strangers == []
    assert errors == []
