"""Every page at two widths, light and dark: no violation of axe, no horizontal scroll, a table for every picture."""

from __future__ import annotations

from pathlib import Path
from shutil import copyfile
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect
from tests.browser.conftest import SCREENSHOTS, SIZES, Visit
from tests.server.support import running

import naively

ROW = urlencode({"v.island": "Dream", "v.bill_length_mm": "48", "v.body_mass_g": "3800"})
MESSAGE = urlencode({"v.text": "Free entry today! Win a prize, then lunch at home?"})
PAGES = {
    "start": "/",
    "ask": "/models/penguins/ask",
    "ask-some": f"/models/penguins/ask?{ROW}",
    "ask-text": f"/models/mail/ask?{MESSAGE}",
    "why": f"/models/penguins/why?{ROW}",
    "why-text": f"/models/mail/why?{MESSAGE}",
    "nomogram": "/models/penguins/nomogram?p.island=2&p.flipper_length_mm=1",
    "nomogram-text": "/models/mail/nomogram",
    "label": "/models/penguins/label",
    "history": "/models/penguins/history",
    "history-diff": "/models/penguins/history?old=1&new=2",
    "evaluation": "/models/penguins/evaluation",
    "model": "/models/penguins/model",
    "model-text": "/models/mail/model",
}
MAX_BYTES = 100_000


def check_looks(page: Page, name: str, axe: Axe) -> None:
    """Check what holds for every page, and take a picture of it."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=True)
    width = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    assert width[0] <= width[1], f"{name} scrolls sideways: {width}"
    violations = axe.run(page).response["violations"]
    assert violations == [], [(v["id"], [n["target"] for n in v["nodes"]]) for v in violations]
    without_table = page.evaluate(
        "[...document.querySelectorAll('main svg:not(.dot)')]"
        ".filter(svg => !svg.closest('table') && !svg.closest('section')?.querySelector('table')).length"
    )
    assert without_table == 0
    size = page.evaluate("fetch(location).then(r => r.text()).then(t => new TextEncoder().encode(t).length)")
    assert size <= MAX_BYTES


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", ["narrow", "wide"])
def test_every_page(visit: Visit, size: str, scheme: str) -> None:
    page = visit("/models/penguins/label", size, scheme)
    for _ in range(2):
        page.locator("#label button").first.click()
    axe = Axe()
    origin = page.url.split("/models")[0]
    for name, path in PAGES.items():
        page.goto(origin + path)
        for details in page.locator("main details").all():
            details.evaluate("element => { element.open = true; }")
        check_looks(page, f"{name}-{size}-{scheme}", axe)
    page.goto(f"{origin}/models/penguins/why?{ROW}")
    page.locator(".choices button").last.click()
    check_looks(page, f"taught-{size}-{scheme}", axe)


def test_an_error_is_a_page(browser: Browser, files: Path) -> None:
    with running(files / "mail.naively") as server:
        page = browser.new_page(viewport={"width": 390, "height": 800})
        page.goto(f"{server.url}/models/nothing/ask")
        expect(page.get_by_role("heading", name="Not found")).to_be_visible()
        check_looks(page, "error-narrow", Axe())
        page.close()


STRANGE = ["<script>alert(1)</script>", "x" * 10_000, "שלום עולם", "", "\u202eevil", "日本語の列", "a&b=c#d?e"]


def strange_model(folder: Path) -> Path:
    """Save a model whose columns, values and classes have strange names."""
    generator = np.random.default_rng(0)
    columns: dict[str, Any] = {name: generator.integers(0, 3, 80).astype(float) for name in STRANGE}
    names = [*STRANGE[:4], "plain"]
    code = generator.integers(0, 5, 80)
    columns["values"] = [names[k] or None for k in (code + generator.integers(0, 2, 80)) % 5]
    naively.fit(columns, [names[k] for k in code], tune=False).save(folder / "strange.naively")
    return folder / "strange.naively"


@pytest.mark.parametrize("size", [390, 1280])
def test_strange_names(browser: Browser, tmp_path: Path, size: int) -> None:
    axe = Axe()
    with running(strange_model(tmp_path)) as server:
        page = browser.new_page(viewport={"width": size, "height": 800})
        page.on("dialog", lambda dialog: pytest.fail(f"a name was run as a script: {dialog.message}"))
        row = urlencode({"v.": "1", "v.שלום עולם": "2", "v.values": "<script>alert(1)</script>", "n.1": "2"})
        for path in (f"ask?{row}", f"why?{row}", "nomogram", "history", "model"):
            page.goto(f"{server.url}/models/strange/{path}")
            check_looks(page, f"strange-{path.split('?')[0]}-{size}", axe)
        shown = [bdi.text_content() for bdi in page.locator("main bdi").all()]
        for name in STRANGE:
            assert not name or name in shown
        assert page.locator("main .empty").count() > 0
        page.close()


LINES_OF_WORDS = """[...document.querySelectorAll('th, td, td b, .detail')].flatMap(element => [...element.childNodes])
    .filter(node => node.nodeType === Node.TEXT_NODE).flatMap(node => {
        const broken = [];
        for (const match of node.textContent.matchAll(/[\\p{L}\\p{N}_.,]+/gu)) {
            const range = document.createRange();
            range.setStart(node, match.index);
            range.setEnd(node, match.index + match[0].length);
            const tops = new Set([...range.getClientRects()].filter(r => r.width > 0).map(r => Math.round(r.top)));
            if (tops.size > 1) broken.push(match[0]);
        }
        return broken;
    })"""


def test_names_of_columns_are_not_broken_on_a_narrow_screen(visit: Visit) -> None:
    page = visit("/models/penguins/model", "narrow")
    assert page.evaluate(LINES_OF_WORDS) == []
    page = visit(f"/models/penguins/why?{ROW}", "narrow")
    assert page.evaluate(LINES_OF_WORDS) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", ["narrow", "wide"])
def test_a_report(browser: Browser, files: Path, tmp_path: Path, size: str, scheme: Any) -> None:
    """It fits the screen, no word of a table is broken, a value and its unit are on one line, and axe is content."""
    path = Path(copyfile(files / "penguins.naively", tmp_path / "penguins.naively"))
    with naively.open(path) as ledger:
        ledger.update(files / "test.csv", source="test.csv")
        ledger.forget(files / "test.csv", source="test.csv")
    naively.report(path, files / "test.csv").save(tmp_path / "report.html")
    width, height = SIZES[size]
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
    page = context.new_page()
    page.goto(f"file://{tmp_path / 'report.html'}")
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"report-{size}-{scheme}.png", full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    wide = (
        "[...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth + 1)"
        ".map(e => [e.scrollWidth, e.textContent.slice(0, 60)])"
    )
    assert page.evaluate(wide) == []
    assert page.evaluate(LINES_OF_WORDS) == []
    units = "[...document.querySelectorAll('td.number')].filter(cell => / %/.test(cell.textContent)).length"
    assert page.evaluate(units) == 0
    violations = Axe().run(page).response["violations"]
    assert violations == [], [(v["id"], [n["target"] for n in v["nodes"]][:3]) for v in violations]
    context.close()
