"""naively: Naive Bayes from additive statistics. A model is a sum of statistics; all else is computed from it."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from naively.errors import (
        ImpossibleRowsWarning,
        InputError,
        LeftOutWarning,
        LostDigitsWarning,
        SchemaError,
        TuningWarning,
    )
    from naively.evaluation import Evaluation
    from naively.evaluation.diff import diff
    from naively.families import (
        Bernoulli,
        Binned,
        Categorical,
        Complement,
        Exponential,
        Family,
        Gaussian,
        LogNormal,
        Multinomial,
        Poisson,
        Text,
        register,
    )
    from naively.fitting import fit
    from naively.model.calibrate import Tuning
    from naively.model.model import Model
    from naively.model.predict_batches import predict_batches
    from naively.priors import ClassPrior, Dirichlet
    from naively.schema.infer import Automatic
    from naively.sklearn import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB, NaiveBayes
    from naively.store.copy import copy, salvage
    from naively.store.ledger import Ledger, open  # noqa: A004  (naively.open)
    from naively.store.load import load
    from naively.store.merge import merge

    __version__: str

__all__ = [
    "Automatic",
    "Bernoulli",
    "BernoulliNB",
    "Binned",
    "Categorical",
    "CategoricalNB",
    "ClassPrior",
    "Complement",
    "ComplementNB",
    "Dirichlet",
    "Evaluation",
    "Exponential",
    "Family",
    "Gaussian",
    "GaussianNB",
    "ImpossibleRowsWarning",
    "InputError",
    "Ledger",
    "LeftOutWarning",
    "LogNormal",
    "LostDigitsWarning",
    "Model",
    "Multinomial",
    "MultinomialNB",
    "NaiveBayes",
    "Poisson",
    "SchemaError",
    "Text",
    "Tuning",
    "TuningWarning",
    "copy",
    "diff",
    "fit",
    "load",
    "merge",
    "open",
    "predict_batches",
    "register",
    "salvage",
]

_ESTIMATORS = {"BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "MultinomialNB", "NaiveBayes"}
_ELSEWHERE = {
    "Automatic": "schema.infer",
    "ClassPrior": "priors",
    "Dirichlet": "priors",
    "Evaluation": "evaluation",
    "Model": "model.model",
    "fit": "fitting",
    "Tuning": "model.calibrate",
    "Ledger": "store.ledger",
    "copy": "store.copy",
    "diff": "evaluation.diff",
    "load": "store.load",
    "merge": "store.merge",
    "open": "store.ledger",
    "salvage": "store.copy",
    "predict_batches": "model.predict_batches",
}

_MODULES = {
    "checks",
    "errors",
    "sklearn",
    "explanation",
    "families",
    "_kernels",
    "model",
    "plot",
    "priors",
    "schema",
    "data",
    "statistics",
}


def __getattr__(name: str) -> object:
    """Load a name when it is asked for: the command line's --help needs none, scikit-learn only its own faces."""
    if name == "__version__":
        from importlib.metadata import version

        return version("naively")
    if name in _MODULES:
        return import_module(f"naively.{name}")
    if name not in __all__:
        raise AttributeError(f"module 'naively' has no attribute {name!r}")
    if name in _ESTIMATORS:
        module = "sklearn"
    elif name.endswith(("Error", "Warning")):
        module = "errors"
    else:
        module = _ELSEWHERE.get(name, "families")
    found: object = getattr(import_module(f"naively.{module}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
