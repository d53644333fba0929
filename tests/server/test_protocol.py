"""The Open Inference Protocol: answers equal those of the library bit for bit, and wrong requests say what is wrong."""

from __future__ import annotations

import json
import math
from csv import DictReader
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.server.support import column, post

import naively
from naively.server import Limits

FOREVER = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
ISLANDS = ["Biscoe", "Dream", "Torgersen", "Elsewhere", "", None]


def outputs(response: Any) -> dict[str, Any]:
    assert response.status_code == 200, response.text
    return {output["name"]: output for output in response.json()["outputs"]}


@pytest.fixture(scope="session")
def penguins(model_files: Any) -> naively.Model:
    return naively.load(model_files / "penguins.naively")


def quiet_posterior(model: naively.Model, rows: Any) -> Any:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.posterior(rows)


numbers = st.none() | st.floats(allow_nan=False, allow_infinity=False, width=64) | st.integers(-(2**40), 2**40)
rows = st.lists(st.tuples(st.sampled_from(ISLANDS), numbers, numbers), min_size=1, max_size=5)


@FOREVER
@given(rows=rows)
def test_every_format_agrees_with_the_library(reader: Any, penguins: naively.Model, rows: list[Any]) -> None:
    """V2, JSON lines, CSV and Arrow give the posterior of the library, bit for bit."""
    http = reader
    islands, lengths, depths = ([row[j] for row in rows] for j in range(3))
    lengths, depths = ([None if x is None else float(x) for x in xs] for xs in (lengths, depths))
    table = {"island": islands, "bill_length_mm": lengths, "bill_depth_mm": depths}
    expected = quiet_posterior(penguins, table)
    inputs = [
        column("island", "BYTES", islands),
        column("bill_length_mm", "FP64", lengths),
        column("bill_depth_mm", "FP64", [[x] for x in depths], [len(depths), 1]),
    ]
    answer = outputs(post(http, "penguins/infer", inputs))
    posterior = np.array(answer["posterior"]["data"]).reshape(answer["posterior"]["shape"])
    assert posterior.tobytes() == expected.tobytes()
    assert answer["predict"]["data"] == quiet_predict(penguins, table)

    lines = "".join(json.dumps(dict(zip(table, row, strict=True))) + "\n" for row in zip(*table.values(), strict=True))
    url = "/v2/models/penguins/predict?proba=1"
    response = http.post(url, content=lines, headers={"Content-Type": "application/x-ndjson"})
    assert response.status_code == 200, response.text
    if all(any(x is not None for x in xs) for xs in table.values()):  # a column of nulls has no type in JSON lines
        by_line = [[row[f"p_{label}"] for label in penguins.classes] for row in map(json.loads, response.iter_lines())]
        cells = {"island": [x or None for x in islands], "bill_length_mm": lengths, "bill_depth_mm": depths}
        assert np.array(by_line).tobytes() == quiet_posterior(penguins, cells).tobytes()

    csv = "island,bill_length_mm,bill_depth_mm\n" + "".join(
        ",".join("" if cell is None else str(cell) for cell in row) + "\n" for row in zip(*table.values(), strict=True)
    )
    response = http.post(url, content=csv, headers={"Content-Type": "text/csv"})
    assert response.status_code == 200, response.text
    cells = {"island": [x or None for x in islands], "bill_length_mm": lengths, "bill_depth_mm": depths}
    names = [f"p_{label}" for label in penguins.classes]
    by_csv = [[float(row[name]) for name in names] for row in DictReader(response.text.splitlines())]
    assert np.array(by_csv).tobytes() == quiet_posterior(penguins, cells).tobytes()

    arrow = pa.table(
        {"island": pa.array(islands, pa.string()), **{n: pa.array(table[n], pa.float64()) for n in list(table)[1:]}}
    )
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, arrow.schema) as writer:
        writer.write_table(arrow)
    kind = {"Content-Type": "application/vnd.apache.arrow.stream"}
    response = http.post(url, content=sink.getvalue().to_pybytes(), headers=kind)
    assert response.status_code == 200, response.text
    result = pa.ipc.open_stream(response.content).read_all()
    by_arrow = np.column_stack([result[f"p_{label}"].to_numpy() for label in penguins.classes])
    cells = {"island": [x or None for x in islands], "bill_length_mm": lengths, "bill_depth_mm": depths}
    assert np.ascontiguousarray(by_arrow).tobytes() == quiet_posterior(penguins, cells).tobytes()


