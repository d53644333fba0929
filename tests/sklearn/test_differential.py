"""Random models of the five drop-ins equal scikit-learn's, but for the differences that docs/sklearn.md lists.

Each row of the table in the documentation has a predicate here, or a test of its own. A difference that no predicate
declares fails, and so does a row whose difference occurs in no model. With NAIVELY_SOAK=1 there are 3,000 models.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn.naive_bayes as peer
from numpy.typing import NDArray
from scipy import sparse

import naively

N_MODELS = 3_000 if os.environ.get("NAIVELY_SOAK") else 200
NAMES = ["BernoulliNB", "MultinomialNB", "ComplementNB", "CategoricalNB", "GaussianNB"]
ATTRIBUTES = [
    *("classes_", "n_features_in_", "class_count_", "class_log_prior_", "feature_count_", "feature_log_prob_"),
    *("feature_all_", "category_count_", "n_categories_", "theta_", "var_", "epsilon_", "class_prior_"),
]
POSTERIORS = ["predict", "predict_proba", "predict_log_proba"]
METHODS = ["predict_joint_log_proba", *POSTERIORS]
TABLE = Path(__file__).parents[2] / "docs" / "sklearn.md"

Array = NDArray[Any]
Results = dict[str, Any]  # arrays, or the exception that was raised
Masks = dict[str, Array]  # where a declared difference may show


@dataclass(frozen=True, eq=False)
class Case:
    """One model: its class, parameters, training rows in batches, and rows to predict."""

    name: str
    parameters: dict[str, Any]
    x: Any
    y: Array
    weight: Array | None
    classes: Array
    batches: list[slice] | None  # None is `fit`
    rows: Array
    sparse_rows: bool  # whether the rows to predict are given as a sparse matrix

    @property
    def given_rows(self) -> Any:
        """The rows to predict, as they are given to the estimators."""
        return sparse.csr_matrix(self.rows) if self.sparse_rows else self.rows

    @property
    def alpha(self) -> Array:
        """The pseudo-counts that are used."""
        alpha = np.asarray(self.parameters.get("alpha", 1.0), dtype=np.float64)
        return alpha if self.parameters.get("force_alpha", True) else np.maximum(alpha, 1e-10)

    @property
    def dense(self) -> Array:
        """The training rows as an array of float64."""
        dense = self.x.toarray() if hasattr(self.x, "toarray") else self.x
        return np.asarray(dense, dtype=np.float64)

    @property
    def weights(self) -> Array:
        """The weight of each training row."""
        return np.ones(len(self.y)) if self.weight is None else np.asarray(self.weight, dtype=np.float64)

    def weight_of_classes(self) -> Array:
        """Return the weight of each class."""
        return np.array([self.weights[self.y == label].sum() for label in self.classes])

    def fit(self, estimator: Any, x: Any) -> Any:
        """Fit the estimator to x, in the batches of the case."""
        if self.batches is None:
            return estimator.fit(x, self.y, sample_weight=self.weight)
        for batch in self.batches:
            weight = None if self.weight is None else self.weight[batch]
            estimator.partial_fit(x[batch], self.y[batch], classes=self.classes, sample_weight=weight)
        return estimator


def draw(seed: int) -> Case:
    """Draw a case."""
    rng = np.random.default_rng(seed)
    name = NAMES[seed % len(NAMES)]
    n, k, c = int(rng.integers(1, 30)), int(rng.integers(1, 5)), int(rng.integers(1, 4))
    x, rows = _draw_rows(name, rng, n, k)
    y = rng.integers(0, c, n)
    labels = [
        np.arange(4),
        np.array(["a", "b", "c", "d"]),
        np.arange(4.0),
        np.array(["a", "b", "c", "d"], dtype=object),
    ]
    y = labels[rng.integers(0, 4)][y]
    classes, batches = np.unique(y), None
    if rng.random() < 0.4:
        half = n // 2 + 1
        batches = [slice(0, half), slice(half, n)] if half < n else [slice(0, n)]
        if rng.random() < 0.4:
            classes = np.unique(np.concatenate([classes, labels[0][3:] if y.dtype.kind == "i" else y[:0]]))
    weight: Array | None = None
    kind = rng.integers(0, 5)
    if kind == 1:
        weight = rng.random(n) + 0.1
    elif kind == 2:
        weight = rng.integers(1, 4, n)
    elif kind == 3 and n > 3:
        weight = (np.arange(n) > rng.integers(0, 3)).astype(np.float64)
    matrix: Any = x
    sparse_rows = False
    if name in NAMES[:3] and rng.random() < 0.4:
        matrix = sparse.csr_matrix(x) if batches or rng.random() < 0.5 else sparse.csc_matrix(x)
        sparse_rows = bool(rng.random() < 0.5)
    parameters = (_draw_gaussian if name == "GaussianNB" else _draw_discrete)(name, rng, k, len(classes))
    return Case(name, parameters, matrix, y, weight, classes, batches, rows, sparse_rows)


def _draw_rows(name: str, rng: np.random.Generator, n: int, k: int) -> tuple[Array, Array]:
    """Draw training rows, and rows to predict: some of those and three others."""
    x: Array
    if name == "GaussianNB":
        x = rng.normal(size=(n + 3, k)) * 10.0 ** rng.integers(-3, 4)
        if rng.random() < 0.2:
            x[:, 0] = x[0, 0]
        x = x.astype(rng.choice(["float64", "float32", "int64"]))
    else:
        x = rng.poisson(rng.choice([0.3, 1.0]), (n + 3, k))
        x = x.astype(rng.choice(["float64", "float32", "int64", "int32", "uint8", "bool"]))
    return x[:n], np.concatenate([x[: min(n, 5)], x[n:]])


def _draw_prior(rng: np.random.Generator, n_classes: int, total: float = 1.0) -> Array:
    prior = rng.random(n_classes) + 0.1
    return np.asarray(total * prior / prior.sum())


def _draw_gaussian(name: str, rng: np.random.Generator, k: int, n_classes: int) -> dict[str, Any]:
    parameters: dict[str, Any] = {}
    if rng.random() < 0.6:
        parameters["var_smoothing"] = float(rng.choice([0, 1e-9, 1e-3, 1]))
    if rng.random() < 0.2:
        parameters["priors"] = _draw_prior(rng, n_classes)
    return parameters


def _draw_discrete(name: str, rng: np.random.Generator, k: int, n_classes: int) -> dict[str, Any]:
    parameters: dict[str, Any] = {}
    choice = rng.integers(0, 6)
    if choice == 0:
        parameters["alpha"] = 0.0
    elif choice == 1:
        parameters["alpha"] = float(rng.choice([0.1, 1e-3, 5, 1e-11]))
    elif choice == 2:
        parameters["alpha"] = 1
    elif choice == 3 and name != "CategoricalNB":
        parameters["alpha"] = rng.random(k) * (rng.random(k) < 0.9)
    if rng.random() < 0.2:
        parameters["force_alpha"] = False
    if rng.random() < 0.3:
        parameters["fit_prior"] = False
    if rng.random() < 0.2:
        parameters["class_prior"] = _draw_prior(rng, n_classes, total=float(rng.choice([1, 1, 2])))
    if name == "ComplementNB" and rng.random() < 0.5:
        parameters["norm"] = True
    if name == "CategoricalNB" and rng.random() < 0.3:
        parameters["min_categories"] = int(rng.integers(1, 9))
    if name == "BernoulliNB" and rng.random() < 0.6:
        parameters["binarize"] = [0.0, 0.5, 1.5, None][rng.integers(0, 4)]
    return parameters


def results_of(estimator: Any, rows: Any) -> Results:
    """Return all fitted attributes and outputs, or the errors that they raise."""
    results: Results = {}
    for name in ATTRIBUTES:
        if hasattr(type(estimator), name) or hasattr(estimator, name):
            results[name] = _attempt(partial(getattr, estimator, name))
    for name in METHODS:
        results[name] = _attempt(partial(getattr(estimator, name), rows))
    return results


def _attempt(call: Callable[[], Any]) -> Any:
    """Return the result of a call as an array, with lists of tables next to each other; or its error."""
    try:
        result = call()
    except Exception as error:
        return error
    return np.concatenate(result, axis=1) if isinstance(result, list) else np.asarray(result)


# The declared differences. Each says when it applies; then it corrects the reference, or says where it shows.


@dataclass(frozen=True)
class Difference:
    """A declared difference: when it applies, and what it changes."""

    applies: Callable[[Case], bool]
    correct: Callable[[Case, Any], None] = lambda case, reference: None  # makes the reference what is documented
    mask: Callable[[Case, Results], Masks] = lambda case, their_results: {}  # where results differ
    refuses: bool = False  # whether one of the two raises an error where the other does not


def _weighted_epsilon(case: Case, reference: Any) -> None:
    """Set epsilon_ from the weighted variance of all rows, and the rest from all rows at once."""
    x, weights = case.dense, case.weights
    mean = np.average(x, axis=0, weights=weights)
    variance = np.average(np.square(x - mean), axis=0, weights=weights)
    is_constant = np.ptp(x[weights > 0], axis=0) == 0  # the average may be rounded
    epsilon = case.parameters.get("var_smoothing", 1e-9) * np.where(is_constant, 0.0, variance).max()
    at_once = peer.GaussianNB(var_smoothing=0.0, priors=case.parameters.get("priors"))
    at_once.partial_fit(x, case.y, classes=case.classes, sample_weight=case.weight)
    vars(reference).update(vars(at_once), epsilon_=epsilon, var_=at_once.var_ + epsilon)


def _zero_variances(case: Case, their_results: Results) -> Masks:
    """Return the variances without spread, which are 0 or a rounding of it, and the classes that have one."""
    size = np.square(np.abs(case.dense).max(axis=0))
    zero = their_results["var_"] <= 1e-25 * size
    tiny = their_results["epsilon_"] <= 1e-25 * size.max()
    return {"epsilon_": tiny, "var_": zero, "predict_joint_log_proba": np.tile(zero.any(axis=1), (len(case.rows), 1))}


def _empty_classes(is_empty: Array, case: Case, their_results: Results) -> Masks:
    """Return the parameters of these classes."""
    masks = {
        name: is_empty[:, None] & np.ones(their_results[name].shape, bool)
        for name in PARAMETERS
        if name in their_results
    }
    return {**masks, "predict_joint_log_proba": np.tile(is_empty, (len(case.rows), 1))}


def _without_counts(case: Case) -> Array:
    """Return for each class whether it has no counts."""
    counts = case.dense.sum(axis=1) * case.weights
    return np.array([counts[case.y == label].sum() == 0 for label in case.classes])


def _not_finite(case: Case, their_results: Results) -> Masks:
    """Return where scikit-learn has NaN; of a complement also where it has +∞, which we give as −∞ of the others."""
    joint = their_results["predict_joint_log_proba"]
    joint = np.zeros((len(case.rows), len(case.classes))) if isinstance(joint, Exception) else joint
    impossible: Array = np.all(np.isneginf(joint), axis=1)
    masks = {"predict_joint_log_proba": np.isnan(joint) | impossible[:, None]}
    if case.name == "ComplementNB":
        weights = their_results["feature_log_prob_"]
        columns: Array = ~np.isfinite(weights).all(axis=0)
        rows: Array = ~np.isfinite(joint).all(axis=1) | (case.rows[:, columns] != 0).any(axis=1)
        masks["feature_log_prob_"] = columns & np.ones(weights.shape, bool)
        masks["predict_joint_log_proba"] |= rows[:, None]
    else:
        masks["feature_log_prob_"] = np.isnan(their_results["feature_log_prob_"])
    return masks


def _everything(case: Case, their_results: Results) -> Masks:
    names = ("feature_log_prob_", "predict_joint_log_proba")
    return {name: np.ones(their_results[name].shape, bool) for name in names}


class _BernoulliWithAlphas(peer.BernoulliNB):  # type: ignore[misc]
    """scikit-learn's class with alpha per feature: it adds them to the classes instead."""

    def _update_feature_log_prob(self, alpha: Array) -> None:
        total = self.class_count_[:, None] + 2 * alpha
        with np.errstate(divide="ignore", invalid="ignore"):
            self.feature_log_prob_ = np.log(self.feature_count_ + alpha) - np.log(total)


