"""Set a share of the rows aside, to evaluate a model on them: a hash of the row, or of its group, decides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from naively._kernels.row_hash import mix
from naively.data.frames import table_of_frame
from naively.data.names import existing_columns
from naively.errors import InputError
from naively.evaluation.evaluate import Evaluation
from naively.model.model import Model
from naively.statistics.row_hashes import RowHashes


@dataclass
class HeldOutRows:
    """The rows that are set aside: a share of all, or of the groups; none if the share is None."""

    share: float | None
    group: str | None
    batches: list[pa.RecordBatch] = field(default_factory=list)

    def split(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the other rows."""
        if self.share is None:
            yield from batches
            return
        n_rows = 0
        for batch in batches:
            table = table_of_frame(pa.table(batch))
            if self.group is not None and self.group not in table.names:
                raise InputError(
                    f"there is no column {self.group!r} of groups{existing_columns(self.group, table.names)}"
                )
            hashes = table.row_hashes(None if self.group is None else (self.group,))
            is_test = mix(mix(hashes)) < np.uint64(int(self.share * 2**64))  # folds are made of mix(hashes)
            self.batches.append(batch.filter(pa.array(is_test)))
            others = batch.filter(pa.array(~is_test))
            n_rows += others.num_rows
            yield others
        if not n_rows or not sum(batch.num_rows for batch in self.batches):
            raise InputError(f"--test-share {self.share:g}: too few rows or groups to set some aside.")

    def evaluate(self, model: Model, target: str, weight: str | None) -> Evaluation:
        """Evaluate a model on these rows, all as new rows: that it has counted equal rows does not matter."""
        none = RowHashes.of(np.empty(0, np.int64))
        return replace(model, row_hashes=none).evaluate(iter(self.batches), target, weight)