def quiet_predict(model: naively.Model, rows: Any) -> list[Any]:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answer: list[Any] = model.predict(rows).tolist()
        return answer


def test_csv_comes_out_as_it_went_in(reader: Any, penguins: naively.Model) -> None:
    text = 'day,island,bill_length_mm\n01,Dream,44.0\n02,,\n03,"Bis,coe",3e1\n'
    response = reader.post("/v2/models/penguins/predict", content=text, headers={"Content-Type": "text/csv"})
    assert response.status_code == 200, response.text
    assert response.headers["model-version"] == "1"
    lines = response.text.splitlines()
    assert lines[0] == "day,island,bill_length_mm,prediction"
    assert [line.rsplit(",", 1)[0] for line in lines] == text.splitlines()
    expected = quiet_predict(penguins, {"island": ["Dream", None, "Bis,coe"], "bill_length_mm": [44.0, None, 30.0]})
    assert [line.rsplit(",", 1)[1] for line in lines[1:]] == expected


def test_text_numbered_columns_and_missing_values(reader: Any, model_files: Any) -> None:
    http = reader
    mail, matrix = naively.load(model_files / "mail.naively"), naively.load(model_files / "numbers.naively")
    answer = outputs(post(http, "mail/infer", [column("text", "BYTES", ["cheap lunch", None])]))
    assert answer["posterior"]["data"] == mail.posterior(["cheap lunch", None]).ravel().tolist()
    tensor = {"name": "input", "shape": [2, 2], "datatype": "FP64", "data": [0.5, None, 4, 2]}
    expected = matrix.posterior(np.array([[0.5, np.nan], [4, 2]])).ravel().tolist()
    assert outputs(post(http, "numbers/infer", [tensor]))["posterior"]["data"] == expected
    nested = tensor | {"data": [[0.5, None], [4, 2]]}
    assert outputs(post(http, "numbers/infer", [nested]))["posterior"]["data"] == expected
    body = b'{"inputs": [{"name": "input", "shape": [2, 2], "datatype": "FP64", "data": [0.5, NaN, 4, 2]}]}'
    assert outputs(http.post("/v2/models/numbers/infer", content=body))["posterior"]["data"] == expected
    assert outputs(post(http, "numbers/infer", [tensor]))["predict"]["datatype"] == "INT64"


def test_parameters(reader: Any, penguins: naively.Model) -> None:
    http, row = reader, {"island": ["Dream"], "bill_length_mm": [44.0]}
    inputs = [column("island", "BYTES", ["Dream"]), column("bill_length_mm", "FP64", [44.0])]
    uniform = quiet_posterior(penguins.with_prior("uniform"), row)
    assert outputs(post(http, "penguins/infer", inputs, parameters={"prior": "uniform"}))["posterior"]["data"] == (
        uniform.ravel().tolist()
    )
    given = {"Adelie": 0.5, "Chinstrap": 0.25, "Gentoo": 0.25}
    assert outputs(post(http, "penguins/infer", inputs, parameters={"prior": given}))["posterior"]["data"] == (
        quiet_posterior(penguins.with_prior(given), row).ravel().tolist()
    )
    unsure = outputs(post(http, "penguins/infer", inputs, parameters={"min_probability": 0.99}))
    assert unsure["predict"]["data"] == [None]
    parameters = {"threshold": 0.05, "of": "Adelie"}
    assert outputs(post(http, "penguins/infer", inputs, parameters=parameters))["predict"]["data"] == ["Adelie"]
    only = outputs(post(http, "penguins/infer", inputs, outputs=[{"name": "predict"}]))
    assert list(only) == ["predict"]


