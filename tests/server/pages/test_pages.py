"""Pages and their JSON twins agree with the model, are small, and hold nothing that a policy would block."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from markupsafe import escape
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.testclient import TestClient
from tests.server.conftest import PENGUINS
from tests.server.support import LEARN, READ

import naively
from naively.server import app
from naively.server.pages import model_page
from naively.server.pages.address import texts_of_classes
from naively.server.pages.ask import _choices
from naively.server.pages.routes import STATIC

HTML = {"Accept": "text/html"}
PAGES = ("ask", "why", "nomogram", "label", "history", "evaluation", "model")
ROW = {"v.island": "Dream", "v.bill_length_mm": "48", "v.sex": "FEMALE"}
MAX_PAGE_BYTES, MAX_SCRIPT_BYTES = 100_000, 20_000
VOID = {"br", "col", "img", "input", "link", "meta", "hr"}

Client = Callable[..., TestClient]


class Elements(HTMLParser):
    """Collect elements with their attributes, and check that they are nested."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.stack: list[str] = []
        self.feed(html)
        assert self.stack == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop() == tag


def address(name: str, page: str, query: dict[str, str] | None = None, suffix: str = "") -> str:
    return f"/models/{name}/{page}{suffix}" + (f"?{urlencode(query)}" if query else "")


@pytest.fixture
def site(client: Client) -> TestClient:
    """Return a client of a server with a pool and test rows, and a token that may learn."""
    new = client(learn=True, pool=PENGUINS, test=PENGUINS)
    new.headers["Authorization"] = f"Bearer {LEARN.secret}"
    new.headers["Accept"] = "text/html"
    return new


def check_page(html: str) -> None:
    assert len(html.encode()) <= MAX_PAGE_BYTES
    elements = Elements(html).found
    for tag, attributes in elements:
        assert tag not in ("style", "iframe", "object", "embed", "base")
        assert "style" not in attributes
        assert not any(name.startswith("on") for name in attributes)
        if tag == "script":
            assert attributes["src"]
        for name in ("href", "src", "action"):
            assert not re.match(r"([a-z]+:|//)", attributes.get(name) or "")
    ids = [a["id"] for _, a in elements if a.get("id")]
    assert len(ids) == len(set(ids))
    assert re.sub(r"http://www\.w3\.org/2000/svg", "", html).count("://") == 0
    if "<svg" in html.split("<main")[1]:
        assert "<table" in html.split("<main")[1]


@pytest.mark.parametrize("page", PAGES)
def test_pages_are_small_and_hold_no_inline_code(site: TestClient, page: str) -> None:
    for query in ({}, ROW if page in ("ask", "why") else {"p.island": "1"} if page == "nomogram" else {}):
        response = site.get(address("penguins", page, query))
        assert response.status_code == 200, response.text
        check_page(response.text)
        twin = site.get(address("penguins", page, query, ".json"))
        assert twin.status_code == 200
        assert twin.json()["model_version"] == "1"
        assert twin.headers["content-type"] == "application/json"


@pytest.mark.parametrize("name", ["mail", "numbers"])
@pytest.mark.parametrize("page", ["ask", "why", "nomogram", "history", "model"])
def test_pages_of_other_models(client: Client, name: str, page: str) -> None:
    query = {"v.text": "cheap lunch"} if name == "mail" and page in ("ask", "why") else None
    response = client().get(address(name, page, query), headers=HTML)
    assert response.status_code == 200, response.text
    check_page(response.text)


def test_script_is_small() -> None:
    assert sum(path.stat().st_size for path in STATIC.glob("*.js")) <= MAX_SCRIPT_BYTES


def numbers_of(html: str, table: str) -> list[float]:
    """Return the exact numbers in a table of a page."""
    part = html.split(f'<table class="{table}">')[1].split("</table>")[0]
    return [float(number) for number in re.findall(r'<data value="([^"]+)"', part)]


