"""Predict a file: rows come in as CSV, JSON lines or Arrow, and go out in the same format with their predictions.

The rows are copied to a temporary file, predicted in batches as `naively predict` does, and sent when the last one is
predicted. So memory is bounded, a wrong row gives an error instead of half an answer, and a client that sends all rows
before it reads the first one does not block itself.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse

from naively.data.columns import is_string
from naively.data.files.lines import LINE
from naively.data.files.paths import DataFile
from naively.data.files.read import read_one
from naively.data.files.write import write_rows
from naively.data.plain import JsonObject
from naively.errors import collect_warnings
from naively.model.model import Model
from naively.model.predict_batches import predict_tables
from naively.server import protocol
from naively.server.body import check_headers, too_slow
from naively.server.inference import model_of
from naively.server.limits import Limits
from naively.server.problems import Problem
from naively.server.service import Service

FORMATS = {
    "text/csv": "csv",
    "application/x-ndjson": "jsonl",
    "application/jsonl": "jsonl",
    "application/vnd.apache.arrow.stream": "arrow",
}
CHUNK_BYTES = 1 << 20
ROWS_AT_ONCE = 16_384  # fewer than `naively predict` reads: several files are predicted at a time
OPTIONS = ("proba", "top", "min_probability", "threshold", "of", "prior")


async def predict(request: Request) -> Response:
    """Answer with the rows of a file and their predictions, all by one version."""
    service: Service = request.app.state.service
    check_headers(request.scope, None)
    kind = FORMATS.get(request.headers.get("content-type", "").partition(";")[0].strip().lower())
    if kind is None:
        raise Problem(415, f"send the rows as {', '.join(FORMATS)}, named by the header Content-Type.")
    served, snapshot = await model_of(request)
    options = _options(request)
    async with service.file_slots:
        folder = tempfile.TemporaryDirectory(prefix="naively-")
        try:
            source, result = Path(folder.name) / f"rows.{kind}", Path(folder.name) / f"predictions.{kind}"
            await _receive(request, source, kind, service.limits)
            n_rows = await asyncio.to_thread(_predict, snapshot.model, source, result, kind, options, service.limits)
        except BaseException:
            folder.cleanup()
            raise
    served.n_rows += n_rows
    headers = {"Model-Version": str(snapshot.version), "Content-Length": str(result.stat().st_size)}
    return StreamingResponse(_send(folder, result), headers=headers, media_type=request.headers["content-type"])


def _options(request: Request) -> JsonObject:
    """Return the options in the query, as the parameters of the protocol."""
    options: JsonObject = {}
    for name, value in request.query_params.multi_items():
        if name not in OPTIONS:
            raise Problem(400, f"there is no option {name!r}: the options are {', '.join(OPTIONS)}.")
        try:
            if name == "proba":
                options[name] = {"true": True, "1": True, "false": False, "0": False}[value.lower()]
            elif name == "top":
                options[name] = int(value) if 1 <= int(value) <= 1000 else int("")
            else:
                options[name] = value if name in ("of", "prior") else float(value)
        except (KeyError, ValueError):
            raise Problem(400, f"option {name!r} cannot be {value!r}.") from None
    return options


async def _receive(request: Request, path: Path, kind: str, limits: Limits) -> None:
    """Write the body to a file; Problem if it is too large, a line is too long, or nothing arrives for a time."""
    n_bytes = line_bytes = 0
    with path.open("wb") as file:
        while True:
            try:
                async with asyncio.timeout(limits.seconds):
                    message = await request.receive()
            except TimeoutError:
                raise too_slow(limits) from None
            if message["type"] == "http.disconnect":
                raise ClientDisconnect
            chunk: bytes = message.get("body", b"")
            n_bytes += len(chunk)
            if n_bytes > limits.file_bytes:
                raise Problem(413, f"a file has at most {limits.file_bytes:,} bytes: send it in parts.")
            if line_bytes + len(chunk) > limits.line_bytes and kind != "arrow":
                lengths = [len(line) for line in chunk.split(b"\n")]
                if max(line_bytes + lengths[0], *lengths) > limits.line_bytes:
                    raise Problem(413, f"a line has more than {limits.line_bytes:,} bytes.")
            end = chunk.rfind(b"\n")
            line_bytes = line_bytes + len(chunk) if end < 0 else len(chunk) - end - 1
            try:
                file.write(chunk)
            except OSError as error:
                raise Problem(507, f"there is no space for the rows ({error.strerror}).") from None
            if not message.get("more_body", False):
                break
    if not n_bytes:
        raise Problem(400, "the body is empty: send rows.")


def _predict(model: Model, source: Path, result: Path, kind: str, options: JsonObject, limits: Limits) -> int:
    """Predict the rows of one file into another; return their number."""
    model, rule = protocol.with_parameters(model, options)
    numbers = {name for name, column_kind in model.schema.kinds().items() if column_kind == "number"}
    n_rows = 0

    def counted(pairs: Iterable[tuple[pa.Table, pa.Table]]) -> Iterator[tuple[pa.Table, pa.Table]]:
        nonlocal n_rows
        for rows, results in pairs:
            n_rows += rows.num_rows
            yield rows, results

    try:
        with collect_warnings(), result.open("wb") as file:
            # The format is that of the header: a database in the guise of CSV is not opened.
            file_of_rows = DataFile(source, "the file", {"jsonl": "json"}.get(kind, kind))
            batches = _check_cells(read_one(file_of_rows), limits)
            pairs = predict_tables(
                model, batches, rule, options.get("proba", False), options.get("top"), rows_at_once=ROWS_AT_ONCE
            )
            write_rows(counted(pairs), file, kind, numbers, result.parent)
    except OSError as error:
        raise Problem(507, f"there is no space for the predictions ({error.strerror}).") from None
    return n_rows


def _check_cells(batches: Iterable[pa.RecordBatch], limits: Limits) -> Iterator[pa.RecordBatch]:
    """Yield the same batches; Problem if a cell is too large."""
    n_rows = 0
    for batch in batches:
        try:
            batch.validate(full=True)  # a stream of Arrow can hold offsets and bytes that are wrong
        except (pa.ArrowInvalid, UnicodeDecodeError):
            raise Problem(400, "the stream of Arrow is damaged.") from None
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            if name == LINE or not (is_string(column.type) or pa.types.is_binary(column.type)):
                continue
            strings: Any = column
            is_large = pc.greater(pc.binary_length(strings), pa.scalar(limits.cell_bytes))
            if pc.any(is_large).as_py():
                row = n_rows + pc.index(is_large, True).as_py() + 1
                raise Problem(413, f"column {name!r}, row {row:,}: has more than {limits.cell_bytes:,} bytes.")
        n_rows += batch.num_rows
        yield batch


async def _send(folder: tempfile.TemporaryDirectory[str], path: Path) -> AsyncIterator[bytes]:
    """Yield the bytes of a file, and remove its folder."""
    with folder, path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            yield chunk