def _largest_code(case: Case) -> Array:
    return np.asarray(np.maximum(case.dense.max(axis=0), case.parameters.get("min_categories", 1) - 1))


PARAMETERS = ["feature_log_prob_", "theta_", "var_"]
DIFFERENCES = {
    "`GaussianNB.epsilon_` with `sample_weight`": Difference(
        lambda case: case.name == "GaussianNB" and case.weight is not None, _weighted_epsilon
    ),
    "`GaussianNB.epsilon_` after several `partial_fit`": Difference(
        lambda case: case.name == "GaussianNB" and case.batches is not None and len(case.batches) > 1,
        _weighted_epsilon,
    ),
    "`GaussianNB` of float32": Difference(lambda case: case.name == "GaussianNB" and case.x.dtype == np.float32),
    "`GaussianNB`, a class without spread in a column, `var_smoothing=0`": Difference(
        lambda case: case.name == "GaussianNB" and case.parameters.get("var_smoothing") == 0, mask=_zero_variances
    ),
    "`GaussianNB`, all columns constant": Difference(
        lambda case: case.name == "GaussianNB" and not np.ptp(case.dense[case.weights > 0], axis=0).any(),
        mask=_zero_variances,
    ),
    "a class without rows, or with weights of zero only": Difference(
        lambda case: not case.weight_of_classes().all(),
        mask=lambda case, their_results: _empty_classes(case.weight_of_classes() == 0, case, their_results),
    ),
    "`MultinomialNB`, a class without counts": Difference(
        lambda case: case.name == "MultinomialNB" and bool(_without_counts(case).any()),
        mask=lambda case, their_results: _empty_classes(_without_counts(case), case, their_results),
    ),
    "`alpha=0`, `force_alpha=True`": Difference(
        lambda case: bool((case.alpha == 0).any()) and "norm" not in case.parameters, mask=_not_finite
    ),
    "`alpha` near 0, `BernoulliNB` and `ComplementNB`": Difference(
        lambda case: (
            case.name in ("BernoulliNB", "ComplementNB") and bool(((case.alpha > 0) & (case.alpha < 1e-6)).any())
        )
    ),
    "`ComplementNB(alpha=0, norm=True)`": Difference(
        lambda case: case.name == "ComplementNB" and "norm" in case.parameters and bool((case.alpha == 0).any()),
        mask=_everything,
        refuses=True,
    ),
    "`ComplementNB(norm=True)`, one feature": Difference(
        lambda case: (
            case.name == "ComplementNB"
            and "norm" in case.parameters
            and case.x.shape[1] == 1
            and not (case.alpha == 0).any()
        ),
        mask=_everything,
    ),
    "`BernoulliNB`, `alpha` per feature": Difference(lambda case: case.name == "BernoulliNB" and case.alpha.ndim == 1),
    "`BernoulliNB(binarize=None)`, other values than 0 and 1": Difference(
        lambda case: (
            case.parameters.get("binarize", 0) is None and bool((case.dense > 1).any() or (case.rows > 1).any())
        ),
        refuses=True,
    ),
    "`CategoricalNB.predict` with a new code": Difference(
        lambda case: case.name == "CategoricalNB" and bool((case.rows > _largest_code(case)).any()), refuses=True
    ),
    "`CategoricalNB.n_categories_` after `partial_fit`": Difference(
        lambda case: case.name == "CategoricalNB" and case.batches is not None,
        lambda case, reference: vars(reference).update(
            n_categories_=np.array([counts.shape[1] for counts in reference.category_count_])
        ),
    ),
    "`class_prior` that does not sum to 1": Difference(
        lambda case: not np.isclose(np.sum(case.parameters.get("class_prior", 1.0)), 1.0)
    ),
}


