"""Numbers of three doubles: sums of weights that lose no digit when large terms are added and subtracted.

A triple is an array (3, …) that stands for the sum of its three parts, each smaller than the last place of the part
before it. Terms of 10⁹ and of 10⁻⁹ differ by 60 bits, have 53 bits each, and fit the 159 bits of a triple.
Source: Ogita, Rump & Oishi, Accurate sum and dot product, SIAM J. Sci. Comput. 26 (2005) 1955–1988;
Rump, Ogita & Oishi, Accurate floating-point summation, SIAM J. Sci. Comput. 31 (2008) 189–224.
"""

from __future__ import annotations

import math

import numpy as np

from naively._kernels.types import Array, Floats

MAX_EXACT = 2.0**900  # the sum of larger weights, with the bits needed to sum it exactly, might overflow
Pair = tuple[Floats, Floats]  # a number as an unevaluated sum of two doubles


def two_sum(a: Floats, b: Floats) -> Pair:
    """Return sum and error, with a + b = sum + error exactly (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def two_product(a: Floats, b: Floats) -> Pair:
    """Return product and error, with a · b = product + error exactly (Dekker, Veltkamp), for |a|, |b| < 10³⁰⁰."""

    def halves(x: Floats) -> Pair:
        big = 134217729.0 * x  # 2²⁷ + 1
        high = big - (big - x)
        return high, x - high

    product = a * b
    (a1, a2), (b1, b2) = halves(a), halves(b)
    return product, a2 * b2 - (((product - a1 * b1) - a2 * b1) - a1 * b2)


def as_triple(high: Floats) -> Floats:
    """Return doubles as triples."""
    return np.stack([high, np.zeros_like(high), np.zeros_like(high)])


def add_triples(a: Floats, b: Floats) -> Floats:
    """Return a + b."""
    first = two_sum(a[0], b[0])
    second = two_sum(a[1], b[1])
    middle = two_sum(second[0], first[1])
    return _normalised(first[0], middle[0], (a[2] + b[2]) + (second[1] + middle[1]))


def scale_triple(a: Floats, factor: Floats | float) -> Floats:
    """Return a times a double."""
    by = np.asarray(factor, dtype=np.float64)
    first, second = two_product(a[0], by), two_product(a[1], by)
    middle = two_sum(second[0], first[1])
    return _normalised(first[0], middle[0], a[2] * by + (second[1] + middle[1]))


def rounded(a: Floats) -> Floats:
    """Return the nearest double of each triple."""
    return np.asarray(a[0] + (a[1] + a[2]))


def _normalised(high: Floats, middle: Floats, low: Floats) -> Floats:
    tail = two_sum(middle, low)
    head = two_sum(high, tail[0])
    rest = two_sum(head[1], tail[1])
    head = two_sum(head[0], rest[0])  # again, because the high parts may have cancelled
    return np.stack([head[0], *two_sum(head[1], rest[1])])


def sum_by_group(weight: Floats, group: Array, n_groups: int) -> Floats:
    """Return the sum of the weights of each group, (3, group), the same for any order of the rows.

    The leading bits of all weights are summed first: so few that no sum rounds. What they leave is summed next.

    >>> sum_by_group(np.array([1e9, 1e-9, 0.5]), np.array([0, 0, 1]), 2)[:2].tolist()
    [[1000000000.0, 0.5], [1e-09, 0.0]]
    """
    if weight.max(initial=0.0) > MAX_EXACT:
        return as_triple(np.bincount(group, weight, n_groups).astype(np.float64))
    total, rest = np.zeros((3, n_groups)), weight
    n_bits = len(weight).bit_length() + 1
    while largest := float(np.abs(rest).max(initial=0.0)):
        bias = 1.5 * 2.0 ** (math.frexp(largest)[1] + n_bits)
        leading = (rest + bias) - bias
        total = add_triples(total, as_triple(np.bincount(group, leading, n_groups).astype(np.float64)))
        rest = rest - leading
    return total
