"""Fit and predict where the data is: Spark's executors count their rows, and the driver adds the parts.

    rows of a partition --mapInArrow--> a part, as bytes --groupBy.applyInArrow--> sums of parts --> the driver

Nothing else of Spark is used, neither RDDs nor accumulators, so that Spark Connect works. The driver reads the first
rows to decide the schema, and never collects the others. Few small parts are added by the driver. Others are added in a
tree of executors. A part of many words or values is divided by word when it is counted, so that no executor adds all
words. A part has the number of its partition; the shards of a part that was divided, numbers from FIRST_SHARD on.

A bad row is found by an executor. Its message goes to the driver as a value, and is raised there as `fit` raises it.
"""

from __future__ import annotations

import json
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from naively import errors
from naively.data.frames import is_spark_frame
from naively.data.labelled import RowTally, refuse_missing_column
from naively.data.names import unique_names
from naively.engines.by_key import MIN_SPLIT_KEYS, n_keys, split_by_key
from naively.engines.parts import Part, total
from naively.engines.parts import count as count_part
from naively.errors import InputError, warn_user
from naively.fitting import infer_schema, refuse_settings
from naively.model.decide import decision_rule
from naively.model.predict_batches import PREDICTION, predict_tables
from naively.priors import PriorLike
from naively.schema.infer import Columns
from naively.schema.schema import Schema
from naively.store.running_sum import load

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from naively.engines.spark_ml import NaiveBayes, NaiveBayesModel
    from naively.model.model import Model

    RecordBatches = Iterator[pa.RecordBatch]

__all__ = ["NaiveBayes", "NaiveBayesModel", "count", "fit", "predict"]

FIRST_ROWS = 65_536  # by which the driver decides the schema
FAN_IN = 8  # parts that one executor adds
N_SHARDS = 8  # of words, if there are many
FIRST_SHARD = 2**32  # a multiple of N_SHARDS, above the numbers of partitions
CHUNK_BYTES = 2**22  # of a part in a row
MAX_COLLECTED_BYTES = 2**26  # of parts that the driver adds itself
SMALL_BYTES = 2**16  # of a chunk that comes to the driver in the query that computes it; a few larger ones do too
DEFAULT_RESULT_BYTES = 2**30  # of Spark's spark.driver.maxResultSize
PART_SCHEMA = "number long, chunk int, n_bytes long, notes string, small binary, data binary"
KINDS_OF_CLASSES = ((bool, "boolean"), (int, "bigint"), (float, "double"), (str, "string"))
Result = TypeVar("Result")
UNITS = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40, "b": 1}


def fit(
    df: DataFrame,
    y: str,
    *,
    columns: Columns | None = None,
    weight: str | None = None,
    tune: bool = True,
    prior: PriorLike = "empirical",
    alpha: float | None = None,
    many_classes: bool = False,
    schema: Schema | None = None,
    together: bool = False,
) -> Model:
    """Fit a model to a Spark DataFrame. Under the same schema it is the model that `naively.fit` returns.

    Parameters
    ----------
    df
        The rows. They are read once, and 65,536 of them once more to decide the schema.
    y
        The name of the column to predict. Rows without a label are dropped, with a warning.
    weight
        The name of the column that holds the weight of each row.
    columns, tune, prior, alpha, many_classes, schema, together
        As in `naively.fit`. The driver plans the tables of columns, by the rows that decide the schema.

    Returns
    -------
    Model
        The model, on the driver.
    """
    refuse_settings(tune, alpha, together)
    if schema is None:
        _check_columns(df, y, weight)
        first = _first_rows(df, y)
        schema = infer_schema(
            iter([first]),
            y,
            columns=columns,
            weight=weight,
            alpha=alpha,
            many_classes=many_classes,
            together=together,
        )
    return count(df, schema, y, weight=weight, tune=tune).to_model(prior=prior, many_classes=many_classes)


