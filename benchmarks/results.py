"""Keep the figures of a run as JSON, with what is needed to understand them later."""

from __future__ import annotations

import datetime
import json
import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

LIBRARIES = ("naively", "numpy", "scipy", "scikit-learn", "pandas", "polars", "pyarrow", "duckdb", "joblib")

RESULTS: list[dict[str, Any]] = []  # of the benchmark that is running


def record(work: str, seconds: Mapping[str, Sequence[float]] | None = None, **figures: Any) -> None:
    """Keep the seconds of each contender in each round, and any figures computed from them."""
    timed = {} if seconds is None else {"seconds": {name: list(times) for name, times in seconds.items()}}
    RESULTS.append(_rounded({"work": work, **timed, **figures}))


def _rounded(value: Any) -> Any:
    """Return plain data with all numbers rounded to six significant digits."""
    if isinstance(value, Mapping):
        return {str(key): _rounded(item) for key, item in value.items()}
    if isinstance(value, str):
        return value
    return [_rounded(item) for item in value] if isinstance(value, Sequence) else float(f"{value:.6g}")


def write_results(folder: Path, name: str, arguments: Sequence[str]) -> Path:
    """Write what was recorded to DATE-NAME.json, or DATE-NAME-2.json if that exists, and return the path."""
    now = datetime.datetime.now(datetime.UTC)
    run = {
        "benchmark": name,
        "date": now.strftime("%Y-%m-%d"),
        "commit": _commit(),
        "arguments": [Path(text).name if Path(text).is_absolute() else text for text in arguments],
        "machine": {"processor": _processor(), "cpus": os.cpu_count(), "system": platform.platform()},
        "versions": {"python": platform.python_version(), **_versions()},
    }
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{run['date']}-{name}.json"
    n_runs = 1
    while path.exists():
        n_runs += 1
        path = folder / f"{run['date']}-{name}-{n_runs}.json"
    head = json.dumps(run, ensure_ascii=False).removesuffix("}")
    lines = ",\n".join(json.dumps(result, ensure_ascii=False) for result in RESULTS)
    path.write_text(f'{head}, "results": [\n{lines}\n]}}\n', encoding="utf-8")
    return path


def _commit() -> str:
    """Return the commit that is checked out, with a plus sign if files were changed since."""
    command = ["git", "describe", "--always", "--dirty=+"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def _versions() -> dict[str, str]:
    versions = {}
    for name in LIBRARIES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return versions


def _processor() -> str:
    """Return the name of the processor, where the system says it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
