"""Priors: pseudo-counts for parameters (Beta, Dirichlet), and the prior of the classes.

    θ = (n + a) / (N + a + b)                    Beta(a, b)                 (1)
    θ_k = (n_k + α_k) / (N + Σ α)                Dirichlet(α₁ … α_K)        (2)
    π_c = (N_c + α) / (N + αC)                   classes                    (3)

A prior is worth as many observations; zero is maximum likelihood. Laplace's rule is α = 1, Lidstone's any other number.
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

from naively.errors import InputError

Label = str | int | float | bool  # a class
Numbers = tuple[float, ...] | list[float] | NDArray[np.float64]


def pseudo_count(name: str, value: object) -> None:
    """Refuse a pseudo-count, or several of them, unless all are finite numbers from zero on."""
    for number in value if isinstance(value, (tuple, list, np.ndarray)) else (value,):
        is_real = isinstance(number, (int, float, np.number)) and not isinstance(number, bool)
        if not (is_real and 0 <= number <= sys.float_info.max):
            raise InputError(f"{name}={value!r}: a pseudo-count is a finite number that is zero or more.")


@dataclass(frozen=True)
class Dirichlet:
    """Pseudo-counts of values: some by value, one for all others; or such a mapping for each class.

    >>> Dirichlet({"red": 3.0}, other=0.5).table(("blue", "red"), ("a", "b")).tolist()
    [0.5, 3.0]
    >>> Dirichlet({"a": {"red": 2.0}, "b": {"red": 0.0}}).table(("blue", "red"), ("a", "b")).tolist()
    [[1.0, 1.0], [2.0, 0.0]]
    """

    alpha: Mapping[Any, float | Mapping[Any, float]]
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

    def table(self, values: Sequence[object], classes: Sequence[Label]) -> NDArray[np.float64]:
        """Return the pseudo-counts as an array (value,), or (value, class) if they differ between classes."""
        if not self.per_class:
            return np.array([self.alpha.get(value, self.other) for value in values], dtype=np.float64)
        columns = []
        for label in classes:
            of_class = self.alpha.get(label, {})
            numbers = of_class if isinstance(of_class, Mapping) else dict.fromkeys(values, of_class)
            columns.append([numbers.get(value, self.other) for value in values])
        return np.array(columns, dtype=np.float64).T.reshape(len(values), len(classes))


def pseudo_counts(alpha: Alpha, values: Sequence[object], classes: Sequence[Label]) -> NDArray[np.float64]:
    """Return alpha in any of its forms as an array: () for one number, (value,), or (value, class)."""
    if isinstance(alpha, Dirichlet):
        return alpha.table(values, classes)
    table = np.asarray(alpha, dtype=np.float64)
    if table.ndim and table.shape[0] != len(values):
        raise InputError(
            f"alpha has {table.shape[0]} numbers for {len(values)} values: give one for each, or a mapping."
        )
    return table


def alpha_of(name: str, alpha: float | Numbers | Mapping[Any, Any] | Dirichlet) -> Alpha:
    """Check alpha and freeze it: a number, a tuple of numbers, or a `Dirichlet`."""
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
PriorLike = Union[str, float, Dirichlet, Mapping[Any, float], Sequence[float], NDArray[np.float64], "ClassPrior"]


@dataclass(frozen=True)
class ClassPrior:
    """The prior of the classes: smoothed counts by equation (3), all equal, or given by name.

    Parameters
    ----------
    alpha
        The pseudo-count of each class, or a `Dirichlet` with one for each; 0 is the empirical prior N_c / N.
    uniform
        Whether each of C classes has the probability 1/C.
    given
        The probability of each class.

    >>> np.exp(ClassPrior(alpha=1.0).log_probability(("ham", "spam"), np.array([3.0, 1.0]))).round(3).tolist()
    [0.667, 0.333]
    """

    alpha: float | Dirichlet = 0.0
    uniform: bool = False
    given: Mapping[Any, float] | None = None

    def __hash__(self) -> int:
        return hash((self.alpha, self.uniform, None if self.given is None else tuple(self.given.items())))

    @classmethod
    def of(cls, prior: PriorLike, classes: Sequence[Label]) -> ClassPrior:
        """Return a prior from "empirical", "uniform", a pseudo-count, a mapping of probabilities, or numbers."""
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
            return EMPIRICAL if prior == "empirical" else UNIFORM
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
        """Return log π_c, (…, class) as the weights; −∞ for a class that cannot occur."""
        if self.given is not None:
            _checked(self.given, classes)
            probability = np.zeros_like(weight) + [self.given[label] for label in classes]
        elif self.uniform:
            probability = np.ones_like(weight)
        else:
            alpha = self.alpha.table(classes, ()) if isinstance(self.alpha, Dirichlet) else self.alpha
            probability = weight + alpha
            if not probability.any():  # every row was forgotten
                probability = np.ones_like(weight)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(probability) - np.log(probability.sum(axis=-1, keepdims=True)))


EMPIRICAL, UNIFORM = ClassPrior(), ClassPrior(uniform=True)


def _checked(given: Mapping[Any, float], classes: Sequence[Label]) -> Mapping[Any, float]:
    """Refuse a prior that does not name every class once or does not sum to 1."""
    missing = [label for label in classes if label not in given]
    unknown = [label for label in given if label not in classes]
    if missing or unknown:
        raise InputError(
            f"prior must name every class once; without a number: {missing}, not a class of the model: {unknown}."
        )
    for label, number in given.items():
        if not (math.isfinite(number) and number >= 0):
            raise InputError(f"prior of class {label!r} is {number}: probabilities are zero or more.")
    total = math.fsum(given.values())
    if abs(total - 1) > 1e-9:
        raise InputError(f"prior sums to {total:.10g}, not to 1: divide each number by that sum.")
    return given