def reference_for(case: Case) -> Any:
    """Return scikit-learn's model on float64 data, with its known faults corrected."""
    parameters = dict(case.parameters)
    if "class_prior" in parameters:
        parameters["class_prior"] = parameters["class_prior"] / np.sum(parameters["class_prior"])
    make = _BernoulliWithAlphas if case.name == "BernoulliNB" and case.alpha.ndim == 1 else getattr(peer, case.name)
    is_single = case.name == "GaussianNB" and case.x.dtype == np.float32
    return case.fit(make(**parameters), case.x.astype(np.float64) if is_single else case.x)


def compare(case: Case) -> tuple[list[str], set[str]]:
    """Return descriptions of all undeclared differences, and the declared difference that showed."""
    declared = {name: difference for name, difference in DIFFERENCES.items() if difference.applies(case)}
    may_refuse = any(difference.refuses for difference in declared.values())
    original, reference, ours = (
        _fitted(call)
        for call in (
            lambda: case.fit(getattr(peer, case.name)(**case.parameters), case.x),
            lambda: reference_for(case),
            lambda: case.fit(getattr(naively, case.name)(**case.parameters), case.x),
        )
    )
    if isinstance(reference, Exception) or isinstance(ours, Exception):
        if type(reference) is type(ours):
            return [], set()
        return ([], set(declared)) if may_refuse else ([f"fit: {reference!r}, ours {ours!r}"], set())
    for difference in declared.values():
        difference.correct(case, reference)
    their_results, our_results = results_of(reference, case.given_rows), results_of(ours, case.given_rows)
    masks = _joined_masks(case, their_results, our_results, declared)
    problems = []
    for name in their_results:
        problem = _difference(case, name, their_results, our_results, masks)
        if problem and not (may_refuse and "Error" in problem):
            problems.append(problem)
    if isinstance(original, Exception):
        return problems, set(declared)
    originals = results_of(original, case.given_rows)
    problems += [
        f"{name}: {originals[name].dtype}, ours {our_results[name].dtype}"
        for name in our_results
        if name in originals
        and not isinstance(our_results[name], Exception)
        and not isinstance(originals[name], Exception)
        and our_results[name].dtype != originals[name].dtype
    ]
    shows = any(_difference(case, name, originals, our_results, {}, exact=True) for name in originals)
    return problems, set(declared) if shows else set()


