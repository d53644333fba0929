"""Moments in rational arithmetic, and the accuracy that the kernels must have."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from naively._kernels import moments

Array = npt.NDArray[Any]
DIGITS = 10**-15.5


def exact(x: Array, label: Array, weight: Array | None, n_classes: int) -> tuple[Array, Array]:
    """Return mean and squares of every cell, computed in rational arithmetic and rounded once."""
    mean, squares = np.zeros((n_classes, x.shape[1])), np.zeros((n_classes, x.shape[1]))
    weight = np.ones(len(x)) if weight is None else weight
    for c, j in np.ndindex(*mean.shape):
        cell = [
            (Fraction(w), Fraction(float(v)))
            for v, w, k in zip(x[:, j].tolist(), weight.tolist(), label.tolist(), strict=True)
            if k == c and v == v
        ]
        if cell:
            n = sum((w for w, _ in cell), Fraction(0))
            centre = sum((w * v for w, v in cell), Fraction(0)) / n
            mean[c, j] = float(centre)
            squares[c, j] = float(sum((w * (v - centre) ** 2 for w, v in cell), Fraction(0)))
    return mean, squares


def assert_exact(counted: tuple[Array, Array], x: Array, label: Array, weight: Array | None, n_classes: int) -> None:
    mean, squares = moments.describe_moments(*counted)
    true_mean, true_squares = exact(x, label, weight, n_classes)
    # A rounded n moves the mean by a unit of its distance from the shift, at most the reach.
    scale = np.abs(true_mean) if weight is None else np.abs(true_mean) + np.minimum(counted[1][8], 1e300)
    assert (np.abs(mean - true_mean) <= DIGITS * scale).all()
    slack = 1 if weight is None else 40  # (mean − shift)² / variance, see core/moments.hpp
    assert (np.abs(squares - true_squares) <= slack * DIGITS * true_squares).all()
