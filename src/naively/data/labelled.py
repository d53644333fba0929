"""Read rows with their labels and weights: one reader and one rule for every function that takes X, y and weight.

X is a table in memory, files, or an iterator of batches. y and weight are arrays with one entry per row, or names of
columns of X. Rows without a label are dropped with a warning; rows of weight zero are dropped silently. A class that
only dropped rows have is not a class.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeGuard, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naively._kernels.types import Bools, Codes32, Floats
from naively.data.columns import MAX_EXACT_INTEGER, Column, NumberColumn
from naively.data.convert import convert_columns, kind_of_classes
from naively.data.files.bad_rows import BadRows
from naively.data.files.batches import rebatch
from naively.data.files.cells import Cells
from naively.data.files.csv import OTHER_COLUMNS, OtherTypeError, Types
from naively.data.files.paths import Files, is_path
from naively.data.files.places import report_bad_rows, with_place
from naively.data.files.read import read_files
from naively.data.frames import table_of_frame
from naively.data.kinds import Kind
from naively.data.names import Names, existing_columns, listed, similar_names, warn_similar_names
from naively.data.plain import CellValue
from naively.data.read import TableLike, files_or_table, is_one_row, read
from naively.data.table import ColumnTable, Table, concat_tables
from naively.data.values import is_masked_array, is_missing, is_single, object_array
from naively.data.views import Value
from naively.errors import InputError, LeftOutWarning, warn_user

Label = Value
LabelsLike = Any  # an array, series or list of labels, or the name of a column
WeightLike = ArrayLike | str | None  # a weight for each row, or the name of a column
Classes = tuple[Label, ...]

FIRST_LABELS = 2**14  # labels that are searched for classes before all are


class HasKinds(Protocol):
    """A schema: it knows the kind of each column."""

    @property
    def names(self) -> Names:
        """Return the columns."""

    def text_column(self) -> str | None:
        """Return the only column of text."""

    def kinds(self) -> dict[str, Kind]:
        """Return the kind of each column at training."""

    def coded_numbers(self) -> Sequence[str]:
        """Return the columns of numbers that are counted by value."""


class TrainedColumns(Protocol):
    """A model: it knows the columns and the classes that it was trained with."""

    @property
    def schema(self) -> HasKinds:
        """Return the columns."""

    @property
    def classes(self) -> Sequence[Value]:
        """Return the classes."""

    @property
    def target(self) -> str:
        """Return the name of the column to predict."""


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Rows with their classes: `label` holds the position of each row's class in `classes`."""

    table: Table
    classes: Classes
    label: Codes32
    weight: Floats | None = None

    @property
    def n_rows(self) -> int:
        """Return the number of rows."""
        return len(self.label)

    @property
    def weights(self) -> Floats:
        """Return the weight of each row, 1 by default."""
        return np.ones(self.n_rows) if self.weight is None else self.weight

    def where(self, keep: Bools) -> LabelledRows:
        """Return the rows for which `keep` is true, with the same list of classes."""
        return self if keep.all() else self.take(np.flatnonzero(keep))

    def take(self, positions: NDArray[np.intp]) -> LabelledRows:
        """Return the rows at these positions, in this order, with the same list of classes."""
        weight = None if self.weight is None else self.weight[positions]
        return LabelledRows(self.table.take(positions), self.classes, self.label[positions], weight)

    def without_empty_classes(self) -> LabelledRows:
        """Return the same rows with the list of the classes that they have."""
        has_rows = np.bincount(self.label, minlength=len(self.classes)) > 0
        if has_rows.all():
            return self
        position = (np.cumsum(has_rows) - 1).astype(np.int32)
        classes = tuple(c for c, present in zip(self.classes, has_rows.tolist(), strict=True) if present)
        return LabelledRows(self.table, classes, position[self.label], self.weight)

    def in_classes(self, classes: Sequence[Value]) -> Bools:
        """Return which rows have a class of a model; refuse others, unless their weight is zero."""
        is_known = np.isin(self.label, [code for code, label in enumerate(self.classes) if label in classes])
        self.where(is_known | (self.weights > 0)).without_empty_classes().label_in(classes)
        return is_known

    def label_in(self, classes: Sequence[Value]) -> Codes32:
        """Return the position of each row's class in another list of classes, that of a model.

        Raises
        ------
        InputError
            If a row has a class that is not in the list.
        """
        if tuple(classes) == self.classes:
            return self.label
        position = {label: code for code, label in enumerate(classes)}
        unknown = [label for label in self.classes if label not in position]
        if unknown:
            raise InputError(
                f"{unknown[0]!r} is not a class of the model, whose classes are {listed(map(repr, classes))}: leave "
                "such rows out, or fit a model on rows of that class."
            )
        return np.array([position[label] for label in self.classes], dtype=np.int32)[self.label]


