"""The ASGI application: routes, and what wraps them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from naively.errors import InputError
from naively.server.gate import Gate
from naively.server.limits import Limits
from naively.server.metrics import Metrics
from naively.server.pages import error_page, page_routes
from naively.server.problems import Problem
from naively.server.security import Policy, Token
from naively.server.served import ServedModel
from naively.server.service import Service, names_of


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
        The application. Its threads run from start-up to shutdown (the lifespan of ASGI).
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
    metrics = Metrics()

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        service.start()
        yield
        service.stop()

    def page_of(scope: Scope, problem: Problem) -> Response:
        return error_page(Request(scope), problem)

    application = Starlette(
        routes=page_routes(service),
        middleware=[
            Middleware(
                Gate,
                policy=Policy(tokens, read_needs_token, hosts, any_address, origins),
                limits=limits,
                metrics=metrics,
                error_page=page_of,
            )
        ],
        exception_handlers={
            Problem: lambda request, error: error_page(request, error),
            InputError: lambda request, error: error_page(request, Problem.of_input(error)),
        },
        lifespan=lifespan,
    )
    application.state.service = service
    application.state.metrics = metrics
    return application
