"""The model file: a zip of one JSON text and plain arrays (.npy). Nothing in it is run when it is read.

    model.json      format and Unicode version, target, classes, prior, schema, and how the statistics are laid out
    arrays/0.npy …  their numbers

Members are stored as they are, so no member is larger than the file; every size, type and order is checked.
"""

from __future__ import annotations

import json
import os
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from naively.errors import InputError
from naively.kernels.text import UNICODE_VERSION
from naively.priors import ClassPrior
from naively.schema import Schema
from naively.statistics import ClassWeights, Statistic
from naively.storage.checks import check_model
from naively.storage.values import Arrays, decode, encode, read_array, write_array

__all__ = ["read", "write", "written_whole"]

FORMAT = 1
Parts = tuple[Schema, tuple[Any, ...], ClassWeights, tuple[Statistic, ...], ClassPrior, str]


def write(
    path: str | Path,
    schema: Schema,
    classes: tuple[Any, ...],
    seen: ClassWeights,
    statistics: tuple[Statistic, ...],
    prior: ClassPrior,
    target: str,
) -> None:
    """Write the parts of a model."""
    arrays: Arrays = []
    given = None if prior.given is None else [[label, prior.given[label]] for label in prior.given]
    header = {
        "format": FORMAT,
        "unicode": UNICODE_VERSION,
        "target": target,
        "classes": list(classes),
        "prior": {"alpha": prior.alpha, "uniform": prior.uniform, "given": given},
        "schema": json.loads(schema.to_json()),
        "seen": encode(seen, arrays),
        "statistics": [encode(statistic, arrays) for statistic in statistics],
    }
    with written_whole(path) as unfinished, zipfile.ZipFile(unfinished, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("model.json", json.dumps(header, indent=1))
        for i, array in enumerate(arrays):
            with archive.open(f"arrays/{i}.npy", "w", force_zip64=True) as member:
                write_array(member, array)


@contextmanager
def written_whole(path: str | Path) -> Iterator[Path]:
    """A path beside the one wanted, moved there when the block ends well, and removed when it does not."""
    wanted = Path(path)
    try:
        number, name = tempfile.mkstemp(prefix=f".{wanted.name}.", dir=wanted.parent)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror}).") from None
    os.close(number)
    unfinished = Path(name)
    try:
        yield unfinished
        mask = os.umask(0)
        os.umask(mask)
        unfinished.chmod(0o666 & ~mask)  # as any new file; mkstemp's is for its owner alone
        unfinished.replace(wanted)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def read(path: str | Path) -> Parts:
    """The parts of a model, checked."""
    try:
        with zipfile.ZipFile(path) as archive:
            if any(member.compress_type != zipfile.ZIP_STORED for member in archive.infolist()):
                raise InputError(f"{path}: is not a model file of naively (its members are compressed).")
            header = json.loads(archive.read("model.json"))
            names = [name for name in archive.namelist() if name.startswith("arrays/")]
            arrays = [read_array(archive.read(f"arrays/{i}.npy")) for i in range(len(names))]
        return _parts(path, header, arrays)
    except InputError as error:
        raise InputError(str(error) if str(path) in str(error) else f"{path}: {error}") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error}).") from None
    except (
        zipfile.BadZipFile,
        KeyError,
        ValueError,
        TypeError,
        IndexError,
        NotImplementedError,
        RecursionError,
    ) as error:
        raise InputError(f"{path}: is not a model file of naively, or is damaged ({error}).") from None


def _parts(path: str | Path, header: Any, arrays: Arrays) -> Parts:
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        found = header.get("format") if isinstance(header, dict) else None
        raise InputError(f"{path}: has format {found!r}, and this naively reads format {FORMAT}: update naively.")
    schema = Schema.from_json(json.dumps(header["schema"]))
    classes = tuple(header["classes"])
    prior = header["prior"]
    given = None if prior["given"] is None else {label: float(p) for label, p in prior["given"]}
    known = ClassPrior(prior["alpha"], bool(prior["uniform"]), given)
    seen = decode(header["seen"], arrays)
    statistics = tuple(decode(found, arrays) for found in header["statistics"])
    if not isinstance(header["target"], str):
        raise TypeError("the target is no name")
    check_model(schema, classes, seen, statistics)
    known.log_probability(classes, seen.weight)  # refuses a prior that does not name the classes
    return schema, classes, seen, statistics, known, header["target"]
