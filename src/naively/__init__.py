"""naively: Naive Bayes from additive statistics. A model is a sum of statistics; all else is computed from it."""

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
)
from naively.model import Model, fit
from naively.priors import ClassPrior, Dirichlet

__version__ = "0.1.0"

__all__ = [
    "Bernoulli",
    "Categorical",
    "ClassPrior",
    "Complement",
    "Dirichlet",
    "Exponential",
    "Family",
    "Gaussian",
    "ImpossibleRowsWarning",
    "InputError",
    "LogNormal",
    "LostDigitsWarning",
    "Model",
    "Multinomial",
    "Poisson",
    "SchemaError",
    "fit",
]
