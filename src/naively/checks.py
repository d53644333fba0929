"""Check that a family or a statistic keeps the laws that the package relies on.

Write `check_family(MyFamily())` into a test of your own. It draws rows that suit the family, runs every operation of a
model on them, and compares each result with one computed another way. An operation that the family does not support
must raise an error that names the family.
"""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data.labelled import WeightLike
from naively.data.plain import CellValue
from naively.data.read import read
from naively.data.views import Codes, Texts
from naively.errors import InputError
from naively.families.base import Family, Leaving, refit_without_each_row
from naively.families.registry import family_named
from naively.fitting import fit
from naively.model.count import views_of
from naively.model.model import Model
from naively.statistics import ClassWeights, CountPlan, NegativeCountError, Statistic
from naively.store.compare import diff
from naively.store.merge import merge
from naively.store.running_sum import load

Columns = Mapping[str, Sequence[CellValue]]

WORDS = ("cheap", "pills", "lunch", "today", "offer", "meeting", "noon", "report")
CLASSES = ("a", "b", "c")
TOLERANCE = 1e-9


def check_family(
    family: Family, X: Columns | None = None, y: Sequence[CellValue] | None = None, *, n_rows: int = 60, seed: int = 0
) -> None:
    """Check a family: counting, estimating, tuning, explaining, storing, comparing and drawing.

    Parameters
    ----------
    family
        The family to check. Its class must be registered: `naively.register`.
    X
        Columns of rows that suit the family, by name; None in place of a value is a missing value. By default rows are
        drawn that suit `family.support` and the view of its statistic.
    y
        The class of each row, from two classes or more.
    n_rows
        The number of rows to draw.
    seed
        The seed of the drawn rows.

    Raises
    ------
    AssertionError
        If the family breaks a law. The message names the family and the law.

    Examples
    --------
    >>> from naively import Poisson
    >>> check_family(Poisson())
    """
    family = family.counted_as()
    if X is None or y is None:
        X, y = draw_rows(family, n_rows, seed)
    check = _FamilyCheck(family, X, list(y))
    check.registration()
    check.additivity()
    check.weights()
    check.leave_one_out()
    check.statistic()
    for model in (check.model, check.fit(slice(None), tune=True)):
        check.prediction(model)
        check.explanation(model)
        check.storage(model)
    check.comparison()
    check.refusals()
    check.pictures()