VALUES: dict[str, st.SearchStrategy[str]] = {
    "v.island": st.sampled_from(["", "Dream", "Biscoe", "Torgersen", "Atlantis"]),
    "v.sex": st.sampled_from(["", "MALE", "FEMALE"]),
    "v.bill_length_mm": st.one_of(st.just(""), st.floats(-1e6, 1e6).map(repr)),
    "v.flipper_length_mm": st.one_of(st.just(""), st.integers(150, 260).map(str)),
}


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(row=st.fixed_dictionaries(VALUES))
def test_html_and_json_are_the_posterior_bit_for_bit(site: TestClient, models: Path, row: dict[str, str]) -> None:
    model = naively.load(models / "penguins.naively")
    known = {key[2:]: [float(x) if "_" in key else x] for key, x in row.items() if x}
    table = {**{name: [None] for name in model.schema.names}, **known}
    posterior = sorted(model.posterior(table)[0].tolist(), reverse=True)
    for page in ("ask", "why"):
        data = site.get(address("penguins", page, row, ".json")).json()
        assert [line["probability"] for line in data["posterior"]] == posterior
        html = site.get(address("penguins", page, row)).text
        assert numbers_of(html, "posterior") == [line["probability"] for line in data["posterior"]]
        if page == "why":
            shown = [line["log_odds"] for line in data["contributions"] if line["log_odds"] or not line["note"]]
            lines = [data["prior"], *shown]
            floor = [data["floor"]] if data["shown_floor"] else []
            assert numbers_of(html, "sum") == [*lines, *floor, data["total"]]
            rounding = 1e-15 * sum(map(abs, [*lines, data["floor"]]))  # the floor cancels evidence of any size
            assert sum(lines) + data["floor"] == pytest.approx(data["total"], abs=1e-9 + rounding)


def test_next_question_of_a_page_is_that_of_the_model(site: TestClient, models: Path) -> None:
    data = site.get(address("penguins", "ask", ROW, ".json")).json()
    model = naively.load(models / "penguins.naively")
    expected = model.next_question({"island": "Dream", "bill_length_mm": 48.0, "sex": "FEMALE"}).to_dict()
    assert data["questions"] == expected["questions"]
    assert data["entropy"] == expected["entropy"]
    assert data["fields"][0]["column"] == expected["questions"][0]["column"]
    assert data["fields"][0]["is_next"]


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(positions=st.lists(st.integers(0, 3), min_size=4, max_size=4))
def test_nomogram_agrees_with_predict(site: TestClient, models: Path, positions: list[int]) -> None:
    axes = site.get(address("penguins", "nomogram", None, ".json")).json()["axes"]
    query = {
        axis["parameter"]: str(min(position, len(axis["marks"])))
        for axis, position in zip(axes, positions, strict=False)
    }
    data = site.get(address("penguins", "nomogram", query, ".json")).json()
    assert data["probability"] == pytest.approx(data["by_model"], rel=1e-9)
    assert data["total_points"] == pytest.approx(sum(axis["chosen_points"] for axis in data["axes"]))
    asked = site.get(
        address("penguins", "ask", {f"v.{name}": text for name, text in data["row"].items()}, ".json")
    ).json()
    model = naively.load(models / "penguins.naively")
    assert model.floor
    share = model.floor / len(model.classes)  # of each class, by the floor
    p = {line["class"]: (line["probability"] - share) / (1 - model.floor) for line in asked["posterior"]}
    both = p[data["of"]] + p[data["against"]]
    rounding = 1e-15 / both  # of the subtraction of the floor
    assert p[data["of"]] / both == pytest.approx(data["probability"], rel=1e-9, abs=rounding)


def test_nomogram_saves_as_svg(site: TestClient) -> None:
    response = site.get("/models/penguins/nomogram.svg?p.island=1")
    assert response.headers["content-type"].startswith("image/svg+xml")
    assert "attachment" in response.headers["content-disposition"]
    assert response.text.startswith("<svg")
    assert 'xmlns="http://www.w3.org/2000/svg"' in response.text
    assert "style" not in response.text
    assert "fill=" in response.text


