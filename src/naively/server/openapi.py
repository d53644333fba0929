"""The OpenAPI document: every address for programs, what it takes and what it returns."""

from __future__ import annotations

from importlib.metadata import version
from typing import get_args

from naively.data.plain import JsonObject
from naively.server.files import FORMATS, OPTIONS
from naively.server.protocol import OUTPUTS, Datatype
from naively.server.service import Service

PARAMETERS: JsonObject = {
    "type": "object",
    "description": "min_probability, threshold, of, prior; for explain also against and top; for ask costs; for learn, "
    "forget and undo comment; for learn new_classes; for forget entry.",
    "properties": {
        "new_classes": {
            "type": "boolean",
            "default": False,
            "description": "Whether learn may add classes that the model does not have.",
        },
    },
}
SCHEMAS: JsonObject = {
    "Input": {
        "type": "object",
        "required": ["name", "shape", "datatype", "data"],
        "properties": {
            "name": {"type": "string"},
            "shape": {"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 1, "maxItems": 2},
            "datatype": {"type": "string", "enum": list(get_args(Datatype))},
            "data": {"type": "array", "items": {}},
            "parameters": {"type": "object"},
        },
    },
    "Output": {
        "type": "object",
        "required": ["name"],
        "properties": {"name": {"type": "string", "enum": list(OUTPUTS)}, "parameters": {"type": "object"}},
    },
    "Request": {
        "type": "object",
        "required": ["inputs"],
        "properties": {
            "id": {"type": "string"},
            "inputs": {"type": "array", "items": {"$ref": "#/components/schemas/Input"}},
            "outputs": {"type": "array", "items": {"$ref": "#/components/schemas/Output"}},
            "parameters": PARAMETERS,
        },
    },
    "Undo": {
        "type": "object",
        "required": ["entry"],
        "properties": {"entry": {"type": "string"}, "id": {"type": "string"}, "parameters": PARAMETERS},
    },
    "Tensor": {
        "type": "object",
        "required": ["name", "shape", "datatype", "data"],
        "properties": {
            "name": {"type": "string"},
            "shape": {"type": "array", "items": {"type": "integer"}},
            "datatype": {"type": "string"},
            "data": {"type": "array", "items": {}},
            "parameters": {"type": "object"},
        },
    },
    "Response": {
        "type": "object",
        "required": ["model_name", "model_version", "outputs"],
        "properties": {
            "model_name": {"type": "string"},
            "model_version": {"type": "string"},
            "id": {"type": "string"},
            "outputs": {"type": "array", "items": {"$ref": "#/components/schemas/Tensor"}},
        },
    },
    "Change": {
        "type": "object",
        "required": ["model_name", "model_version", "entry", "entries", "rows", "is_repeated"],
        "properties": {
            "model_name": {"type": "string"},
            "model_version": {"type": "string"},
            "entry": {"type": "string"},
            "entries": {"type": "array", "items": {"type": "string"}},
            "rows": {"type": "integer"},
            "is_repeated": {"type": "boolean"},
            "before": {"type": "object"},
        },
    },
    "Answer": {"type": "object"},
    "Error": {"type": "object", "required": ["error"], "properties": {"error": {"type": "string"}}},
}
OPTION_SCHEMAS: JsonObject = {
    "proba": {"type": "string", "enum": ["true", "false", "1", "0"]},
    "top": {"type": "integer", "minimum": 1, "maximum": 1000},
    "min_probability": {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
    "threshold": {"type": "number", "minimum": 0, "maximum": 1},
    "of": {"type": "string"},
    "prior": {"type": "string", "enum": ["empirical", "uniform"]},
}
MODEL, VERSION = "/v2/models/{model}", "/v2/models/{model}/versions/{version}"
POSTS = {
    "infer": ("Predict rows.", "Request", "Response"),
    "explain": ("Explain the predictions for rows.", "Request", "Answer"),
    "ask": ("Return the missing columns of a row that are worth asking for, the best first.", "Request", "Answer"),
}
CHANGES = {
    "learn": ("Count rows, as one entry of the log.", "Request", "Change"),
    "forget": ("Subtract rows that were counted.", "Request", "Change"),
    "undo": ("Remove the effect of an entry.", "Undo", "Change"),
}


def document(service: Service) -> JsonObject:
    """Return the document of a server."""
    model = {
        "name": "model",
        "in": "path",
        "required": True,
        "schema": {"type": "string", "enum": list(service.models)},
    }
    number = {"type": "string", "pattern": "^[1-9][0-9]{0,17}$"}
    of_version = {"name": "version", "in": "path", "required": True, "schema": number}
    paths: dict[str, JsonObject] = {
        "/v2": _get("Return the name of the server and its version."),
        "/v2/health/live": _get("Return whether the server runs."),
        "/v2/health/ready": _get("Return whether all models are loaded."),
        "/v2/models": _get("List the models."),
        "/openapi.json": _get("Return this document."),
        "/metrics": _get("Return metrics for Prometheus.", "text/plain"),
    }
    for path, parameters in ((MODEL, [model]), (VERSION, [model, of_version])):
        paths[path] = _get("Describe the inputs and outputs of a model.", parameters=parameters)
        paths[f"{path}/ready"] = _get("Return whether a model is loaded.", parameters=parameters)
        for name, (summary, request, response) in POSTS.items():
            paths[f"{path}/{name}"] = _post(summary, request, response, parameters)
        options = [{"name": name, "in": "query", "schema": OPTION_SCHEMAS[name]} for name in OPTIONS]
        paths[f"{path}/predict"] = {
            "post": {
                "summary": "Return the rows of a file with their predictions.",
                "parameters": [*parameters, *options],
                "requestBody": {
                    "required": True,
                    "content": {kind: {"schema": {"type": "string"}} for kind in FORMATS},
                },
                "responses": _responses({kind: {"schema": {}} for kind in FORMATS}),
            }
        }
    if service.learn:
        for name, (summary, request, response) in CHANGES.items():
            paths[f"{MODEL}/{name}"] = _post(summary, request, response, [model])
            paths[f"{MODEL}/{name}"]["post"]["security"] = [{"token": []}]
    return {
        "openapi": "3.1.0",
        "info": {"title": "naively", "version": version("naively")},
        "paths": paths,
        "components": {"schemas": SCHEMAS, "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
    }


def _get(summary: str, media_type: str = "application/json", parameters: list[JsonObject] | None = None) -> JsonObject:
    content = {media_type: {"schema": {"type": "object"} if media_type == "application/json" else {"type": "string"}}}
    return {"get": {"summary": summary, "parameters": parameters or [], "responses": _responses(content)}}


def _post(summary: str, request: str, response: str, parameters: list[JsonObject]) -> JsonObject:
    return {
        "post": {
            "summary": summary,
            "parameters": parameters,
            "requestBody": {"required": True, "content": {"application/json": {"schema": _reference(request)}}},
            "responses": _responses({"application/json": {"schema": _reference(response)}}),
        }
    }


def _responses(content: JsonObject) -> JsonObject:
    error = {"description": "What is wrong.", "content": {"application/json": {"schema": _reference("Error")}}}
    return {"200": {"description": "The answer.", "content": content}, "4XX": error, "503": error, "507": error}


def _reference(name: str) -> JsonObject:
    return {"$ref": f"#/components/schemas/{name}"}