def check_statistic(
    count: Callable[[NDArray[np.intp], NDArray[np.float64]], Statistic], label: NDArray[np.intp], n_classes: int
) -> None:
    """Check a statistic: parts add to the total, subtracting leaves the rest, a weight of 2 counts twice.

    Parameters
    ----------
    count
        A function that counts the rows at some positions, with a weight for each.
    label
        The class of each row.
    n_classes
        The number of classes.

    Raises
    ------
    AssertionError
        If the statistic breaks a law. The message names the statistic and the law.

    Examples
    --------
    >>> from naively.statistics import Sums
    >>> x, label = np.arange(8.0), np.arange(8) % 2
    >>> check_statistic(lambda rows, weight: Sums.count(x[rows], label[rows], weight, 2), label, 2)
    """
    rows = np.arange(len(label))
    ones = np.ones(len(label))
    first, second = rows[: len(rows) // 2], rows[len(rows) // 2 :]
    total, a, b = count(rows, ones), count(first, ones[first]), count(second, ones[second])
    name = type(total).__name__
    classes = ClassWeights.count(None, label, None, n_classes)
    _require_same(a + b, total, classes, f"{name}: the parts do not add to the total")
    _require_same(total - b, a, classes, f"{name}: the total minus a part is not the rest")
    _require_same(type(total).sum_of([a, b]), total, classes, f"{name}: sum_of is not the sum")
    _require(not (total - a - b).has_rows().any(), f"{name}: something is left when all rows are subtracted")
    twice = count(rows, 2 * ones)
    _require_same(total.scaled(2.0), twice, classes, f"{name}: scaled(2) is not a weight of 2", rows_too=False)
    _require_same(total + total, twice, classes, f"{name}: a weight of 2 does not count twice", rows_too=False)
    try:
        a - total
    except NegativeCountError:
        pass
    else:
        raise AssertionError(f"{name}: rows that were never counted can be subtracted")
    _check_layout(total, classes, name)


def draw_rows(family: Family, n_rows: int = 60, seed: int = 0) -> tuple[dict[str, list[CellValue]], list[str]]:
    """Return rows that suit a family, with missing values, and a class for each.

    >>> from naively import Poisson
    >>> X, y = draw_rows(Poisson(), n_rows=4)
    >>> list(X), len(y)
    (['x0', 'x1', 'x2'], 4)
    """
    generator = np.random.default_rng(seed)
    code = np.arange(n_rows) % len(CLASSES)
    draw = {Codes: _draw_strings, Texts: _draw_texts}.get(family.statistic.view, _draw_numbers)
    columns: dict[str, list[CellValue]] = {
        f"x{j}": list(draw(family, code, generator)) for j in range(1 if family.own_block else 3)
    }
    for name, values in columns.items():
        if not (family.joint and name == "x0"):
            columns[name] = [None if u < 0.1 else v for u, v in zip(generator.random(n_rows), values, strict=True)]
    return columns, [CLASSES[c] for c in code]


def _draw_numbers(family: Family, code: NDArray[np.intp], generator: np.random.Generator) -> list[float]:
    normal = generator.normal(size=len(code)) + code
    drawn = {
        "real": normal,
        "any": normal,
        "positive": np.exp(normal),
        "non-negative": np.abs(normal),
        "count": generator.poisson(1.0 + 2.0 * code),
        "binary": generator.random(len(code)) < 0.2 + 0.3 * code,
    }[family.support]
    return [float(number) for number in drawn]


def _draw_strings(family: Family, code: NDArray[np.intp], generator: np.random.Generator) -> list[str]:
    return ["uvwxyz"[k] for k in generator.integers(0, 3, len(code)) + code]


def _draw_texts(family: Family, code: NDArray[np.intp], generator: np.random.Generator) -> list[str]:
    sizes = generator.integers(1, 6, len(code))
    return [
        " ".join(WORDS[(c + k) % len(WORDS)] for k in generator.integers(0, 5, n))
        for c, n in zip(code, sizes, strict=True)
    ]


class _FamilyCheck:
    """One family, rows that suit it, and the model of these rows without tuning."""

    def __init__(self, family: Family, X: Columns, y: Sequence[CellValue]) -> None:
        self.family, self.y = family, np.asarray(y)
        self.X = {name: list(values) for name, values in X.items()}
        self.name = type(family).__name__
        self.model = self.fit(slice(None))
        self.label = np.array([self.model.classes.index(c) for c in self.y.tolist()])

    def columns(self) -> Any:
        names = tuple(self.X)
        return {names: self.family} if self.family.joint else dict.fromkeys(names, self.family)

    def rows(self, rows: slice | NDArray[np.intp]) -> tuple[dict[str, list[CellValue]], list[CellValue]]:
        positions = np.arange(len(self.y))[rows].tolist()
        return {name: [x[i] for i in positions] for name, x in self.X.items()}, self.y[positions].tolist()

    def fit(self, rows: slice | NDArray[np.intp], weight: WeightLike = None, tune: bool = False) -> Model:
        X, y = self.rows(rows)
        return fit(X, y, weight=weight, columns=self.columns(), tune=tune)

    def require_same_scores(self, one: Model, two: Model, law: str) -> None:
        """Require equal classes, and equal log joint probabilities of all rows."""
        self.require(one.classes == two.classes, law)
        a, b = one.log_joint(self.X), two.log_joint(self.X)
        same = np.isclose(a, b, rtol=TOLERANCE, atol=TOLERANCE)
        if not same.all():
            i, c = np.argwhere(~same)[0].tolist()
            self.require(False, f"{law}: {a[i, c]} and {b[i, c]} in row {i}")

    def require(self, holds: bool, law: str) -> None:
        _require(holds, f"{self.name}: {law}")

    def require_refusal(self, act: Callable[[], object], what: str) -> None:
        """Require that an act either succeeds or raises an error that names the family."""
        names = {self.name, *(type(block.family).__name__ for block in self.model.chosen.schema.blocks)}
        try:
            act()
        except InputError as error:
            is_named = any(name in str(error) for name in names)
            self.require(is_named, f"{what} is refused without the name of the family: {error}")

    def registration(self) -> None:
        known = family_named(self.name) is type(self.family)
        self.require(known, f"the class is not registered: call naively.register({self.name})")

    def additivity(self) -> None:
        middle = len(self.y) // 2
        first, second = self.fit(slice(0, middle)), self.fit(slice(middle, None))
        self.require_same_scores(first + second, self.model, "parts do not add to the total")
        self.require_same_scores(self.model - second, first, "the total minus a part is not the rest")
        self.require_same_scores(
            first.update(*self.rows(slice(middle, None)), new_classes=True), self.model, "update is not adding"
        )
        rest = self.model.forget(*self.rows(slice(middle, None)))
        self.require_same_scores(rest, first, "forgetting is not subtracting")
        nothing = rest.forget(*self.rows(slice(0, middle)))
        self.require(not any(s.has_rows().any() for s in nothing.statistics), "forgetting all rows leaves counts")

    def weights(self) -> None:
        twice = self.fit(np.repeat(np.arange(len(self.y)), 2))
        weighted = self.fit(slice(None), weight=np.full(len(self.y), 2.0))
        self.require_same_scores(twice, weighted, "a weight of 2 is not the row twice")

    def leave_one_out(self) -> None:
        """Compare the scores without each row with those of the statistic of the other rows."""
        family, classes, n = self.family, self.model.classes, len(self.y)
        chosen, label = self.model.chosen, self.label
        leaving = Leaving.of(label, np.ones(n), np.ones(n))
        for block, x, stats in zip(
            chosen.schema.blocks, views_of(read(self.X), chosen.schema), chosen.statistics, strict=True
        ):
            if block.family != family:
                continue
            structure = family.structure(stats)
            shape = (n, 1 if family.joint else len(block.names), len(classes))
            without_row, refitted, counted = np.zeros(shape), np.zeros(shape), np.zeros((n, len(classes)))
            family.leave_one_out(x, stats, classes, structure, leaving, without_row)
            refit_without_each_row(family, x, stats, classes, structure, leaving, refitted)
            self.require(
                np.allclose(without_row, refitted, rtol=TOLERANCE, atol=TOLERANCE), "leave-one-out is not refitting"
            )
            for i in range(n):
                part = family.count(x.rows(i, i + 1), label[i : i + 1], None, len(classes), CountPlan(like=stats))
                rest = stats - part
                family.log_likelihood(x.rows(i, i + 1), family.estimate(rest, classes, structure), counted[i : i + 1])
            same = np.allclose(without_row.sum(axis=1), counted, rtol=1e-8, atol=1e-8)
            self.require(same, "the columns of leave-one-out do not add to the log-likelihood")

    def statistic(self) -> None:
        family, label, n_classes = self.family, self.label, len(self.model.classes)
        (block,) = [b for b in self.model.schema.blocks if b.family == family][:1]
        table = read(self.X)
        positions = [table.names.index(name) for name in block.names]
        like = family.statistic.empty(ClassWeights.count(None, label[:0], None, n_classes))

        def count(rows: NDArray[np.intp], weight: NDArray[np.float64]) -> Statistic:
            x = family.read_columns(table.take(rows), positions)
            stats: Statistic = family.count(x, label[rows].astype(np.int32), weight, n_classes, CountPlan(like=like))
            return stats

        check_statistic(count, label, n_classes)

    def prediction(self, model: Model) -> None:
        posterior = model.posterior(self.X)
        self.require(bool(np.isfinite(posterior).all()), "a posterior is not finite")
        self.require(np.allclose(posterior.sum(axis=1), 1.0), "posteriors do not add to 1")
        answers = [model.classes[k] for k in posterior.argmax(axis=1)]
        self.require(model.predict(self.X).tolist() == answers, "predict is not the most probable class")
        accuracy = float(np.mean(np.asarray(answers) == self.y))
        as_new_rows = replace(model, row_hashes=None)
        evaluated = as_new_rows.evaluate(self.X, self.y.tolist()).accuracy[0]
        self.require(bool(np.isclose(evaluated, accuracy)), "evaluate has another accuracy")

    def explanation(self, model: Model) -> None:
        X, _ = self.rows(slice(0, 12))
        for i, explanation in enumerate(model.explain(X, leave_out=False)):
            row = {name: values[i : i + 1] for name, values in X.items()}
            total = explanation.prior + explanation.offset + sum(line.log_odds for line in explanation.contributions)
            total += explanation.floor + (0.0 if explanation.together is None else explanation.together.log_odds)
            wanted = float(model.log_odds(row, explanation.of, explanation.against)[0])
            same = np.isclose(total, wanted, rtol=1e-8, atol=1e-8) or total == wanted
            self.require(bool(same), f"the lines of an explanation add to {total}, the log-odds are {wanted}")

    def storage(self, model: Model) -> None:
        with tempfile.TemporaryDirectory() as folder:
            one, two, both = (Path(folder) / name for name in ("one", "two", "both"))
            model.save(one)
            self.require_same_scores(load(one), model, "a saved model is not the loaded one")
            model.save(two)
            self.require_same_scores(merge([one, two], both), model + model, "merging is not adding")

    def comparison(self) -> None:
        middle = len(self.y) // 2
        first, second = self.fit(slice(0, middle)), self.fit(slice(middle, None))
        self.require_refusal(lambda: diff(first, second), "a comparison of two models")

    def refusals(self) -> None:
        self.require_refusal(lambda: self.model.sample(5, seed=0), "sampling")
        self.require_refusal(lambda: self.model.linear(*self.model.classes[:2]), "the linear form")
        self.require_refusal(lambda: self.model.log_marginal(self.X), "the marginal probability")

    def pictures(self) -> None:
        if importlib.util.find_spec("matplotlib") is None:
            return
        from naively import plot

        self.require_refusal(lambda: plot.distributions(self.model), "a picture of the distributions")
        self.require_refusal(lambda: plot.nomogram(self.model), "a nomogram")


def _require(holds: bool, law: str) -> None:
    if not holds:
        raise AssertionError(law)


def _require_same(one: Statistic, two: Statistic, classes: ClassWeights, law: str, rows_too: bool = True) -> None:
    """Require that two statistics count the same: the difference is nothing, and all they tell is equal."""
    for a, b in ((one, two), (two, one)):
        if rows_too:
            with suppress(NegativeCountError):
                _require(not (a - b).has_rows().any(), law)
                continue
            raise AssertionError(law)
    weights, rows = zip(one.rows_present(classes), two.rows_present(classes), strict=True)
    _require(np.allclose(*weights, rtol=TOLERANCE, atol=TOLERANCE), law)
    _require(not rows_too or np.array_equal(*rows), law)
    for column in range(one.n_columns):
        for of_one, of_two in zip(one.describe(column), two.describe(column), strict=True):
            _require(_same_description(of_one, of_two), law)


def _same_description(a: object, b: object) -> bool:
    """Compare descriptions: numbers to a tolerance, lists in any order of equal weights."""
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(_same_description(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(_same_description, sorted(a, key=str), sorted(b, key=str)))
    if isinstance(a, float) and isinstance(b, float):
        return bool(np.isclose(a, b, rtol=TOLERANCE, atol=TOLERANCE))
    return a == b


def _check_layout(total: Statistic, classes: ClassWeights, name: str) -> None:
    """Check that classes and columns can be moved and moved back."""
    n, p = total.n_classes, total.n_columns
    moved = total.place_classes(np.arange(n, dtype=np.int32) + 1, n + 1)
    _require(moved.n_classes == n + 1 and not moved.has_rows()[0], f"{name}: place_classes fills an empty class")
    back = moved.place_classes(np.arange(-1, n, dtype=np.int32), n)
    _require_same(back, total, classes, f"{name}: place_classes loses counts")
    order = np.arange(p)[::-1].astype(np.intp)
    turned = total.take_columns(order)
    _require(turned.n_columns == p, f"{name}: take_columns loses columns")
    _require_same(turned.take_columns(order), total, classes, f"{name}: take_columns loses counts")
