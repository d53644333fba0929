"""Rows that a file remembers with a text: what is written is read again, and what is not valid is refused."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naively.store.codec import pack
from naively.store.fingerprints import RememberedRows, pack_rows, unpack_fingerprints, unpack_rows
from naively.store.sqlite import DECODE_ERRORS

rows = st.dictionaries(st.tuples(st.binary(min_size=16, max_size=16), st.text()), st.integers(1, 3), max_size=8)


@given(rows)
def test_remembered_rows_are_read_as_they_were_written(counts: dict[tuple[bytes, str], int]) -> None:
    payload = pack_rows(RememberedRows(Counter(counts), "delivery"))
    assert unpack_rows(payload) == (Counter(counts), "delivery")
    assert set(unpack_fingerprints(payload)) == {fingerprint for fingerprint, _ in counts}


def test_rows_without_a_text_are_fingerprints() -> None:
    counts = Counter({(bytes(16), ""): 2})
    payload = pack_rows(RememberedRows(counts))
    assert unpack_rows(payload) == (counts, None)
    assert unpack_fingerprints(payload) == Counter({bytes(16): 2})


KEYS, COUNTS = np.zeros((1, 16), np.uint8), np.ones(1, np.int64)
TEXTS = np.frombuffer(pack({"texts": ["a"]}, []), np.uint8)


@pytest.mark.parametrize(
    ("head", "arrays"),
    [
        ({"column": "c"}, [KEYS, COUNTS]),
        ({"column": "c"}, [KEYS, COUNTS, TEXTS[:9]]),
        ({"column": "c"}, [KEYS, COUNTS, TEXTS.astype(np.int64)]),
        ({"column": "c"}, [np.zeros((2, 16), np.uint8), COUNTS, TEXTS]),
        ({"column": "c"}, [KEYS[:, :8], COUNTS, TEXTS]),
        ({"column": "c"}, [KEYS, np.ones(2, np.int64), TEXTS]),
        ({"column": "c"}, [KEYS, COUNTS, np.frombuffer(pack({"texts": [1]}, []), np.uint8)]),
        ({"column": "c"}, [KEYS, COUNTS, np.frombuffer(pack({}, []), np.uint8)]),
        ({"column": 3}, [KEYS, COUNTS, TEXTS]),
    ],
)
def test_rows_that_are_not_valid_are_refused(head: dict[str, Any], arrays: list[np.ndarray[Any, Any]]) -> None:
    with pytest.raises(DECODE_ERRORS):
        unpack_rows(pack(head, arrays))