def after_changes(site: TestClient, name: str, row: dict[str, str], data: dict[str, Any]) -> dict[str, Any]:
    """Click what would change the answer."""
    query = {**row, "change": data["counterfactual"]["parameter"]}
    response = site.get(address(name, "why", query), follow_redirects=False)
    assert response.status_code == 303
    changed: dict[str, Any] = site.get(response.headers["location"].replace("/why?", "/why.json?")).json()
    return changed


def test_why_offers_changes_that_change_the_answer(site: TestClient) -> None:
    data = site.get(address("penguins", "why", ROW, ".json")).json()
    html = site.get(address("penguins", "why", ROW)).text
    assert data["counterfactual"]["changes"]
    for change in data["counterfactual"]["changes"]:
        assert str(escape(change["parameter"])) in html
    changed = after_changes(site, "penguins", ROW, data)
    assert changed["prediction"] == data["counterfactual"]["prediction"] != data["prediction"]


@pytest.mark.parametrize("change", ["x", "1", "[1]", "[[1]]", '[["nothing", "x"]]', '[["island", {}]]', '[["island"]]'])
def test_a_change_that_is_none_is_refused(site: TestClient, change: str) -> None:
    assert site.get(address("penguins", "why", {**ROW, "change": change})).status_code == 400


def test_words_left_out_are_one_click(client: Client) -> None:
    site = client()
    row = {"v.text": "cheap pills, see you at lunch"}
    data = site.get(address("mail", "why", row, ".json")).json()
    changed = after_changes(site, "mail", row, data)
    assert changed["prediction"] != data["prediction"]
    assert "".join(piece["text"] for piece in data["texts"]["text"]["pieces"]) == "cheap pills, see you at lunch"


def test_teach_then_undo(site: TestClient, models: Path) -> None:
    before = site.get(address("penguins", "why", ROW, ".json")).json()
    form = {**ROW, "label": "Gentoo", "request_id": "one"}
    response = site.post("/models/penguins/teach", data=form, follow_redirects=False)
    assert response.status_code == 303
    page = site.get(response.headers["location"])
    assert "Learnt" in page.text
    twin = site.get(response.headers["location"].replace("/why?", "/why.json?")).json()
    assert twin["model_version"] == "2"
    assert twin["lesson"]["is_undone"] is False
    again = site.post("/models/penguins/teach", data=form, follow_redirects=False)  # a double click
    assert again.headers["location"].split("entry=")[1][:8] == response.headers["location"].split("entry=")[1][:8]
    entry = twin["lesson"]["entry"]
    log = site.get("/models/penguins/history.json").json()
    assert [e["act"] for e in log["entries"]] == ["update", "fit"]
    assert log["entries"][0]["source"] == "anna"
    undo = {
        "entry": entry,
        "next": "why",
        "request_id": "two",
        **{f"q.{k}": v for k, v in ROW.items()},
        "q.entry": entry,
    }
    undone = site.post("/models/penguins/undo", data=undo, follow_redirects=False)
    assert undone.status_code == 303
    after = site.get(undone.headers["location"].replace("/why?", "/why.json?")).json()
    assert after["posterior"] == before["posterior"]
    assert after["lesson"]["is_undone"] is True
    stale = site.post("/models/penguins/undo", data={**undo, "request_id": "three"}, follow_redirects=False)
    assert stale.status_code == 409
    assert "undone already" in stale.text
    diff = site.get("/models/penguins/history.json?old=1&new=2").json()["diff"]
    assert diff["rows"][1] == diff["rows"][0] + 1
    assert site.get("/models/penguins/history?old=1&new=2").status_code == 200
    filtered = site.get("/models/penguins/history.json?act=undo").json()["entries"]
    assert [e["act"] for e in filtered] == ["undo"]
    corrections = site.get("/models/penguins/evaluation.json").json()["corrections"]
    assert corrections == {"n": 1, "right": int(before["prediction"] == "Gentoo")}