def relabelled(batches: Sequence[LabelledRows], to: LabelsLike) -> list[LabelledRows]:
    """Return the same rows with other labels: one for all rows, or one for each.

    >>> rows = read_labelled({"x": [1, 2]}, ["a", "b"])
    >>> [new] = relabelled([rows], "c")
    >>> new.classes, new.label.tolist()
    (('c',), [0, 0])
    """
    n_rows = sum(batch.n_rows for batch in batches)
    classes, codes = code_labels([to] * n_rows if is_single(to) else to)
    _check_length((classes, codes), None, n_rows, is_last=True)
    _refuse_unlabelled(codes < 0)
    ends = np.cumsum([batch.n_rows for batch in batches])[:-1]
    parts = zip(batches, np.split(codes, ends), strict=True)
    return [replace(batch, classes=classes, label=part).without_empty_classes() for batch, part in parts]


def is_stream(X: object) -> TypeGuard[Iterator[object]]:
    """Return whether X yields batches of rows: an iterator, or Arrow's RecordBatchReader."""
    return isinstance(X, Iterator) or type(X).__name__ == "RecordBatchReader"


def read_labelled(
    X: TableLike,
    y: LabelsLike,
    weight: WeightLike = None,
    *,
    like: TrainedColumns | None = None,
    keep_all: bool = False,
) -> LabelledRows:
    """Read all rows as one table; see `labelled_batches`."""
    return join_rows(list(labelled_batches(X, y, weight, like=like, keep_all=keep_all)))


def join_rows(batches: Sequence[LabelledRows]) -> LabelledRows:
    """Return the rows of one or more batches as one table."""
    if len(batches) == 1:
        return batches[0]
    classes = code_labels([label for batch in batches for label in batch.classes])[0]
    return LabelledRows(
        concat_tables([batch.table for batch in batches]),
        classes,
        np.concatenate([batch.label_in(classes) for batch in batches]),
        None if batches[0].weight is None else np.concatenate([batch.weights for batch in batches]),
    )


@dataclass
class RowTally:
    """How many rows were read, how many of them have no label, and how many are counted."""

    n_rows: int = 0
    n_unlabelled: int = 0
    n_counted: int = 0

    def __add__(self, other: RowTally) -> RowTally:
        return RowTally(
            self.n_rows + other.n_rows, self.n_unlabelled + other.n_unlabelled, self.n_counted + other.n_counted
        )

    def report(self, name: str | None) -> None:
        """Refuse data of which no row is counted; warn of rows without a label, whose column may have a name."""
        name = "label" if name is None else repr(name)
        if not self.n_counted:
            if self.n_rows > self.n_unlabelled:
                raise InputError("all weights are zero: at least one row must count.")
            unlabelled = f"{self.n_rows} in the data, {self.n_unlabelled} of them without a {name}"
            where = unlabelled if self.n_rows else "the data has none"
            raise InputError(f"no rows to count: {where}; at least one row with a label is needed.")
        if self.n_unlabelled:
            message = f"{self.n_unlabelled} of {self.n_rows} rows have no {name} and were left out."
            warn_user(message, LeftOutWarning)


