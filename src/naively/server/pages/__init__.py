"""The pages."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from naively.server.problems import Problem
from naively.server.service import Service


def page_routes(service: Service) -> list[BaseRoute]:
    """Return the routes of all pages."""
    return []


def error_page(request: Request, problem: Problem) -> Response:
    """Return a problem as a page if the request accepts HTML, else as JSON."""
    return problem.response()
