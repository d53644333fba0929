"""Tables of columns in plain Python: paths are tuples of codes, and counts are dictionaries.

s_0 = class shares,   s_t = (n_t + s_{t−1}) / (N_t + 1),   e = log s_T − log s_1            (1)
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

Path = tuple[int, ...]


def path_of(row: dict[str, Any], plan: Any, table: int) -> Path:
    """Return the codes of a row in a table, up to the first missing value."""
    codes: list[int] = []
    for position, cuts in plan.tables[table]:
        value, values = row[plan.columns[position]], plan.values[position]
        if value is None or (isinstance(value, float) and math.isnan(value)):
            break
        if values is None:
            codes.append(1 + sum(cut < value for cut in cuts))
        else:
            codes.append(values.index(value) + 1 if value in values else 126)
    return tuple(codes)


def key_of(path: Path) -> int:
    """Return the key of a path: a byte for each code, the first in the highest byte."""
    return sum(code << (56 - 8 * t) for t, code in enumerate(path)) if path else 0x7FF8000000000000


def evidence(path: Path, counted: Sequence[tuple[Path, int, float]], total: Sequence[float], n_bytes: int = 8) -> Any:
    """Return equation (1) of a path, given the paths, classes and weights of all rows, and the weight of each class."""
    path = path[:n_bytes]
    classes = range(len(total))
    share = [max(weight / sum(total), 1e-100) for weight in total]
    first = share
    for t in range(1, len(path) + 1):
        n: Counter[int] = Counter()
        for other, c, weight in counted:
            if other[:n_bytes][:t] == path[:t]:
                n[c] += weight  # type: ignore[assignment]
        n_all = sum(n.values())
        share = [(n[c] + share[c]) / (n_all + 1) for c in classes]
        if t == 1:
            first = share
    return [math.log(s) - math.log(f) for s, f in zip(share, first, strict=True)] if path else [0.0 for _ in classes]
