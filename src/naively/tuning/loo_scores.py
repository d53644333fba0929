"""Leave-one-out evidence of a sample of rows, under any families.

A row is scored with its own counts taken out, and those of its copies (sample.py). What an estimate chose by looking at
labels (bins, a vocabulary) is chosen for each fold without the sampled rows of that fold, so that a row has no
influence on it. Kinds of rows that occur often enough to be in every fold stay: no fold would be without them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from naively._kernels.types import Floats
from naively.data.names import Names
from naively.families.base import EventModel, Family, Leaving
from naively.families.leave_one_out.tokens import WordScorer
from naively.model.count import View, count_block, views_of
from naively.schema.choose import statistic_for
from naively.schema.schema import Block, Schema
from naively.statistics import Statistic, TokenCounts
from naively.tuning.sample import FOLDS, Sample
from naively.tuning.solver import Problem, one_hot, stacked

if TYPE_CHECKING:
    from naively.model.model import Model

MAX_NUMBERS_HELD = 2**22  # of (row, column, class) evidence, where only its sum over columns is needed
MAX_FOLD_KEYS, MIN_FOLD_KEYS = 256, 64  # of a column, among which the bins without a fold are chosen
FOLD_KEYS = 2**14  # the same of all columns, between these ends
MAX_NATS = 1000.0  # of evidence against a class: what takes the place of infinity


class LooScorer:
    """A model without tuning, and a sample of the rows that it has counted.

    Rows that are alone in their class are not usable. `every` is the scorer of a larger sample to which these rows
    belong: structure without a fold is without all of its sampled rows.

    With `rests`, the model without each fold, a row is scored by the rest of its fold: rows that belong together are
    left out together. Rows whose class no other fold has are then not usable.
    """

    def __init__(
        self,
        model: Model,
        sample: Sample,
        every: LooScorer | None = None,
        rests: Mapping[int, Model] | None = None,
    ) -> None:
        """Find the usable rows."""
        self.model, self.sample, self.leaving = model, sample, sample.leaving
        self._rests: Mapping[int, Model] | None = rests if every is None else every._rests
        self._views: dict[tuple[str, Names], View] = {}
        self._rivals: dict[Names, Sequence[Family]] = {}
        self._every: LooScorer = self if every is None else every._every
        self._statistics: dict[tuple[int, str, Names, str], Statistic] = {}  # without a fold
        self._structures: dict[tuple[str, Names, str], tuple[Statistic, list[Any]]] = {}  # without each fold
        has_company = model.class_weights.rows[sample.label] > self.leaving.rows
        self.is_usable = has_company & (model.class_weights.weight[sample.label] > self.leaving.weight)
        if self._rests is not None:
            for start, stop, fold in self._fold_spans(by_fold=True):
                self.is_usable[start:stop] &= self._rests[fold].class_weights.rows[sample.label[start:stop]] > 0

    @property
    def leaves_groups_out(self) -> bool:
        """Whether a row is scored by the model without its fold, in place of the model without the row."""
        return self._rests is not None

    def problem(self, pieces: Sequence[Floats]) -> Problem:
        """Return the usable rows to calibrate on, with pieces of evidence, each (feature, row, class)."""
        no_evidence = np.zeros((0, len(self.sample), len(self.model.classes)))
        evidence = stacked(pieces) if pieces else no_evidence
        evidence = evidence if self.is_usable.all() else evidence.compress(self.is_usable, axis=1)
        target = one_hot(self.sample.label[self.is_usable], len(self.model.classes))
        return Problem(self._log_prior, evidence, target, self.scaled_weight[0])

    @cached_property
    def scaled_weight(self) -> tuple[Floats, Floats]:
        """The weight of each usable row, and how much of it is one observation, scaled to the number of observations.

        So a table and its copy have the same loss. (Σ w)² / Σ w l is the number of observations where l of the weight w
        leave together (Kish, Survey Sampling, 1965, section 11.7).
        """
        weight, unit = self.sample.weight[self.is_usable], self.leaving.weight[self.is_usable]
        scale = weight.sum() / max(float(weight @ unit), 1e-300)
        return weight * scale, unit * scale

    @cached_property
    def _log_prior(self) -> Floats:
        """Return the log of the class shares, (usable row, class), with half of each row taken out of its own class.

        Taking out all of a row overstates what estimating the shares costs, by as much as taking out nothing
        understates it: with C classes and N rows by (C − 1) / 2N.
        """
        label = self.sample.label[self.is_usable]
        counts = np.repeat(self.model.class_weights.weight[None, :], len(label), axis=0)
        own_class = np.arange(len(label)), label
        counts[own_class] -= 0.5 * self.leaving.weight[self.is_usable]
        return np.asarray(np.log(np.maximum(counts, 1e-12)) - np.log(counts.sum(axis=1, keepdims=True)))

    def counted(self, block: Block) -> tuple[Block, Statistic]:
        """Return the block that counted the columns of a block, and the statistic of these columns."""
        for known, statistic in zip(self.model.schema.blocks, self.model.statistics, strict=True):
            if block.names[0] in known.names:
                if len(block.names) == 1:
                    return known, statistic.take_columns(np.array([known.names.index(block.names[0])]))
                if tuple(block.names) == tuple(known.names):
                    return known, statistic
                position = {name: j for j, name in enumerate(known.names)}
                order = np.array([position[name] for name in block.names], dtype=np.intp)
                return known, statistic.take_columns(order)
        raise KeyError(block.names[0])

    def rivals(self, block: Block) -> Sequence[Family]:
        """Return the families among which tuning may choose for a column, asking once for all columns counted so."""
        counted = next(known for known in self.model.schema.blocks if block.names[0] in known.names)
        if counted.names not in self._rivals:
            self._rivals[counted.names] = counted.family.rivals(self.counted(counted)[1])
        return self._rivals[counted.names] or counted.family.rivals(self.counted(block)[1])

    def n_values(self, block: Block) -> int:
        """Return how many values of the first column of a block were counted; 0 if its statistic does not hold them."""
        table = self.statistic(block).table(0)
        return 0 if table is None else len(table.values)

    def statistic(self, block: Block) -> Statistic:
        """Return what the family of a block estimates from."""
        if block.family.role == "presence":
            return TokenCounts.of_presence(self.counted(block)[1], self.model.class_weights, block.names)
        return statistic_for(self.model.schema, self.model.statistics, block)

    def usable_parts(self) -> Iterator[tuple[NDArray[np.intp], Model, Leaving]]:
        """Yield positions of usable rows, the model that scores them, and what leaves it."""
        for start, stop, fold in self._fold_spans(by_fold=self._rests is not None):
            usable = start + np.flatnonzero(self.is_usable[start:stop])
            if len(usable):
                model = self.model if self._rests is None else self._rests[fold]
                yield usable, model, self._leaves(usable)

    def statistic_without(self, fold: int, block: Block) -> Statistic:
        """Return what the family of a block estimates from, without the rows of a fold."""
        assert self._rests is not None
        key = fold, type(block.family).__name__, block.names, block.role
        if key not in self._statistics:
            self._statistics[key] = LooScorer(self._rests[fold], self.sample).statistic(block)
        return self._statistics[key]

    def _leaves(self, span: slice | NDArray[np.intp]) -> Leaving:
        """Return what leaves the statistics for these rows: the rows, or nothing if their folds are left out."""
        leaving = self.leaving.part(span)
        if self._rests is None:
            return leaving
        return Leaving.of(leaving.label, np.zeros(len(leaving.label)), np.zeros(len(leaving.label)))

    def word_scorer(self, block: Block) -> WordScorer | FoldWordScorer:
        """Return the scores of the words of a block under any settings; cut-offs are those without the row's fold."""
        family, view, statistic = block.family, self.view(block), self.statistic(block)
        if self._rests is None and not family.has_structure(statistic):
            return family.word_scorer(view, statistic, self.leaving)
        parts = []
        for start, stop, fold in self._fold_spans(by_fold=True):
            structure = None
            if self._rests is None:
                statistic, structures = self._every._structures_of(block, statistic)
                structure = structures[fold]
            else:
                statistic = self.statistic_without(fold, block)
            leaves = self._leaves(slice(start, stop))
            parts.append(family.word_scorer(view.rows(start, stop), statistic, leaves, structure))
        return FoldWordScorer(tuple(parts))

    def view(self, block: Block) -> View:
        """Return columns of the sample as the family of a block reads them."""
        key = type(block.family).__name__, block.names
        if key not in self._views:
            self._views[key] = views_of(self.sample.table, Schema(block.names, (block,)))[0]
        return self._views[key]

    def evidence(self, block: Block, length: Floats | None = None) -> Floats:
        """Return the evidence of a block, (column, row, class); a joint block has one column.

        With `length`, the block is one of words, and their number in each row is added to it.
        """
        family, classes, leaving = block.family, self.model.classes, self.leaving
        statistic, view = self.statistic(block), self.view(block)
        by_column = np.zeros((1 if family.joint else len(block.names), len(leaving.label), len(classes)))
        out = by_column.transpose(1, 0, 2)
        has_structure = family.has_structure(statistic)
        for start, stop, fold in self._fold_spans(has_structure or self._rests is not None):
            structure = None
            if self._rests is not None:
                statistic = self.statistic_without(fold, block)
            elif has_structure:
                statistic, structures = self._every._structures_of(block, statistic)
                structure = structures[fold]
            span = slice(start, stop)
            part = view if stop - start == len(leaving.label) else view.rows(start, stop)
            rows = part, statistic, classes, structure, self._leaves(span), out[span]
            if length is None:
                family.leave_one_out(*rows)
            else:
                family.leave_words_out(*rows, length[span])
        return bound_evidence(by_column)

    def summed_evidence(self, block: Block) -> Floats:
        """Return the evidence of all columns of a block together, (1, row, class), a few columns at a time."""
        total = np.zeros((1, len(self.sample.label), len(self.model.classes)))
        for part in column_groups(block, len(self.sample.label) * len(self.model.classes)):
            total = total + self.evidence(part).sum(axis=0, keepdims=True)
        return total

    def _structures_of(self, block: Block, statistic: Statistic) -> tuple[Statistic, list[Any]]:
        """Return what the family chooses without each fold; its smoothing does not matter for that.

        The first result is the statistic with fewer keys among which it chose: it has the same counts in these bins.
        """
        key = type(block.family).__name__, block.names, block.role
        if key not in self._structures:
            n_keys = FOLD_KEYS // max(1, len(self.model.schema.names))
            coarse = statistic.with_max_keys(int(np.clip(n_keys, MIN_FOLD_KEYS, MAX_FOLD_KEYS)))
            parts = [self._statistic_of_fold(f, block, coarse) for f in range(FOLDS)]
            rests = (coarse if part is None else coarse - part for part in parts)
            self._structures[key] = coarse, [block.family.structure(rest) for rest in rests]
        return self._structures[key]

    def _fold_spans(self, by_fold: bool) -> Iterator[tuple[int, int, int]]:
        """Yield first row, end and number of each fold that has rows; all rows as one span unless `by_fold`."""
        ends = self.sample.ends if by_fold else (0, len(self.sample))
        for fold, (start, stop) in enumerate(pairwise(ends)):
            if stop > start:
                yield start, stop, fold

    def _statistic_of_fold(self, fold: int, block: Block, like: Statistic) -> Statistic | None:
        """Count the sampled rows of a fold as they were counted, but for kinds that are in every fold."""
        sample = self.sample
        kinds = np.flatnonzero((sample.fold == fold) & (sample.n_parts < FOLDS))
        if not len(kinds):
            return None
        rows = np.repeat(kinds, sample.rows[kinds])
        view = views_of(sample.table.take(rows), Schema(block.names, (block,)))[0]
        weight = (sample.weight / sample.rows)[rows]
        n_classes, n_columns = len(self.model.classes), len(self.model.schema.names)
        label = sample.label[rows].astype(np.int32)
        return count_block(block, view, label, weight, n_classes, like, n_columns, to_add=True)


