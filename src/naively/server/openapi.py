"""The OpenAPI document."""

from starlette.requests import Request
from starlette.responses import Response

from naively.server.problems import json_response


async def document(request: Request) -> Response:
    """Return the OpenAPI document."""
    return json_response({})
