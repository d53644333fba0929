"""Write src/naively/_core.pyi, the types of the compiled core, from the core itself: `make stub`."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

STUB = Path(__file__).parents[1] / "src" / "naively" / "_core.pyi"


def stub_text() -> str:
    """Return the stub that nanobind generates, with the type arguments that nanobind leaves out."""
    with tempfile.TemporaryDirectory() as folder:
        generated = Path(folder) / "_core.pyi"
        command = [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "naively._core", "-o", str(generated)]
        subprocess.run(command, check=True)
        text = generated.read_text()
    text = re.sub(r"\bNDArray(?!\[)(?=[,\]\s)])", "NDArray[Any]", text)
    text = re.sub(r"-> tuple:", "-> tuple[Any, ...]:", text)
    text = re.sub(r": tuple([,)=\s])", r": tuple[Any, ...]\1", text)
    text = text.replace("import NDArray[Any]", "import NDArray")
    text = re.sub(r"from typing import (?!.*\bAny\b)", "from typing import Any, ", text, count=1)
    if not re.search(r"from typing import .*\bAny\b", text):
        text = "from typing import Any\n" + text
    return text


if __name__ == "__main__":
    STUB.write_text(stub_text())
