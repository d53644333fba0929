"""Count rows in parts, anywhere, and add the parts: what a process, a machine or an executor does with its rows.

    total(count(rows A), count(rows B)) = count(rows A and B)                     (1)

Equation (1) holds bit for bit under one schema, for any split and order. A part is what was counted, the sample of
rows for tuning, and how many rows were read and dropped. It is sent as bytes, which are checked as a model file is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np

from naively._kernels.text import UNICODE_VERSION
from naively._kernels.threads import use_threads
from naively.data.labelled import LabelsLike, RowTally, WeightLike, labelled_batches
from naively.data.read import TableLike
from naively.errors import InputError, SchemaError
from naively.fitting import check_classes, count_under, target_name, tuned_on, types_of
from naively.model import merge
from naively.priors import ClassPrior, PriorLike
from naively.schema.schema import Schema
from naively.store.codec import decode_counts, encode_counts, pack, unpack
from naively.store.meta import digest_of
from naively.store.sqlite import DECODE_ERRORS
from naively.tuning.sample import SampledRows, Sampler
from naively.tuning.tune import rows_to_keep

if TYPE_CHECKING:
    from naively.model.model import Model

MAGIC = b"naively part"
FORMAT = 1
DIGEST_BYTES = 16


@dataclass(frozen=True, eq=False)
class Part:
    """Some rows of a table, counted: a frozen value that adds (`a + b`) and is sent as bytes.

    Parameters
    ----------
    schema
        What was counted of each column.
    target
        The name of the column to predict.
    counts
        The model of these rows, not tuned; None if no row was counted.
    sample
        Rows to tune on; None if no row was counted, or without tuning.
    tally
        How many rows were read, have no label, and were counted.
    """

    schema: Schema
    target: str
    counts: Model | None
    sample: SampledRows | None
    tally: RowTally

    def __repr__(self) -> str:
        n_sampled = 0 if self.sample is None else len(self.sample)
        return (
            f"<Part of {self.tally.n_counted:,} rows for {self.target!r}, {self.tally.n_unlabelled:,} without a label, "
            f"{n_sampled:,} in the sample>"
        )

    def __add__(self, other: Part) -> Part:
        return total((self, other))

    def to_model(self, *, prior: PriorLike = "empirical", many_classes: bool = False) -> Model:
        """Return the model of these rows, tuned if the part has a sample: what `fit` returns for the same rows.

        Parameters
        ----------
        prior
            The class prior, as in `fit`.
        many_classes
            Whether to accept any number of classes, as in `fit`.

        Raises
        ------
        InputError
            If no row was counted.
        """
        self.tally.report(self.target)
        assert self.counts is not None  # at least one row was counted
        if not many_classes:
            check_classes(self.counts.classes, self.tally.n_counted, self.target)
        model = tuned_on(self.counts, self.sample)
        return replace(model, prior=ClassPrior.of(prior, model.classes), target=self.target)

    def to_bytes(self) -> bytes:
        """Return the part as bytes, to be sent to another machine or written to a file."""
        tally = self.tally
        head = {
            "format": FORMAT,
            "unicode": UNICODE_VERSION,
            "target": self.target,
            "schema": self.schema.to_json(),
            "rows": [tally.n_rows, tally.n_unlabelled, tally.n_counted],
        }
        counts = b"" if self.counts is None else encode_counts(self.counts)
        sample = b"" if self.sample is None else self.sample.to_bytes()
        body = pack(head, [np.frombuffer(counts, np.uint8), np.frombuffer(sample, np.uint8)])
        return MAGIC + digest_of(body) + body

    @classmethod
    def from_bytes(cls, data: bytes) -> Part:
        """Return the part that `to_bytes` wrote.

        Raises
        ------
        InputError
            If the bytes are damaged, are not a part, or were written with another version of the format or of Unicode.
        """
        start = len(MAGIC) + DIGEST_BYTES
        if data[: len(MAGIC)] != MAGIC or data[len(MAGIC) : start] != digest_of(bytes(data[start:])):
            raise InputError("these bytes are not a part, or were changed on their way: count the rows again.")
        try:
            head, (counts, sample) = unpack(data[start:])
            _check_versions(head)
            schema, tally = Schema.from_json(head["schema"]), RowTally(*(int(n) for n in head["rows"]))
            sampled = SampledRows.from_bytes(sample.tobytes()) if len(sample) else None
            model = decode_counts(counts.tobytes(), schema) if len(counts) else None
            n_counted = 0 if model is None else int(model.class_weights.rows.sum())
            if n_counted != tally.n_counted or not 0 <= tally.n_unlabelled <= tally.n_rows:
                raise ValueError("numbers of rows")
            if sampled is not None and tuple(sampled.table.names) != tuple(schema.names):
                raise ValueError("columns of the sample")
        except InputError:
            raise
        except DECODE_ERRORS as error:
            raise InputError(f"these bytes are not a part ({error}): count the rows again.") from None
        return cls(schema, str(head["target"]), model, sampled, tally)


def _check_versions(head: Any) -> None:
    """Refuse a part that another version wrote."""
    if head["format"] != FORMAT:
        raise InputError(
            f"this part has format {head['format']}, and this version of naively reads format {FORMAT}: use the same "
            "version on all machines."
        )
    if head["unicode"] != UNICODE_VERSION:
        raise InputError(
            f"the words of this part were counted with Unicode {head['unicode']}, and this version of naively has "
            f"{UNICODE_VERSION}: use the same version on all machines."
        )


def count(
    batches: TableLike,
    schema: Schema,
    y: LabelsLike,
    *,
    weight: WeightLike = None,
    tune: bool = True,
    n_jobs: int | None = None,
) -> Part:
    """Count some of the rows of a table, under a schema that all parts share.

    Parameters
    ----------
    batches
        The rows, as `fit` takes them: a table in memory, files, or an iterator of batches. They may be none.
    schema
        What to count of each column: `infer_schema` decides it once, for all parts.
    y
        The labels, or the name of the column to predict. Rows without a label are dropped and counted.
    weight
        The weight of each row, or the name of the column that holds it.
    tune
        Whether to keep a sample of the rows, so that the model can be tuned.
    n_jobs
        The number of threads; None is all cores.

    Returns
    -------
    Part
        What was counted. `total` adds parts, `Part.to_model` makes a model of them.

    >>> from naively.fitting import infer_schema
    >>> sky, play = {"sky": ["sun", "rain", "sun", "fog"]}, ["yes", "no", "yes", "no"]
    >>> schema = infer_schema(sky, play)
    >>> parts = [count({"sky": sky["sky"][i : i + 2]}, schema, play[i : i + 2]) for i in (0, 2)]
    >>> total(parts).to_model().predict({"sky": ["sun"]}).tolist()
    ['yes']
    """
    tally, sampler = RowTally(), Sampler(rows_to_keep(schema)) if tune else None
    with use_threads(n_jobs):
        rows = labelled_batches(batches, y, weight, types=types_of(schema), tally=tally)
        model = count_under(schema, rows, sampler)
    return Part(schema, target_name(y), model, None if sampler is None else sampler.sampled, tally)


def total(parts: Iterable[Part]) -> Part:
    """Return the sum of one or more parts, in any order.

    Parameters
    ----------
    parts
        Parts that were counted under one schema, for the same column. `Part.from_bytes` reads one that was sent.

    Raises
    ------
    InputError
        If there is no part, or parts were counted under different schemas.
    """
    summands = list(parts)
    if not summands:
        raise InputError("there are no parts to add: give at least one, which may have no rows.")
    first = summands[0]
    for part in summands[1:]:
        _refuse_other_part(first, part)
    models = [part.counts for part in summands if part.counts is not None]
    samples = [part.sample for part in summands if part.sample is not None]
    if samples and len(samples) < sum(bool(model.class_weights.rows.any()) for model in models):
        raise InputError("some parts have a sample to tune on, and others have none: count all with tune=True.")
    tally = reduce(add, (part.tally for part in summands))
    sample = SampledRows.sum_of(samples) if samples else None
    return Part(first.schema, first.target, merge.total(models), sample, tally)


def _refuse_other_part(first: Part, part: Part) -> None:
    if part.target != first.target:
        raise InputError(f"one part predicts {first.target!r}, another {part.target!r}: count all for one column.")
    if part.schema != first.schema:
        merge.unite(first.schema, part.schema)  # names the columns that differ
        raise SchemaError(
            "the parts were counted under different schemas: decide it once, by infer_schema, and give it to all parts."
        )
