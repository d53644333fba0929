"""Handlers that change a model: learn, forget and undo. Each writes one entry of the log."""

from __future__ import annotations

from typing import Any

import msgspec
from starlette.requests import Request as HttpRequest
from starlette.responses import Response as HttpResponse

from naively.data.labelled import Label
from naively.data.plain import CellValue, JsonObject
from naively.model.model import Model
from naively.server import protocol
from naively.server.body import read_body
from naively.server.problems import Problem, json_response
from naively.server.security import require_learn
from naively.server.served import Change, ServedModel
from naively.server.service import Service

MAX_COMMENT = 1000  # characters


class Undo(msgspec.Struct):
    """A request to undo an entry."""

    entry: str
    id: str | None = None
    parameters: JsonObject = {}


_decode_undo = msgspec.json.Decoder(Undo).decode


async def learn(request: HttpRequest) -> HttpResponse:
    """Count the rows of a request; the column that the model predicts holds their classes."""
    access = require_learn(request)
    served, call, columns, labels = await _labelled_rows(request)
    change = await served.learn(
        columns,
        labels,
        source=access.name,
        comment=_comment(call.parameters),
        request_id=_scoped(access.name, call.id),
        new_classes=_new_classes(call.parameters),
    )
    return _response(request, served, change, call.id)


async def forget(request: HttpRequest) -> HttpResponse:
    """Subtract rows that were counted."""
    access = require_learn(request)
    served, call, columns, labels = await _labelled_rows(request)
    entry = call.parameters.get("entry")
    if not (entry is None or isinstance(entry, str)):
        raise Problem(422, "parameter 'entry': give the id of an entry.")
    change = await served.forget(
        columns,
        labels,
        source=access.name,
        comment=_comment(call.parameters),
        entry=entry,
        request_id=_scoped(access.name, call.id),
    )
    return _response(request, served, change, call.id)


async def undo(request: HttpRequest) -> HttpResponse:
    """Remove the effect of an entry; 409 if that is not possible any more."""
    access = require_learn(request)
    service: Service = request.app.state.service
    body = await read_body(request, service.limits)
    served = service.get(request.path_params["model"])
    call: Undo = protocol.decode(body, _decode_undo)
    change = await served.undo(
        call.entry,
        source=access.name,
        comment=_comment(call.parameters),
        request_id=_scoped(access.name, call.id),
    )
    return _response(request, served, change, call.id)


async def _labelled_rows(
    request: HttpRequest,
) -> tuple[ServedModel, protocol.Request, dict[str, list[CellValue]], list[Label]]:
    """Read the columns and the classes of a request."""
    service: Service = request.app.state.service
    body = await read_body(request, service.limits)
    served = service.get(request.path_params["model"])
    snapshot = served.snapshot
    call: protocol.Request = protocol.decode(body)
    target = snapshot.model.target
    columns = dict(protocol.rows_of(call, snapshot, service.limits, others=(target,)).columns)
    if target not in columns or target in snapshot.kinds:
        raise Problem(422, f"the classes are missing: give the input {target!r}.")
    labels = columns.pop(target)
    if None in labels:
        raise Problem(422, f"column {target!r}, row {labels.index(None) + 1}: the class is missing.")
    if not columns:
        raise Problem(422, "there are only classes: give at least one column of the model.")
    return served, call, columns, [as_class(snapshot.model, label) for label in labels]


def as_class(model: Model, label: Any) -> Label:
    """Return the class that is written like this, or the label itself if there is none."""
    return next((known for known in model.classes if known == label or str(known) == label), label)


def _scoped(name: str, request_id: str | None) -> str | None:
    """Return the id of a request of one user: that of another user is another request."""
    return None if request_id is None else f"{name}\n{request_id}"


def _comment(parameters: JsonObject) -> str:
    comment = parameters.get("comment", "")
    if not isinstance(comment, str) or len(comment) > MAX_COMMENT:
        raise Problem(422, f"parameter 'comment': give a text of at most {MAX_COMMENT:,} characters.")
    return comment


def _new_classes(parameters: JsonObject) -> bool:
    new_classes = parameters.get("new_classes", False)
    if not isinstance(new_classes, bool):
        raise Problem(422, "parameter 'new_classes': give true or false.")
    return new_classes


def _response(request: HttpRequest, served: ServedModel, change: Change, request_id: str | None) -> HttpResponse:
    if not change.is_repeated:
        request.app.state.metrics.count_entries(served.name, change.entries)
    data: JsonObject = {
        "model_name": served.name,
        "model_version": str(change.version),
        "entry": change.entries[0].id,
        "entries": [entry.id for entry in change.entries],
        "rows": sum(entry.rows for entry in change.entries),
        "is_repeated": change.is_repeated,
    }
    if request_id is not None:
        data["id"] = request_id
    if change.before is not None:
        tensors = msgspec.to_builtins(protocol.tensors(change.before))
        data["before"] = {"model_version": str(change.before.version), "outputs": tensors}
    return json_response(data)