def test_explain_and_ask(reader: Any, penguins: naively.Model) -> None:
    http, row = reader, {"island": ["Dream"], "bill_length_mm": [44.0]}
    inputs = [column("island", "BYTES", ["Dream"]), column("bill_length_mm", "FP64", [44.0])]
    [explanation] = post(http, "penguins/explain", inputs).json()["explanations"]
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = penguins.explain(row)[0].to_dict()
    assert explanation["total"] == expected["total"]
    assert explanation["posterior"] == expected["posterior"]
    question = post(http, "penguins/ask", inputs).json()
    assert question["questions"] == json.loads(json.dumps(penguins.next_question(row).to_dict()["questions"]))
    assert post(http, "penguins/ask", []).status_code == 200


def test_metadata_and_health(reader: Any) -> None:
    http = reader
    assert http.get("/v2").json()["name"] == "naively"
    assert http.get("/v2/health/live").json() == {"live": True}
    assert http.get("/v2/health/ready").json() == {"ready": True}
    assert {model["name"] for model in http.get("/v2/models").json()["models"]} == {"penguins", "mail", "numbers"}
    metadata = http.get("/v2/models/penguins").json()
    assert metadata["versions"] == ["1"]
    assert {"name": "bill_length_mm", "datatype": "FP64", "shape": [-1]} in metadata["inputs"]
    assert http.get("/v2/models/penguins/ready").json() == {"name": "penguins", "ready": True}
    assert http.get("/v2/models/penguins/versions/1").json() == metadata
    assert http.get("/v2/models/penguins/versions/2").status_code == 404
    assert http.get("/v2/models/nobody").status_code == 404
    assert "naively_requests_total" in http.get("/metrics").text


ISLAND = column("island", "BYTES", ["Dream"])


@pytest.mark.parametrize(
    ("inputs", "status", "words"),
    [
        ([], 422, "no rows"),
        ([column("island", "BYTES", [])], 422, "no rows"),
        ([column("Island", "BYTES", ["Dream"])], 422, "'Island'"),
        ([ISLAND, ISLAND], 422, "two inputs 'island'"),
        ([ISLAND, column("bill_length_mm", "FP64", [1.0, 2.0])], 422, "'bill_length_mm' has 2 rows"),
        ([column("island", "BYTES", ["Dream"], [2])], 422, "1 values"),
        ([column("island", "BYTES", ["Dream"], [1, 2])], 422, "shape"),
        ([column("island", "BYTES", ["Dream", 5])], 422, "'island', row 2: 5"),
        ([column("bill_length_mm", "FP64", [1.0, "x"])], 422, "'bill_length_mm', row 2"),
        ([column("bill_length_mm", "BYTES", ["44", "tall"])], 400, "row 2"),
        ([column("bill_length_mm", "INT8", [1000])], 422, "row 1: 1000"),
        ([column("bill_length_mm", "FP64", [10**400])], 422, "row 1"),
        ([column("bill_length_mm", "FP128", [1.0])], 400, "datatype"),
        ([{"name": "island"}], 400, "shape"),
    ],
)
def test_wrong_requests(reader: Any, inputs: list[Any], status: int, words: str) -> None:
    response = post(reader, "penguins/infer", inputs)
    assert response.status_code == status, response.text
    assert words in response.json()["error"]


def test_numbers_may_be_sent_as_text_as_in_a_file(reader: Any, penguins: naively.Model) -> None:
    answer = outputs(post(reader, "penguins/infer", [column("bill_length_mm", "BYTES", [" 44.0", None])]))
    expected = quiet_posterior(penguins, {"bill_length_mm": [44.0, None]})
    assert answer["posterior"]["data"] == expected.ravel().tolist()


