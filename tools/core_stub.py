"""Write src/naively/_core.pyi, the types of the compiled core, from the core itself: `make stub`."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

STUB = Path(__file__).parents[1] / "src" / "naively" / "_core.pyi"


def stub_text() -> str:
    """Return the stub that nanobind generates, with short types of arrays and complete type arguments."""
    with tempfile.TemporaryDirectory() as folder:
        generated = Path(folder) / "_core.pyi"
        command = [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "naively._core", "-o", str(generated)]
        subprocess.run(command, check=True)
        text = generated.read_text()
    text = re.sub(r"Annotated\[(NDArray(?:\[[\w.]+\])?), dict\((?:[^()]|\([^()]*\))*\)\]", r"\1", text)
    text = re.sub(r"\bNDArray(?!\[)(?=[,\]\s)])", "NDArray[Any]", text)
    text = text.replace("import NDArray[Any]", "import NDArray").replace("list[list]", "list[list[str]]")
    return re.sub(r"from typing import [^\n]*", "from typing import Any, overload", text, count=1)


if __name__ == "__main__":
    STUB.write_text(stub_text())
