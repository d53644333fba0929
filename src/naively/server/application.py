"""The ASGI application: routes, and what wraps them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Scope

from naively.errors import InputError
from naively.server import files, inference, openapi, teaching
from naively.server.gate import Gate
from naively.server.limits import Limits
from naively.server.metrics import Metrics
from naively.server.pages import error_page, page_routes
from naively.server.problems import Problem, json_response, server_error
from naively.server.security import Policy, Token
from naively.server.served import ServedModel
from naively.server.service import Service, names_of

Handler = Callable[[Request], Awaitable[Response]]

INFERENCE: list[tuple[str, Handler]] = [
    ("infer", inference.infer),
    ("explain", inference.explain),
    ("ask", inference.ask),
    ("predict", files.predict),
]
TEACHING: list[tuple[str, Handler]] = [("learn", teaching.learn), ("forget", teaching.forget), ("undo", teaching.undo)]


def app(
    models: Sequence[str | Path] | Mapping[str, str | Path],
    *,
    learn: bool = False,
    pool: str | Path | None = None,
    test: str | Path | None = None,
    tokens: Sequence[Token] = (),
    read_needs_token: bool = False,
    hosts: Sequence[str] = (),
    any_address: bool = False,
    origins: Sequence[str] = (),
    limits: Limits | None = None,
) -> Starlette:
    """Return the server as an ASGI application, to run it or to mount it in another one.

    Parameters
    ----------
    models
        Model files; their names are the stems of the files, unless they are given as a mapping.
    learn
        Whether holders of a token that may learn can change the models.
    pool
        Rows to label.
    test
        Rows to evaluate the models on.
    tokens
        Tokens, of which one must be able to learn if `learn`.
    read_needs_token
        Whether a token is needed to read.
    hosts
        The names under which the server is reached, besides localhost, 127.0.0.1 and [::1].
    any_address
        Whether it may be reached by any IP address.
    origins
        Other origins, such as https://example.org, whose pages may send requests.
    limits
        The limits.

    Returns
    -------
    Starlette
        The application. Its threads run until it is shut down (the lifespan of ASGI), or the process ends.
    """
    if learn and not any(token.may_learn for token in tokens):
        raise InputError("learn=True needs a token that may learn.")
    paths = dict(models) if isinstance(models, Mapping) else names_of([Path(path) for path in models])
    limits = limits or Limits()
    service = Service(
        {name: ServedModel(name, path, learn) for name, path in paths.items()},
        limits,
        learn,
        None if pool is None else str(pool),
        None if test is None else str(test),
    )
    metrics = Metrics(service)
    service.start()  # also without a lifespan, which the application does not have where it is mounted

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        service.stop()

    def page_of(scope: Scope, problem: Problem) -> Response:
        return error_page(Request(scope), problem)

    application = Starlette(
        routes=[*_routes(), *page_routes(service)],
        exception_handlers={
            Problem: lambda request, error: error_page(request, error),
            InputError: lambda request, error: error_page(request, Problem.of_input(error)),
            HTTPException: lambda request, error: error_page(request, _problem(error)),
            Exception: lambda _request, _error: server_error().response(),
        },
        lifespan=lifespan,
    )
    gate = Gate(
        application.build_middleware_stack(),
        policy=Policy(tokens, read_needs_token, hosts, any_address, origins),
        limits=limits,
        metrics=metrics,
        error_page=page_of,
        direct={f"/v2/models/{served.name}/infer": inference.Infer(service, served) for served in service},
    )
    application.middleware_stack = CORSMiddleware(gate, origins, ("GET", "POST"), ("*",)) if origins else gate
    application.state.service = service
    application.state.openapi = openapi.document(service)
    application.state.metrics = metrics
    return application


async def _metrics(request: Request) -> Response:
    metrics: Metrics = request.app.state.metrics
    return metrics.response()


async def _openapi(request: Request) -> Response:
    return json_response(request.app.state.openapi)


def _routes() -> list[Route]:
    """Return the routes for programs; those that are used most come first."""
    model, version = "/v2/models/{model}", "/v2/models/{model}/versions/{version}"
    posts: list[tuple[str, Handler]] = [
        *((f"{path}/{name}", handler) for path in (model, version) for name, handler in INFERENCE),
        *((f"{model}/{name}", handler) for name, handler in TEACHING),
    ]
    gets: list[tuple[str, Handler]] = [
        ("/v2/health/live", inference.live),
        ("/v2/health/ready", inference.ready),
        ("/v2", inference.server_metadata),
        ("/v2/models", inference.model_list),
        (model, inference.model_metadata),
        (version, inference.model_metadata),
        (f"{model}/ready", inference.model_ready),
        (f"{version}/ready", inference.model_ready),
        ("/metrics", _metrics),
        ("/openapi.json", _openapi),
    ]
    return [Route(path, handler, methods=["POST"]) for path, handler in posts] + [
        Route(path, handler, methods=["GET"]) for path, handler in gets
    ]


def _problem(error: Exception) -> Problem:
    """Return what Starlette refuses: an unknown path or method."""
    assert isinstance(error, HTTPException)
    return Problem(error.status_code, f"{error.detail}.", dict(error.headers or {}))