def labelled_batches(
    X: TableLike,
    y: LabelsLike,
    weight: WeightLike = None,
    *,
    types: Types | None = None,
    like: TrainedColumns | None = None,
    keep_all: bool = False,
    tally: RowTally | None = None,
) -> Iterator[LabelledRows]:
    """Yield the rows of X with their labels and weights: a table in memory as one batch.

    Parameters
    ----------
    X
        A table in memory, files (a path, a glob, a folder, a list of paths, `Files`), or an iterator of batches.
    y
        One label per row, or the name of a column of X; for a model, None is the column that it predicts. The label
        itself, if X is one row that has no column of this name.
    weight
        One weight per row, the name of a column of X, or None if every row counts once.
    types
        How columns of CSV files are read, by name: "number", "string" or "boolean". Others are inferred.
    like
        A model's columns and classes: files and batches are read as the kinds that these had at training.
    keep_all
        Refuse rows without a label and keep rows of weight zero, so that the rows stay those of X.
    tally
        Counts the rows for the caller, who reports them; then there may be no rows. By default they are reported here.

    Yields
    ------
    LabelledRows
        Each with the classes that its rows have. At least one row in all, else InputError.
    """
    y = _label_of_one_row(X, y, like)
    X = files_or_table(X, None if like is None or not isinstance(X, str) else like.schema.text_column())
    labels = y if isinstance(y, str) else code_labels(y)
    weights = weight if weight is None or isinstance(weight, str) else _weight_array(weight)
    is_streamed = isinstance(X, Files) or is_stream(X)
    counted = RowTally() if tally is None else tally
    n_rows = 0
    for table in _tables(X, y, weight, types, like) if is_streamed else [_read_table(X, y, weight, like)]:
        first_row, n_rows = n_rows, n_rows + table.n_rows
        batch = _label_rows(table, labels, weights, slice(first_row, n_rows), is_last=not is_streamed)
        if like is not None and like.classes and type(like.classes[0]) is int:
            batch = replace(batch, classes=_as_integers(batch.classes, like.classes))
        is_labelled = batch.label >= 0
        n_labelled = int(np.count_nonzero(is_labelled))
        counted.n_rows += table.n_rows
        counted.n_unlabelled += table.n_rows - n_labelled
        if batch.weight is not None:
            _check_weight(np.where(is_labelled, batch.weight, 1.0), first_row)
        if keep_all:
            _refuse_unlabelled(~is_labelled, first_row)
        else:
            keep = is_labelled if batch.weight is None else is_labelled & (batch.weight > 0)
            if is_streamed or (n_labelled if keep is is_labelled else np.count_nonzero(keep)) < table.n_rows:
                batch = batch.where(keep).without_empty_classes()
        if len(batch.label):
            counted.n_counted += len(batch.label)
            yield batch
    if is_streamed:
        _check_length(labels, weights, n_rows, is_last=True)
    if tally is None:
        name = y if isinstance(y, str) else getattr(y, "name", None)
        counted.report(name if isinstance(name, str) else None)


def _label_of_one_row(X: TableLike, y: LabelsLike, like: TrainedColumns | None) -> LabelsLike:
    """Return the labels of X, as a list if y is the label of a single row; None is the column that a model predicts."""
    is_given = True
    if y is None and like is not None:
        y, is_given = like.target, False
    if not is_single(y) or not is_one_row(X):
        return y
    if isinstance(y, str) and (not isinstance(X, str) and y in (X if isinstance(X, Mapping) else X.index)):
        return y
    if isinstance(X, str) and is_path(X, is_text=like is not None and like.schema.text_column() is not None):
        return y
    if not is_given:
        not_a_file = f"; there is no file {X!r}" if isinstance(X, str) else ""
        raise InputError(f"the row has no column {y!r} with its label: give the label as y{not_a_file}.")
    return [y]


def _read_table(X: TableLike, y: LabelsLike, weight: WeightLike, like: TrainedColumns | None) -> Table:
    """Read a table in memory; with a model, under the names of its columns, up to case and blanks."""
    table = read(X)
    if like is None or table.names == like.schema.names:
        return table
    table, renamed = table.with_similar_names(_wanted_names(like, y, weight))
    warn_similar_names(renamed)
    return table


def _wanted_names(like: TrainedColumns, y: LabelsLike, weight: WeightLike) -> list[str]:
    return [*like.schema.names, *(name for name in (y, weight) if isinstance(name, str))]


def _as_integers(classes: Classes, trained: Sequence[Value]) -> Classes:
    """Return whole numbers as integers if the classes of the model are: files are read with their numbers as floats."""
    if not (trained and all(type(label) is int for label in trained)):
        return classes
    return tuple(int(label) if isinstance(label, float) and label.is_integer() else label for label in classes)


def _label_rows(
    table: Table, labels: str | tuple[Classes, Codes32], weights: str | Floats | None, rows: slice, is_last: bool
) -> LabelledRows:
    """Return a batch with its labels and weights, from columns of the batch or from arrays over all rows.

    The label of a row without one is −1.
    """
    _check_length(labels, weights, rows.stop, is_last)
    if isinstance(labels, str):
        column, table = _take_column(table, labels, "to predict")
        classes, codes = code_column(column)
    else:
        classes, codes = labels[0], labels[1][rows]
    if isinstance(weights, str):
        column, table = _take_column(table, weights, "of weights")
        weights = _weight_column(column)
    elif weights is not None:
        weights = weights[rows]
    if isinstance(labels, str) and not table.names:
        raise InputError(f"{labels!r} is the only column: at least one other column is needed to learn from.")
    return LabelledRows(table, classes, codes, weights)


