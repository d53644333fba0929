"""Descriptions for people stay short."""

import numpy as np
import pytest

import naively
from naively.cli.describe import describe_classes


@pytest.mark.parametrize(("n_classes", "n_lines"), [(2, 3), (30, 31), (31, 22), (400, 22)])
def test_many_classes_are_not_all_listed(n_classes: int, n_lines: int) -> None:
    label = np.concatenate([np.arange(n_classes), np.repeat(np.arange(min(n_classes, 20)), 2)])
    names = [f"c{c:03}" for c in label]
    model = naively.fit({"x": np.arange(len(label)) % 7}, names, tune=False, many_classes=True)
    lines = describe_classes(model).splitlines()
    assert len(lines) == n_lines
    if n_classes > 30:
        assert lines[-1].strip() == f"and {n_classes - 20} more"
        assert [line.split()[0] for line in lines[1:-1]] == [f"c{c:03}" for c in range(20)]  # the most frequent ones
