"""tools/check_dist.py names what is missing from a distribution and what must not be in it."""

import io
import tarfile
import zipfile
from pathlib import Path

from check_dist import ROOT, problems


def test_wheel(tmp_path: Path) -> None:
    wheel = tmp_path / "naively-0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("naively/__init__.py", f"HOME = {str(ROOT)!r}")
        archive.writestr("tests/iris.csv", "")
    lines = problems(wheel)
    assert "missing: naively/py.typed" in lines
    assert "missing: the compiled core" in lines
    assert "missing: the licence" in lines
    assert "must not be in it: tests/iris.csv" in lines
    assert f"naively/__init__.py names {ROOT}" in lines


def test_source_distribution(tmp_path: Path) -> None:
    sdist = tmp_path / "naively-0.tar.gz"
    with tarfile.open(sdist, "w:gz") as archive:
        archive.addfile(tarfile.TarInfo("naively-0/src/naively/_core.so"), io.BytesIO())
    lines = problems(sdist)
    assert "missing: LICENSE" in lines
    assert "missing: core/support/compiler.hpp" in lines
    assert "must not be in it: src/naively/_core.so" in lines
