"""The types of the compiled core in `_core.pyi` are those of the core."""

import core_stub
import pytest


def test_stub_is_current() -> None:
    pytest.importorskip("nanobind")
    assert core_stub.STUB.read_text() == core_stub.stub_text(), "the bindings have changed: run `make stub`"
