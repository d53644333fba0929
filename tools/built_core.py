"""A pytest plugin that imports the package from a build of its own: `make sanitize`, `make races`, `make portable`.

An editable installation is imported through a hook. The plugin removes the hook, so that the build in the folder
NAIVELY_BUILD is imported instead, in the process that starts the tests and in each of its workers.

Usage: PYTHONPATH=tools NAIVELY_BUILD=FOLDER python -m pytest -p built_core tests/_kernels
"""

import os
import sys

import pytest

FOLDER = os.environ["NAIVELY_BUILD"]

sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder).__name__ != "ScikitBuildRedirectingFinder"]
sys.path.insert(0, FOLDER)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Refuse to run with another core than that of the folder."""
    from naively import _core

    if not str(_core.__file__).startswith(FOLDER):
        pytest.exit(f"the core was imported from {_core.__file__}, not from {FOLDER}", returncode=1)
