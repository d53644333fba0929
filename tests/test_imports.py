"""`import naively` is light: no optional or heavy library comes with it."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    "library", ["sklearn", "scipy", "pyarrow", "pandas", "polars", "duckdb", "matplotlib", "narwhals"]
)
def test_not_loaded(library: str) -> None:
    code = f"import sys, naively; sys.exit({library!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