@pytest.mark.parametrize("value", ["x" * 10_000, "it's " + "y" * 10_000, 'a "b" ' + "z" * 10_000, "w " * 5000])
def test_at_most_200_characters_are_echoed(reader: Any, value: str) -> None:
    http = reader
    bodies = [
        [column(value, "BYTES", ["a"])],
        [column("bill_length_mm", "BYTES", [value])],
        [column("bill_length_mm", "FP64", [value])],
        [column("island", value, ["a"])],
    ]
    for body in bodies:
        error = post(http, "penguins/infer", body).json()["error"]
        assert sum(error.count(letter) for letter in "xyzw") <= 200 + 40  # our own words have such letters
    for text in (f"island\n{value}\n", f"bill_length_mm\n{value}\n", f"{value},island\n1\n"):
        response = http.post("/v2/models/penguins/predict", content=text, headers={"Content-Type": "text/csv"})
        assert len(response.json()["error"]) < 600 if response.status_code != 200 else True
    response = http.get(f"/v2/models/{'x' * 10_000}")
    assert response.json()["error"].count("x") <= 200


def test_requests_that_arrive_together_are_scored_together_and_apart(reader: Any, penguins: naively.Model) -> None:
    """One wrong request does not spoil those that were scored with it, and every row gets its own answer."""
    import asyncio

    from naively.errors import InputError

    served = reader.app.state.service.get("penguins")
    jobs = [{"island": [island], "bill_length_mm": [length]} for island in ISLANDS for length in (None, 30.0, 44.5)]
    jobs += [{"bill_length_mm": [44.5]}, {"bill_length_mm": ["x"]}, {"island": ["Dream"]}, {"bill_length_mm": [44]}]

    async def predict_all() -> list[Any]:
        return await asyncio.gather(*(served.predict(job) for job in jobs), return_exceptions=True)

    answers = asyncio.run(predict_all())
    for job, answer in zip(jobs, answers, strict=True):
        if job == {"bill_length_mm": ["x"]}:
            assert isinstance(answer, InputError)
        else:
            assert answer.posterior.tobytes() == quiet_posterior(penguins, job).tobytes(), job


def test_limits_of_rows_cells_and_bytes(client: Any) -> None:
    http = client(limits=Limits(rows=3, cell_bytes=50, body_bytes=2000, explained_rows=2))
    assert post(http, "penguins/infer", [column("island", "BYTES", ["a"] * 3)]).status_code == 200
    assert post(http, "penguins/infer", [column("island", "BYTES", ["a"] * 4)]).status_code == 413
    assert post(http, "penguins/infer", [column("island", "BYTES", ["a" * 50])]).status_code == 200
    response = post(http, "penguins/infer", [column("island", "BYTES", ["a", "ä" * 26])])
    assert response.status_code == 413
    assert "'island', row 2" in response.json()["error"]
    assert post(http, "penguins/explain", [column("island", "BYTES", ["a"] * 3)]).status_code == 413
    assert http.post("/v2/models/penguins/infer", content=b" " * 2001).status_code == 413
    assert http.post("/v2/models/penguins/infer", content=iter([b" " * 1000] * 3)).status_code == 413
    csv = {"Content-Type": "text/csv"}
    assert http.post("/v2/models/penguins/predict", content="island\n" + "a\n" * 100, headers=csv).status_code == 200
    response = http.post("/v2/models/penguins/predict", content="island\na\n" + "b" * 51, headers=csv)
    assert response.status_code == 413
    assert "row 2" in response.json()["error"]