def _fitted(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except Exception as error:
        return error


def _joined_masks(case: Case, their_results: Results, our_results: Results, declared: dict[str, Difference]) -> Masks:
    """Return where results may differ by any of these differences; a joint score that does changes its row."""
    masks: Masks = {}
    for difference in declared.values():
        for name, mask in difference.mask(case, their_results).items():
            masks[name] = masks.get(name, np.zeros(mask.shape, bool)) | mask
    name = "predict_joint_log_proba"
    if (
        name in masks
        and not isinstance(their_results[name], Exception)
        and not isinstance(our_results[name], Exception)
    ):
        impossible = np.asarray(np.isneginf(their_results[name]))
        differs = masks[name] & ~(impossible & np.isneginf(our_results[name]))
        rows: Array = np.any(differs, axis=1)
        rows |= np.asarray(masks[name].any(axis=1) & impossible.all(axis=1))
        masks.update(predict=rows, predict_proba=rows[:, None], predict_log_proba=rows[:, None])
    return masks


def _difference(
    case: Case, name: str, their_results: Results, our_results: Results, masks: Masks, exact: bool = False
) -> str:
    """Return how a result differs from the reference, beyond rounding; an empty string if it does not."""
    a, b = their_results[name], our_results.get(name, AttributeError(name))
    if isinstance(a, Exception) or isinstance(b, Exception):
        return "" if type(a) is type(b) else f"{name}: {a!r}, ours {b!r} (Error)"
    if a.shape != b.shape:
        return f"{name}: shape {a.shape}, ours {b.shape}"
    if a.dtype.kind not in "fiu" or name in ("classes_", "predict"):
        same = a == b
    else:
        with np.errstate(invalid="ignore"):
            same = (a == b) | (np.abs(a - b) <= _tolerance(case, name, their_results, a, exact))
    if name == "predict":
        same = same | _is_tie(case, their_results, b)
    same = same | masks.get(name, False)
    if b.dtype.kind == "f" and np.isnan(b).any():
        return f"{name}: ours is NaN"
    return "" if np.all(same) else f"{name}: {a.tolist()}, ours {b.tolist()}"


def _tolerance(case: Case, name: str, their_results: Results, values: Array, exact: bool = False) -> Any:
    """Return the rounding that scikit-learn's formulas allow: of posteriors, that of the joint scores."""
    relative = 1e-9 if exact else _relative_tolerance(case)
    size = 1.0 + np.abs(values) if name not in ("var_", "epsilon_", "theta_") else np.abs(values)
    joint = their_results["predict_joint_log_proba"]
    if name in POSTERIORS and not isinstance(joint, Exception):
        size = 1.0 + np.nan_to_num(np.abs(joint) + np.abs(joint.max(axis=1, keepdims=True)), posinf=0.0)
    return relative * size


def _relative_tolerance(case: Case) -> float:
    """Return the relative rounding: larger in float32, and where scikit-learn loses a small alpha in a difference."""
    if case.name == "GaussianNB":
        return 1e-6 if case.x.dtype == np.float32 else 1e-9
    if case.name in ("MultinomialNB", "CategoricalNB") or not (case.alpha > 0).any():
        return 1e-9
    total = case.weights.sum() * (1.0 + case.dense.sum())
    return max(1e-9, 1e-15 * float(total / case.alpha[case.alpha > 0].min()))


def _is_tie(case: Case, their_results: Results, predicted: Array) -> Array:
    """Return where the predicted class is, up to rounding, as probable as the most probable one."""
    joint = their_results["predict_joint_log_proba"]
    chosen = joint[np.arange(len(joint)), np.searchsorted(their_results["classes_"], predicted)]
    best = joint.max(axis=1)
    with np.errstate(invalid="ignore"):
        return np.asarray(best - chosen <= _relative_tolerance(case) * (1.0 + np.abs(best)))


def test_random_models_equal_those_of_scikit_learn_but_for_declared_differences() -> None:
    undeclared, shown = [], set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn divides by zero
        for seed in range(N_MODELS):
            case = draw(seed)
            problems, declared = compare(case)
            undeclared += [f"seed {seed}, {case.name}({case.parameters}): {problem}" for problem in problems]
            shown |= declared if len(declared) == 1 else set()
    assert not undeclared, "\n".join([f"{len(undeclared)} undeclared differences", *undeclared[:20]])
    assert shown == set(DIFFERENCES)


# Errors.

X = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 1.0], [2.0, 2.0, 0.0], [1.0, 1.0, 1.0]])
Y = np.array([0, 1, 0, 1])
MIXED = np.array([0, "a", 1, "b"], dtype=object)
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])


