"""The dense numeric kernels in plain Python: exact, readable, slow.

A cell (one class, one column) keeps, about a shift k,

    n = Σ w,   s1 = Σ w(x − k),   s2 = Σ w(x − k)²                                    (1)
    mean = k + s1/n,   squares = Σ w(x − mean)² = s2 − s1²/n                          (2)
    about another shift k' = k − Δ:   s1' = s1 + nΔ,   s2' = s2 + 2Δ·s1 + nΔ²         (3)
    |n − Σ w| ≤ e,   |s1 − Σ w(x − k)| ≤ e·reach,   |s2 − Σ w(x − k)²| ≤ e·reach²     (4)

Here the sums are `fractions.Fraction`, hence exact, and are cut into three doubles only when stored; the
compiled kernels do the same in triple-double arithmetic and are compared with these.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Table = npt.NDArray[np.float64] | npt.NDArray[np.float32]
Rows = npt.NDArray[np.int64]
Labels = npt.NDArray[np.int32]

LOG_2PI = float(np.log(2 * np.pi))
LARGEST = np.float64(1e150)  # beyond, squares overflow and the state is meaningless anyway
FARTHEST = 1e150  # standard deviations; the square is still finite
STATE_SIZE = 12
WEIGHT = [0, 9, 10]  # the three parts of n in a state
COUNT_ERROR, TRIPLE_ERROR = 2.0**-90, 2.0**-150  # of n, in (4): without weights, and with weights or of a sum


def count_moments(
    x: Table, label: Labels, weight: Floats | None, n_classes: int, n_jobs: int = 1
) -> tuple[Rows, Floats, Floats]:
    """Return equation (1) for every class and column, and the largest |x| of every column."""
    n, p = x.shape
    unit = COUNT_ERROR if weight is None else TRIPLE_ERROR
    if weight is None:
        weight = np.ones(n)
    if n and not (label.min() >= 0 and label.max() < n_classes):
        raise ValueError(f"label holds a value outside 0..{n_classes - 1}; number the classes from 0")
    rows, state = np.zeros((n_classes, p), np.int64), np.zeros((STATE_SIZE, n_classes, p))
    largest = np.zeros(p)
    for j in range(p):
        seen = ~np.isnan(x[:, j])
        largest[j] = np.abs(x[seen, j]).max(initial=0.0)
        for c in range(n_classes):
            keep = seen & (label == c) & (np.abs(x[:, j]) <= LARGEST)
            if keep.any():
                rows[c, j] = keep.sum()
                state[:, c, j] = _count_cell(x[keep, j].astype(np.float64).tolist(), weight[keep].tolist(), unit)
    return rows, state, largest


def add_moments(rows_a: Rows, state_a: Floats, rows_b: Rows, state_b: Floats, sign: int) -> tuple[Rows, Floats]:
    """a + b or a − b, cell by cell, about the shift of a (of b where a is empty): equation (3)."""
    rows, state = rows_a + sign * rows_b, np.zeros_like(state_a)
    for c, j in np.ndindex(*rows.shape):
        if rows[c, j] == 0:
            continue
        a, b = state_a[:, c, j], state_b[:, c, j]
        shift = float(a[1] if rows_a[c, j] > 0 else b[1])
        signed = [(s, _about(shift, cell)) for s, cell, r in ((1, a, rows_a), (sign, b, rows_b)) if r[c, j]]
        s1 = sum((s * part[0] for s, part in signed), Fraction(0))
        s2 = sum((s * part[1] for s, part in signed), Fraction(0))
        reach = max(part[2] for _, part in signed)
        n = _join(a[WEIGHT]) + sign * _join(b[WEIGHT])
        error = a[11] + b[11] + (TRIPLE_ERROR * (abs(a[0]) + abs(b[0])) if rows_b[c, j] else 0.0)
        state[:, c, j] = _state(n, shift, s1, s2, reach, error)
    return rows, state


def pool_moments(rows: Rows, state: Floats) -> tuple[Rows, Floats]:
    """Return the moments of all classes together."""
    n_classes, p = rows.shape
    total: tuple[Rows, Floats] = (np.zeros((1, p), np.int64), np.zeros((STATE_SIZE, 1, p)))
    for c in range(n_classes):
        total = add_moments(*total, rows[c : c + 1], state[:, c : c + 1], +1)
    return total


def describe_moments(rows: Rows, state: Floats) -> tuple[Floats, Floats]:
    """Return equation (2): the mean and the sum of squares about it; zeros for an empty cell.

    The squares are zero if (4) allows the sums to be those of n times one double.
    """
    mean, squares = np.zeros(rows.shape), np.zeros(rows.shape)
    for c, j in np.ndindex(*rows.shape):
        if rows[c, j] != 0:
            cell = state[:, c, j]
            n, s1, s2 = _join(cell[WEIGHT]), _join(cell[2:5]), _join(cell[5:8])
            mean[c, j] = float(Fraction(float(cell[1])) + s1 / n)
            delta = Fraction(float(mean[c, j])) - Fraction(float(cell[1]))
            reach, error = cell[8] + abs(float(delta)), cell[11] + TRIPLE_ERROR * cell[0]
            no_spread = abs(s1 - n * delta) <= error * reach and s2 - 2 * delta * s1 + n * delta**2 <= error * reach**2
            least = cell[11] * cell[8] ** 2
            squares[c, j] = 0.0 if rows[c, j] == 1 or no_spread else max(least, float(s2 - s1 * s1 / n))
    return mean, squares


def score_gaussian(x: Table, mean: Floats, variance: Floats, out: Floats, n_jobs: int = 1) -> tuple[int, bool]:
    """Add log N(x | mean, variance) to out, leaving missing values out.

    Returns −1, or the first column that holds an infinity, and whether any value is missing. x is held within 1e150
    of the smallest standard deviation of the outermost means, so that every score is finite and the widest class
    still wins.
    """
    infinite, missing = np.isinf(x).any(axis=0), bool(np.isnan(x).any())
    if infinite.any():
        return int(infinite.argmax()), missing
    deviation = np.sqrt(variance)
    for j in range(x.shape[1]):
        far = FARTHEST * deviation[:, j].min(initial=np.inf)
        low, high = mean[:, j].min(initial=np.inf) - far, mean[:, j].max(initial=-np.inf) + far
        value = np.clip(x[:, j].astype(np.float64), low, high)[:, None]
        z = np.clip((value - mean[:, j]) / deviation[:, j], -2 * FARTHEST, 2 * FARTHEST)
        term = -0.5 * (LOG_2PI + np.log(variance[:, j]) + z * z)
        out += np.where(np.isnan(value), 0.0, term)
    return -1, missing


def normalise(log_joint: Floats, log_prior: Floats, kind: int, floor: float = 0.0, n_jobs: int = 1) -> int:
    """Turn log joint probabilities, in place, into log posteriors (kind 0) or posteriors (kind 1).

    With a floor ε, p is (1 − ε) p + ε / C for the C classes whose prior is not zero.

    A row without a possible class (all −inf) gets the prior; the number of such rows is returned.
    """
    no_class = np.isneginf(log_joint).all(axis=1)
    log_joint[no_class] = log_prior
    log_joint -= log_joint.max(axis=1, keepdims=True, initial=-np.inf)
    with np.errstate(divide="ignore"):
        log_joint -= np.log(np.exp(log_joint).sum(axis=1, keepdims=True))
    if floor:
        is_possible = np.isfinite(log_prior)
        with np.errstate(divide="ignore"):
            log_joint[:] = np.log((1 - floor) * np.exp(log_joint) + floor / is_possible.sum() * is_possible)
    if kind == 1:
        np.exp(log_joint, out=log_joint)
    return int(no_class.sum())


def best_class(log_joint: Floats, log_prior: Floats, out: Labels, n_jobs: int = 1) -> int:
    """Write the most probable class of every row, or of the prior; return the number of rows without a class."""
    no_class = np.isneginf(log_joint).all(axis=1)
    out[:] = np.where(no_class, log_prior.argmax(), log_joint.argmax(axis=1))
    return int(no_class.sum())


def _count_cell(values: list[float], weights: list[float], unit: float) -> list[float]:
    shift = values[0]
    pairs = [(Fraction(w), Fraction(v) - Fraction(shift)) for v, w in zip(values, weights, strict=True)]
    n = sum((w for w, _ in pairs), Fraction(0))
    s1 = sum((w * d for w, d in pairs), Fraction(0))
    s2 = sum((w * d * d for w, d in pairs), Fraction(0))
    return _state(n, shift, s1, s2, max(abs(v - shift) for v in values), unit * float(n))


def _state(n: Fraction, shift: float, s1: Fraction, s2: Fraction, reach: float, error: float) -> list[float]:
    high, middle, low = _split(n)
    return [high, shift, *_split(s1), *_split(s2), reach, middle, low, error]


def _about(shift: float, cell: Floats) -> tuple[Fraction, Fraction, float]:
    """s1, s2 and a bound on |x − shift|, about another shift: equation (3)."""
    n, delta = _join(cell[WEIGHT]), Fraction(cell[1]) - Fraction(shift)
    s1, s2 = _join(cell[2:5]), _join(cell[5:8])
    return s1 + n * delta, s2 + 2 * delta * s1 + n * delta * delta, float(cell[8] + abs(cell[1] - shift))


def _split(exact: Fraction) -> list[float]:
    """Return three doubles whose sum is the number, to about 160 bits."""
    parts = []
    for _ in range(3):
        parts.append(float(exact))
        exact -= Fraction(parts[-1])
    return parts


def _join(parts: Floats) -> Fraction:
    return sum((Fraction(part) for part in parts.tolist()), Fraction(0))