def _check_length(
    labels: str | tuple[Classes, Codes32], weights: str | Floats | None, n_rows: int, is_last: bool
) -> None:
    """Refuse an array that is too short for the rows read so far, or too long if these are all."""
    for name, array in ("label", labels[1] if isinstance(labels, tuple) else None), ("weight", weights):
        if isinstance(array, np.ndarray) and (len(array) < n_rows or (is_last and len(array) > n_rows)):
            raise InputError(f"{n_rows} rows but {len(array)} {name}s: give one {name} per row.")


def _tables(
    X: TableLike, y: LabelsLike, weight: WeightLike, types: Types | None, like: TrainedColumns | None
) -> Iterator[ColumnTable]:
    files = Files.of(X) if is_path(X) else None
    if like is None:
        yield from map(table_of_frame, rebatch(X if files is None else read_files(files, types)))
        return
    bad, cells = BadRows(files), None if files is None else Cells.in_files(files)
    kinds = training_kinds(like, y, weight)
    kinds_in_files = (
        dict.fromkeys((*kinds, OTHER_COLUMNS), "string") if bad.are_allowed else kinds_to_read(like, y, weight)
    )
    exact = {*like.schema.coded_numbers(), *([y] if isinstance(y, str) else ())}
    n_rows, warned = 0, dict[str, str]()
    try:
        for table in rebatch(X if files is None else read_files(files, kinds_in_files, bad=bad)):
            renamed = similar_names(tuple(table.column_names), _wanted_names(like, y, weight))
            warn_similar_names({name: new for name, new in renamed.items() if name not in warned})
            warned |= renamed
            table = table.rename_columns([renamed.get(name, name) for name in table.column_names])
            rows = table_of_frame(convert_columns(table, kinds, n_rows, exact, bad, cells))
            good_rows = bad.rows_to_keep(n_rows, table.num_rows)
            n_rows += table.num_rows
            yield rows if good_rows is None else rows.take(good_rows)
        report_bad_rows(bad)
    except OtherTypeError as error:
        placed = with_place(error, files)
        if error.column != y:
            raise placed from None
        classes = listed(map(repr, like.classes), 4)
        advice = f"It cannot be a class of this model, whose classes are {classes}: to add it, fit a new model."
        raise InputError(f"{placed} {advice}") from None


def training_kinds(like: TrainedColumns, y: LabelsLike, weight: WeightLike = None) -> dict[str, Kind]:
    """Return the kinds of columns for a model: its columns as at training, columns that it does not have as strings."""
    kinds = like.schema.kinds()
    kinds[OTHER_COLUMNS] = "string"
    if isinstance(weight, str):
        kinds[weight] = "number"
    if isinstance(y, str):
        kinds[y] = kind_of_classes(like.classes)
    return kinds


def kinds_to_read(like: TrainedColumns, y: LabelsLike, weight: WeightLike = None) -> dict[str, Kind]:
    """Return how CSV files are read for a model, before `convert_columns` converts them to the kinds at training.

    Numbers that are counted by value, and large integers that are classes, are read as strings: no digit is lost.
    """
    kinds = training_kinds(like, y, weight)
    kinds.update(dict.fromkeys(like.schema.coded_numbers(), "string"))
    if isinstance(y, str) and any(isinstance(c, int) and abs(c) > MAX_EXACT_INTEGER for c in like.classes):
        kinds[y] = "string"
    return kinds


def _weight_column(column: Column) -> Floats:
    if column.kind != "number":
        kind = {"string": "text", "boolean": "booleans", "date": "dates", "unknown": "no values"}[column.kind]
        raise InputError(f"column {column.name!r} holds {kind}: weights are numbers.")
    return column.numbers().astype(np.float64)


def _take_column(table: Table, name: str, purpose: str) -> tuple[Column, ColumnTable]:
    """Return a column and the table without it."""
    if not isinstance(table, ColumnTable):
        raise InputError(f"an array has no column {name!r} {purpose}: give an array with one entry per row.")
    refuse_missing_column(name, table.names, purpose)
    position = table.names.index(name)
    names = table.names[:position] + table.names[position + 1 :]
    columns = table.columns[:position] + table.columns[position + 1 :]
    return table.columns[position], ColumnTable(names, table.n_rows, columns)