def _with(value: float) -> Array:
    """Return X with this value in a cell."""
    x = X.copy()
    x[1, 1] = value
    return x


CALLS: dict[str, Callable[[Any], Any]] = {
    "X of one dimension": lambda e: e.fit(X[0], Y),
    "X of three dimensions": lambda e: e.fit(X[None], Y),
    "X without rows": lambda e: e.fit(X[:0], Y[:0]),
    "X without columns": lambda e: e.fit(X[:, :0], Y),
    "X is None": lambda e: e.fit(None, Y),
    "X is a mapping": lambda e: e.fit({"a": [1, 2, 3, 4]}, Y),
    "X is ragged": lambda e: e.fit([[1, 2], [1]], [0, 1]),
    "X of strings": lambda e: e.fit(X.astype(str), Y),
    "X of objects": lambda e: e.fit(np.full((4, 3), "a", dtype=object), Y),
    "X is complex": lambda e: e.fit(X + 1j, Y),
    "X is sparse": lambda e: e.fit(sparse.csr_matrix(X), Y),
    "NaN": lambda e: e.fit(_with(np.nan), Y),
    "infinity": lambda e: e.fit(_with(np.inf), Y),
    "a negative number": lambda e: e.fit(_with(-1.0), Y),
    "a fraction": lambda e: e.fit(_with(0.5), Y),
    "y is short": lambda e: e.fit(X, Y[:2]),
    "y is None": lambda e: e.fit(X, None),
    "y is a number": lambda e: e.fit(X, 1),
    "y of two columns": lambda e: e.fit(X, np.stack([Y, Y], axis=1)),
    "y of fractions": lambda e: e.fit(X, Y + 0.5),
    "y with NaN": lambda e: e.fit(X, [0, 1, np.nan, 1]),
    "y with infinity": lambda e: e.fit(X, [0, 1, np.inf, 1]),
    "y of integers as objects": lambda e: e.fit(X, Y.astype(object)),
    "weights are short": lambda e: e.fit(X, Y, [1, 2]),
    "weights with NaN": lambda e: e.fit(X, Y, [1, 2, np.nan, 1]),
    "weights with infinity": lambda e: e.fit(X, Y, [1, 2, np.inf, 1]),
    "weights of two dimensions": lambda e: e.fit(X, Y, np.ones((4, 1))),
    "weights of strings": lambda e: e.fit(X, Y, ["a"] * 4),
    "weights of zero": lambda e: e.fit(X, Y, np.zeros(4)),
    "one weight": lambda e: e.fit(X, Y, 2.0),
    "predict before fit": lambda e: e.predict(X),
    "predict one dimension": lambda e: e.fit(X, Y).predict(X[0]),
    "predict fewer columns": lambda e: e.fit(X, Y).predict_proba(X[:, :2]),
    "predict no rows": lambda e: e.fit(X, Y).predict_proba(X[:0]),
    "predict NaN": lambda e: e.fit(X, Y).predict(_with(np.nan)),
    "predict infinity": lambda e: e.fit(X, Y).predict(_with(np.inf)),
    "predict a negative number": lambda e: e.fit(X, Y).predict(_with(-1.0)),
    "predict strings": lambda e: e.fit(X, Y).predict(X.astype(str)),
    "predict a sparse matrix": lambda e: e.fit(X, Y).predict(sparse.csr_matrix(X)),
    "predict other names": lambda e: e.fit(FRAME, Y).predict(FRAME.rename(columns={"c": "d"})),
    "predict another order": lambda e: e.fit(FRAME, Y).predict(FRAME[["b", "a", "c"]]),
    "partial_fit without classes": lambda e: e.partial_fit(X, Y),
    "partial_fit with other classes": lambda e: e.partial_fit(X, Y, [0, 1]).partial_fit(X, Y, [0, 1, 2]),
    "partial_fit with the classes again": lambda e: e.partial_fit(X, Y, [0, 1]).partial_fit(X, Y, [1, 0]),
    "partial_fit with fewer columns": lambda e: e.partial_fit(X, Y, [0, 1]).partial_fit(X[:, :2], Y),
    "partial_fit with NaN": lambda e: e.partial_fit(X, Y, [0, 1]).partial_fit(_with(np.nan), Y),
    "partial_fit with a negative number": lambda e: e.partial_fit(X, Y, [0, 1]).partial_fit(_with(-1.0), Y),
    "partial_fit with a short y": lambda e: e.partial_fit(X, Y, [0, 1]).partial_fit(X, Y[:2]),
    "partial_fit without rows": lambda e: e.partial_fit(X, Y, [0, 1]).partial_fit(X[:0], Y[:0]),
    "an unknown parameter": lambda e: type(e)(nothing=1),
    "an unknown parameter to set": lambda e: e.set_params(nothing=1),
    "a positional parameter": lambda e: type(e)(1.0),
}
VALUES: dict[str, list[Any]] = {
    "alpha": [-1, "1", None, np.nan, np.inf, True, [1.0], [1.0, -1.0, 1.0], [], np.ones((3, 1))],
    "force_alpha": [1, "yes", None, np.bool_(True)],
    "fit_prior": [1, "yes", None, np.bool_(True)],
    "class_prior": [[1.0], [0.3, 0.3, 0.4], "a", 1.0, [0.0, 1.0], [[0.5, 0.5]]],
    "norm": [1, "yes", None, np.bool_(True)],
    "binarize": [-1, "a", [0], np.nan, True],
    "min_categories": [0, -1, 1.5, "a", [1], [1.0, 2.0, 3.0], [1, 2, 9], [1, 2], [[1, 2, 3]], True, [-5, -5, -5]],
    "priors": [[1.0], [0.3, 0.3, 0.4], [-1.0, 2.0], "a", 1.0, [1.0, 1.0], [0.0, 1.0], [0.0, 0.0], [np.nan, 1.0]],
    "var_smoothing": [-1, "a", None, [1], np.nan, np.inf, 0, True],
}
WRONG_PARAMETERS = [
    (name, parameter, value)
    for parameter, values in VALUES.items()
    for name in NAMES
    if parameter in getattr(naively, name)().get_params()
    for value in values
]


