"""A corpus that any machine has: sources and documentation of Python and of the system, labelled by folder."""

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
    """Documents of about 4 kB with their classes, in memory and one after the other in a file."""

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
        """Collect text of this machine; if there is too little, repeat it with rotated letters and print a note."""
        texts: list[str] = []
        label: list[int] = []
        bytes_left, n_original = megabytes * 1_000_000, 0
        for turn in itertools.count():
            altered = _rotation(turn)
            for text, place in _files():
                if bytes_left <= 0:
                    break
                pieces = [text[i : i + DOCUMENT] for i in range(0, len(text), DOCUMENT)]
                texts += [piece.translate(altered) for piece in pieces] if turn else pieces
                label += [place % n_classes] * len(pieces)
                bytes_left -= len(text.encode())
            if turn == 0:
                n_original = len(texts)
            if bytes_left <= 0 or turn == 25 or not texts:
                break
        if len(texts) > n_original:
            print(f"(this machine has too little text: {len(texts) - n_original:,} documents repeat others, rotated)")
        encoded = [text.encode() for text in texts]
        path = folder / f"corpus-{megabytes}-{n_classes}.txt"
        path.write_bytes(b"".join(encoded))
        return cls(
            texts, np.array(label, np.int32), n_classes, np.cumsum([0, *map(len, encoded)], dtype=np.int64), path
        )

    def save(self) -> Path:
        """Write offsets and labels next to the text, for another process."""
        np.savez(self.path.with_suffix(".npz"), offsets=self.offsets, label=self.label)
        return self.path

    @classmethod
    def load(cls, path: Path, n_classes: int) -> Corpus:
        """Load what `save` wrote."""
        data = path.read_bytes()
        arrays = np.load(path.with_suffix(".npz"))
        offsets, label = arrays["offsets"], arrays["label"]
        texts = [data[a:b].decode() for a, b in itertools.pairwise(offsets.tolist())]
        return cls(texts, label, n_classes, offsets, path)


def _files() -> Iterator[tuple[str, int]]:
    """Yield each text once, with a number for its folder."""
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
    """Return a table that replaces every letter by the one `turn` places later."""
    table: dict[int, int] = {}
    for letters in (string.ascii_lowercase, string.ascii_uppercase):
        table |= str.maketrans(letters, letters[turn % 26 :] + letters[: turn % 26])
    return table


def many_words(n_classes: int, n_words: int, nonzeros: int) -> tuple[list[str], Labels]:
    """Make documents of 500 words drawn uniformly, as many as give the number of nonzeros: mostly rare words."""
    draw = np.random.default_rng(0)
    n = nonzeros // 500
    texts = [" ".join(f"w{k}" for k in draw.integers(0, n_words, 500).tolist()) for _ in range(n)]
    return texts, (np.arange(n) % n_classes).astype(np.int32)