def refuse_missing_column(name: str, names: Names, purpose: str) -> None:
    """Raise InputError if there is no column of this name, with the name that is most like it."""
    if name not in names:
        raise InputError(f"there is no column {name!r} {purpose}{existing_columns(name, names)}")


def _refuse_unlabelled(unlabelled: Bools, first_row: int = 0) -> None:
    if unlabelled.any():
        raise InputError(
            f"{int(unlabelled.sum())} of {len(unlabelled)} labels are missing, the first in row "
            f"{first_row + int(np.argmax(unlabelled))}: leave those rows out, or give them a label."
        )


def _weight_array(weight: ArrayLike) -> Floats:
    try:
        array = np.asarray(weight, dtype=np.float64)
        if is_masked_array(weight):
            array = np.where(np.ma.getmaskarray(weight), np.nan, array)
    except (TypeError, ValueError):
        raise InputError("weights must be numbers, one per row.") from None
    if array.ndim != 1:
        raise InputError(f"weights have shape {array.shape}: give one number for each row.")
    return np.ascontiguousarray(array)


def _check_weight(weight: Floats, first_row: int) -> None:
    bad = ~(np.isfinite(weight) & (weight >= 0))
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(
            f"the weight of row {first_row + row} is {weight[row]}: weights must be finite and not negative."
        )


def refuse_missing_labels(y: LabelsLike) -> None:
    """Raise InputError if a label is missing; anything else about the labels is not checked."""
    values = object_array(list(y)) if isinstance(y, (list, tuple)) else _label_array(y)
    if values.ndim == 1 and values.dtype.kind not in "iubU":
        _refuse_unlabelled(np.array([is_missing(value) for value in values.tolist()], dtype=np.bool_))


def code_labels(y: LabelsLike) -> tuple[Classes, Codes32]:
    """Return the sorted classes of labels and the class code of each label, −1 where a label is missing.

    >>> classes, codes = code_labels(["spam", None, "ham", "spam"])
    >>> classes, codes.tolist()
    (('ham', 'spam'), [1, -1, 0, 1])
    """
    if isinstance(y, (list, tuple)):
        return _code_objects(y)
    values = _label_array(y)
    if values.ndim != 1:
        raise InputError(f"labels have shape {values.shape}: give one label per row, in one dimension.")
    if values.dtype.kind in "iub":
        return _code_integers(values)
    if values.dtype.kind == "f":
        present = ~np.isnan(values)
        classes, codes = _code_floats(values[present])
        return classes, _scatter(codes, present)
    return _code_objects(values.tolist())


def code_column(column: Column) -> tuple[Classes, Codes32]:
    """Return the same for a column of a table."""
    if column.kind == "date":
        raise InputError(f"column {column.name!r} holds dates: use strings, whole numbers or booleans as classes.")
    if column.kind == "unknown":
        return (), np.full(len(column), -1, dtype=np.int32)
    if isinstance(column, NumberColumn):
        if column.exact is None:
            return code_labels(column.x)
        present = column.is_present()
        classes, codes = code_labels(column.exact[present])
        return classes, _scatter(codes, present)
    value_codes, values = column.codes()
    value_codes = value_codes.astype(np.int32, copy=False)
    count = np.bincount(value_codes + 1, minlength=len(values) + 1)[1:]
    used = np.flatnonzero(count)
    classes, code_of_value = _code_objects([values[v] for v in used.tolist()])
    place = np.full(len(values) + 1, -1, dtype=np.int32)  # the last entry is that of code −1
    place[used] = code_of_value
    return classes, place[value_codes]


def _label_array(y: LabelsLike) -> NDArray[Any]:
    if is_masked_array(y) and y.ndim == 1:
        return object_array(y.tolist()) if np.ma.getmaskarray(y).any() else y.data
    if isinstance(y, np.ndarray):
        return y
    if hasattr(y, "to_pylist"):  # Arrow
        return object_array(y.to_pylist())
    if hasattr(y, "to_numpy"):  # pandas, polars, narwhals
        return _array_of_series(y)
    return np.asarray(y)


def _array_of_series(y: Any) -> NDArray[Any]:
    """Return the labels of a series; integers of which some are missing stay integers, in an array of objects."""
    try:
        array: NDArray[Any] = y.to_numpy()
    except Exception:  # of the library of the series, if NumPy has no such type
        return object_array(y.to_list())
    if array.dtype.kind == "f" and np.isnan(array).any():
        categories = getattr(y.dtype, "categories", None)
        if "int" in str(getattr(categories, "dtype", y.dtype)).lower():
            return object_array(list(y if categories is None else y.astype(object)))
    return array if array.dtype.kind in "iubfU" else object_array(array.tolist())