@dataclass(frozen=True)
class FoldWordScorer:
    """The scores of words, fold by fold, each by the counts without the fold."""

    parts: tuple[WordScorer, ...]

    @property
    def n_cells(self) -> int:
        """The number of pairs of a word and a class."""
        return sum(part.n_cells for part in self.parts)

    @property
    def can_score_bernoulli(self) -> bool:
        """Whether every fold can."""
        return all(part.can_score_bernoulli for part in self.parts)

    def length(self, binary: bool) -> Floats:
        """Return the number of known words of each row."""
        return np.concatenate([part.length(binary) for part in self.parts])

    def evidence(self, event_model: EventModel, binary: bool, alpha: float) -> Floats:
        """Return the evidence of each row, (row, class)."""
        return np.concatenate([part.evidence(event_model, binary, alpha) for part in self.parts])


def column_groups(block: Block, numbers_per_column: int) -> Iterator[Block]:
    """Yield a block in groups of columns whose evidence fits into memory; a joint block as it is."""
    width = max(64, MAX_NUMBERS_HELD // max(1, numbers_per_column))
    if block.family.joint or len(block.names) <= width:
        yield block
        return
    for start in range(0, len(block.names), width):
        kinds = block.kinds if isinstance(block.kinds, str) else block.kinds[start : start + width]
        yield Block(tuple(block.names[start : start + width]), kinds, block.family)


def bound_evidence(evidence: Floats) -> Floats:
    """Replace infinite evidence against a class by 1,000 nats, and by none where every class is impossible."""
    if np.isfinite(evidence.sum()):  # so all are
        return evidence
    finite = np.where(np.isfinite(evidence), evidence, -np.inf)
    top = finite.max(axis=2, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    return np.asarray(np.maximum(finite, top - MAX_NATS))
