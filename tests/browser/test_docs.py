"""The pages of the documentation as a browser shows them: none is wider than the window or loads from elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser
from tests.browser.conftest import SIZES

DOCS = Path(__file__).parents[2] / "build" / "docs"
PAGES = sorted(DOCS.rglob("*.html"))


@pytest.mark.skipif(not PAGES, reason="the documentation is not built: make docs")
@pytest.mark.parametrize("size", SIZES)
def test_pages_fit_and_load_nothing_from_elsewhere(browser: Browser, size: str) -> None:
    width, height = SIZES[size]
    page = browser.new_page(viewport={"width": width, "height": height})
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    too_wide = []
    for path in PAGES:
        page.goto(path.as_uri())
        if page.evaluate("document.documentElement.scrollWidth") > width:
            too_wide.append(path.relative_to(DOCS).as_posix())
    page.close()
    assert not too_wide
    assert len(requests) > len(PAGES)
    assert not [url for url in requests if not url.startswith(("file:", "data:"))]


@pytest.mark.skipif(not PAGES, reason="the documentation is not built: make docs")
def test_equations_are_typeset(browser: Browser) -> None:
    page = browser.new_page()
    page.goto((DOCS / "families" / "bernoulli.html").as_uri())
    page.wait_for_selector("mjx-container")
    assert page.locator("mjx-container").count() >= 5
    page.close()
