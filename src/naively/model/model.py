"""The model: a schema, classes and a sum of statistics. All else is computed from them when asked for.

    log p(x, c) = log π_c + Σ_j log p(x_j | c)                              (1)
    p(c | x) = p(x, c) / Σ_k p(x, k)                                        (2)
    log p(x) = log Σ_c p(x, c)                                              (3)

Source: documents 000, (1), (2), (15), (16); 001; 002; 003; 004, (5.8)–(5.13), (5.38), (5.39).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from naively import _kernels as kernels
from naively import data as sources
from naively._kernels.threads import on_own_threads, use_threads
from naively.data.labelled import labelled_batches
from naively.errors import ImpossibleRowsWarning, InputError, warn_user
from naively.families import Complement, NoValuesYet
from naively.model import decide as decisions
from naively.model import merge as merging
from naively.model import score
from naively.model.calibrate import Calibrated, Tuning, calibrate
from naively.model.columns import View
from naively.model.columns import views as views_of
from naively.model.count import count
from naively.model.questions import Questions
from naively.priors import ClassPrior, PriorLike
from naively.schema.choose import Chosen, choose
from naively.schema.schema import Schema, infer
from naively.statistics import ClassWeights, Statistic
from naively.store import write as storage

if TYPE_CHECKING:
    from pathlib import Path


__all__ = ["Model"]

EMPIRICAL = ClassPrior()
CHUNK = 2**21  # numbers of a (row, class) table that is only needed for an answer: 16 MB


@dataclass(frozen=True, eq=False)
class Model(Questions):
    """A trained model; `a + b` and `a - b` are the models of the rows together and of the rows left."""

    schema: Schema
    classes: tuple[Any, ...]
    seen: ClassWeights
    statistics: tuple[Statistic, ...]
    prior: ClassPrior = EMPIRICAL
    target: str = "class"
    n_jobs: int | None = None
    tuning: Tuning | None = None

    @classmethod
    def count(
        cls,
        table: sources.Table,
        label: NDArray[np.int32],
        weight: NDArray[np.float64] | None,
        classes: tuple[Any, ...],
        schema: Schema,
        like: Sequence[Statistic] = (),
        to_add: bool = False,
    ) -> Model:
        """Count a table that has been read and checked; `label` holds positions in `classes`."""
        statistics = count(table, schema, label, weight, len(classes), like, to_add)
        return cls(schema, classes, ClassWeights.count(None, label, weight, len(classes)), statistics)

    def __repr__(self) -> str:
        shown = [f"{c} {n:g}" for c, n in zip(self.classes[:5], self.class_counts[:5].tolist(), strict=True)]
        more = ", …" if len(self.classes) > 5 else ""
        kinds = ", ".join(f"{len(b.names)} {type(b.family).__name__}" for b in self.schema.blocks[:5])
        return (
            f"<Model of {int(self.seen.rows.sum())} rows, {len(self.classes)} classes ({', '.join(shown)}{more}), "
            f"{len(self.schema.names)} columns ({kinds})>"
        )

    @property
    def class_counts(self) -> NDArray[np.float64]:
        """Weight of the rows counted, per class."""
        return self.seen.weight

    @cached_property
    def log_prior(self) -> NDArray[np.float64]:
        """log π_c, per class."""
        return self.prior.log_probability(self.classes, self.seen.weight)

    @cached_property
    def chosen(self) -> Chosen:
        """What the model is scored by: the families, decided from the statistics, and the columns left out."""
        return choose(self.schema, self.statistics, self.seen, None if self.tuning is None else self.tuning.families)

    @cached_property
    def parameters(self) -> tuple[Any, ...]:
        """What each chosen block's family estimates from its statistic."""
        pairs = zip(self.chosen.schema.blocks, self.chosen.statistics, strict=True)
        with use_threads(self.n_jobs):
            return tuple(block.family.estimate(statistic, self.classes) for block, statistic in pairs)

    @cached_property
    def calibrated(self) -> Calibrated:
        """What posteriors are computed by: the parameters under the tuning, if there is one."""
        return calibrate(self.chosen, self.parameters, self.classes, self.tuning)

    def with_tuning(self, tuning: Tuning | None) -> Model:
        """The same counts under another tuning; None is the textbook."""
        return replace(self, tuning=tuning)

    def with_prior(self, prior: PriorLike) -> Model:
        """The same counts under another class prior: the 1 % and the 50 % mailbox are one model."""
        return replace(self, prior=ClassPrior.of(prior, self.classes))

    def read(self, X: Any) -> sources.Table:
        """Rows to be scored; a column that they lack is all missing, and that is said by name."""
        table = sources.read(X)
        if table.names == self.schema.names:
            return table
        return sources.completed(table, self.scored)

    @cached_property
    def scored(self) -> tuple[str, ...]:
        """The names of the columns that answers depend on: all but those left out."""
        return tuple(name for block in self.chosen.schema.blocks for name in block.names)

    @on_own_threads
    def log_joint(self, X: Any) -> NDArray[np.float64]:
        """Equation (1), (row, class)."""
        table = self.read(X)
        return self._log_joint(views_of(table, self.chosen.schema), table.n_rows)

    def _log_joint(self, views: Sequence[View], n_rows: int) -> NDArray[np.float64]:
        out = kernels.same_rows(self.log_prior, n_rows)
        score.score(self.chosen.schema, views, self.parameters, out)
        return out

    def _scores(self, views: Sequence[View], n_rows: int) -> NDArray[np.float64]:
        """log π_c + b_c + the calibrated evidence, (row, class); `views` are of the calibrated schema."""
        out = kernels.same_rows(self.log_prior + self.calibrated.offset, n_rows)
        score.score_calibrated(self.calibrated, views, out)
        return out

    @on_own_threads
    def log_posterior(self, X: Any) -> NDArray[np.float64]:
        """The logarithm of equation (2), (row, class)."""
        return self._normalised(X, 0)

    @on_own_threads
    def posterior(self, X: Any) -> NDArray[np.float64]:
        """Equation (2), (row, class)."""
        return self._normalised(X, 1)

    def _normalised(self, X: Any, kind: int) -> NDArray[np.float64]:
        table = self.read(X)
        out = self._scores(views_of(table, self.calibrated.schema), table.n_rows)
        impossible = kernels.normalise(out, self.log_prior, kind)
        _warn_impossible(impossible, len(out))
        return out

    @on_own_threads
    def log_marginal(self, X: Any) -> NDArray[np.float64]:
        """Equation (3), per row; small for odd rows, −inf for impossible ones."""
        if any(isinstance(block.family, Complement) for block in self.chosen.schema.blocks):
            raise InputError("Complement is evidence, not a likelihood: it has no marginal. Use Multinomial.")
        joint = self.log_joint(X)
        top = joint.max(axis=1)
        top = np.where(np.isneginf(top), 0.0, top)
        with np.errstate(divide="ignore"):
            return np.asarray(top + np.log(np.exp(joint - top[:, None]).sum(axis=1)))

    @on_own_threads
    def predict(
        self,
        X: Any,
        *,
        odds: float | None = None,
        threshold: Any = None,
        costs: Any = None,
        of: Any = None,
        min_probability: float | None = None,
    ) -> NDArray[Any]:
        """The most probable class of each row, or the answer under odds γ, thresholds or costs; see `decisions`.

        With `min_probability=0.9` the answer is None where the posterior does not reach 0.9 (in an object array).
        """
        decision = decisions.Decision(odds, threshold, costs, of, min_probability, self.classes)
        return self._names(self.answers(X, decision))

    @on_own_threads
    def answers(self, X: Any, decision: decisions.Decision) -> NDArray[Any]:
        """Positions of the classes that are answered, −1 for none."""
        return decision.answers(self.log_posterior(X)) if decision.asked else self.best(X)

    @on_own_threads
    def best(self, X: Any) -> NDArray[np.int32]:
        """Position of the most probable class, a chunk of rows at a time."""
        table = self.read(X)
        views, n_rows = views_of(table, self.calibrated.schema), table.n_rows
        best = np.empty(n_rows, dtype=np.int32)
        step = max(1024, CHUNK // max(1, len(self.classes)))
        impossible = 0
        for start in range(0, n_rows, step):
            stop = min(start + step, n_rows)
            whole = stop - start == n_rows
            joint = self._scores(views if whole else [v.rows(start, stop) for v in views], stop - start)
            impossible += kernels.best_class(joint, self.log_prior, best[start:stop])
        _warn_impossible(impossible, n_rows)
        return best

    def _names(self, positions: NDArray[Any]) -> NDArray[Any]:
        """The classes at these positions; None, in an object array, where a position is −1."""
        names = np.asarray(self.classes)[positions]
        return np.asarray(np.where(positions < 0, None, names.astype(object)) if (positions < 0).any() else names)

    def _position(self, label: Any) -> int:
        return decisions.position_of(label, self.classes)

    @on_own_threads
    def log_odds(self, X: Any, of: Any = None, against: Any = None) -> NDArray[np.float64]:
        """log P(of | x) − log P(against | x), per row; against=None is all other classes together."""
        if of is None and len(self.classes) > 2:
            raise InputError(f"of={None}: with {len(self.classes)} classes, say whose log-odds you want.")
        log_posterior = self.log_posterior(X)
        if against is None:
            return decisions.log_odds_of(log_posterior, self._position(of))
        pair = self._position(of), self._position(against)
        return decisions.log_odds_against(log_posterior, self.log_prior, *pair)

    def odds(self, X: Any, of: Any = None, against: Any = None) -> NDArray[np.float64]:
        """P(of | x) / P(against | x), per row; infinite where it is too large for a number."""
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(self.log_odds(X, of, against)))

    @on_own_threads
    def of_rows(self, X: Any, y: Any, weight: Any = None) -> Model:
        """The model of some rows alone, counted as this one was: what `update` adds and `forget` takes away."""
        parts = []
        for rows in labelled_batches(X, y, weight, like=self):
            schema, like = self.schema_for(rows.table)
            part = Model.count(rows.table, rows.label, rows.weight, rows.classes, schema, like)
            parts.append(replace(part, tuning=self.tuning, n_jobs=self.n_jobs))
        model = merging.total(parts)
        assert model is not None  # `labelled_batches` refuses data without rows
        return model

    def schema_for(self, table: sources.Table) -> tuple[Schema, Sequence[Statistic]]:
        """The schema and statistics to count more rows like; columns that had no value yet may now have a family."""
        if not any(isinstance(block.family, NoValuesYet) for block in self.schema.blocks):
            return self.schema, self.statistics
        return infer(table, {n: f for n, f in self.schema.families() if not isinstance(f, NoValuesYet)}), ()

    def save(self, path: str | Path, *, source: str = "", comment: str = "") -> None:
        """Write a new file, whole or not at all; `naively.load` reads it, `naively.open` teaches it more."""
        counts = storage.Counts(self.schema, self.classes, self.seen, self.statistics)
        tuning = None if self.tuning is None else self.tuning.to_json()
        storage.write(path, counts, storage.Meta(self.target, self.prior, tuning), source=source, comment=comment)

    def update(self, X: Any, y: Any, weight: Any = None) -> Model:
        """This model taught some more rows; a new value."""
        return self + self.of_rows(X, y, weight)

    def forget(self, X: Any, y: Any, weight: Any = None) -> Model:
        """This model without some of its rows, as if they had never been counted; a new value."""
        return self - self.of_rows(X, y, weight)

    def with_classes(self, classes: Sequence[Any]) -> Model:
        """This model with further classes, of which no row was seen yet."""
        return merging.laid_out(self, self.schema, merging.union_of_classes(self.classes, tuple(classes)))

    def __add__(self, other: Model) -> Model:
        return merging.added(self, other) if isinstance(other, Model) else NotImplemented

    def __sub__(self, other: Model) -> Model:
        return merging.subtracted(self, other) if isinstance(other, Model) else NotImplemented


def _warn_impossible(impossible: int, n_rows: int) -> None:
    if impossible:
        warn_user(
            f"{impossible} of {n_rows} rows are impossible under every class (a probability of zero in each); they "
            "get the class prior. Smooth the model (alpha > 0, a and b > 0) to tell such rows apart.",
            ImpossibleRowsWarning,
        )
