"""Update a text model with a few texts at a time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import naively
from naively import InputError


def test_wrong_texts_and_labels_are_refused(tmp_path: Path) -> None:
    naively.fit(["a b", "c d"], ["x", "y"], tune=False).save(tmp_path / "m")
    ledger = naively.open(tmp_path / "m")
    with pytest.raises(InputError, match="1 rows but 2 labels"):
        ledger.update(["a"], ["x", "y"])
    with pytest.raises(InputError, match="not of the type of the model"):
        ledger.update(["a"], [1])
    with pytest.raises(InputError):
        ledger.update([], [])
    naively.fit(["a b", "c d"], [1, 2], tune=False).save(tmp_path / "n")
    with pytest.raises(InputError, match="not of the type of the model"):
        naively.open(tmp_path / "n").update(["a"], ["x"])
    assert len(ledger.log()) == 1


def test_source_that_is_a_numpy_string(tmp_path: Path) -> None:
    """The checksum of what is written equals that of what is read."""
    naively.fit(["a b", "c d"], ["x", "y"], tune=False).save(tmp_path / "m")
    with naively.open(tmp_path / "m") as ledger:
        ledger.update(["a"], ["x"], source=np.array(["anna"])[0], comment="𝄞 " + "long " * 20_000)
    assert naively.open(tmp_path / "m").log()[1].source == "anna"