def _errors(call: Callable[[Any], Any], name: str, **parameters: Any) -> tuple[Any, Any]:
    """Return the errors that scikit-learn's class and ours raise, or None."""
    their_results, ours = (
        lambda module=module: call(getattr(module, name)(**parameters)) for module in (peer, naively)
    )
    results = [_fitted(their_results), _fitted(ours)]
    first, second = (result if isinstance(result, Exception) else None for result in results)
    return first, second


def _is_same(their_results: Exception | None, ours: Exception | None) -> bool:
    """Return whether both are None, or ours is one of the type of their_results."""
    return isinstance(ours, type(their_results)) if isinstance(their_results, Exception) else ours is None


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("name", NAMES)
def test_errors_are_those_of_scikit_learn(name: str, call: str) -> None:
    their_results, ours = _errors(CALLS[call], name)
    assert _is_same(their_results, ours), (their_results, ours)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "parameter", "value"), WRONG_PARAMETERS)
def test_parameters_are_checked_as_in_scikit_learn(name: str, parameter: str, value: Any) -> None:
    their_results, ours = _errors(lambda e: e.fit(X, Y).predict_proba(X), name, **{parameter: value})
    assert _is_same(their_results, ours), (their_results, ours)
    if type(their_results).__name__ == "InvalidParameterError":
        assert str(ours) == str(their_results)
        assert _is_same(*_errors(lambda e: e.partial_fit(X, Y, [0, 1]), name, **{parameter: value}))


