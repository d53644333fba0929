"""The version number is written once, in pyproject.toml."""

import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import naively

ROOT = Path(__file__).parents[2]


def test_version_is_that_of_the_installed_package() -> None:
    assert naively.__version__ == version("naively")


def test_installed_package_is_this_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert naively.__version__ == project["version"]


def test_metadata_is_read_on_demand_only() -> None:
    code = "import sys, naively; sys.exit('importlib.metadata' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
