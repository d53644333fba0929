"""Priors: pseudo-counts for parameters (Beta, Dirichlet), and the prior of the classes.

    θ = (n + a) / (N + a + b)                    Beta(a, b)                 (1)
    θ_k = (n_k + α_k) / (N + Σ α)                Dirichlet(α₁ … α_K)        (2)
    π_c = (N_c + α) / (N + αC)                   classes                    (3)

A prior is worth that many observations; zero is maximum likelihood. Laplace is α = 1, Lidstone any other number.
Source: Gelman et al., Bayesian Data Analysis, 3rd ed. (2013), §2.4 and §3.4: (1) and (2) are posterior means.
"""

from __future__ import annotations

import math
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Union

import numpy as np
from numpy.typing import NDArray

from naively.data.labelled import Label
from naively.errors import InputError

__all__ = ["ClassPrior", "Dirichlet", "PriorLike", "pseudo_count"]

LARGEST = sys.float_info.max


def pseudo_count(name: str, value: Any) -> None:
    """Refuse a pseudo-count (or any of several) that is negative or not a finite number."""
    for number in value if isinstance(value, (tuple, list, np.ndarray)) else (value,):
        real = isinstance(number, (int, float, np.number)) and not isinstance(number, bool)
        if not (real and 0 <= number <= LARGEST):
            raise InputError(f"{name}={value!r}: a pseudo-count is a finite number that is zero or more.")


@dataclass(frozen=True)
class Dirichlet:
    """Pseudo-counts of a set of values: some by name, one for all others; or a mapping of those for each class.

    >>> Dirichlet({"red": 3.0}, other=0.5).table(("blue", "red"), ("a", "b")).tolist()
    [0.5, 3.0]
    >>> Dirichlet({"a": {"red": 2.0}, "b": {"red": 0.0}}).table(("blue", "red"), ("a", "b")).tolist()
    [[1.0, 1.0], [2.0, 0.0]]
    """

    alpha: Mapping[Any, Any]
    other: float = 1.0

    def __post_init__(self) -> None:
        for value, number in self.alpha.items():
            for name, part in number.items() if isinstance(number, Mapping) else ((value, number),):
                pseudo_count(f"alpha[{name!r}]", part)
        pseudo_count("other", self.other)

    def __hash__(self) -> int:
        return hash((frozenset(self.alpha), self.other))

    @property
    def per_class(self) -> bool:
        """Whether the pseudo-counts differ between classes."""
        return any(isinstance(number, Mapping) for number in self.alpha.values())

    def table(self, values: Sequence[Any], classes: Sequence[Label]) -> NDArray[np.float64]:
        """The pseudo-counts as an array (value,), or (value, class) if they differ between classes."""
        if not self.per_class:
            return np.array([float(self.alpha.get(value, self.other)) for value in values])
        columns = []
        for label in classes:
            own = self.alpha.get(label, {})
            columns.append([float(own.get(v, self.other)) if isinstance(own, Mapping) else own for v in values])
        return np.array(columns, dtype=np.float64).T.reshape(len(values), len(classes))


def pseudo_counts(alpha: Any, values: Sequence[Any], classes: Sequence[Label]) -> NDArray[np.float64]:
    """Alpha in any of its forms as an array: () for one number, (value,), or (value, class)."""
    if isinstance(alpha, Dirichlet):
        return alpha.table(values, classes)
    table = np.asarray(alpha, dtype=np.float64)
    if table.ndim and table.shape[0] != len(values):
        raise InputError(
            f"alpha has {table.shape[0]} numbers for {len(values)} values: give one for each, or a mapping."
        )
    return table


