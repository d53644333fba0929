"""A small model file for the tests."""

from pathlib import Path

import pytest
from tests.support.models import fitted


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a file with one entry, from the source `first`."""
    fitted().save(tmp_path / "m.naively", source="first")
    return tmp_path / "m.naively"