# Declared differences that random models do not meet.


def _assert_only_ours_raises(call: Callable[[Any], Any], names: list[str], **parameters: Any) -> None:
    for name in names:
        their_results, ours = _errors(call, name, **parameters)
        assert their_results is None, name
        assert isinstance(ours, ValueError), name


def check_large_values() -> None:
    rows = np.full((1, 3), 1e200)
    assert np.isnan(peer.GaussianNB().fit(X, Y).predict_proba(rows)).any()
    assert np.isfinite(naively.GaussianNB().fit(X, Y).predict_proba(rows)).all()


def check_refusal_after_counting() -> None:
    for name, value in (("GaussianNB", np.nan), ("MultinomialNB", -1.0), ("ComplementNB", -1.0)):
        estimator = getattr(naively, name)().fit(X, Y)
        before = estimator.model_
        with pytest.raises(ValueError, match=r"NaN|Negative"):
            estimator.partial_fit(_with(value), Y)
        assert estimator.model_ is before


def check_wrong_priors() -> None:
    for prior in ([-1.0, 2.0], [np.nan, 1.0], [0.0, 0.0]):
        _assert_only_ours_raises(lambda e: e.fit(X, Y), NAMES[:4], class_prior=prior)


def check_negative_weights() -> None:
    _assert_only_ours_raises(lambda e: e.fit(X, Y, [1, -1, 2, 1]), NAMES)


