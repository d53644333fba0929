"""Run the kernel tests on a core built with AddressSanitizer and UBSan: `make sanitize`.

An editable installation is imported through a hook. The hook is removed, so that the sanitized build in the folder of
the first argument is imported instead. The other arguments go to pytest.
"""

import sys

import pytest


def main() -> None:
    """Import the sanitized core and run the tests."""
    folder, *arguments = sys.argv[1:]
    sys.meta_path[:] = [f for f in sys.meta_path if type(f).__name__ != "ScikitBuildRedirectingFinder"]
    sys.path.insert(0, folder)
    from naively import _core

    if not str(_core.__file__).startswith(folder):
        sys.exit(f"the core was imported from {_core.__file__}, not from {folder}")
    sys.exit(pytest.main(arguments))


if __name__ == "__main__":
    main()
