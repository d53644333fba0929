"""Handlers of the Open Inference Protocol: health, metadata, infer, explain and ask."""

from __future__ import annotations

import msgspec
from starlette.requests import Request as HttpRequest
from starlette.responses import Response as HttpResponse
from starlette.types import Receive, Scope

from naively.data.plain import JsonObject
from naively.data.read import read
from naively.model.model import Model
from naively.server import protocol
from naively.server.body import read_body, receive_body
from naively.server.problems import Problem, json_response
from naively.server.served import ServedModel, predict_with
from naively.server.service import Service
from naively.server.writer import Snapshot

_encode = msgspec.json.Encoder().encode
EXTENSIONS = ["explain", "ask", "predict", "learn", "forget", "undo"]
RULE_PARAMETERS = ("min_probability", "threshold", "of", "prior")


async def live(_: HttpRequest) -> HttpResponse:
    """Answer that the process runs."""
    return json_response({"live": True})


async def ready(_: HttpRequest) -> HttpResponse:
    """Answer that all models are loaded: they are before the first request."""
    return json_response({"ready": True})


async def server_metadata(_: HttpRequest) -> HttpResponse:
    """Return name and version of the server."""
    from importlib.metadata import version

    return json_response({"name": "naively", "version": version("naively"), "extensions": EXTENSIONS})


async def model_list(request: HttpRequest) -> HttpResponse:
    """Return the names of the models."""
    service: Service = request.app.state.service
    return json_response(
        {"models": [{"name": served.name, "version": str(served.snapshot.version)} for served in service]}
    )


async def model_metadata(request: HttpRequest) -> HttpResponse:
    """Return inputs and outputs of a model."""
    served, snapshot = await model_of(request)
    return json_response(protocol.metadata(served.name, snapshot.version, snapshot.model))


async def model_ready(request: HttpRequest) -> HttpResponse:
    """Answer that a model is loaded."""
    served, _ = await model_of(request)
    return json_response({"name": served.name, "ready": True})


async def model_of(request: HttpRequest) -> tuple[ServedModel, Snapshot]:
    """Return the model that the path names, and the snapshot of the version that it names, by default the current."""
    service: Service = request.app.state.service
    served = service.get(request.path_params["model"])
    version = request.path_params.get("version")
    if version is None:
        return served, served.snapshot
    if not (version.isascii() and version.isdigit() and len(version) < 19):
        raise Problem(404, f"{served.name!r} has no version {version!r}: a version is a number.")
    return served, await served.at(int(version))


async def infer(request: HttpRequest) -> HttpResponse:
    """Predict the rows of a request."""
    service: Service = request.app.state.service
    body = await read_body(request, service.limits)
    served, snapshot = await model_of(request)
    return HttpResponse(await answer_of(service, served, snapshot, body), media_type="application/json")


async def answer_of(service: Service, served: ServedModel, snapshot: Snapshot, body: bytes) -> bytes:
    """Return the predictions for the rows of a request, as JSON."""
    call: protocol.Request = protocol.decode(body)
    rows = protocol.rows_of(call, snapshot, service.limits)
    parameters = call.parameters
    names = protocol.OUTPUTS if call.outputs is None else [output.name for output in call.outputs]
    if snapshot is not served.snapshot or (parameters and any(name in parameters for name in RULE_PARAMETERS)):
        model, rule = protocol.with_parameters(snapshot.model, parameters)
        answer = await service.run(predict_with, Snapshot(model, snapshot.version), rows.columns, rows.n_rows, rule)
    else:
        answer = await served.predict(*rows)
    served.n_rows += rows.n_rows
    return _encode(protocol.Response(served.name, str(answer.version), protocol.tensors(answer, names), call.id))


class Infer:
    """`infer` of the current version of one model, without the search for its route: it is called most of all."""

    def __init__(self, service: Service, served: ServedModel) -> None:
        """Answer for this model."""
        self.service = service
        self.served = served

    async def __call__(self, scope: Scope, receive: Receive) -> bytes:
        """Return the answer to one request, as JSON."""
        body = await receive_body(scope, receive, self.service.limits)
        return await answer_of(self.service, self.served, self.served.snapshot, body)


async def explain(request: HttpRequest) -> HttpResponse:
    """Explain the predictions for the rows of a request."""
    service: Service = request.app.state.service
    body = await read_body(request, service.limits)
    served, snapshot = await model_of(request)
    call: protocol.Request = protocol.decode(body)
    rows = protocol.rows_of(call, snapshot, service.limits)
    if rows.n_rows > service.limits.explained_rows:
        raise Problem(413, f"{rows.n_rows:,} rows: at most {service.limits.explained_rows:,} are explained at a time.")
    explanations = await service.run(_explain, snapshot.model, rows, call.parameters)
    return json_response(_answer(served, snapshot, call.id) | {"explanations": explanations})


def _explain(model: Model, rows: protocol.Rows, parameters: JsonObject) -> list[JsonObject]:
    top = parameters.get("top")
    if top is not None and (type(top) is not int or top < 0):
        raise Problem(422, "parameter 'top': give a number of contributions.")
    classes = {name: protocol.find_class(model, parameters[name]) for name in ("of", "against") if name in parameters}
    if "prior" in parameters:
        model = protocol.with_prior(model, parameters["prior"])
    table, _ = read(rows.columns).with_absent_columns(model.schema.names)
    return [explanation.to_dict() for explanation in model.explain(table, **classes, top=top, leave_out=False)]  # type: ignore[arg-type]


async def ask(request: HttpRequest) -> HttpResponse:
    """Return which missing column would tell most about the class of a row."""
    service: Service = request.app.state.service
    body = await read_body(request, service.limits)
    served, snapshot = await model_of(request)
    call: protocol.Request = protocol.decode(body)
    rows = protocol.rows_of(call, snapshot, service.limits, allow_none=True)
    if rows.n_rows > 1:
        raise Problem(422, f"{rows.n_rows:,} rows: the next question is about one row.")
    costs = call.parameters.get("costs")
    if not (costs is None or (isinstance(costs, dict) and all(type(cost) in (int, float) for cost in costs.values()))):
        raise Problem(422, "parameter 'costs': give a number for each column.")
    question = await service.run(snapshot.model.next_question, rows.columns, costs)
    return json_response(_answer(served, snapshot, call.id) | question.to_dict())


def _answer(served: ServedModel, snapshot: Snapshot, request_id: str | None) -> JsonObject:
    answer = {"model_name": served.name, "model_version": str(snapshot.version)}
    return answer if request_id is None else answer | {"id": request_id}