def check_unknown_labels() -> None:
    _assert_only_ours_raises(lambda e: e.partial_fit(X, Y, [0, 5]), NAMES[:4])
    assert all(isinstance(error, ValueError) for error in _errors(lambda e: e.partial_fit(X, Y, [0, 5]), "GaussianNB"))


def check_repeated_classes() -> None:
    for name in NAMES[:4]:
        their_results, ours = _errors(lambda e: e.partial_fit(X, Y, [0, 1, 1]), name)
        assert isinstance(their_results, ValueError)
        assert ours is None


def check_mixed_types() -> None:
    calls: list[tuple[Callable[[Any], Any], dict[str, Any]]] = [
        (lambda e: e.fit(X, MIXED), {}),
        (lambda e: e.fit(X, np.array([None, "a", "b", "b"], dtype=object)), {}),
        (lambda e: e.fit(X, Y), {"alpha": ["a", "b", "c"]}),
    ]
    for call, parameters in calls:
        their_results, ours = _errors(call, "MultinomialNB", **parameters)
        assert isinstance(their_results, TypeError)
        assert isinstance(ours, ValueError)


def check_attributes_on_demand() -> None:
    for name in NAMES:
        their_results, ours = (getattr(module, name)().fit(X, Y) for module in (peer, naively))
        assert "class_count_" in vars(their_results)
        assert "class_count_" not in vars(ours)


def check_duplicate_entries() -> None:
    stored = sparse.csr_matrix((np.ones(3), np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2))
    counts = [module.BernoulliNB().fit(stored, [0, 1]).feature_count_.tolist() for module in (peer, naively)]
    assert counts == [[[2.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]]]


def check_array_api() -> None:
    assert peer.GaussianNB().__sklearn_tags__().array_api_support
    assert not naively.GaussianNB().__sklearn_tags__().array_api_support


CHECKS = {
    "`GaussianNB`, values of 10¹⁵⁵ and more at prediction": check_large_values,
    "`GaussianNB`, `MultinomialNB`, `ComplementNB`: NaN, infinity, negative counts": check_refusal_after_counting,
    "`class_prior` with negative numbers, NaN or zeros only": check_wrong_priors,
    "negative `sample_weight`": check_negative_weights,
    "`partial_fit` with a label not among `classes`": check_unknown_labels,
    "`partial_fit` with a class twice in `classes`": check_repeated_classes,
    "labels of mixed types, `alpha` of strings": check_mixed_types,
    "`BernoulliNB`, a sparse matrix with duplicate entries": check_duplicate_entries,
    "fitted attributes": check_attributes_on_demand,
    "array API input": check_array_api,
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("row", CHECKS)
def test_declared_difference(row: str) -> None:
    CHECKS[row]()


def test_documentation_lists_exactly_these_differences() -> None:
    lines = TABLE.read_text(encoding="utf-8").split("|---|---|---|\n")[1].splitlines()
    documented = [line.split(" | ")[0].removeprefix("| ") for line in lines if line.startswith("|")]
    assert len(documented) == len(set(documented))
    assert set(documented) == {*DIFFERENCES, *CHECKS}
