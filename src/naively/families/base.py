"""A family: one likelihood, whose fields are its prior and whose methods always stand in the same order.

statistic, accepts      what it counts, and in which columns
estimate                statistics → parameters, under the prior
log_likelihood          rows and parameters → log p(x | c), one row per x and one column per class
structure               what the estimate fixes by looking at the labels, or at which words there are: bins, vocabulary
leave_one_out           counted rows → log p(x | c) of each, as if it had not been counted
linear                  weights of the linear form, where there is one
sample                  parameters and classes → plausible columns
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from naively.data.kinds import Kind, Support
from naively.errors import InputError
from naively.statistics import Numbers, Statistic

__all__ = ["Family", "LinearPart", "Missing", "times"]

Missing = Literal["skip", "value"]


@dataclass(frozen=True, slots=True, eq=False)
class LinearPart:
    """A family's share of the linear form: features by name, a weight each, and a bias."""

    features: tuple[str, ...]
    weights: NDArray[np.float64]
    bias: float


def times(weight: Any, log_probability: NDArray[np.float64]) -> NDArray[np.float64]:
    """A weight times a logarithm, where 0 times −∞ is 0: what is not looked at forbids nothing."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(weight == 0, 0.0, weight * log_probability))


@dataclass(frozen=True, kw_only=True)
class Family(ABC):
    """One likelihood for a column, or for several columns together (`joint`).

    A missing value is left out of the sum; with `missing="value"`, that it is missing is evidence of its own.
    """

    missing: Missing = field(default="skip", repr=False)

    statistic: ClassVar[type[Statistic]]
    kinds: ClassVar[tuple[Kind, ...]] = ("number", "boolean", "date")

    def __str__(self) -> str:
        """The name, and the settings that are not the default."""
        changed = [(f.name, getattr(self, f.name)) for f in fields(self) if getattr(self, f.name) != f.default]
        return type(self).__name__ + (f"({', '.join(f'{k}={v!r}' for k, v in changed)})" if changed else "")

    @property
    def support(self) -> Support:
        """Which numbers it can be given."""
        return "real"

    @property
    def joint(self) -> bool:
        """Whether the columns of a block are one distribution, not one each."""
        return False

    @property
    def apart(self) -> bool:
        """Whether each column is a block of its own, even beside others of the same family."""
        return False

    def accepts(self, kind: Kind) -> bool:
        """Whether a column of this kind can be counted."""
        return kind in self.kinds or kind == "unknown"

    def transform(self, x: Numbers) -> Numbers:
        """What is counted of a value: itself, unless the family says otherwise."""
        return x

    @abstractmethod
    def estimate(self, stats: Any, classes: Sequence[Any], structure: Any = None) -> Any:
        """Parameters from statistics; a `structure` that is given is kept and not chosen anew."""

    @abstractmethod
    def log_likelihood(self, x: Any, parameters: Any, out: NDArray[np.float64]) -> None:
        """Add log p(x | c) to `out`, (row, class). A missing value adds nothing."""

    def weighted(self, parameters: Any, weight: NDArray[np.float64]) -> Any:
        """Parameters whose log-likelihood is weight[j] times that of column j; None if they cannot hold it."""
        return None

    def length(self, x: Any, parameters: Any) -> NDArray[np.float64]:
        """How many known words each row has, for families of words."""
        raise InputError(f"{type(self).__name__} has no words to count.")

    def structure(self, stats: Any, classes: Sequence[Any]) -> Any:
        """What `estimate` would choose by the labels or the pooled counts, to be kept; None where there is nothing."""
        return None

    @abstractmethod
    def leave_one_out(
        self,
        x: Any,
        stats: Any,
        classes: Sequence[Any],
        structure: Any,
        label: NDArray[np.integer],
        weight: NDArray[np.float64],
        rows: NDArray[np.integer],
        out: NDArray[np.float64],
    ) -> None:
        """Add log p(x | c) of counted rows to `out`, each estimated, given the structure, without the row itself.

        `out` is (row, column, class), with a single column for joint families and texts. Row i leaves the class
        `label[i]` with `weight[i]` and as `rows[i]` rows, at most what it has there. A missing value adds nothing.
        """

    def linear(self, parameters: Any, names: Sequence[str], of: int, against: int) -> LinearPart:
        """Weights and bias of log p(x | of) − log p(x | against) as a linear function of x."""
        raise InputError(
            f"{type(self).__name__} is not linear in x (columns {', '.join(names[:3])}…): "
            "linear() needs Bernoulli, Categorical, Multinomial or Complement in every column."
        )

    @abstractmethod
    def sample(self, parameters: Any, label: NDArray[np.intp], generator: np.random.Generator) -> list[NDArray[Any]]:
        """One array per column, a plausible value for each class code in `label`."""