def count(df: DataFrame, schema: Schema, y: str, *, weight: str | None = None, tune: bool = True) -> Part:
    """Count the rows of a Spark DataFrame under a schema; see `naively.count`.

    Parameters
    ----------
    df
        The rows. Columns that the schema does not have are not read.
    schema
        What to count of each column.
    y
        The name of the column to predict.
    weight
        The name of the column that holds the weight of each row.
    tune
        Whether to keep a sample of the rows, so that the model can be tuned.

    Returns
    -------
    Part
        The sum of all partitions, on the driver.
    """
    _check_columns(df, y, weight)
    wanted = {*schema.names, y, weight}
    names = [name for name in df.columns if name in wanted]
    rows = _numbered(df.select(*map(_quoted, names)))
    budget = _result_bytes(df)
    counter = _counter(schema.to_json(), names, y, weight, tune, budget, MIN_SPLIT_KEYS)
    counted = rows.mapInArrow(counter, PART_SCHEMA)
    parts = _add_parts(_Parts.of(counted), budget)
    return total([*parts, count_part(iter(()), schema, y)])


def predict(model: Model, df: DataFrame, *, proba: bool = False, name: str = PREDICTION) -> DataFrame:
    """Return the rows of a Spark DataFrame with their predictions, computed by the executors when they are needed.

    Parameters
    ----------
    model
        The model, which is sent to the executors.
    df
        The rows. A column of the model that they do not have says nothing, with a warning.
    proba
        Whether to add the probability of every class, as `p_CLASS`.
    name
        The name of the column, as in `naively.predict_batches`.
    """
    from pyspark.sql.types import StructField, StructType

    _require_spark_frame(df)
    known = [column for column in df.columns if column in set(model.schema.names)]
    empty = df.select(*map(_quoted, known)).limit(0).toArrow()
    rule = decision_rule(model.classes, None, None, None, None, None)
    [(_, results)] = predict_tables(model, [empty], rule, proba, name=name, rows_at_once=0)  # refuses other types
    clash = [column for column in results.column_names if column in df.columns]
    if clash:
        raise InputError(f"the frame has a column {clash[0]!r} already: drop it, or give another name=.")
    types = ["double"] * len(results.column_names)
    types[results.column_names.index(name)] = _type_of_classes(model)
    added = [_parsed(kind) for kind in types]
    data, names = model_to_bytes(model), df.columns

    def predict_partition(batches: RecordBatches) -> RecordBatches:
        import pyarrow as pa

        on_worker = model_from_bytes(data)
        for batch in batches:
            rows = pa.Table.from_batches([batch]).rename_columns(names)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the driver has warned
                predicted = predict_tables(on_worker, [rows.select(known)], rule, proba, name=name, rows_at_once=0)
                for _, columns in predicted:
                    for column in columns.column_names:
                        rows = rows.append_column(column, columns.column(column))
            yield from rows.rename_columns(numbers).combine_chunks().to_batches()

    rows = _numbered(df)
    numbers = [*rows.columns, *(f"p{i}" for i in range(len(added)))]
    fields = [*rows.schema.fields, *(StructField(f"p{i}", kind) for i, kind in enumerate(added))]
    return rows.mapInArrow(predict_partition, StructType(fields)).toDF(*names, *results.column_names)


def _counter(
    schema_json: str, names: list[str], y: str, weight: str | None, tune: bool, budget: int, max_keys: int
) -> Callable[[RecordBatches], RecordBatches]:
    """Return what an executor does with a partition: count it, and yield the part, or its shards, in chunks."""

    def count_partition(batches: RecordBatches) -> RecordBatches:
        from pyspark import TaskContext

        context = TaskContext.get()
        number = 0 if context is None else context.partitionId()

        def count_rows() -> Part:
            named = (batch.rename_columns(names) for batch in batches)
            return count_part(named, Schema.from_json(schema_json), y, weight=weight, tune=tune, n_jobs=1)

        part, notes = _with_notes(count_rows)
        if part is not None and not part.tally.n_rows:
            return
        parts: Iterable[tuple[int, Part | None]] = [(number, part)]
        if part is not None and n_keys(part) > max_keys:
            parts = enumerate(split_by_key(part, N_SHARDS), FIRST_SHARD + N_SHARDS * number)
        yield from _chunks(parts, notes, budget)

    return count_partition