def test_readers_see_no_buttons_and_cannot_teach(client: Client) -> None:
    site = client(learn=True, pool=PENGUINS)
    for headers in ({}, {"Authorization": f"Bearer {READ.secret}"}):
        for page in ("why", "label", "history"):
            html = site.get(address("penguins", page, ROW if page == "why" else None), headers={**HTML, **headers}).text
            assert 'method="post"' not in html
        for path in ("teach", "undo", "label"):
            form = {**ROW, "label": "Gentoo", "entry": "0" * 32, "row": "0"}
            response = site.post(f"/models/penguins/{path}", data=form, headers=headers)
            assert response.status_code == (403 if headers else 401)


@pytest.mark.parametrize(
    "path",
    [
        "/models/nothing/ask", "/models/penguins/ask?v.nothing=1", "/models/penguins/ask?v.bill_length_mm=long",
        "/models/penguins/ask?n.999=1", "/models/penguins/why?of=Emperor", "/models/penguins/history?old=1&new=99",
        "/models/penguins/history?from=-1", "/models/penguins/nomogram?p.island=99",
        "/models/penguins/label?row=99999999", "/models/penguins/why?of=Gentoo&against=Gentoo",
        "/models/penguins/history?old=1&new=1",
        "/models/penguins/label?skip=a.b",
    ],
)  # fmt: skip
def test_errors_are_pages_for_people_and_json_for_programs(site: TestClient, path: str) -> None:
    page = site.get(path)
    assert 400 <= page.status_code < 500
    check_page(page.text)
    assert "<h1>" in page.text
    head, _, query = path.partition("?")
    twin = site.get(f"{head}.json?{query}", headers={"Accept": "application/json"})
    assert twin.status_code == page.status_code
    assert twin.json()["error"]


