"""Recognise rows that a model has counted, by the hash of their content and class.

A row has the same hash in any container, order of columns and batch. Columns that the model does not have make no
difference. A model holds the smallest few thousand hashes (`RowHashes`): nothing is known of a row with a larger one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from naively._kernels.types import Bools, Wholes
from naively.data.labelled import Label, LabelledRows
from naively.data.names import Names
from naively.data.row_hash import mixed_hashes
from naively.data.table import Table
from naively.statistics.row_hashes import HASH_BITS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from naively.model.model import Model

UNUSED_BITS = np.uint64(64 - HASH_BITS)
CLASS_MASK = np.int64(255)  # the bits of a hash that depend on the class
MIN_SHARE = 0.5  # of the rows that can be checked: with more of them counted, the others are taken for counted too


@dataclass(frozen=True, eq=False)
class CountedRows:
    """Which rows a model has counted.

    Attributes
    ----------
    is_known
        Whether it is known of each row if it was counted.
    is_counted
        Whether each row was counted; False if it is not known.
    """

    is_known: Bools
    is_counted: Bools

    @property
    def arrays(self) -> tuple[Bools, Bools]:
        """Both arrays."""
        return self.is_known, self.is_counted

    @property
    def share(self) -> float:
        """The share of the counted rows among those of which it is known; NaN if it is known of none."""
        n_known = int(self.is_known.sum())
        return float(self.is_counted.sum()) / n_known if n_known else float("nan")

    @property
    def presumed(self) -> Bools:
        """Whether each row was counted: where it is not known, what holds for most rows of which it is."""
        return np.where(self.is_known, self.is_counted, self.share > MIN_SHARE)


def hash_rows(rows: LabelledRows, names: Names) -> Wholes:
    """Return the hash of each row in these columns: 32 bits of its content, then 8 bits of its class."""
    return _content(rows.table, names) | _of_classes(rows.classes)[rows.label]


def _content(table: Table, names: Names) -> Wholes:
    return (table.row_hashes(names) >> UNUSED_BITS).view(np.int64) & ~CLASS_MASK


@lru_cache(maxsize=64)
def _of_classes(classes: Sequence[Label]) -> Wholes:
    hashes = mixed_hashes(classes).astype(np.int64) & CLASS_MASK
    hashes.flags.writeable = False
    return hashes


def as_counted(model: Model, table: Table) -> Table:
    """Return a table with all columns of a model: names that differ in case or blanks only are its own."""
    if table.names == model.schema.names:
        return table
    return table.with_similar_names(model.schema.names)[0].with_absent_columns(model.schema.names)[0]


def counted_rows(
    model: Model, table: Table, classes: Sequence[Label] = (), label: NDArray[np.integer] | None = None
) -> CountedRows:
    """Return which rows of a table a model has counted.

    Parameters
    ----------
    model
        The model.
    table
        Rows that were read for it. A column of the model that they do not have is a missing value.
    classes, label
        The classes, and the position of each row's class among them. Without them a row counts as counted if it was
        counted with any class.

    >>> from naively import fit
    >>> from naively.data.read import read
    >>> model = fit({"sky": ["sun", "rain"]}, ["yes", "no"])
    >>> counted_rows(model, read({"day": [1, 2], "sky": ["fog", "sun"]})).is_counted.tolist()
    [False, True]
    """
    none = np.zeros(table.n_rows, np.bool_)
    held = model.row_hashes
    if held is None:
        return CountedRows(none, none)
    content = _content(as_counted(model, table), model.schema.names)
    if label is not None:
        hashes = content | _of_classes(classes)[label]
        return CountedRows(hashes <= held.limit, held.are_held(hashes))
    is_counted = none
    for of_class in np.unique(_of_classes(model.classes)):
        is_counted |= held.are_held(content | of_class)
    return CountedRows(is_counted | ((content | CLASS_MASK) <= held.limit), is_counted)


def counted_classes(model: Model, table: Table) -> Wholes:
    """Return the position of the class with which each row was counted; −1 if it was not, or in several classes.

    >>> from naively import fit
    >>> from naively.data.read import read
    >>> model = fit({"sky": ["sun", "rain", "fog", "fog"]}, ["yes", "no", "yes", "no"])
    >>> counted_classes(model, read({"sky": ["rain", "sun", "hail", "fog"]})).tolist()
    [0, 1, -1, -1]
    """
    position = np.full(table.n_rows, -1, np.int64)
    if model.row_hashes is None:
        return position
    if table.names != model.schema.names:
        table, _ = table.with_absent_columns(model.schema.names)
    content = _content(table, model.schema.names)
    known = np.flatnonzero(content <= model.row_hashes.limit)  # most rows of a large sample are not
    if len(known):
        is_held = model.row_hashes.are_held(content[known, None] | _of_classes(model.classes))
        position[known] = np.where(is_held.sum(axis=1) == 1, is_held.argmax(axis=1), -1)
    return position
