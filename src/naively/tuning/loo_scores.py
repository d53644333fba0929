"""The bench: leave-one-out evidence of a sample of rows, under any families, with structure cross-fitted.

A row is scored with its own counts taken out. What an estimate chose by looking at labels (bins, cut-offs of a
vocabulary) is chosen for each fold without the sampled rows of that fold, so that no row has had a hand in it.
Equal rows leave together when the model without them expects fewer than one such row; else one of them leaves.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from naively.data.names import Names
from naively.families import Binned, Complement, Multinomial, Presence, Text
from naively.families.base import Leaving
from naively.model import columns as local
from naively.model.count import count_block
from naively.schema.choose import statistic_for
from naively.schema.schema import Block, Schema
from naively.statistics import Statistic
from naively.statistics.presence import presence_of
from naively.tuning.sample import FOLDS, Sample

if TYPE_CHECKING:
    from naively.model.model import Model

__all__ = ["Bench"]

Floats = NDArray[np.float64]
HELD = 2**22  # numbers of (row, column, class) evidence held at a time, where only its sum is wanted


class Bench:
    """A model without tuning, a sample of the rows that it has counted, and how each row leaves."""

    def __init__(self, model: Model, sample: Sample) -> None:
        """Find out how each row leaves."""
        self.model, self.sample = model, sample
        self.leaving_weight, self.leaving_rows = sample.weight.copy(), sample.rows.copy()
        if (sample.weight > 1).any():
            self._leave_one_where_many_are_expected(np.flatnonzero(sample.weight > 1))

    def _leave_one_where_many_are_expected(self, several: NDArray[np.intp]) -> None:
        """One row of weight 1 leaves, and the others like it stay, where the model expects as many."""
        expected = np.log(np.maximum(self.left_in_class, 1e-300))[several]
        label = self.sample.label[several]
        for block in self.model.chosen.schema.blocks:
            for part in strips(block, len(several) * len(self.model.classes)):
                expected += self.evidence(part, several)[:, np.arange(len(several)), label].sum(axis=0)
        common = several[expected >= 0]
        self.leaving_weight[common], self.leaving_rows[common] = 1.0, 0

    @property
    def left_in_class(self) -> Floats:
        """The weight of each row's class without the row."""
        return np.asarray(self.model.seen.weight[self.sample.label] - self.leaving_weight)

    @property
    def usable(self) -> NDArray[np.bool_]:
        """Rows that are not alone in their class."""
        rows = self.model.seen.rows[self.sample.label] - self.leaving_rows
        return np.asarray((rows > 0) & (self.left_in_class > 0))

    def log_prior(self) -> Floats:
        """The log of the classes' shares, (row, class), with half of each row taken out of its own class.

        Half, because taking out all of it overstates what estimating the shares costs by as much as taking out none
        understates it: with C classes and N rows, by (C − 1) / 2N.
        """
        counts = np.repeat(self.model.seen.weight[None, :], len(self.sample), axis=0)
        own = np.arange(len(self.sample)), self.sample.label
        half = 0.5 * np.minimum(self.leaving_weight, 1.0)
        counts[own] = np.maximum(counts[own] - half, 0.5 * counts[own])
        return np.asarray(np.log(np.maximum(counts, 1e-12)) - np.log(counts.sum(axis=1, keepdims=True)))

    def statistic(self, block: Block) -> Statistic:
        """What a block's family reads."""
        counted = self.model.schema, self.model.statistics
        if not isinstance(block.family, Presence):
            return statistic_for(*counted, block)
        for known, statistic in zip(self.model.schema.blocks, self.model.statistics, strict=True):
            if block.names[0] in known.names:
                place = {name: j for j, name in enumerate(known.names)}
                order = np.array([place[name] for name in block.names], dtype=np.intp)
                return presence_of(statistic.take_columns(order), self.model.seen, block.names)
        raise KeyError(block.names[0])

    def view(self, block: Block, rows: NDArray[np.intp] | None = None) -> local.View:
        """The sample's columns, of all rows or some, as a block's family reads them."""
        schema = Schema(block.names, (block,))
        if rows is not None:
            return local.views(self.sample.table.take(rows), schema)[0]
        key = type(block.family).__name__, block.names
        if key not in self._views:
            self._views[key] = local.views(self.sample.table, schema)[0]
        return self._views[key]

    @cached_property
    def _views(self) -> dict[tuple[str, Names], local.View]:
        return {}

    def evidence(self, block: Block, rows: NDArray[np.intp] | None = None) -> Floats:
        """(column, row, class) of a block, one column if it is joint; of all rows, or some (ascending)."""
        family, classes = block.family, self.model.classes
        statistic, view = self.statistic(block), self.view(block, rows)
        at: Any = slice(None) if rows is None else rows
        leaving = Leaving.of(self.sample.label, self.leaving_weight, self.leaving_rows).part(at)
        out = np.zeros((len(leaving), 1 if family.joint else len(block.names), len(classes)))
        structured = isinstance(family, Binned) or (isinstance(family, Text) and self._cuts_words(block, statistic))
        for start, stop, fold in self._spans(structured, rows):
            structure = self._structure(fold, block, statistic) if structured else None
            some = slice(start, stop)
            part = view if stop - start == len(leaving) else view.rows(start, stop)
            family.leave_one_out(part, statistic, classes, structure, leaving.part(some), out[some])
        return bounded(np.ascontiguousarray(out.transpose(1, 0, 2)))

    def _cuts_words(self, block: Block, statistic: Statistic) -> bool:
        return block.family.structure(statistic) is not None

    def _structure(self, fold: int, block: Block, whole: Statistic) -> Any:
        """What the family chooses without a fold; its smoothing has no part in it."""
        key = fold, type(block.family).__name__, block.names
        if key not in self._structures:
            rest = whole - self._counted(fold, block, whole)
            self._structures[key] = block.family.structure(rest)
        return self._structures[key]

    @cached_property
    def _structures(self) -> dict[tuple[int, str, Names], Any]:
        return {}

    def _spans(self, structured: bool, rows: NDArray[np.intp] | None) -> Iterator[tuple[int, int, int]]:
        """Where the rows of each fold begin and end, and which it is; all as one if no structure is cross-fitted."""
        ends = self.sample.ends if rows is None else np.searchsorted(rows, self.sample.ends).tolist()
        if not structured:
            yield 0, ends[-1], 0
            return
        for fold in range(FOLDS):
            if ends[fold + 1] > ends[fold]:
                yield ends[fold], ends[fold + 1], fold

    def _counted(self, fold: int, block: Block, whole: Statistic) -> Statistic:
        """What the sampled rows of a fold have added to the statistic of a block."""
        start, stop = self.sample.ends[fold], self.sample.ends[fold + 1]
        times = self.sample.rows[start:stop]
        chosen = np.repeat(np.arange(start, stop), times)
        view = self.view(block).rows(start, stop) if (times == 1).all() else self.view(block, chosen)
        label = self.sample.label[chosen].astype(np.int32)
        weight = (self.sample.weight / self.sample.rows)[chosen]
        given = block, view, label, weight, len(self.model.classes), whole
        return count_block(*given, len(self.model.schema.names), to_add=True)


def strips(block: Block, numbers: int) -> Iterator[Block]:
    """A block in parts of not too many columns, of so many numbers each; a joint one as it is."""
    width = max(64, HELD // max(1, numbers))
    if block.family.joint or len(block.names) <= width:
        yield block
        return
    for start in range(0, len(block.names), width):
        kinds = block.kinds if isinstance(block.kinds, str) else block.kinds[start : start + width]
        yield Block(tuple(block.names[start : start + width]), kinds, block.family)


def bounded(evidence: Floats) -> Floats:
    """Evidence with 1,000 nats instead of infinity against a class; none where every class is impossible."""
    if np.isfinite(evidence).all():
        return evidence
    finite = np.where(np.isfinite(evidence), evidence, -np.inf)
    top = finite.max(axis=2, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    return np.asarray(np.maximum(finite, top - 1000.0))


def has_words(block: Block) -> bool:
    """Whether a block's evidence is a sum over words, so that its length matters."""
    return isinstance(block.family, (Text, Multinomial, Complement))
