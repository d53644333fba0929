"""naively: Naive Bayes from additive statistics. A model is a sum of statistics; all else is computed from it."""

from typing import TYPE_CHECKING

from naively.errors import ImpossibleRowsWarning, InputError, LostDigitsWarning, SchemaError
from naively.families import (
    Bernoulli,
    Categorical,
    Complement,
    Exponential,
    Family,
    Gaussian,
    LogNormal,
    Multinomial,
    Poisson,
    Text,
)
from naively.model import Model, fit
from naively.priors import ClassPrior, Dirichlet

if TYPE_CHECKING:
    from naively.estimators import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB, NaiveBayes


__version__ = "0.1.0"

__all__ = [
    "Bernoulli",
    "BernoulliNB",
    "Categorical",
    "CategoricalNB",
    "ClassPrior",
    "Complement",
    "ComplementNB",
    "Dirichlet",
    "Exponential",
    "Family",
    "Gaussian",
    "GaussianNB",
    "ImpossibleRowsWarning",
    "InputError",
    "LogNormal",
    "LostDigitsWarning",
    "Model",
    "Multinomial",
    "MultinomialNB",
    "NaiveBayes",
    "Poisson",
    "SchemaError",
    "Text",
    "fit",
]

_ESTIMATORS = {"BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "MultinomialNB", "NaiveBayes"}


def __getattr__(name: str) -> object:
    """Load scikit-learn only when one of its faces is asked for."""
    if name in _ESTIMATORS:
        from naively import estimators

        return getattr(estimators, name)
    raise AttributeError(f"module 'naively' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
