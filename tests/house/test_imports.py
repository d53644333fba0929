"""`import naively` loads no optional or heavy library, and a command only what it needs."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import naively


@pytest.mark.parametrize(
    "library",
    [
        "sklearn",
        "scipy",
        "pyarrow",
        "pandas",
        "polars",
        "duckdb",
        "matplotlib",
        "narwhals",
        "rich",
        "starlette",
        "onnx",
        "pyspark",
        "adbc_driver_manager",
        "selectolax",
    ],
)
def test_not_loaded(library: str) -> None:
    code = f"import sys, naively; sys.exit({library!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_fit_of_lists_and_arrays_loads_no_masked_arrays() -> None:
    code = (
        "import sys, numpy as np, naively\n"
        "naively.fit(['a b', 'c d'] * 4, np.array([0, 1] * 4), tune=False).predict(['a'])\n"
        "naively.fit(np.eye(8), [0, 1] * 4, weight=np.ones(8), tune=False).predict(np.eye(8))\n"
        "sys.exit('numpy.ma' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


HEAVY = ("sklearn", "scipy.stats", "scipy.sparse", "pandas", "polars", "duckdb", "matplotlib")
TABLE = "tests/data_sets/penguins.csv"


@pytest.mark.parametrize(
    ("command", "needed"),
    [
        (["--help"], set()),
        (["predict", "MODEL", TABLE, "-o", "OUTPUT.csv"], set()),
        (["evaluate", "MODEL", TABLE], set()),
        (["plot", "nomogram", "MODEL", "-o", "OUTPUT.svg"], {"matplotlib"}),
        (["plot", "roc", "MODEL", TABLE, "-o", "OUTPUT.svg"], {"matplotlib"}),
        (["plot", "calibration", "MODEL", TABLE, "-o", "OUTPUT.svg"], {"matplotlib"}),
    ],
)
def test_commands_load_what_they_need(command: list[str], needed: set[str], tmp_path: Path) -> None:
    model = tmp_path / "m.naively"
    naively.fit(TABLE, "species").save(model)
    arguments = [str(model) if a == "MODEL" else a.replace("OUTPUT", str(tmp_path / "out")) for a in command]
    code = (
        "import sys\nfrom naively.cli.main import main\n"
        f"sys.argv[1:] = {arguments!r}\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code\n"
        f"print('loaded:', *(name for name in {HEAVY!r} if name in sys.modules), file=sys.stderr)"
    )
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert set(run.stderr.splitlines()[-1].split()[1:]) == needed


def test_only_kernels_open_the_compiled_core() -> None:
    source = Path(naively.__file__).parent if Path(naively.__file__).suffix == ".py" else None
    assert source is not None
    openers = {
        path.relative_to(source).parts[0] for path in source.rglob("*.py") if re.search(r"\b_core\b", path.read_text())
    }
    assert openers == {"_kernels"}
