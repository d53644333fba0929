"""`import naively` loads no optional or heavy library."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import naively


@pytest.mark.parametrize(
    "library",
    ["sklearn", "scipy", "pyarrow", "pandas", "polars", "duckdb", "matplotlib", "narwhals", "rich", "starlette"],
)
def test_not_loaded(library: str) -> None:
    code = f"import sys, naively; sys.exit({library!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_only_kernels_open_the_compiled_core() -> None:
    source = Path(naively.__file__).parent if Path(naively.__file__).suffix == ".py" else None
    assert source is not None
    openers = {
        path.relative_to(source).parts[0] for path in source.rglob("*.py") if re.search(r"\b_core\b", path.read_text())
    }
    assert openers == {"_kernels"}
