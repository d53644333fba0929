"""The Open Inference Protocol (V2): JSON to columns of values, and predictions to JSON.

A request has one input per column, of shape [n] or [n, 1], or one input of shape [n, k] for a model of k numbered
columns. null and NaN are missing values. BYTES are text, which is read as cells of a file are: as a number or a date if
the column has these.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain
from types import NoneType
from typing import Any, Literal, NamedTuple, get_args

import msgspec
import pyarrow as pa

from naively.data.convert import convert_columns
from naively.data.kinds import Kind
from naively.data.labelled import Label
from naively.data.names import Numbered
from naively.data.plain import CellValue, JsonObject
from naively.errors import InputError
from naively.model.decide import Rule, decision_rule
from naively.model.model import Model
from naively.server.limits import Limits
from naively.server.problems import Problem
from naively.server.served import Answer
from naively.server.writer import Snapshot

Datatype = Literal[
    "BOOL", "UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16", "INT32", "INT64", "FP16", "FP32", "FP64", "BYTES"
]
ONE_ROW = [1]  # the shape of a column
OUTPUTS = ("predict", "posterior")
DATATYPES: Mapping[Kind, Datatype] = {
    "number": "FP64",
    "boolean": "BOOL",
    "string": "BYTES",
    "date": "BYTES",
    "unknown": "BYTES",
}
TYPES: Mapping[Datatype, type] = {
    **dict.fromkeys(get_args(Datatype), int),
    "BOOL": bool,
    "BYTES": str,
    **dict.fromkeys(("FP16", "FP32", "FP64"), float),
}
LIMITS_OF_INTEGERS = {
    f"{sign}INT{bits}": (0, 2**bits - 1) if sign else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    for sign in ("", "U")
    for bits in (8, 16, 32, 64)
}


class Input(msgspec.Struct, gc=False):
    """One column of a request, or all columns if it has two dimensions."""

    name: str
    shape: list[int]
    datatype: Datatype
    data: list[CellValue]
    parameters: JsonObject = {}


class Output(msgspec.Struct, gc=False):
    """The name of an output that a request asks for."""

    name: str
    parameters: JsonObject = {}


class Request(msgspec.Struct, gc=False):
    """A request to predict, explain, ask, learn or forget."""

    inputs: list[Input]
    id: str | None = None
    outputs: list[Output] | None = None
    parameters: JsonObject = {}


class Tensor(msgspec.Struct, omit_defaults=True, gc=False):
    """One output of a response."""

    name: str
    datatype: Datatype
    shape: list[int]
    data: list[CellValue]
    parameters: JsonObject = {}


class Response(msgspec.Struct, omit_defaults=True, gc=False):
    """The predictions for a request."""

    model_name: str
    model_version: str
    outputs: list[Tensor]
    id: str | None = None
    parameters: JsonObject = {}


class Rows(NamedTuple):
    """The rows of a request: values by column name, and the type of the values of each column."""

    columns: dict[str, list[CellValue]]
    n_rows: int
    types: tuple[type, ...]


_decode_request = msgspec.json.Decoder(Request).decode


def decode(body: bytes, kind: Callable[[bytes], Any] = _decode_request) -> Any:
    """Return a request; Problem if it is not JSON, or not a request. Unlike JSON, numbers may be NaN."""
    try:
        return kind(body)
    except msgspec.ValidationError as error:
        raise Problem(400, f"this is not a request of the protocol: {error}.") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        if b"NaN" not in body:
            raise Problem(400, f"this is not JSON: {error}.") from None
    except RecursionError:
        raise Problem(400, "this is not a request of the protocol: too many lists inside each other.") from None
    try:
        plain = json.loads(body, parse_constant=lambda name: None if name == "NaN" else _refuse_constant(name))
        return kind(msgspec.json.encode(plain))
    except (ValueError, RecursionError, msgspec.MsgspecError) as error:
        raise Problem(400, f"this is not JSON: {error}.") from None


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number")


def rows_of(
    request: Request, snapshot: Snapshot, limits: Limits, others: Sequence[str] = (), allow_none: bool = False
) -> Rows:
    """Return the columns of a request, with values of the types that the model was trained with.

    Parameters
    ----------
    request
        The request.
    snapshot
        The model.
    limits
        The limits.
    others
        The names of columns that the model does not have and that are allowed all the same.
    allow_none
        Whether a request without inputs is one row of which everything is missing.
    """
    names = snapshot.model.schema.names
    inputs = request.inputs
    if len(inputs) == 1 and len(inputs[0].shape) == 2 and isinstance(names, Numbered):
        return _rows_of_matrix(inputs[0], names, limits)
    if not inputs and allow_none:
        return Rows({}, 1, ())
    kinds, exact, types_of_columns = snapshot.kinds, snapshot.exact, snapshot.types
    columns: dict[str, list[CellValue]] = {}
    types: list[type] = []
    n_rows = inputs[0].shape[0] if inputs and inputs[0].shape else 0
    max_characters = limits.cell_bytes // 4
    for column in inputs:
        name, data, shape = column.name, column.data, column.shape
        if len(data) == 1 == n_rows and shape == ONE_ROW:  # the usual request: half the time if nothing is converted
            kind_of_value = type(data[0])
            is_plain = kind_of_value is TYPES[column.datatype] and kind_of_value is types_of_columns.get(name)
            if is_plain and (kind_of_value is not str or len(data[0]) <= max_characters):
                columns[name] = data
                types.append(kind_of_value)
                continue
        kind = kinds.get(name)
        if kind is None and name not in others:
            raise Problem(422, f"the model has no column {name!r}: GET /v2/models/NAME lists its inputs.")
        if len(shape) == 2 and shape[1] == 1:
            data = _flat(name, data)
        elif len(shape) != 1:
            raise Problem(422, f"column {name!r} has shape {shape}: give [n] or [n, 1].")
        if shape[0] != len(data):
            raise Problem(422, f"column {name!r} has shape {shape} but {len(data)} values.")
        if shape[0] != n_rows:
            raise Problem(422, f"column {name!r} has {shape[0]} rows, and others have {n_rows}.")
        columns[name], kind_of_values = _values(name, column.datatype, data, kind, limits, exact)
        types.append(kind_of_values)
    if len(columns) < len(inputs):
        names_of_inputs = [column.name for column in inputs]
        name = next(name for name in names_of_inputs if names_of_inputs.count(name) > 1)
        raise Problem(422, f"there are two inputs {name!r}.")
    _check_rows(n_rows, limits)
    return Rows(columns, n_rows, tuple(types))


def _check_rows(n_rows: int, limits: Limits) -> None:
    if n_rows < 1:
        raise Problem(422, "there are no rows: give inputs with at least one value.")
    if n_rows > limits.rows:
        raise Problem(413, f"{n_rows:,} rows: send at most {limits.rows:,}, or a file to …/predict.")


def _flat(name: str, data: list[CellValue]) -> list[CellValue]:
    """Return the values of a tensor that may be nested."""
    if data and all(type(item) is list for item in data):
        if any(len(item) != 1 for item in data):
            raise Problem(422, f"column {name!r} has shape [n, 1], but a row that does not have one value.")
        return [item[0] for item in data]
    return data


def _rows_of_matrix(tensor: Input, names: Numbered, limits: Limits) -> Rows:
    """Return the columns of one tensor, whose values may be nested by row."""
    n_rows, n_columns = tensor.shape
    if n_columns != len(names):
        raise Problem(422, f"input {tensor.name!r} has {n_columns} columns, and the model has {len(names)}.")
    _check_rows(n_rows, limits)
    data = tensor.data
    if data and all(type(row) is list for row in data):
        if len(data) != n_rows or any(len(row) != n_columns for row in data):
            raise Problem(422, f"input {tensor.name!r} has shape {tensor.shape}, but other rows.")
        data = list(chain.from_iterable(data))
    if len(data) != n_rows * n_columns:
        raise Problem(422, f"input {tensor.name!r} has shape {tensor.shape} but {len(data)} values.")
    read = [_values(name, tensor.datatype, data[j::n_columns], "number", limits) for j, name in enumerate(names)]
    columns = {name: values for name, (values, _) in zip(names, read, strict=True)}
    return Rows(columns, n_rows, tuple(kind for _, kind in read))


def _values(
    name: str, datatype: Datatype, data: list[CellValue], kind: Kind | None, limits: Limits, exact: Collection[str] = ()
) -> tuple[list[CellValue], type]:
    """Return values as the type of Python that the model reads, and this type; Problem names the column and the row.

    The type of a column without a value is NoneType.
    """
    types = set(map(type, data))
    types.discard(NoneType)
    if not types:
        return data, NoneType
    expected = TYPES[datatype]
    if types != {expected}:
        if expected is not float or types - {int, float}:
            raise _wrong_type(name, datatype, data, expected)
        data = [value if value is None else _float(name, row, value) for row, value in enumerate(data, start=1)]
    if expected is str:
        if max(map(len, filter(None, data)), default=0) > limits.cell_bytes // 4:
            _check_cells(name, data, limits)
        is_other = kind is not None and kind != "string"
    else:
        if expected is int:
            _check_integers(name, datatype, data)
        is_other = kind == "string" and expected is not bool
    if not is_other or kind is None:
        return data, expected
    converted = convert(name, data, kind, name in exact)
    return converted, next((type(value) for value in converted if value is not None), NoneType)


def _check_integers(name: str, datatype: Datatype, data: list[int | None]) -> None:
    low, high = LIMITS_OF_INTEGERS[datatype]
    for row, value in enumerate(data, start=1):
        if value is not None and not low <= value <= high:
            raise Problem(422, f"column {name!r}, row {row}: {_echo(value)} is not a number of type {datatype}.")


def _float(name: str, row: int, value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        raise Problem(422, f"column {name!r}, row {row}: the number is too large.") from None


def _wrong_type(name: str, datatype: Datatype, data: list[CellValue], expected: type) -> Problem:
    types = (int, float) if expected is float else (expected,)
    row, value = next((i, v) for i, v in enumerate(data, start=1) if v is not None and type(v) not in types)
    return Problem(422, f"column {name!r}, row {row}: {_echo(value)} is not of type {datatype}.")


def _echo(value: object) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False)
    except RecursionError:
        text = f"a {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:60]}…"


def _check_cells(name: str, data: Iterable[str | None], limits: Limits) -> None:
    for row, text in enumerate(data, start=1):
        if text and 4 * len(text) > limits.cell_bytes and len(text.encode("utf-8", "replace")) > limits.cell_bytes:
            raise Problem(413, f"column {name!r}, row {row}: has more than {limits.cell_bytes:,} bytes.")


def columns_of_texts(model: Model, texts: Mapping[str, Sequence[str | None]]) -> dict[str, list[CellValue]]:
    """Return texts, such as those of a form, as values of the types that the model was trained with.

    Parameters
    ----------
    model
        The model.
    texts
        Texts by column name. An empty text is a missing value.
    """
    kinds, exact = model.schema.kinds(), model.schema.coded_numbers()
    unknown = [name for name in texts if name not in kinds]
    if unknown:
        raise InputError(f"the model has no column {unknown[0]!r}.")
    return {
        name: convert(name, [text or None for text in column], kinds[name], name in exact)
        for name, column in texts.items()
    }


def convert(name: str, values: Sequence[Any], kind: Kind, exact: bool = False) -> list[CellValue]:
    """Return values of one column as values of a kind, as cells of a file are read."""
    try:
        table = convert_columns(pa.table({name: pa.array(values)}), {name: kind}, 0, [name] if exact else [])
    except UnicodeEncodeError:
        raise InputError(f"column {name!r} has half of a surrogate pair, which is not text.") from None
    converted: list[CellValue] = table.column(0).to_pylist()
    return converted


def find_class(model: Model, label: object) -> Label:
    """Return the class that is this, or is written like this; Problem if there is none."""
    for known in model.classes:
        if type(known) is type(label) and known == label:
            return known
    for known in model.classes:
        if str(known) == label:
            return known
    raise Problem(422, f"{_echo(label)} is not a class of the model.")


def with_parameters(model: Model, parameters: Mapping[str, CellValue]) -> tuple[Model, Rule | None]:
    """Return the model under the prior, and the rule of the decision, that the parameters of a request give."""
    options = {name: parameters[name] for name in ("min_probability", "threshold") if name in parameters}
    for name, value in options.items():
        if type(value) not in (int, float) or not 0 <= value <= 1:
            raise Problem(422, f"parameter {name!r}: give a probability.")
    of = None if "of" not in parameters else find_class(model, parameters["of"])
    rule = decision_rule(model.classes, of=of, **options) if options else None
    if "prior" in parameters:
        model = with_prior(model, parameters["prior"])
    return model, rule


def with_prior(model: Model, prior: Any) -> Model:
    """Return the model under another class prior: a name, or a probability for each class."""
    if isinstance(prior, dict):
        if any(type(p) not in (int, float) for p in prior.values()):
            raise Problem(422, "parameter 'prior': give a probability for each class.")
        prior = {find_class(model, label): p for label, p in prior.items()}
    elif prior not in ("empirical", "uniform"):
        raise Problem(422, 'parameter \'prior\': give "empirical", "uniform" or a probability for each class.')
    return model.with_prior(prior)


def tensors(answer: Answer, names: Sequence[str] = OUTPUTS) -> list[Tensor]:
    """Return the outputs of these names."""
    classes = answer.model.classes
    outputs = []
    for name in names:
        if name == "predict":
            data: list[CellValue] = answer.prediction
            outputs.append(Tensor(name, datatype_of_classes(classes), [len(data)], data))
        elif name == "posterior":
            posterior = answer.posterior
            data = posterior.ravel().tolist()
            outputs.append(Tensor(name, "FP64", list(posterior.shape), data, {"classes": list(classes)}))
        else:
            raise Problem(422, f"there is no output {name!r}: the outputs are predict and posterior.")
    return outputs


def datatype_of_classes(classes: Sequence[Label]) -> Datatype:
    """Return the type of the output `predict`."""
    types = set(map(type, classes))
    if types <= {bool}:
        return "BOOL"
    return "INT64" if types <= {int} else "FP64" if types <= {int, float} else "BYTES"


def metadata(name: str, version: int, model: Model) -> JsonObject:
    """Return the description of a model."""
    names = model.schema.names
    if isinstance(names, Numbered):
        inputs = [{"name": "input", "datatype": "FP64", "shape": [-1, len(names)]}]
    else:
        kinds = model.schema.kinds()
        inputs = [{"name": column, "datatype": DATATYPES[kinds[column]], "shape": [-1]} for column in names]
    classes = list(model.classes)
    return {
        "name": name,
        "versions": [str(version)],
        "platform": "naively",
        "inputs": inputs,
        "outputs": [
            {"name": "predict", "datatype": datatype_of_classes(classes), "shape": [-1]},
            {"name": "posterior", "datatype": "FP64", "shape": [-1, len(classes)]},
        ],
        "parameters": {"classes": classes, "target": model.target},
    }
