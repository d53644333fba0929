"""naively: Naive Bayes for tables and text. A model is a sum of statistics; everything else is computed from it."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from naively.data.files.paths import Files
    from naively.engines import spark as spark
    from naively.engines.parts import Part, count, total
    from naively.errors import (
        ImpossibleRowsWarning,
        InputError,
        LeftOutWarning,
        LostDigitsWarning,
        RepeatedRowsWarning,
        SchemaError,
        TuningWarning,
    )
    from naively.evaluation import Evaluation, compare
    from naively.evaluation.training import cross_validate
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
    from naively.fitting import fit, infer_schema
    from naively.model.calibrate import ColumnImportance, Tuning
    from naively.model.model import Model
    from naively.model.predict_batches import predict_batches
    from naively.priors import ClassPrior, Dirichlet
    from naively.reports import Report, report
    from naively.schema.infer import Automatic
    from naively.schema.schema import Schema
    from naively.sklearn import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB, NaiveBayes
    from naively.store.compare import diff
    from naively.store.copy import copy, salvage
    from naively.store.ledger import Ledger, open  # noqa: A004  (naively.open)
    from naively.store.merge import merge
    from naively.store.running_sum import load

    __version__: str

__all__ = [
    "Automatic", "Bernoulli", "BernoulliNB", "Binned", "Categorical", "CategoricalNB", "ClassPrior",
    "ColumnImportance", "Complement", "ComplementNB", "Dirichlet", "Evaluation", "Exponential", "Family", "Files",
    "Gaussian", "GaussianNB", "ImpossibleRowsWarning", "InputError", "Ledger", "LeftOutWarning", "LogNormal",
    "LostDigitsWarning", "Model", "Multinomial", "MultinomialNB", "NaiveBayes", "Part", "Poisson",
    "RepeatedRowsWarning", "Report", "Schema", "SchemaError", "Text", "Tuning", "TuningWarning", "compare", "copy",
    "count", "cross_validate", "diff", "fit", "infer_schema", "load", "merge", "open", "predict_batches", "register",
    "report", "salvage", "total",
]  # fmt: skip

_ESTIMATORS = {"BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "MultinomialNB", "NaiveBayes"}
_MODULE_OF = {
    "Automatic": "schema.infer",
    "ClassPrior": "priors",
    "Dirichlet": "priors",
    "Evaluation": "evaluation",
    "Files": "data.files.paths",
    "Model": "model.model",
    "fit": "fitting",
    "infer_schema": "fitting",
    "Part": "engines.parts",
    "Schema": "schema.schema",
    "count": "engines.parts",
    "total": "engines.parts",
    "ColumnImportance": "model.calibrate",
    "Tuning": "model.calibrate",
    "Ledger": "store.ledger",
    "compare": "evaluation",
    "copy": "store.copy",
    "cross_validate": "evaluation.training",
    "diff": "store.compare",
    "load": "store.running_sum",
    "merge": "store.merge",
    "open": "store.ledger",
    "salvage": "store.copy",
    "predict_batches": "model.predict_batches",
    "Report": "reports",
    "report": "reports",
}

_SUBMODULES = {
    "_kernels", "checks", "data", "engines", "errors", "explanation", "families", "mail", "model", "plot", "priors",
    "schema", "server", "sklearn", "statistics",
}  # fmt: skip


def __getattr__(name: str) -> object:
    """Import a name when it is first used, so that `naively --help` and simple models load few modules."""
    if name == "__version__":
        from importlib.metadata import version

        return version("naively")
    if name in _SUBMODULES:
        return import_module(f"naively.{name}")
    if name == "spark":
        return import_module("naively.engines.spark")
    if name not in __all__:
        raise AttributeError(f"module 'naively' has no attribute {name!r}")
    if name in _ESTIMATORS:
        module = "sklearn"
    elif name.endswith(("Error", "Warning")):
        module = "errors"
    else:
        module = _MODULE_OF.get(name, "families")
    value: object = getattr(import_module(f"naively.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
