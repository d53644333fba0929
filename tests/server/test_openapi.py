"""Schemathesis: whatever is sent, no answer is a 500, and every answer is as the OpenAPI document says."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from tests.server.support import LEARN, bearer

from naively.server import app

N_EXAMPLES = 200 if os.environ.get("NAIVELY_SOAK") else 8


@pytest.fixture(scope="module")
def api(model_files: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    from shutil import copyfile

    folder = tmp_path_factory.mktemp("api")
    for path in model_files.glob("*.naively"):
        copyfile(path, folder / path.name)
    application = app(sorted(folder.glob("*.naively")), learn=True, tokens=[LEARN], hosts=["testserver"])
    # 400 and 422: JSON schema cannot say that data has the length of its shape, or that a column is one of the model.
    statuses = ["2xx", "400", "401", "404", "409", "413", "422"]
    config = schemathesis.Config.from_dict({"checks": {"positive_data_acceptance": {"expected-statuses": statuses}}})
    return schemathesis.openapi.from_asgi("/openapi.json", application, config=config)


def test_no_failures(api: Any) -> None:
    n_operations = 0
    for result in api.get_all_operations():
        operation = result.ok()
        right = operation.as_strategy(generation_mode=GenerationMode.POSITIVE)
        wrong = operation.as_strategy(generation_mode=GenerationMode.NEGATIVE)

        @settings(
            deadline=None,
            max_examples=200 if os.environ.get("NAIVELY_SOAK") else 8,
            suppress_health_check=list(HealthCheck),
        )
        @given(case=right | wrong)
        def check(case: Any) -> None:
            case.call_and_validate(headers=bearer(LEARN))

        with suppress(Unsatisfiable):  # nothing about it can be wrong
            check()
        n_operations += 1
    assert n_operations >= 20