def _with_notes(work: Callable[[], Part]) -> tuple[Part | None, str]:
    """Return a part, and its warnings as JSON; None and the error if its rows were refused."""
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        try:
            part = work()
        except InputError as error:
            return None, json.dumps([[type(error).__name__, str(error)]])
    return part, json.dumps(sorted({(w.category.__name__, str(w.message)) for w in issued}))


def _raise_notes(notes: Iterable[str]) -> None:
    """Raise the first error of the executors as `fit` raises it, and issue each of their warnings once."""
    messages = dict.fromkeys((kind, message) for text in notes if text for kind, message in json.loads(text))
    for kind, message in messages:
        category = getattr(errors, kind, UserWarning)
        if issubclass(category, InputError):
            raise category(message)
    for kind, message in messages:
        warn_user(message, getattr(errors, kind, UserWarning))


def _chunks(parts: Iterable[tuple[int, Part | None]], notes: str, budget: int) -> RecordBatches:
    """Yield parts as rows of PART_SCHEMA, their bytes in chunks; the first row has the notes."""
    import pyarrow as pa

    names = [field.split()[0] for field in PART_SCHEMA.split(", ")]
    kinds = [pa.int64(), pa.int32(), pa.int64(), pa.string(), pa.binary(), pa.binary()]
    chunk_bytes = _chunk_bytes(budget)
    for number, part in parts:
        data = b"" if part is None else part.to_bytes()
        for chunk, start in enumerate(range(0, max(len(data), 1), chunk_bytes)):
            piece = data[start : start + chunk_bytes]
            is_small = len(piece) <= SMALL_BYTES or (number < FAN_IN and not chunk and FAN_IN * len(piece) <= budget)
            bytes_of_piece = (piece, None) if is_small else (None, piece)
            row = [number, chunk, len(piece), notes, *bytes_of_piece]
            arrays = [pa.array([cell], kind) for cell, kind in zip(row, kinds, strict=True)]
            yield pa.RecordBatch.from_arrays(arrays, names=names)
            notes = ""


def _parts_of_chunks(rows: Iterable[tuple[int, int, bytes]]) -> list[Part]:
    """Return the parts of chunks: the number of the part, that of the chunk, and its bytes."""
    chunks: dict[int, list[tuple[int, bytes]]] = {}
    for number, chunk, data in rows:
        chunks.setdefault(number, []).append((chunk, bytes(data)))
    joined = (b"".join(data for _, data in sorted(pieces)) for _, pieces in sorted(chunks.items()))
    return [Part.from_bytes(data) for data in joined if data]


def _rows_of_table(table: pa.Table) -> list[tuple[int, int, bytes]]:
    columns = (table.column(name).to_pylist() for name in ("number", "chunk", "small", "data"))
    rows = zip(*columns, strict=True)
    return [(number, chunk, data if small is None else small) for number, chunk, small, data in rows]


def _adder(n_groups: int, budget: int) -> Callable[[pa.Table], pa.Table]:
    """Return what an executor does with the parts of a group: add them."""

    def add_group(table: pa.Table) -> pa.Table:
        import pyarrow as pa

        rows = _rows_of_table(table)
        number = rows[0][0] % n_groups
        part, notes = _with_notes(lambda: total(_parts_of_chunks(rows)))
        return pa.Table.from_batches(list(_chunks([(number, part)], notes, budget)))

    return add_group


