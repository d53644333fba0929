"""The log-loss of calibrated scores: the core against its readable twin; and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.twins import posterior as twin

from naively._kernels.posterior import log_loss


def drawn(seed: int, n: int = 5, n_classes: int = 3, n_features: int = 2, scale: float = 1.0) -> dict[str, Any]:
    """Scores of any size, of any shape."""
    rng = np.random.default_rng(seed)
    return {
        "base": scale * rng.normal(size=(n, n_classes)),
        "evidence": scale * rng.normal(size=(n_features, n, n_classes)),
        "label": rng.integers(0, n_classes, n),
        "row_weight": rng.integers(0, 4, n) / 2,
        "offset": rng.normal(size=n_classes),
        "weight": rng.normal(size=n_features),
    }


@given(st.integers(0, 2**32 - 1), st.integers(1, 9), st.integers(1, 5), st.integers(0, 3), st.sampled_from([1.0, 1e3]))
def test_core_and_twin(seed: int, n: int, n_classes: int, n_features: int, scale: float) -> None:
    given_ = drawn(seed, n, n_classes, n_features, scale)
    pairs: Any = zip(log_loss(**given_), twin.log_loss(**given_), strict=True)
    for found, wanted in pairs:
        np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-10 * scale)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"evidence": np.zeros((2, 4, 3))}, "evidence"),
        ({"label": np.zeros(4, np.int64)}, "label has 4 entries, but 5"),
        ({"label": np.full(5, 3)}, "not a class"),
        ({"label": np.full(5, -1)}, "not a class"),
        ({"row_weight": np.zeros(6)}, "row_weight has 6 entries"),
        ({"offset": np.zeros(2)}, "offset has 2 entries"),
        ({"weight": np.zeros(3)}, "weight has 3 entries"),
    ],
)
def test_refusals(changed: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        log_loss(**{**drawn(0), **changed})