def alpha_of(name: str, alpha: Any) -> Alpha:
    """Check alpha once and freeze it: a number, a tuple of numbers, or a `Dirichlet`."""
    if isinstance(alpha, Dirichlet):
        return alpha
    if isinstance(alpha, Mapping):
        if isinstance(alpha, defaultdict) and alpha.default_factory is not None:
            return Dirichlet(dict(alpha), other=float(alpha.default_factory()))
        return Dirichlet(dict(alpha))
    pseudo_count(name, alpha)
    if isinstance(alpha, (tuple, list, np.ndarray)):
        return tuple(float(number) for number in alpha)
    return float(alpha)


Alpha = float | tuple[float, ...] | Dirichlet
PriorLike = Union[str, Mapping[Any, float], Sequence[float], NDArray[np.float64], "ClassPrior"]


@dataclass(frozen=True)
class ClassPrior:
    """The prior of the classes: smoothed counts by equation (3), all equal, or given by name.

    `ClassPrior(alpha=0)` is the empirical prior N_c / N; `ClassPrior(uniform=True)` gives 1/C to each. Alpha may be a
    `Dirichlet` with a pseudo-count for each class.

    >>> np.exp(ClassPrior(alpha=1.0).log_probability(("ham", "spam"), np.array([3.0, 1.0]))).round(3).tolist()
    [0.667, 0.333]
    """

    alpha: float | Dirichlet = 0.0
    uniform: bool = False
    given: Mapping[Any, float] | None = None

    def __hash__(self) -> int:
        return hash((self.alpha, self.uniform, None if self.given is None else tuple(self.given.items())))

    @classmethod
    def of(cls, prior: Any, classes: Sequence[Label]) -> ClassPrior:
        """Read "empirical", "uniform", pseudo-counts, a mapping from class to probability, or numbers in order."""
        if isinstance(prior, cls):
            return prior
        if isinstance(prior, (int, float, Dirichlet)) and not isinstance(prior, bool):
            return cls(alpha=prior)
        if isinstance(prior, str):
            if prior not in ("empirical", "uniform"):
                raise InputError(
                    f'prior={prior!r} is not known: give "empirical", "uniform", a mapping from class to '
                    "probability, or a number: the pseudo-count added to every class."
                )
            return cls(uniform=prior == "uniform")
        if isinstance(prior, Mapping):
            return cls(given=_checked(dict(prior), classes))
        numbers = np.asarray(prior, dtype=np.float64)
        if numbers.shape != (len(classes),):
            raise InputError(f"prior has shape {numbers.shape} for {len(classes)} classes: give one number each.")
        return cls(given=_checked(dict(zip(classes, numbers.tolist(), strict=True)), classes))

    def __post_init__(self) -> None:
        if not isinstance(self.alpha, Dirichlet):
            pseudo_count("prior alpha", self.alpha)

    def log_probability(self, classes: Sequence[Label], weight: NDArray[np.float64]) -> NDArray[np.float64]:
        """log π_c, −inf for a class that cannot occur."""
        if self.given is not None:
            _checked(self.given, classes)
            probability = np.array([self.given[label] for label in classes], dtype=np.float64)
        elif self.uniform:
            probability = np.ones(len(classes))
        else:
            more = self.alpha.table(classes, ()) if isinstance(self.alpha, Dirichlet) else self.alpha
            probability = weight + more
            if not probability.any():  # every row was forgotten: nothing speaks for any class
                probability = np.ones(len(classes))
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(probability) - np.log(probability.sum()))


def _checked(given: Mapping[Any, float], classes: Sequence[Label]) -> Mapping[Any, float]:
    """A given prior names every class once and sums to 1."""
    absent = [label for label in classes if label not in given]
    unknown = [label for label in given if label not in classes]
    if absent or unknown:
        raise InputError(
            f"prior must name every class once; without a number: {absent}, not a class of the model: {unknown}."
        )
    for label, number in given.items():
        if not (math.isfinite(number) and number >= 0):
            raise InputError(f"prior of class {label!r} is {number}: probabilities are zero or more.")
    total = math.fsum(given.values())
    if abs(total - 1) > 1e-9:
        raise InputError(f"prior sums to {total:.10g}, not to 1: divide each number by that sum.")
    return given
