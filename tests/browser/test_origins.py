"""Pages of another origin and under another host name, in a real browser: they change nothing and read nothing."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import Browser, BrowserContext, expect
from tests.browser.conftest import OTHER_HOST
from tests.server.support import Server

LEARN = """{"inputs": [{"name": "text", "shape": [1], "datatype": "BYTES", "data": ["a"]},
                       {"name": "class", "shape": [1], "datatype": "BYTES", "data": ["ham"]}]}"""
SEND = """async ([url, body, mode]) => {
  try {
    const answer = await fetch(url, {method: body ? 'POST' : 'GET', body, mode, credentials: 'include'});
    return [answer.type, await answer.text()];
  } catch (error) { return ['error', '']; }
}"""


class Page(BaseHTTPRequestHandler):
    """Answer every request with an empty page."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>another site</title>")

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture
def other_origin() -> Iterator[str]:
    """Serve pages of another origin: another port of this address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as site:
        thread = threading.Thread(target=site.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{site.server_address[1]}"
        site.shutdown()
        thread.join()


@pytest.fixture
def context(browser: Browser, server: Server) -> Iterator[BrowserContext]:
    """Return a browser whose user may teach the models."""
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(f"{server.url}/?token={server.token}")
        cookies = context.cookies(server.url)
        assert [(cookie["httpOnly"], cookie["sameSite"]) for cookie in cookies] == [(True, "Strict")]
        assert page.evaluate("document.cookie") == ""
        yield context


def version(context: BrowserContext, server: Server) -> str:
    answer = context.request.get(f"{server.url}/v2/models/mail").json()["versions"]
    return str(answer[0])


def test_a_page_of_another_origin_can_neither_send_nor_read(
    context: BrowserContext, server: Server, other_origin: str
) -> None:
    page = context.new_page()
    page.goto(other_origin)
    for path, body in (("learn", LEARN), ("infer", LEARN), ("undo", "{}")):
        for mode in ("cors", "no-cors"):
            kind, text = page.evaluate(SEND, [f"{server.url}/v2/models/mail/{path}", body, mode])
            assert kind in ("error", "opaque")
            assert text == ""
    for mode in ("cors", "no-cors"):
        kind, text = page.evaluate(SEND, [f"{server.url}/v2/models", None, mode])
        assert (kind, text) in (("error", ""), ("opaque", ""))
    assert version(context, server) == "1"


def test_a_form_of_another_origin_is_refused(context: BrowserContext, server: Server, other_origin: str) -> None:
    page = context.new_page()
    page.goto(other_origin)
    page.set_content(
        f'<form action="{server.url}/models/mail/teach" method="post"><input name="v.text" value="a">'
        '<input name="label" value="ham"><button>Send</button></form>'
    )
    with page.expect_navigation() as navigation:
        page.get_by_role("button", name="Send").click()
    assert navigation.value.status == 403
    expect(page.get_by_text("a page of another site may not send this")).to_be_visible()
    assert version(context, server) == "1"


def test_pages_are_not_shown_in_a_frame(context: BrowserContext, server: Server, other_origin: str) -> None:
    page = context.new_page()
    page.goto(other_origin)
    page.set_content(f'<iframe src="{server.url}/models/mail/ask"></iframe>')
    page.wait_for_timeout(500)
    assert all("ask" not in frame.url for frame in page.frames if frame != page.main_frame)


def test_another_host_name_that_leads_here_is_refused(context: BrowserContext, server: Server) -> None:
    """DNS rebinding: a name of another site whose address is that of this server."""
    port = server.url.rpartition(":")[2]
    page = context.new_page()
    for path in ("/", "/v2/models", "/models/mail/ask", f"/?token={server.token}"):
        response = page.goto(f"http://{OTHER_HOST}:{port}{path}")
        assert response is not None
        assert response.status == 421
        assert "mail" not in page.content()
    kind, text = page.evaluate(SEND, ["/v2/models/mail/learn", LEARN, "cors"])
    assert "not" in text
    assert kind == "basic"
    assert version(context, server) == "1"