@dataclass(frozen=True)
class _Parts:
    """A frame of parts that Spark keeps; for each row its part, chunk and bytes; small chunks."""

    frame: DataFrame
    rows: list[tuple[int, int, int]]
    small_chunks: list[tuple[int, int, bytes]]

    @classmethod
    def of(cls, frame: DataFrame) -> _Parts:
        """Compute the parts once, and raise what the executors refuse."""
        persisted = frame.persist()
        sizes = ["number", "chunk", "n_bytes", "notes"]
        try:
            rows = _unless_too_large(persisted.select(*sizes, "small").collect)
            has_small = rows is not None
            if rows is None:  # many small parts
                rows = persisted.select(*sizes).collect()
            _raise_notes(row["notes"] for row in rows)
        except BaseException:
            persisted.unpersist()
            raise
        places = sorted((row["number"], row["chunk"], row["n_bytes"]) for row in rows)
        chunks = [(row["number"], row["chunk"], row["small"]) for row in rows if has_small and row["small"] is not None]
        return cls(persisted, places, chunks)

    @property
    def n_parts(self) -> int:
        return len({number for number, *_ in self.rows})

    @property
    def n_bytes(self) -> int:
        return sum(n_bytes for *_, n_bytes in self.rows)

    @property
    def has_shards(self) -> bool:
        return any(number >= FIRST_SHARD for number, *_ in self.rows)

    def added(self, n_groups: int, budget: int) -> _Parts:
        """Return the sums of these parts in groups, computed by the executors."""
        from pyspark.sql import functions as f

        key = f.col("number") % n_groups
        try:
            return _Parts.of(self.frame.groupBy(key).applyInArrow(_adder(n_groups, budget), PART_SCHEMA))
        finally:
            self.frame.unpersist()

    def collect(self, budget: int) -> list[Part]:
        """Return the parts on the driver: the small chunks are here, others in as many queries as results require."""
        from pyspark.sql import functions as f

        chunks, here = list(self.small_chunks), {(number, chunk) for number, chunk, _ in self.small_chunks}
        try:
            for first, last in _runs_within([row for row in self.rows if row[:2] not in here], budget):
                place = f.struct("number", "chunk")
                low, high = (f.struct(f.lit(n).cast("long"), f.lit(c).cast("int")) for n, c in (first, last))
                data = f.coalesce("small", "data").alias("data")
                rows = self.frame.where((place >= low) & (place <= high)).select("number", "chunk", data).collect()
                chunks += [(row["number"], row["chunk"], row["data"]) for row in rows if row[:2] not in here]
        finally:
            self.frame.unpersist()
        return _parts_of_chunks(chunks)


