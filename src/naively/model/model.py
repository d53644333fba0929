"""The model: a schema, classes and a sum of statistics. Everything else is computed from them when it is needed.

    log p(x, c) = log π_c + Σ_j log p(x_j | c)                              (1)
    p(c | x) = p(x, c) / Σ_k p(x, k)                                        (2)
    log p(x) = log Σ_c p(x, c)                                              (3)

Source: Murphy, Probabilistic Machine Learning: An Introduction (2022), section 9.3; documents 000, (1), (2), (15),
(16); 001; 002; 003; 004, (5.8)–(5.13), (5.38), (5.39).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike

from naively._kernels.posterior import normalise
from naively._kernels.threads import on_own_threads, use_threads
from naively._kernels.types import Array, Floats
from naively.data.frame_output import Output, frame_of, series_of
from naively.data.labelled import Label, LabelsLike, WeightLike, class_array
from naively.data.names import counted
from naively.data.plain import JsonObject
from naively.data.read import TableLike
from naively.errors import InputError
from naively.families.base import Estimate
from naively.families.together import WeightedTables
from naively.model import merge
from naively.model.calibrate import Importance, Tuning, WeightedBlocks, weigh_blocks
from naively.model.contributions import contributions, two_classes
from naively.model.count import count_relabelled, count_rows
from naively.model.decide import (
    DecisionOptions,
    Thresholds,
    decision_rule,
    log_odds_against,
    log_odds_of,
    log_sum_exp,
    position_of,
)
from naively.model.score import predict_positions, read_rows, score_rows, warn_of_impossible_rows
from naively.priors import EMPIRICAL, ClassPrior, PriorLike
from naively.schema.choose import Chosen, choose
from naively.schema.schema import Schema
from naively.statistics import ClassWeights, Histogram, RowHashes, Statistic

if TYPE_CHECKING:
    import pyarrow as pa
    from onnx import ModelProto

    from naively.data.frame_output import PandasFrame, PandasSeries, PolarsFrame, PolarsSeries
    from naively.evaluation import Evaluation
    from naively.explanation import Explanations
    from naively.explanation.linear import Linear
    from naively.explanation.next_question import NextQuestion
    from naively.explanation.tables import Tables
    from naively.explanation.word_weights import WordWeights
    from naively.tuning.leave_one_out import LeaveOneOut


class Fitted(Protocol):
    """An estimator of `naively.sklearn` after `fit`."""

    model_: Model


def is_estimator(given: object) -> bool:
    """Return whether this is an estimator of scikit-learn, fitted or not."""
    return hasattr(given, "predict") and hasattr(given, "get_params")


@dataclass(frozen=True, eq=False)
class Model:
    """A trained model, a frozen value. `a + b` is the model of the rows of both, `a - b` that of the rows left.

    Parameters
    ----------
    schema
        The columns and their families.
    classes
        The classes, sorted.
    class_weights
        The weight and the number of the rows of each class.
    statistics
        One statistic for each block of the schema.
    prior
        The class prior.
    target
        The name of the column that holds the class.
    n_jobs
        The number of threads; None is all cores.
    tuning
        Weights, offsets and families that `tune` has chosen; None is plain Naive Bayes.
    table_counts
        The counts of the tables of columns that the schema plans; None without a plan.
    row_hashes
        Which rows were counted, as far as it is known; None if it is not, as in files of earlier versions.
    """

    schema: Schema
    classes: tuple[Label, ...]
    class_weights: ClassWeights
    statistics: tuple[Statistic, ...]
    prior: ClassPrior = EMPIRICAL
    target: str = "class"
    n_jobs: int | None = None
    tuning: Tuning | None = None
    row_hashes: RowHashes | None = None
    table_counts: Histogram | None = None

    def __post_init__(self) -> None:
        if self.tuning is not None and self.tuning.plain is not None and self.schema.tables is None:
            object.__setattr__(self, "tuning", self.tuning.plain)  # other weights are wrong without tables

    @classmethod
    def of(cls, given: ModelLike) -> Model:
        """Return the model that a function was given: a model, a fitted estimator, or the path of a model file.

        Parameters
        ----------
        given
            What the caller gave.
        """
        if isinstance(given, Model):
            return given
        if isinstance(given, (str, Path)):
            from naively.store.running_sum import load

            return load(given)
        model = getattr(given, "model_", None)
        if isinstance(model, Model):
            return model
        name = type(given).__name__
        if is_estimator(given):
            raise InputError(f"this {name} has no model: fit an estimator of naively first.")
        raise InputError(f"give a model, the path of a model file or an estimator of naively; this is a {name}.")

    def __repr__(self) -> str:
        classes = [f"{c} {n:g}" for c, n in zip(self.classes[:5], self.class_counts[:5].tolist(), strict=True)]
        classes += ["…"] if len(self.classes) > 5 else []
        families = [f"{len(b.names)} {b.family}" for b in self.chosen.schema.blocks[:5]]
        families += ["…"] if len(self.chosen.schema.blocks) > 5 else []
        families += [f"{len(self.chosen.left_out)} not used"] if self.chosen.left_out else []
        return (
            f"<Model of {counted(int(self.class_weights.rows.sum()), 'row')}, "
            f"{counted(len(self.classes), 'class', 'classes')} ({', '.join(classes)}), "
            f"{counted(len(self.schema.names), 'column')} ({', '.join(families)})>"
        )

    def _repr_html_(self) -> str:
        from naively.model.render_html import as_html

        return as_html(self)

    @property
    def class_counts(self) -> Floats:
        """The weight of the counted rows of each class."""
        return self.class_weights.weight

    @cached_property
    def _class_array(self) -> Array:
        return class_array(self.classes)

    @cached_property
    def log_prior(self) -> Floats:
        """The logarithm of the prior probability of each class, log π_c."""
        return self.prior.log_probability(self.classes, self.class_weights.weight)

    @cached_property
    def chosen(self) -> Chosen:
        """The families that score the columns, decided from the statistics, and the columns that are not used."""
        families = None if self.tuning is None else self.tuning.families
        return choose(self.schema, self.statistics, self.class_weights, families)

    @cached_property
    def parameters(self) -> tuple[Any, ...]:
        """The parameters that the family of each chosen block estimates from its statistic."""
        pairs = zip(self.chosen.schema.blocks, self.chosen.statistics, strict=True)
        with use_threads(self.n_jobs):
            return tuple(block.family.estimate(statistic, self.classes) for block, statistic in pairs)

    @cached_property
    def structures(self) -> tuple[Any, ...]:
        """What the family of each chosen block chooses from all rows, such as the cuts of bins; None for most."""
        pairs = zip(self.chosen.schema.blocks, self.chosen.statistics, strict=True)
        return tuple(block.family.structure(statistic) for block, statistic in pairs)

    @cached_property
    def estimates(self) -> tuple[Estimate, ...]:
        """The statistic, the parameters and the tables of values of each chosen block, for explanations."""
        parts = zip(self.chosen.schema.blocks, self.chosen.statistics, self.parameters, strict=True)
        return tuple(Estimate(s, p, block.family.value_tables(s, p, self.classes)) for block, s, p in parts)

    @property
    def floor(self) -> float:
        """How much of each posterior is shared equally by the classes: ε of `model/calibrate.py`, 0 without tuning."""
        return 0.0 if self.tuning is None else self.tuning.floor

    @cached_property
    def weighted_blocks(self) -> WeightedBlocks:
        """What posteriors are computed from: the parameters under the tuning, if there is one."""
        blocks = weigh_blocks(self.chosen, self.parameters, self.classes, self.tuning)
        return blocks if self.weighted_tables is None else replace(blocks, tables=self.weighted_tables)

    @cached_property
    def weighted_tables(self) -> WeightedTables | None:
        """The tables of columns under the tuning; None if posteriors do not depend on any."""
        if self.tuning is None or self.schema.tables is None or self.table_counts is None:
            return None
        weights = np.array(self.tuning.table_weights)
        if not weights.any():
            return None
        return WeightedTables.of(self.schema.tables, self.table_counts, self.class_weights.weight, weights)

    @cached_property
    def offset(self) -> Floats:
        """What the tuning adds to the score of each class, b_c of `model/calibrate.py`; zeros without one."""
        return np.zeros(len(self.classes)) if self.tuning is None else self.tuning.offset(self.classes)

    @property
    def rows_since_tuning(self) -> int | None:
        """How many rows more the model has counted than when it was tuned; None if that is not known."""
        if self.tuning is None or not self.tuning.counted_rows:
            return None
        return int(self.class_weights.rows.sum()) - self.tuning.counted_rows

    def with_tuning(self, tuning: Tuning | None) -> Model:
        """Return the same counts under another tuning.

        Parameters
        ----------
        tuning
            The tuning; None is plain Naive Bayes.
        """
        return replace(self, tuning=tuning)

    def without_floor(self) -> Model:
        """Return the model without the floor of its tuning: its log-odds are the sum of its evidence."""
        if not self.floor or self.tuning is None:
            return self
        model = self.with_tuning(replace(self.tuning, floor=0.0))
        for name in ("chosen", "parameters", "weighted_blocks"):  # do not depend on the floor
            model.__dict__[name] = getattr(self, name)
        return model

    def with_prior(self, prior: PriorLike) -> Model:
        """Return the same counts under another class prior.

        Parameters
        ----------
        prior
            "empirical", "uniform", a pseudo-count, or a probability for each class.
        """
        model = replace(self, prior=ClassPrior.of(prior, self.classes))
        for name in ("chosen", "parameters", "weighted_blocks", "used_columns"):  # do not depend on the prior
            if name in self.__dict__:
                model.__dict__[name] = self.__dict__[name]
        return model

    @cached_property
    def used_columns(self) -> tuple[str, ...]:
        """The names of the columns that predictions depend on, each once, in the order of the schema."""
        used = {name for block in self.chosen.schema.blocks for name in block.names}
        if self.tuning is not None and any(self.tuning.table_weights) and self.schema.tables is not None:
            used.update(name for name in self.schema.tables.columns if name in self.chosen.left_out)
        return tuple(name for name in self.schema.names if name in used)

    def without_tables(self) -> Model:
        """Return the model of the columns alone: without its tables of columns, under the tuning made without them."""
        tuning = self.tuning if self.tuning is None or self.tuning.plain is None else self.tuning.plain
        return replace(self, schema=replace(self.schema, tables=None), table_counts=None, tuning=tuning)

    @on_own_threads
    def log_joint(self, X: TableLike) -> Floats:
        """Return the logarithm of p(x, c), equation (1), (row, class), without the tuning.

        Parameters
        ----------
        X
            Rows, as in `predict`.
        """
        return score_rows(self, X, weigh_blocks(self.chosen, self.parameters, self.classes, None))

    def _probabilities(self, X: TableLike, kind: int) -> Floats:
        """Return log posteriors (kind 0) or posteriors (kind 1)."""
        scores = score_rows(self, X, self.weighted_blocks)
        warn_of_impossible_rows(normalise(scores, self.log_prior, kind, self.floor), len(scores))
        return scores

    @on_own_threads
    def log_posterior(self, X: TableLike) -> Floats:
        """Return the logarithm of the probability of each class, (row, class), columns as in `classes`.

        Parameters
        ----------
        X
            Rows, as in `predict`.
        """
        return self._probabilities(X, 0)

    @overload
    def posterior(self, X: TableLike, *, output: None = None) -> Floats: ...
    @overload
    def posterior(self, X: TableLike, *, output: Literal["pandas"]) -> PandasFrame: ...
    @overload
    def posterior(self, X: TableLike, *, output: Literal["polars"]) -> PolarsFrame: ...
    def posterior(self, X: TableLike, *, output: Output | None = None) -> Floats | PandasFrame | PolarsFrame:
        """Return the probability of each class, equation (2), (row, class), columns as in `classes`.

        A row that is impossible in every class gets the class prior. A tuned model has a floor: of each probability,
        (1 − ε) is that of equation (2), and ε is shared equally by the classes; ε = 1 / (2 · rows looked at).

        Parameters
        ----------
        X
            Rows, as in `predict`.
        output
            "pandas" or "polars": return a frame with a column for each class. The index of a pandas frame is kept.
        """
        with use_threads(self.n_jobs):
            posterior = self._probabilities(X, 1)
        return posterior if output is None else frame_of(posterior, self.classes, X, output)

    predict_proba = posterior

    @on_own_threads
    def log_marginal(self, X: TableLike) -> Floats:
        """Return log p(x), equation (3): small for unusual rows, −inf for impossible ones.

        Parameters
        ----------
        X
            Rows, as in `predict`.
        """
        for block in self.chosen.schema.blocks:
            if not block.family.is_likelihood:
                name = type(block.family).__name__
                raise InputError(f"{name} is evidence, not a likelihood: it has no marginal. Use Multinomial.")
        return log_sum_exp(self.log_joint(X))

    @overload
    def predict(self, X: TableLike, *, output: None = None, **options: Unpack[DecisionOptions]) -> Array: ...
    @overload
    def predict(
        self, X: TableLike, *, output: Literal["pandas"], **options: Unpack[DecisionOptions]
    ) -> PandasSeries: ...
    @overload
    def predict(
        self, X: TableLike, *, output: Literal["polars"], **options: Unpack[DecisionOptions]
    ) -> PolarsSeries: ...
    def predict(
        self,
        X: TableLike,
        *,
        odds: float | None = None,
        threshold: Thresholds | None = None,
        costs: ArrayLike | None = None,
        of: Label | None = None,
        min_probability: float | None = None,
        output: Output | None = None,
    ) -> Array | PandasSeries | PolarsSeries:
        """Return a class for each row: the most probable, unless one of the options says otherwise.

        Parameters
        ----------
        X
            Rows, of any kind that `fit` takes: a table in memory, files, batches. A mapping from name to one value is
            one row, and so is a row of a pandas frame. For a model with one text column, a string is one text, unless
            it names files (docs/tables.md has the rule).
        odds
            Return the class `of` only if its odds against all others are above this.
        threshold
            Return the class `of` only if its probability is above this; or one threshold per class.
        costs
            costs[c][d] is the cost of predicting d if c is true; return the class of least expected cost.
        of
            The class for `odds` and `threshold`, by default the last.
        min_probability
            Return None, in an object array, for rows in which no class has this probability.
        output
            "pandas" or "polars": return a series instead of an array. The index of a pandas frame is kept.
        """
        is_plain = all(option is None for option in (odds, threshold, costs, min_probability))
        rule = None if is_plain else decision_rule(self.classes, odds, threshold, costs, of, min_probability)
        positions = predict_positions(self, X, rule)
        classes: Array = self._class_array[positions]
        if rule is not None and (positions < 0).any():
            classes = classes.astype(object)
            classes[positions < 0] = None
        return classes if output is None else series_of(classes, self.target, X, output)

    @on_own_threads
    def log_odds(self, X: TableLike, of: Label | None = None, against: Label | None = None) -> Floats:
        """Return log P(of | x) − log P(against | x) for each row.

        Parameters
        ----------
        X
            Rows, of any kind that `fit` takes.
        of
            A class; with two classes, by default the second.
        against
            Another class; by default all other classes together.
        """
        if of is None and len(self.classes) > 2:
            raise InputError(f"of={None}: with {len(self.classes)} classes, say whose log-odds you want.")
        log_posterior = self.log_posterior(X)
        first = position_of(of, self.classes)
        if against is None:
            return log_odds_of(log_posterior, first)
        return log_odds_against(log_posterior, self.log_prior, first, position_of(against, self.classes))

    @on_own_threads
    def contributions(self, X: TableLike, of: Label | None = None, against: Label | None = None) -> Floats:
        """Return what each column adds to the log-odds of each row, (row, column), columns as in `schema.names`.

        A row adds up, with the prior and the class offset, to `log_odds(X, of, against)` before the floor: that of
        `model.without_floor()`. What columns say together is included, by the share of each column. A column that is
        not used has 0, and so has a missing value unless it is evidence. The weights of the tuning are included. Where
        a probability is zero a contribution is infinite; a row that is impossible in both classes has zeros.

        Parameters
        ----------
        X
            Rows, of any kind that `fit` takes.
        of
            A class; with two classes, by default the second.
        against
            Another class; with two classes, by default the other one.

        >>> from naively import fit
        >>> model = fit({"sky": ["sun", "sun", "rain"], "sea": ["calm", "rough", "calm"]}, ["a", "a", "b"], tune=False)
        >>> model.contributions({"sky": ["rain", None], "sea": ["calm", "calm"]}).round(3).tolist()
        [[0.981, 0.288], [0.0, 0.288]]
        """
        return contributions(self, read_rows(self, X), *two_classes(self, of, against))

    def odds(self, X: TableLike, of: Label | None = None, against: Label | None = None) -> Floats:
        """Return P(of | x) / P(against | x) for each row; infinite if it is too large for a number.

        Parameters
        ----------
        X, of, against
            As in `log_odds`.
        """
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(self.log_odds(X, of, against)))

    def update(
        self, X: TableLike, y: LabelsLike = None, weight: WeightLike = None, *, new_classes: bool = False
    ) -> Model:
        """Return the model of the counted rows and some more.

        Parameters
        ----------
        X, y, weight
            Rows, labels and weights, of any kind that `fit` takes. By default the labels are the column that the model
            predicts; for one row, y may be its label.
        new_classes
            Whether labels may be new to a model of two or more classes. Else they are refused as typing errors.
        """
        counts = count_rows(self, X, y, weight)
        if not new_classes:
            merge.refuse_new_classes(self.classes, counts.classes)
        return self + counts

    def forget(self, X: TableLike, y: LabelsLike = None, weight: WeightLike = None) -> Model:
        """Return the model of the counted rows without some of them, as if they had never been counted.

        Parameters
        ----------
        X, y, weight
            The rows to subtract, with the labels and weights with which they were counted.
        """
        return self - count_rows(self, X, y, weight)

    def relabel(
        self,
        X: TableLike,
        y: LabelsLike = None,
        *,
        to: LabelsLike,
        weight: WeightLike = None,
        new_classes: bool = False,
    ) -> Model:
        """Return the model in which some counted rows have other labels: they are forgotten, and learnt again.

        Parameters
        ----------
        X, y, weight
            The rows, with the labels and weights with which they were counted.
        to
            The new labels: one for each row, or one for all rows.
        new_classes
            As in `update`.
        """
        old, new = count_relabelled(self, X, y, to, weight)
        if not new_classes:
            merge.refuse_new_classes(self.classes, new.classes)
        return self - old + new

    def __add__(self, other: Model) -> Model:
        return merge.add(self, other) if isinstance(other, Model) else NotImplemented

    def __sub__(self, other: Model) -> Model:
        return merge.subtract(self, other) if isinstance(other, Model) else NotImplemented

    # The methods below forward to folders above this one, which they load when they are called.

    def explain(
        self,
        X: TableLike,
        of: Label | None = None,
        against: Label | None = None,
        top: int | None = None,
        changes: bool = True,
        leave_out: bool = True,
    ) -> Explanations:
        """Explain the prediction for each row, as the log-odds of one class against another.

        Parameters
        ----------
        X
            Rows, of any kind that `fit` takes.
        of
            The class to explain, by default the predicted one.
        against
            The class to compare it with, by default the most probable other one.
        top
            Keep this many contributions, the strongest, and sum up the others; by default keep all.
        changes
            Whether to search for the fewest changes that would change the prediction.
        leave_out
            Whether a row that the model is known to have counted is explained by the model without it. Its own counts
            would be evidence for its own class. `is_left_out` tells such explanations.
        """
        from naively.explanation import Explanations, explain

        return Explanations(explain(self, X, of, against, top, changes, leave_out))

    def next_question(self, row: TableLike, costs: Mapping[str, float] | None = None) -> NextQuestion:
        """Rank the missing columns of a row by how much certainty about the class their value is expected to add.

        Parameters
        ----------
        row
            One row, of any kind that `fit` takes. A column that it does not have is missing.
        costs
            What it costs to get the value of a column, 1 for one that is not named. Columns are ranked by gain / cost.

        Examples
        --------
        >>> from naively import fit
        >>> rows = {"sky": ["sun", "sun", "rain", "rain"], "wind": ["calm", "gusty", "calm", "gusty"]}
        >>> model = fit(rows, ["yes", "yes", "no", "no"], tune=False)
        >>> [question.column for question in model.next_question({}).questions]
        ['sky', 'wind']
        """
        from naively.explanation.next_question import next_question

        return next_question(self, row, costs)

    def linear(self, of: Label | None = None, against: Label | None = None) -> Linear:
        """Return weights and bias of the log-odds between two classes, if they are a linear function of the columns.

        Parameters
        ----------
        of
            A class; with two classes, by default the second.
        against
            Another class; with two classes, by default the first.
        """
        from naively.explanation.linear import linear_form

        return linear_form(self, of, against)

    def evidence(self, column: str) -> WordWeights:
        """Return the weight of every word of a column of text, as in `evidence("text").top("spam", 20)`.

        Parameters
        ----------
        column
            The name of a column of text, or of a column of a block of counts.
        """
        from naively.explanation.word_weights import word_weights

        return word_weights(self, column)

    def tables(self, of: Label | None = None, against: Label | None = None, top: int | None = 1_000) -> Tables:
        """Return what the model has learnt of each column, as numbers from which predictions can be computed by hand.

        Parameters
        ----------
        of
            The class that log-odds are for, by default the last.
        against
            The class to compare it with, by default the first other one.
        top
            How many words of a text the table has, the most frequent first; None is all.

        Examples
        --------
        >>> from naively import fit
        >>> model = fit({"sky": ["sun", "sun", "rain"], "wind": [3.5, 8.0, 4.5]}, ["yes", "yes", "no"], tune=False)
        >>> print(model.tables()["sky"])
        sky: Categorical; weight 1
        <BLANKLINE>
        value  n | no  n | yes  p | no  p | yes  log-odds
        rain        1        0  0.6667     0.25   −0.9808
        sun         0        2  0.3333     0.75   +0.8109
        all         1        2
        log-odds of yes against no; p = (n + 1) / (all + 2)
        """
        from naively.explanation.tables import make_tables

        return make_tables(self, of, against, top)

    def sample(self, n: int, of: Label | None = None, seed: int | None = None) -> pa.Table:
        """Return random rows from the model, with their class in the last column.

        Parameters
        ----------
        n
            The number of rows.
        of
            The class of all rows; by default classes are drawn from the prior.
        seed
            A seed of the random numbers.
        """
        from naively.model.sample import sample

        return sample(self, n, of, seed)

    def evaluate(
        self,
        X: TableLike,
        y: LabelsLike = None,
        weight: WeightLike = None,
        *,
        of: Label | None = None,
        costs: ArrayLike | None = None,
        precision: float | None = None,
        min_probability: float | None = None,
    ) -> Evaluation:
        """Return accuracy, log-loss, calibration and more on rows whose class is known, best on new rows.

        Parameters
        ----------
        X, y, weight
            Rows, labels and weights, of any kind that `fit` takes.
        of
            With two classes: the class that thresholds are for, by default the last.
        costs
            With two classes: find the threshold of least cost. Give the cost of a miss if a false alarm costs 1, or a
            table costs[true][predicted].
        precision
            With two classes: find the threshold of highest recall that has this precision.
        min_probability
            Report the share of the rows whose prediction reaches this probability, and the error rate among them.
        """
        from naively.evaluation import evaluate

        return evaluate(self, X, y, weight, of=of, costs=costs, precision=precision, min_probability=min_probability)

    def evaluate_training(
        self,
        X: TableLike,
        y: LabelsLike = None,
        weight: WeightLike = None,
        *,
        groups: LabelsLike = None,
        time: ArrayLike | None = None,
        of: Label | None = None,
        costs: ArrayLike | None = None,
        precision: float | None = None,
        min_probability: float | None = None,
    ) -> Evaluation:
        """Return the same for the training rows, each predicted as if it had not been counted.

        Parameters
        ----------
        X, y, weight
            The rows, labels and weights that the model was fitted on, or some of them. A row of weight zero was not
            counted: it is scored by the model as it is, or left out if the model does not have its class.
        groups
            One value per row, or the name of a column: all rows of a group are left out together.
        time
            The time of each row: rows are predicted by models of earlier rows only.
        of, costs, precision, min_probability
            As in `evaluate`.
        """
        from naively.evaluation.training import evaluate_training

        return evaluate_training(
            self, X, y, weight, groups, time, of=of, costs=costs, precision=precision, min_probability=min_probability
        )

    @on_own_threads
    def tune(self, X: TableLike, y: LabelsLike = None, weight: WeightLike = None) -> Model:
        """Return this model with smoothing, families and calibration chosen again, by leave-one-out.

        Parameters
        ----------
        X, y, weight
            The rows that the model was fitted on, or some of them, with their labels and weights.
        """
        from naively.tuning.tune import tune

        return self.with_tuning(tune(self, X, y, weight))

    @on_own_threads
    def importance(self, X: TableLike | None = None, y: LabelsLike = None, weight: WeightLike = None) -> Importance:
        """Return what each column is worth: the log-loss that leaving it out would add, the highest first.

        Without rows: as computed by the last tuning. Columns that the model does not use are not listed.

        Parameters
        ----------
        X, y, weight
            The rows that the model was fitted on, or some of them, with their labels and weights. They are needed if
            the model is not tuned, or has more than 256 columns.

        Examples
        --------
        >>> from naively import fit
        >>> rows = {"sky": ["sun", "sun", "rain", "rain"] * 5, "wind": ["calm", "gusty"] * 10}
        >>> model = fit(rows, ["yes", "yes", "no", "no"] * 5)
        >>> [column.column for column in model.importance()]
        ['sky', 'wind']
        """
        if X is not None:
            from naively.tuning.tune import importance_by_rows

            return Importance(importance_by_rows(self, X, y, weight))
        worth = () if self.tuning is None else self.tuning.importance
        if not worth:
            why = "is not tuned" if self.tuning is None else "was tuned without it"
            raise InputError(
                f"the model {why}: give the rows that it was fitted on, as importance(X, y) or, in the shell, "
                "naively plot importance MODEL DATA."
            )
        return Importance(worth)

    @on_own_threads
    def leave_one_out(
        self,
        X: TableLike,
        y: LabelsLike = None,
        weight: WeightLike = None,
        groups: LabelsLike = None,
        folds: int | None = None,
        sample: int | None = None,
    ) -> LeaveOneOut:
        """Score each training row as if it had not been counted.

        Parameters
        ----------
        X, y, weight, groups
            As in `evaluate_training`.
        folds
            Leave out this many groups, made by a hash of the rows' content, so that equal rows are in one group.
        sample
            Score at most this many rows, those with the smallest hashes.
        """
        from naively.tuning.leave_one_out import leave_one_out

        return leave_one_out(self, X, y, weight, groups, folds, sample)

    def save(self, path: str | Path, *, source: str = "", comment: str = "", overwrite: bool = False) -> None:
        """Write a new model file; if it cannot be written completely, no file is left.

        Parameters
        ----------
        path
            The file. `naively.load` reads it; `naively.open` adds rows to it. A file that holds only a fit is replaced.
        source
            Where the rows come from, for the log.
        comment
            A comment for the log.
        overwrite
            Replace the file even if it holds further entries, or is not a model file: these are lost.
        """
        from naively.store.write import write_model

        write_model(path, self, source=source, comment=comment, overwrite=overwrite)

    def to_dict(self) -> JsonObject:
        """Return the model as a scorecard: all that is needed to score a row, as plain data.

        See docs/export.md. A model of text is refused.
        """
        from naively.export.scorecard import scorecard_of

        return scorecard_of(self).to_dict()

    def to_sql(
        self, dialect: str, table: str | Sequence[str] = "data", *, keys: Sequence[str] = (), log: bool = False
    ) -> str:
        """Return a query that scores the rows of a table: the columns `prediction` and `p_CLASS` of each class.

        Parameters
        ----------
        dialect
            "duckdb", "postgresql", "sqlite" or "spark".
        table
            The name of the table; a tuple of names if it is in a schema, such as ("sales", "people").
        keys
            Columns of the table that come first in the result, such as the number of the row.
        log
            Whether to return the logarithms of the probabilities.
        """
        from naively.export.sql import to_sql

        return to_sql(self, dialect, table, keys, log)

    def to_onnx(self) -> ModelProto:
        """Return the model as an ONNX graph with one input for each column; needs `naively[onnx]`.

        The outputs are `label`, `probabilities` and `log_probabilities`. A missing number is NaN, a missing string is
        empty, and dates are seconds since 1970.
        """
        from naively.export.onnx_graph import to_onnx

        return to_onnx(self)


ModelLike = Model | Fitted | str | Path  # what `Model.of` takes