def test_limits_of_files(client: Any) -> None:
    http = client(limits=Limits(line_bytes=30, file_bytes=100))
    csv = {"Content-Type": "text/csv"}

    def predict(content: Any) -> Any:
        return http.post("/v2/models/penguins/predict", content=content, headers=csv)

    assert predict("island\n" + "a" * 20 + "\n").status_code == 200
    assert predict("island\n" + "a" * 40 + "\n").status_code == 413
    assert predict("island\n" + "a\n" * 60).status_code == 413
    assert predict(iter([b"island\n", *[b"a\n" * 10] * 6])).status_code == 413
    assert predict(iter([b"island\nb", b"b" * 20, b"b" * 10 + b"\na\n"])).status_code == 413
    assert predict(iter([b"island\nb", b"b" * 20, b"b\na\n"])).status_code == 200
    assert predict("island\n" + "a\n" * 40).status_code == 200


def test_work_that_takes_too_long_is_a_503_with_retry_after(client: Any) -> None:
    http = client(limits=Limits(seconds=1e-6))
    response = post(http, "penguins/explain", [column("island", "BYTES", ["a"] * 100)])
    assert response.status_code == 503
    assert response.headers["retry-after"]


def test_not_a_number_is_missing_and_infinity_is_refused(reader: Any) -> None:
    body = '{"inputs": [{"name": "bill_length_mm", "shape": [1], "datatype": "FP64", "data": [%s]}]}'
    http = reader
    assert http.post("/v2/models/penguins/infer", content=body % "NaN").status_code == 200
    assert http.post("/v2/models/penguins/infer", content=body % "Infinity").status_code == 400
    assert http.post("/v2/models/penguins/infer", content=body % "1e999").status_code in (400, 422)
    assert math.isfinite(outputs(http.post("/v2/models/penguins/infer", content=body % "NaN"))["posterior"]["data"][0])


DEEP = b"[" * 30_000 + b"]" * 30_000


@pytest.mark.parametrize("depth", [300, 900, 990, 3_000, 300_000])
def test_lists_inside_each_other_are_no_error_of_the_server(reader: Any, depth: int) -> None:
    for nested in (b"[" * depth + b"]" * depth, b'{"a":' * depth + b"1" + b"}" * depth, b"[" * depth):
        column = b'{"name": "island", "shape": [1], "datatype": "BYTES", "data": [%s]}' % nested
        for body in (b'{"inputs": [%s]}' % column, b'{"inputs": [], "parameters": {"prior": %s}}' % nested):
            for path in ("infer", "explain", "ask"):
                assert reader.post(f"/v2/models/penguins/{path}", content=body).status_code in (200, 400, 422)


@pytest.mark.parametrize(
    ("kind", "content", "status"),
    [
        ("text/csv", b"island\n" + b"x" * 200_000 + b"\nDream\n", 200),
        ("text/csv", b"x" * 200_000 + b"\nDream\n", 400),
        ("application/x-ndjson", b'null{"island": "Dream"}\n', 400),
        ("application/x-ndjson", b'{"island\xff": "Dream"}\n', 400),
        ("application/x-ndjson", b'{"island": ' + DEEP + b"}\n", 400),
    ],
)
def test_files_that_end_other_readers(reader: Any, kind: str, content: bytes, status: int) -> None:
    response = reader.post("/v2/models/penguins/predict", content=content, headers={"Content-Type": kind})
    assert response.status_code == status, response.text


@settings(FOREVER, max_examples=30)
@given(data=st.data())
def test_a_damaged_stream_of_arrow_is_an_error_of_the_client(reader: Any, data: st.DataObject) -> None:
    sink = pa.BufferOutputStream()
    table = pa.table({"island": ["Dream", None, "Biscoe"], "bill_length_mm": [44.0, None, 1.0]})
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    content = bytearray(sink.getvalue().to_pybytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    kind = {"Content-Type": "application/vnd.apache.arrow.stream"}
    response = reader.post("/v2/models/penguins/predict", content=bytes(content), headers=kind)
    assert response.status_code in (200, 400), response.text