def _runs_within(rows: Sequence[tuple[int, int, int]], budget: int) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return the first and the last chunk of each run of chunks that has at most this many bytes, or one chunk.

    >>> _runs_within([(0, 0, 5), (0, 1, 5), (1, 0, 5)], 10)
    [((0, 0), (0, 1)), ((1, 0), (1, 0))]
    """
    runs: list[tuple[tuple[int, int], tuple[int, int]]] = []
    n_bytes = 0
    for number, chunk, size in rows:
        place = (number, chunk)
        n_bytes += size
        if runs and n_bytes <= budget:
            runs[-1] = (runs[-1][0], place)
        else:
            runs.append((place, place))
            n_bytes = size
    return runs


def _add_parts(parts: _Parts, budget: int) -> list[Part]:
    """Add parts among the executors until they are few and small; return the rest for the driver to add."""
    limit = min(budget, MAX_COLLECTED_BYTES)
    if parts.has_shards and parts.n_parts > N_SHARDS:
        return parts.added(N_SHARDS, budget).collect(budget)
    while parts.n_parts > FAN_IN and (parts.n_bytes > limit or parts.n_parts > FAN_IN**2):
        n_groups = -(-parts.n_parts // FAN_IN)
        parts = parts.added(n_groups, budget)
    return parts.collect(budget)


def _require_spark_frame(df: object) -> None:
    """Refuse anything but a Spark DataFrame."""
    if not is_spark_frame(df):
        raise InputError(f"naively.spark needs a Spark DataFrame, not a {type(df).__name__}: use naively.fit.")


def _check_columns(df: DataFrame, y: str, weight: str | None) -> None:
    """Refuse names that the frame does not have, and types that cannot be counted, before Spark reads a row."""
    _require_spark_frame(df)
    names = unique_names(df.columns)
    for name, purpose in ((y, "to predict"), (weight, "of weights")):
        if name is not None:
            refuse_missing_column(name, names, purpose)
    countable = ("string", "boolean", "date", "timestamp", "timestamp_ntz", "void", "double", "float", "time")
    for field in df.schema.fields:
        kind = field.dataType.simpleString()
        integers = ("tinyint", "smallint", "int", "bigint")
        is_countable = kind in (*countable, *integers) or kind.startswith(
            ("decimal", "varchar", "char", "interval day")
        )
        if not (is_countable or kind.startswith(("interval hour", "interval minute", "interval second"))):
            raise InputError(
                f"column {field.name!r} has type {kind}, which cannot be counted: leave it out, or convert it."
            )


def _first_rows(df: DataFrame, y: str) -> pa.Table:
    """Return the first rows, of which at least half have a label; fewer if they exceed the size of a result."""
    from pyspark.sql import functions as f

    # One task reads the first partitions until it has the rows; a limit on several partitions reads all of them.
    first = _collect_first(df.coalesce(1))
    if 2 * first.column(y).null_count > first.num_rows:
        first = _collect_first(df.where(f.col(_quoted(y)).isNotNull()))
    if not first.num_rows:
        n_all = df.count()
        RowTally(n_all, n_all).report(y)  # raises
    return first


def _collect_first(df: DataFrame) -> pa.Table:
    n_rows = FIRST_ROWS
    first: pa.Table | None = None
    while first is None and n_rows >= 64:
        first = _unless_too_large(df.limit(n_rows).toArrow)
        n_rows //= 4
    return df.limit(n_rows).toArrow() if first is None else first


def _unless_too_large(query: Callable[[], Result]) -> Result | None:
    """Return the result of a query, None if it exceeds the size of a result."""
    try:
        return query()
    except Exception as error:  # of Spark or of its gateway, by version
        if "maxResultSize" not in str(error):
            raise
        return None


def _numbered(df: DataFrame) -> DataFrame:
    """Return a frame with plain names of its columns: mapInArrow fails if a name has a dot."""
    return df.toDF(*(f"c{i}" for i in range(len(df.columns))))


def _quoted(name: str) -> str:
    """Return the name of a column as Spark reads it, also with dots.

    >>> _quoted("a.b`c")
    '`a.b``c`'
    """
    return "`" + name.replace("`", "``") + "`"


def _result_bytes(df: DataFrame) -> int:
    """Return how many bytes of parts may be collected at once: a quarter of Spark's limit."""
    try:
        setting = str(df.sparkSession.conf.get("spark.driver.maxResultSize", "1g")).lower()
        digits = setting.rstrip("bkmgt")
        limit = int(digits) * UNITS.get(setting[len(digits) :][:1] or "b", 1)
    except Exception:  # a session that hides it
        limit = DEFAULT_RESULT_BYTES
    return (limit or DEFAULT_RESULT_BYTES) // 4


def _chunk_bytes(budget: int) -> int:
    return max(min(CHUNK_BYTES, budget), 2**10)


def _parsed(kind: str) -> Any:
    from pyspark.sql.types import BooleanType, DoubleType, LongType, StringType

    return {"boolean": BooleanType(), "bigint": LongType(), "double": DoubleType(), "string": StringType()}[kind]


def _type_of_classes(model: Model) -> str:
    """Return Spark's type of the classes of a model."""
    is_mixed = len({type(label) for label in model.classes}) > 1  # whole numbers and others
    first = model.classes[0]
    return "double" if is_mixed else next(name for kind, name in KINDS_OF_CLASSES if type(first) is kind)


def model_to_bytes(model: Model) -> bytes:
    """Return a model as the bytes of a model file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        model.save(path)
        return path.read_bytes()


def model_from_bytes(data: bytes) -> Model:
    """Return the model of the bytes of a model file, which are checked."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        path.write_bytes(data)
        return load(path)


def __getattr__(name: str) -> object:
    """Import the classes for pyspark.ml when they are first used."""
    if name in ("NaiveBayes", "NaiveBayesModel"):
        try:
            from naively.engines import spark_ml
        except ImportError as error:
            raise InputError('naively.spark.NaiveBayes needs pyspark: pip install "naively[spark]".') from error
        return getattr(spark_ml, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
