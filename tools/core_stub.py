"""Write src/naively/_core.pyi, the types of the compiled core, from the core itself: `make stub`."""

import re
import subprocess
import sys
from pathlib import Path

STUB = Path(__file__).parents[1] / "src" / "naively" / "_core.pyi"


def main() -> None:
    """Generate the stub, and fill in the type arguments that nanobind leaves out."""
    subprocess.run([sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "naively._core", "-o", str(STUB)], check=True)
    text = STUB.read_text()
    text = re.sub(r"\bNDArray(?!\[)(?=[,\]\s)])", "NDArray[Any]", text)
    text = re.sub(r"-> tuple:", "-> tuple[Any, ...]:", text)
    text = re.sub(r": tuple([,)=\s])", r": tuple[Any, ...]\1", text)
    text = text.replace("import NDArray[Any]", "import NDArray")
    text = re.sub(r"from typing import (?!.*\bAny\b)", "from typing import Any, ", text, count=1)
    if not re.search(r"from typing import .*\bAny\b", text):
        text = "from typing import Any\n" + text
    STUB.write_text(text)


if __name__ == "__main__":
    main()
