"""Rankings are scikit-learn's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from naively.evaluation.ranking import Ranking

ROWS = st.lists(
    st.tuples(st.booleans(), st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.7, 1.0]) | st.floats(0, 1), st.integers(0, 3)),
    min_size=2,
    max_size=40,
)


@given(ROWS, st.booleans())
def test_as_scikit_learn(rows: list[tuple[bool, float, int]], is_weighted: bool) -> None:
    rows = [(True, 0.4, 1), (False, 0.6, 1), *rows]  # of both kinds
    observed, number, weight = (np.array(values) for values in zip(*rows, strict=True))
    w = weight.astype(float) if is_weighted else None
    ranking = Ranking.of(observed, number, w)
    false, true, _ = metrics.roc_curve(observed, number, sample_weight=w)
    np.testing.assert_allclose(ranking.roc(), (false, true), rtol=1e-12)
    precision, recall, _ = metrics.precision_recall_curve(observed, number, sample_weight=w)
    np.testing.assert_allclose(ranking.precision_recall(), (recall[::-1], precision[::-1]), rtol=1e-12)
    assert ranking.area == pytest.approx(metrics.roc_auc_score(observed, number, sample_weight=w), rel=1e-12)
    expected = metrics.average_precision_score(observed, number, sample_weight=w)
    assert ranking.average_precision == pytest.approx(expected, rel=1e-12)


def test_by_hand() -> None:
    ranking = Ranking.of(np.array([True, False, True, False]), np.array([0.9, 0.8, 0.7, 0.1]))
    assert ranking.area == 0.75
    assert ranking.average_precision == (1 + 2 / 3) / 2
