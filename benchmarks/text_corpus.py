"""Text that any machine has: the sources and documentation of Python and of the system, labelled by folder."""

from __future__ import annotations

import hashlib
import itertools
import site
import string
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ROOTS = [
    *(Path(p) for p in sorted({sys.prefix, sys.base_prefix, *site.getsitepackages()})),
    Path("/usr/share/doc"),
    Path("/usr/lib/python3"),
]
ENDINGS = {".py", ".txt", ".rst", ".md", ".html", ".pyi", ".h", ".hpp"}
DOCUMENT = 4096  # characters

Labels = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Corpus:
    """Documents of about 4 kB and their classes; the same text written to a file, one document after the other."""

    texts: list[str]
    label: Labels
    n_classes: int
    offsets: NDArray[np.int64]  # of the documents in the file
    path: Path

    @property
    def size(self) -> int:
        """Bytes of UTF-8."""
        return int(self.offsets[-1])

    @classmethod
    def gather(cls, megabytes: int, n_classes: int, folder: Path) -> Corpus:
        """The first so many megabytes of what this machine has; more only by altering words, and said so."""
        texts: list[str] = []
        label: list[int] = []
        left, whole = megabytes * 1_000_000, 0
        for turn in itertools.count():
            altered = _rotation(turn)
            for text, place in _files():
                if left <= 0:
                    break
                pieces = [text[i : i + DOCUMENT] for i in range(0, len(text), DOCUMENT)]
                texts += [piece.translate(altered) for piece in pieces] if turn else pieces
                label += [place % n_classes] * len(pieces)
                left -= len(text.encode())
            if turn == 0:
                whole = len(texts)
            if left <= 0 or turn == 25 or not texts:
                break
        if len(texts) > whole:
            print(
                f"(this machine has too little text: {len(texts) - whole:,} documents are others with letters rotated)"
            )
        encoded = [text.encode() for text in texts]
        path = folder / f"corpus-{megabytes}-{n_classes}.txt"
        path.write_bytes(b"".join(encoded))
        return cls(
            texts, np.array(label, np.int32), n_classes, np.cumsum([0, *map(len, encoded)], dtype=np.int64), path
        )

    def save(self) -> Path:
        """Offsets and labels beside the text, for another process to load."""
        np.savez(self.path.with_suffix(".npz"), offsets=self.offsets, label=self.label)
        return self.path

    @classmethod
    def load(cls, path: Path, n_classes: int) -> Corpus:
        """What `save` left."""
        data = path.read_bytes()
        arrays = np.load(path.with_suffix(".npz"))
        offsets, label = arrays["offsets"], arrays["label"]
        texts = [data[a:b].decode() for a, b in itertools.pairwise(offsets.tolist())]
        return cls(texts, label, n_classes, offsets, path)


def _files() -> Iterator[tuple[str, int]]:
    """Each text once, with a number of its folder."""
    seen = set()
    for path in (p for root in ROOTS if root.is_dir() for p in sorted(root.rglob("*")) if p.suffix in ENDINGS):
        if not path.is_file():
            continue
        data = path.read_bytes()
        if (digest := hashlib.sha1(data).digest()) not in seen:
            seen.add(digest)
            place = int.from_bytes(hashlib.sha1(str(path.parent).encode()).digest()[:4])
            yield data.decode("utf-8", "replace"), place


def _rotation(turn: int) -> dict[int, int]:
    """Every letter replaced by the one so many places on."""
    table: dict[int, int] = {}
    for letters in (string.ascii_lowercase, string.ascii_uppercase):
        table |= str.maketrans(letters, letters[turn % 26 :] + letters[: turn % 26])
    return table


def many_words(n_classes: int, n_words: int, nonzeros: int) -> tuple[list[str], Labels]:
    """Documents of 500 words drawn evenly, as many as give about so many nonzeros: words that come once or twice."""
    draw = np.random.default_rng(0)
    n = nonzeros // 500
    texts = [" ".join(f"w{k}" for k in draw.integers(0, n_words, 500).tolist()) for _ in range(n)]
    return texts, (np.arange(n) % n_classes).astype(np.int32)
