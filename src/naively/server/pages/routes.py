"""The routes of the pages: each has an HTML page and a `.json` twin, made from the same data."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from naively.data.plain import JsonObject
from naively.explanation.palette import style_sheet
from naively.server.labelling import comment_of
from naively.server.pages import ask, history, label
from naively.server.pages.address import Query, parameter_of, query_of_row, row_of, whole_number
from naively.server.pages.drawing import calibration_picture, nomogram_picture, roc_picture
from naively.server.pages.evaluation_page import Evaluations, evaluation_page
from naively.server.pages.model_page import model_page
from naively.server.pages.nomogram_page import nomogram_page
from naively.server.pages.page import Page
from naively.server.pages.render import class_mark, percent_text, render, share_of
from naively.server.pages.why import changed_row, why
from naively.server.problems import Problem, json_response, shorten
from naively.server.protocol import columns_of_texts
from naively.server.security import require_learn
from naively.server.service import Service

STATIC = Path(__file__).parent / "static"
TABS = (
    ("ask", "Ask"), ("why", "Why"), ("nomogram", "Nomogram"), ("label", "Label"), ("history", "History"),
    ("evaluation", "Evaluation"), ("model", "Model"),
)  # fmt: skip
WIDE, NARROW = 600, 322  # pixels of a nomogram
TITLES = {401: "A token is needed", 403: "Not allowed", 404: "Not found", 409: "This has changed", 503: "Too busy"}
MAX_ROW_IN_LINK = 2000  # characters
NO_STORE = {"Cache-Control": "no-store"}
KEEP_AN_HOUR = {"Cache-Control": "max-age=3600"}


class Pages:
    """The handlers of all pages, and what they remember between requests."""

    def __init__(self, service: Service) -> None:
        """Remember nothing yet."""
        self.service = service
        self.evaluations = Evaluations()
        self.labelling = label.Labelling()

    def routes(self) -> list[BaseRoute]:
        """Return the routes."""
        builders: dict[str, Callable[[Page], Awaitable[JsonObject]]] = {
            "ask": ask.ask,
            "why": why,
            "nomogram": nomogram_page,
            "label": lambda page: label.label(page, self.labelling),
            "history": history.history,
            "evaluation": lambda page: evaluation_page(page, self.evaluations),
            "model": model_page,
        }
        context: dict[str, Callable[[Page, JsonObject], JsonObject]] = {
            "ask": _ask_context,
            "why": lambda page, data: {"pair_query": _pair_query(page)},
            "nomogram": _nomogram_context,
            "label": _label_context,
            "history": _history_context,
            "evaluation": _evaluation_context,
        }
        routes: list[BaseRoute] = [
            Route("/", self.start, name="start"),
            Route("/index.json", self.start_json),
            Route("/static/palette.css", _palette),
            Mount("/static", _Static(directory=STATIC), name="static"),
        ]
        for key, build in builders.items():
            path = f"/models/{{name}}/{key}"
            routes.append(Route(f"{path}.json", _json(key, build)))
            if key == "nomogram":
                routes.append(Route(f"{path}.svg", _nomogram_svg, name="nomogram_svg"))
            routes.append(Route(path, _html(self, key, build, context.get(key)), name=key))
        routes.append(Route("/models/{name}", self.to_ask))
        routes.append(Route("/models/{name}/teach", self.teach, name="teach", methods=["POST"]))
        routes.append(Route("/models/{name}/undo", self.undo, name="undo", methods=["POST"]))
        routes.append(Route("/models/{name}/label", self.label_post, name="label_post", methods=["POST"]))
        return routes

    async def start(self, request: Request) -> Response:
        """List the models."""
        return HTMLResponse(_page(request, "start.html", data=_models(self.service, request)), headers=NO_STORE)

    async def start_json(self, request: Request) -> Response:
        """List the models as JSON."""
        return json_response(_models(self.service, request), headers=NO_STORE)

    async def to_ask(self, request: Request) -> Response:
        """Go to the first page of a model."""
        return RedirectResponse(Page.of(request).link("ask"), 303)

    async def teach(self, request: Request) -> Response:
        """Count the row of a form with the class that was chosen; then show why, with what changed."""
        access = require_learn(request)
        page, form = Page.of(request), await _form(request)
        row = row_of(page.names, form)
        fields = dict(form)
        chosen = page.class_named(fields.get("label"))
        if chosen is None:
            raise Problem(400, "choose a class.")
        columns = columns_of_texts(page.model, {name: [text] for name, text in row.items()}) if row else {}
        change = await page.served.learn(
            columns, [chosen], source=access.name, comment="corrected on the page", request_id=fields.get("request_id")
        )
        query = [*query_of_row(page.names, row), ("entry", change.entries[0].id), ("label", fields["label"])]
        if change.before is not None and chosen in change.before.model.classes:
            before = change.before.posterior[0][change.before.model.classes.index(chosen)]
            query.append(("before", percent_text(float(before))))
        return RedirectResponse(page.link("why", query), 303)

    async def undo(self, request: Request) -> Response:
        """Undo an entry, and return to the page that asked for it."""
        access = require_learn(request)
        page, form = Page.of(request), await _form(request)
        fields = dict(form)
        entry = fields.get("entry", "")
        if not (8 <= len(entry) <= 64):
            raise Problem(400, "name the entry to undo by its id.")
        await page.served.undo(
            entry, source=access.name, comment="undone on the page", request_id=fields.get("request_id")
        )
        target = fields.get("next", "history")
        if target not in ("why", "label", "history"):
            raise Problem(400, f"there is no page {target!r} to return to.")
        query = [(key[2:], value) for key, value in form if key.startswith("q.") and value]
        if target == "label":
            row = self._row_of_entry(page, entry)
            query += [("row", str(row))] if row is not None else []
        return RedirectResponse(page.link(target, query), 303)

    def _row_of_entry(self, page: Page, entry: str) -> int | None:
        """Return the row of the pool that an entry counted, to show it again."""
        cached = self.labelling.last_known(page.served.name)
        return next((row for row, known in cached.items() if known.id == entry), None)

    async def label_post(self, request: Request) -> Response:
        """Count a row of the pool with the class that was chosen; then show the next row."""
        access = require_learn(request)
        page, fields = Page.of(request), dict(await _form(request))
        pool = await self.labelling.pool(page)
        row = whole_number(fields.get("row", ""), "the row")
        if row >= pool.n_rows:
            raise Problem(404, f"the pool has {pool.n_rows} rows, and no row {row}.")
        chosen = page.class_named(fields.get("label"))
        if chosen is None:
            raise Problem(400, "choose a class.")
        if row in await self.labelling.labelled(page):
            raise Problem(409, f"row {row + 1} is labelled already: undo that first.")
        columns = columns_of_texts(page.model, {name: [text] for name, text in pool.texts(row).items()})
        change = await page.served.learn(
            columns,
            [chosen],
            source=access.name,
            comment=comment_of(pool.path, row),
            request_id=fields.get("request_id"),
        )
        self.labelling.note(page, row, change)
        skip = fields.get("skip")
        return RedirectResponse(page.link("label", [("skip", skip)] if skip else []), 303)


async def _palette(request: Request) -> Response:
    """Return the colours of classes as a style sheet."""
    return Response(style_sheet(), headers=KEEP_AN_HOUR, media_type="text/css")


class _Static(StaticFiles):
    """Files that a browser may keep for an hour."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        """Return the file."""
        response = super().file_response(*args, **kwargs)
        response.headers.update(KEEP_AN_HOUR)
        return response


def _html(
    pages: Pages,
    key: str,
    build: Callable[[Page], Awaitable[JsonObject]],
    context: Callable[[Page, JsonObject], JsonObject] | None,
) -> Callable[[Request], Awaitable[Response]]:
    async def handler(request: Request) -> Response:
        page = Page.of(request)
        change = page.parameter("change") if key == "why" else None
        if change is not None:  # one click makes a change of the row, which is then in the address
            row = changed_row(page.row, page.names, change)
            return RedirectResponse(page.link("why", [*query_of_row(page.names, row), *_pair_query(page)]), 303)
        data = await build(page)
        more = context(page, data) if context is not None else {}
        html = _page(
            request,
            f"{key}.html",
            page=page,
            data=data,
            here=key,
            tabs=_tabs(page),
            json_address=_twin(page, key),
            request_id=secrets.token_hex(16),
            **more,
        )
        return HTMLResponse(html, headers=NO_STORE)

    return handler


def _json(key: str, build: Callable[[Page], Awaitable[JsonObject]]) -> Callable[[Request], Awaitable[Response]]:
    async def handler(request: Request) -> Response:
        page = Page.of(request)
        data = await build(page)
        head = {"page": key, "model_name": page.served.name, "model_version": str(page.snapshot.version)}
        return json_response({**head, **data}, headers=NO_STORE)

    return handler


def _page(request: Request, template: str, **context: Any) -> str:
    """Render a template with what all of them need."""
    root = request.scope.get("root_path", "").rstrip("/")
    everywhere = {"page": None, "json_address": None, "mark": class_mark, "share_of": share_of, "root": root}
    return render(template, **{**everywhere, **context})


def _models(service: Service, request: Request) -> JsonObject:
    root = request.scope.get("root_path", "").rstrip("/")
    lines = []
    for served in service:
        snapshot = served.snapshot
        lines.append(
            {
                "name": served.name,
                "address": root + str(request.app.url_path_for("ask", name=served.name)),
                "target": snapshot.model.target,
                "version": snapshot.version,
                "n_rows": int(snapshot.model.class_weights.rows.sum()),
                "n_columns": len(snapshot.model.schema.names),
                "n_classes": len(snapshot.model.classes),
            }
        )
    return {"models": lines}


def _tabs(page: Page) -> list[tuple[str, str, str]]:
    """Return the pages of a model; the row goes along between Ask and Why."""
    keys = [(key, title) for key, title in TABS if key != "label" or page.service.pool_path is not None]
    row = page.row_query if len(urlencode(page.row_query)) <= MAX_ROW_IN_LINK else ()
    return [(key, title, page.link(key, row if key in ("ask", "why") else ())) for key, title in keys]


def _twin(page: Page, key: str) -> str | None:
    """Return the address of the JSON twin, unless the row is so long that it would double the page."""
    address = page.link(key, page.request.query_params.multi_items(), ".json")
    return address if len(address) <= MAX_ROW_IN_LINK else None


def _ask_context(page: Page, data: JsonObject) -> JsonObject:
    """Keep the values of columns that are on another page of the form."""
    shown = {field["column"] for field in data["fields"]}
    hidden = [(parameter_of(page.names, name), text) for name, text in page.row.items() if name not in shown]
    address = page.link("why", page.row_query)  # a long row is sent by the form, so that the page has it once
    why_address = address if len(address) <= MAX_ROW_IN_LINK else None
    return {"hidden": hidden, "max_fields": ask.MAX_FIELDS, "why_address": why_address}


def _pair_query(page: Page) -> Query:
    return [(key, text) for key in ("of", "against") if (text := page.parameter(key)) is not None]


def _nomogram_context(page: Page, data: JsonObject) -> JsonObject:
    colour = page.colour_of(data["of"])
    title = f"Nomogram of {page.served.name[:60]}"
    row = {name: text for name, text in data["row"].items() if name in page.names}
    return {
        "wide": nomogram_picture(data, WIDE, colour, title),
        "narrow": nomogram_picture(data, NARROW, colour, title),
        "svg_address": page.link("nomogram_svg", page.request.query_params.multi_items()),
        "ask_address": page.link("ask", query_of_row(page.names, row)),
        "pair_query": _pair_query(page),
    }


async def _nomogram_svg(request: Request) -> Response:
    page = Page.of(request)
    data = await nomogram_page(page)
    drawn = nomogram_picture(data, WIDE, page.colour_of(data["of"]), f"Nomogram of {page.served.name[:60]}")
    headers = {"Content-Disposition": 'attachment; filename="nomogram.svg"', **NO_STORE}
    return Response(drawn, headers=headers, media_type="image/svg+xml")


def _label_context(page: Page, data: JsonObject) -> JsonObject:
    skipped = [*data["skipped"], data["row"]][-label.MAX_SKIPPED :] if data["row"] is not None else data["skipped"]
    return {"skip_address": page.link("label", [("skip", ".".join(map(str, skipped)))] if skipped else [])}


def _history_context(page: Page, data: JsonObject) -> JsonObject:
    chosen = [(key, value) for key, value in data["filter"].items() if value]
    return {"filter_query": chosen, "max_entries": history.MAX_ENTRIES}


def _evaluation_context(page: Page, data: JsonObject) -> JsonObject:
    test = data["test"]
    if test is None:
        return {"calibration": "", "roc": ""}
    curves = [(page.colour_of(line["class"]), line["roc"]) for line in test["classes"] if line.get("roc")]
    return {"calibration": calibration_picture(test["calibration"]), "roc": roc_picture(curves)}


async def _form(request: Request) -> list[tuple[str, str]]:
    """Return the fields of a form. An urlencoded form needs no parser but Python's own."""
    if not request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
        raise Problem(415, "send a form: application/x-www-form-urlencoded.")
    try:
        return parse_qsl((await request.body()).decode(), keep_blank_values=True, errors="strict")
    except (UnicodeDecodeError, ValueError):
        raise Problem(400, "the form is not UTF-8.") from None


def error_page(request: Request, problem: Problem) -> Response:
    """Return a problem as a page if a person sent the request, else as JSON."""
    accepts = request.headers.get("accept", "")
    if "text/html" not in accepts or request.url.path.startswith("/v2"):
        return problem.response()
    title = TITLES.get(problem.status, "This did not work")
    html = _page(request, "error.html", status=problem.status, title=title, message=shorten(problem.message))
    return HTMLResponse(html, problem.status, {**problem.headers, **NO_STORE})


def page_routes(service: Service) -> list[BaseRoute]:
    """Return the routes of all pages."""
    return Pages(service).routes()
