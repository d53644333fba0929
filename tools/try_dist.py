"""Install each distribution in a new environment, as a user does, and run tools/smoke.py there.

Usage: python tools/try_dist.py dist/*
"""

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

SMOKE = Path(__file__).with_name("smoke.py").resolve()


def try_distribution(distribution: Path) -> None:
    """Install a wheel or a source distribution, which is compiled, and use it from another folder."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder) / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        subprocess.run([python, "-m", "pip", "install", "--quiet", distribution.resolve()], cwd=folder, check=True)
        subprocess.run([python, SMOKE], cwd=folder, check=True)


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        print(f"{argument}: install and try", flush=True)
        try_distribution(Path(argument))