def _scatter(codes: NDArray[np.integer], present: Bools) -> Codes32:
    """Return the codes at the rows that have a label, −1 elsewhere."""
    out = np.full(len(present), -1, dtype=np.int32)
    out[present] = codes
    return out


def _code_integers(values: NDArray[Any]) -> tuple[Classes, Codes32]:
    """Code integers and booleans: by counting if their range is small, else by sorting."""
    restore: type[int] = bool if values.dtype.kind == "b" else int
    low, n_values = (int(values.min()), int(values.max()) - int(values.min()) + 1) if len(values) else (0, 0)
    if n_values > max(1024, min(len(values), 2**22)):
        distinct, codes = np.unique(values, return_inverse=True)
        return tuple(restore(v) for v in distinct.tolist()), codes.astype(np.int32)
    # Modulo 2³², in which the difference is exact though neither term may fit.
    shifted = values.astype(np.int32) - np.uint32(low % 2**32).astype(np.int32)
    has_rows = np.bincount(shifted[:FIRST_LABELS], minlength=n_values) > 0
    if not has_rows.all():  # most often the first rows have all classes
        has_rows = np.bincount(shifted, minlength=n_values) > 0
    classes = tuple(restore(v + low) for v in np.flatnonzero(has_rows).tolist())
    return classes, shifted if has_rows.all() else (np.cumsum(has_rows) - 1).astype(np.int32)[shifted]


def _code_floats(values: NDArray[np.floating]) -> tuple[Classes, Codes32]:
    """Code floats that are not NaN: as integers if they are whole, else by sorting."""
    with np.errstate(invalid="ignore"):  # of an infinity or a large number
        integers = values.astype(np.int32)
    if np.array_equal(integers, values):
        classes, codes = _code_integers(integers)
        return tuple(map(float, classes)), codes
    distinct, codes = np.unique(values, return_inverse=True)
    return tuple(distinct.tolist()), codes.astype(np.int32)


def _code_objects(values: Sequence[CellValue]) -> tuple[Classes, Codes32]:
    """Code a list of strings or of Python numbers, with None or NaN where a label is missing."""
    if set(map(type, values)) != {str}:
        values = [None if is_missing(v) else v.item() if isinstance(v, np.generic) else v for v in values]
        types = set(map(type, values)) - {type(None)}
        if types - {str} and types - {bool} and types - {int, float}:
            names = ", ".join(sorted(t.__name__ for t in types))
            raise InputError(f"labels of type {names}: use strings, integers or booleans, and only one of these.")
    classes = tuple(sorted(set(values) - {None}))
    _check_classes(classes)
    code: dict[Label | None, int] = {label: code for code, label in enumerate(classes)} | {None: -1}
    return classes, np.fromiter(map(code.__getitem__, values), dtype=np.int32, count=len(values))


def _check_classes(classes: Classes) -> None:
    """Refuse classes that a model file cannot hold: strings that are not Unicode, integers beyond 64 bits."""
    if classes and isinstance(classes[0], str):
        try:
            "".join(cast("tuple[str, ...]", classes)).encode()
        except UnicodeEncodeError:
            raise InputError(
                "a label has a lone surrogate, which is not valid Unicode: replace it, as "
                'label.encode("utf-8", "replace").decode() does.'
            ) from None
        return
    integers = [label for label in (*classes[:1], *classes[-1:]) if type(label) is int]
    if integers and (integers[0] < -(2**63) or integers[-1] >= (2**64 if integers[0] >= 0 else 2**63)):
        raise InputError("labels need more than 64 bits as integers: use strings.")


def class_array(classes: Sequence[Label]) -> NDArray[Any]:
    """Return classes as an array: of objects if NumPy's own type would change one of them.

    >>> class_array(("no", "yes")).dtype, class_array(("a", "a\\0")).dtype
    (dtype('<U3'), dtype('O'))
    """
    array = np.asarray(classes)
    is_changed = array.dtype.kind == "U" and any(str(label).endswith("\0") for label in classes)
    if array.dtype.kind == "f":
        is_changed = any(isinstance(label, int) and abs(label) > MAX_EXACT_INTEGER for label in classes)
    return object_array(classes) if is_changed else array