def test_pages_of_large_models_are_small(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    code = generator.integers(0, 40, 400)
    columns: dict[str, Any] = {
        f"column number {j}": [f"value_{k}_of_column_{j}_with_a_name" for k in generator.integers(0, 90, 400)]
        for j in range(60)
    }
    naively.fit(columns, [f"class {c}" for c in code], tune=False).save(tmp_path / "large.naively")
    words = [f"word{k}" for k in range(2000)]
    texts = [" ".join(words[k] for k in generator.integers(0, 2000, 100)) for _ in code]
    naively.fit(texts, [f"class {c}" for c in code], tune=False).save(tmp_path / "texts.naively")
    rows = "\n".join([",".join(columns), *(",".join(f'"{columns[n][i]}"' for n in columns) for i in range(50))])
    (tmp_path / "pool.csv").write_text(rows)
    application = app([tmp_path / "large.naively", tmp_path / "texts.naively"], pool=tmp_path / "pool.csv")
    with TestClient(application, base_url="http://127.0.0.1:8000", headers=HTML) as site:
        row = {f"v.{name}": values[0] for name, values in columns.items()}
        for page, query in (("ask", {}), ("ask", row), ("why", row), ("nomogram", {}), ("model", {}), ("label", {})):
            response = site.get(address("large", page, query))
            assert response.status_code == 200, response.text
            check_page(response.text)
        for text in (" ".join(words)[:5000], "пример текста " * 350):
            for page in ("ask", "why"):
                response = site.get(address("texts", page, {"v.text": text}))
                assert response.status_code == 200, response.text
                check_page(response.text)


STRANGE = [
    "<script>alert(1)</script>", "x" * 10_000, "שלום עולם", "", " ", '"><img src=x onerror=alert(1)>', "a&b=c#d?e",
    "{{ 7 * 7 }}", "p present", "\u202eevil", "'; DROP", "日本",
]  # fmt: skip


def test_strange_names_are_shown_as_they_are(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    labels = [*STRANGE[:4], "spam"]
    columns = {name: generator.integers(0, 3, 60).astype(float) for name in STRANGE}
    columns["values"] = [labels[k] or None for k in generator.integers(0, 5, 60)]  # type: ignore[assignment]
    naively.fit(columns, [labels[k] for k in generator.integers(0, 5, 60)]).save(tmp_path / "strange.naively")
    application = app([tmp_path / "strange.naively"], learn=True, tokens=[LEARN])
    headers = {**HTML, "Authorization": f"Bearer {LEARN.secret}"}
    with TestClient(application, base_url="http://127.0.0.1:8000", headers=headers) as site:
        for page in ("ask", "why", "nomogram", "history", "model", "evaluation"):
            query = {"v.שלום עולם": "1", "v.": "2", "n.1": "0"} if page in ("ask", "why") else None
            html = site.get(address("strange", page, query)).text
            check_page(html)
            assert "<script>alert" not in html
            assert "<img" not in html
            assert "49" not in re.findall(r"<bdi>(\d+)</bdi>", html)
            if page == "model":
                for name in STRANGE:
                    shown = name.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
                    assert shown.replace('"', "&#34;").replace("'", "&#39;") in html
                assert "(empty)" in html


def test_the_class_1_and_the_class_named_1_are_not_the_same(tmp_path: Path) -> None:
    x = {"a": [0.1, 0.2, 0.9, 1.1] * 5}
    naively.fit(x, [0, 0, 1, 1] * 5).save(tmp_path / "numbers.naively")
    naively.fit(x, ["0", "0", "1", "1"] * 5).save(tmp_path / "names.naively")
    application = app([tmp_path / "numbers.naively", tmp_path / "names.naively"])
    with TestClient(application, base_url="http://127.0.0.1:8000") as site:
        for name, label in (("numbers", 1), ("names", "1")):
            data = site.get(address(name, "why", {"v.a": "1.0", "of": "1"}, ".json")).json()
            assert data["of"] == label
            assert type(data["of"]) is type(label)
    assert texts_of_classes((1, "1", "")) == ["1", '"1"', ""]


def test_links_stay_below_the_path_of_a_mount(models: Path) -> None:
    inner = app([models / "penguins.naively"])
    outer = Starlette(routes=[Mount("/zoo", inner)])
    with TestClient(inner), TestClient(outer, base_url="http://127.0.0.1:8000", headers=HTML) as site:
        html = site.get("/zoo/models/penguins/ask").text
        links = [a.get("href") or a.get("src") or a.get("action") for _, a in Elements(html).found]
        assert all(link.startswith(("/zoo/", "#")) for link in links if link)
        assert site.get("/zoo/static/style.css").status_code == 200


def test_the_address_is_the_state_of_a_page(site: TestClient) -> None:
    query: dict[str, Any] = {**ROW, "of": "Gentoo", "against": "Adelie"}
    one, two = (site.get(address("penguins", "why", query, ".json")).json() for _ in range(2))
    assert one == two
    assert (one["of"], one["against"]) == ("Gentoo", "Adelie")
    assert one["row"] == {"island": "Dream", "bill_length_mm": "48", "sex": "FEMALE"}


def test_what_is_usual_was_counted() -> None:
    """A Gaussian gives ages below zero some probability; the page does not call them usual."""
    rng = np.random.default_rng(0)
    label = rng.integers(0, 2, 400)
    age = np.clip(rng.normal(20 + 10 * label, 15), 0, None).round(1)
    table = {"age": age, "size": rng.normal(label, 1.0)}
    model = naively.fit(table, label, columns=dict.fromkeys(table, naively.Gaussian()), tune=False)
    automatic = naively.fit(table, label)
    for fitted in (model, automatic):
        fields = _choices(fitted, {"age", "size"})
        low, high = (float(text.replace("−", "-")) for text in fields["size"]["usual"].split(" to "))
        assert -4 < low < -1.5 < 2.5 < high < 5
    assert _choices(automatic, {"age"})["age"]["usual"].startswith("0 to ")


def test_words_are_ranked_by_what_they_say() -> None:
    texts = ["the offer"] * 34 + ["the rare offer"] * 6 + ["the lunch"] * 10 + ["at noon"] * 30
    model = naively.fit(texts, ["spam"] * 40 + ["ham"] * 40, tune=False)
    [column] = model_page.describe(model)["words"]
    of_spam = next(line["words"] for line in column["classes"] if line["class"] == "spam")
    assert [word["word"] for word in of_spam[:3]] == ["offer", "the", "rare"]
    assert of_spam[2]["log_odds"] > of_spam[1]["log_odds"]
