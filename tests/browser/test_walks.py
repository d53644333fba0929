"""Ask, why, change, correct, undo, history: by mouse, by keyboard alone, and without JavaScript. Label by keys."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect
from tests.browser.conftest import Visit

ASK = "/models/penguins/ask"


def version(page: Page) -> str:
    return str(page.locator(".version").inner_text())


@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
@pytest.mark.parametrize("size", ["narrow", "wide"])
def test_by_mouse(visit: Visit, script: bool, size: str) -> None:
    page = visit(ASK, size, script=script)
    page.get_by_label("island").select_option("Dream")
    page.get_by_label("bill_length_mm").fill("49")
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator("#answer-title")).to_have_text("Chinstrap")
    page.locator("#answer .primary").click()
    expect(page.get_by_role("heading", name="Chinstrap rather than")).to_be_visible()
    before = page.locator(".posterior").inner_text()
    page.locator(".changes button").first.click()  # what would change the answer, one click
    expect(page.locator("#answer-title")).not_to_have_text("Chinstrap")
    page.go_back()
    page.locator(".choices").get_by_role("button", name="Gentoo").click()
    expect(page.get_by_role("status")).to_contain_text("Learnt as Gentoo")
    assert version(page) == "version 2"
    assert page.locator(".posterior").inner_text() != before
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("status")).to_contain_text("Undone")
    assert version(page) == "version 3"
    assert page.locator(".posterior").inner_text() == before
    page.get_by_role("status").get_by_role("link", name="History").click()
    actions = page.locator("tbody tr td:nth-child(3)").all_inner_texts()
    assert [text.split()[0] for text in actions] == ["undo", "update", "fit"]
    page.get_by_label("Version", exact=True).fill("1")
    page.get_by_label("and version").fill("2")
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_role("heading", name="Version 1 and version 2")).to_be_visible()


def press_until(page: Page, selector: str, limit: int = 80) -> None:
    """Press Tab until an element has the focus."""
    for _ in range(limit):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"{selector} cannot be reached by the keyboard")


def test_by_keyboard_alone(visit: Visit) -> None:
    page = visit(ASK)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    press_until(page, "[name='v.island']")
    page.keyboard.type("Dream")
    press_until(page, "[name='v.bill_length_mm']")
    page.keyboard.type("49")
    page.keyboard.press("Enter")
    expect(page.locator("#answer-title")).to_have_text("Chinstrap")
    page.wait_for_url("**/ask?*v.bill_length_mm=49*")
    press_until(page, "#answer .primary")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Chinstrap rather than")).to_be_visible()
    press_until(page, ".changes button")
    page.keyboard.press("Enter")
    expect(page.locator("#answer-title")).not_to_have_text("Chinstrap")
    press_until(page, ".choice")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_contain_text("Learnt")
    press_until(page, ".notice button")
    page.keyboard.press("Space")
    expect(page.get_by_role("status")).to_contain_text("Undone")
    press_until(page, ".notice a")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="History")).to_be_visible()
    assert version(page) == "version 3"


def test_the_answer_follows_while_values_are_typed(visit: Visit) -> None:
    page = visit(ASK)
    page.get_by_label("island").select_option("Biscoe")
    page.wait_for_url("**/ask?v.island=Biscoe")
    page.get_by_label("flipper_length_mm").fill("220")
    page.wait_for_url("**v.flipper_length_mm=220*")
    expect(page.locator("#answer-title")).to_have_text("Gentoo")
    live = page.locator("#answer").inner_text()
    page.reload()  # the address is the whole state
    assert page.locator("#answer").inner_text() == live
    assert page.get_by_label("flipper_length_mm").input_value() == "220"


@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
def test_nomogram_sliders(visit: Visit, script: bool) -> None:
    page = visit("/models/penguins/nomogram", script=script)
    before = page.locator("#probability").inner_text()
    slider = page.locator("input[type=range]").first
    slider.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("End")
    chosen = slider.input_value()
    assert chosen == slider.get_attribute("max")
    if not script:
        page.get_by_role("button", name="Show").click()
    page.wait_for_url(f"**/nomogram?*={chosen}*")
    moved = page.locator("#probability").inner_text()
    assert moved != before
    page.reload()
    assert page.locator("#probability").inner_text() == moved
    assert page.locator("input[type=range]").first.input_value() == chosen
    with page.expect_download() as download:
        page.get_by_role("link", name="Save as SVG").click()
    assert download.value.suggested_filename == "nomogram.svg"


def test_label_20_rows_by_keys(visit: Visit) -> None:
    page = visit("/models/penguins/label")
    rows = set()
    for i in range(20):
        rows.add(page.locator("input[name=row]").input_value())
        chosen = page.locator("#label button").nth(i % 2).inner_text()
        assert chosen.startswith(str(1 + i % 2))
        with page.expect_navigation():
            page.keyboard.press(str(1 + i % 2))
        expect(page.get_by_text(f"{i + 1} of 86 rows are labelled")).to_be_visible()
    assert len(rows) == 20
    assert version(page) == "version 21"
    shown = page.locator("input[name=row]").input_value()
    with page.expect_navigation():
        page.keyboard.press("s")
    assert page.locator("input[name=row]").input_value() != shown
    with page.expect_navigation():
        page.keyboard.press("u")
    expect(page.get_by_text("19 of 86 rows are labelled")).to_be_visible()
    assert page.locator("input[name=row]").input_value() in rows
    assert version(page) == "version 22"


def test_label_without_script(visit: Visit) -> None:
    page = visit("/models/penguins/label", script=False)
    page.locator("#label button").first.click()
    expect(page.get_by_text("1 of 86 rows are labelled")).to_be_visible()
    page.get_by_role("link", name="s Skip").click()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("0 of 86 rows are labelled")).to_be_visible()
