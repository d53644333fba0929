"""The public checks: every family of the package passes them, and broken ones are reported by name and law."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pytest
from numpy.typing import NDArray

import naively
from naively import families
from naively.checks import check_family, check_statistic, draw_rows
from naively.families.base import Family
from naively.statistics import Sums, WordCounts

Floats = NDArray[np.float64]

FAMILIES = [
    naively.Bernoulli(),
    naively.Bernoulli(a=0.0, b=0.0),
    naively.Binned(),
    naively.Categorical(),
    naively.Categorical(shared=True),
    naively.Complement(),
    naively.Complement(norm=True),
    naively.Exponential(),
    naively.Gaussian(),
    naively.Gaussian(ddof=1.0, pooled_rows=2.0),
    naively.Gaussian(missing="value"),
    naively.LogNormal(),
    naively.Multinomial(),
    naively.Multinomial(coefficient=True, alpha=0.25),
    naively.Poisson(),
    naively.Text(),
    naively.Text(model="bernoulli"),
    naively.Text(model="complement", binary=True),
    naively.Text(min_count=2, ngrams=(1, 2)),
    naively.Text(window=3),
    naively.Text(window=3, hash_bits=31, max_tokens=9, missing="value"),
    naively.Text(ngrams=(2, 3), model="complement", hash_bits=31),
    families.AutoBoolean(),
    families.AutoNumber(),
    families.AutoString(),
]


@pytest.mark.filterwarnings("ignore::naively.errors.ImpossibleRowsWarning")
@pytest.mark.parametrize("family", FAMILIES, ids=repr)
def test_every_family_passes(family: Family) -> None:
    check_family(family)


@naively.register
@dataclass(frozen=True)
class Halved(naively.Poisson):
    """A leave-one-out that is not refitting."""

    def leave_one_out(self, *arguments: Any) -> None:
        super().leave_one_out(*arguments)
        arguments[-1][:] *= 0.5


@naively.register
@dataclass(frozen=True)
class Doubled(naively.Poisson):
    """Terms that do not add to the log-odds."""

    def terms(self, *arguments: Any) -> Any:
        return [replace(term, scores=(2 * term.scores[0], term.scores[1])) for term in super().terms(*arguments)]


@dataclass(frozen=True)
class Unregistered(naively.Poisson):
    """A family that cannot be saved."""


@pytest.mark.parametrize(
    ("family", "law"),
    [(Halved(), "leave-one-out"), (Doubled(), "explanation"), (Unregistered(), "register")],
    ids=lambda value: type(value).__name__,
)
def test_a_broken_family_is_reported(family: Family, law: str) -> None:
    with pytest.raises(AssertionError, match=f"(?s){type(family).__name__}: .*{law}"):
        check_family(family)


class Forgetful(Sums):
    """Sums that lose a row when they are added."""

    def __add__(self, other: Self) -> Self:
        total = super().__add__(other)
        return replace(total, rows=np.maximum(total.rows - 1, 0))


class Lenient(Sums):
    """Sums that subtract what was never counted."""

    def __sub__(self, other: Self) -> Self:
        parts = self.parts - other.parts
        return type(self)(np.maximum(self.rows - other.rows, 0), self.weight - other.weight, parts)


@pytest.mark.parametrize(
    ("statistic", "law"), [(Forgetful, "add to the total"), (Lenient, "never counted")], ids=lambda x: str(x)
)
def test_a_broken_statistic_is_reported(statistic: type[Sums], law: str) -> None:
    x, label = np.arange(8.0), np.arange(8) % 2
    with pytest.raises(AssertionError, match=f"{statistic.__name__}: .*{law}"):
        check_statistic(lambda rows, weight: statistic.count(x[rows], label[rows], weight, 2), label, 2)


def test_rows_suit_the_family() -> None:
    X, y = draw_rows(naively.Poisson(), n_rows=30)
    assert set(y) == {"a", "b", "c"}
    assert any(None in values for values in X.values())
    assert all(x is None or (x >= 0 and x == int(x)) for values in X.values() for x in values)
    texts, _ = draw_rows(naively.Text())
    assert list(texts) == ["x0"]
    assert naively.Text().statistic is WordCounts
