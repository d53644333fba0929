"""Write the strongest reasons of predictions as columns of a table, for many rows.

A reason is a column and its value, or a word of a text, with what it adds to the log-odds of the predicted class
against the most probable other class. Columns are computed for all rows together; only words need each row by itself.
A row that the model has counted is answered by the model without it, and its reasons are those of that answer, as in
`explain`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from naively._kernels.types import Codes32, Floats, Index
from naively.data.table import Table
from naively.errors import InputError
from naively.explanation.blocks import ExplainedBlock, weighed_blocks
from naively.model.contributions import evidence_in_chunks, log_odds_of_columns
from naively.model.count import views_of
from naively.model.counted import counted_classes
from naively.model.decide import Rule
from naively.model.model import Model
from naively.model.score import predict_with_posterior
from naively.model.without_row import without_counted_row

if TYPE_CHECKING:
    import pyarrow as pa

    from naively.data.columns import ArrowArray


@dataclass
class Reasons:
    """The answers for rows with their k strongest reasons, as the columns reason_1, log_odds_1, reason_2, …

    With `leave_out`, rows that the model has counted are answered by the model without them; `n_left_out` is their
    number so far.
    """

    model: Model
    k: int
    leave_out: bool = True
    n_left_out: int = 0

    def __post_init__(self) -> None:
        if len(self.model.classes) < 2:
            raise InputError("reasons compare two classes, and the model has one.")

    def __call__(
        self, rows: Table, cells: pa.Table, rule: Rule | None
    ) -> tuple[Codes32, Floats, dict[str, ArrowArray]]:
        """Return the predicted class of each row, −1 for none, the probabilities, and the columns of reasons.

        Parameters
        ----------
        rows, cells
            The rows as the model reads them, and as they are written.
        rule
            What chooses the class.
        """
        import pyarrow as pa

        positions, posterior, texts, numbers = self._answer(rows, cells, rule)
        counted = counted_classes(self.model, rows) if self.leave_out else np.full(rows.n_rows, -1)
        is_counted = np.flatnonzero(counted >= 0).tolist()
        views = views_of(rows, self.model.chosen.schema) if is_counted else []
        for i in is_counted:
            views_of_row = [view.rows(i, i + 1) for view in views]
            others = without_counted_row(self.model, rows, i, views_of_row, int(counted[i]))
            if others is not None:
                row = rows.take(np.array([i]))
                one = Reasons(others, self.k)._answer(row, cells.slice(i, 1), rule)
                (positions[i],), (posterior[i],), (texts[i],), (numbers[i],) = one
                self.n_left_out += 1
        columns: dict[str, ArrowArray] = {}
        for i in range(self.k):
            columns[f"reason_{i + 1}"] = pa.array(texts[:, i], pa.string())
            columns[f"log_odds_{i + 1}"] = pa.array(numbers[:, i], pa.float64(), mask=np.isnan(numbers[:, i]))
        return positions, posterior, columns

    def _answer(self, rows: Table, cells: pa.Table, rule: Rule | None) -> tuple[Codes32, Floats, Any, Floats]:
        """Return classes and probabilities by the model as it is, and the reasons as texts and numbers."""
        positions, posterior = predict_with_posterior(self.model, rows, rule)
        of, against = _pairs(positions, posterior)
        log_odds = self._log_odds(rows, of, against)
        n_columns = min(self.k, log_odds.shape[1])
        strongest = np.argsort(-np.abs(log_odds), axis=1, kind="stable")[:, :n_columns]
        values = np.take_along_axis(log_odds, strongest, axis=1)
        texts = np.full((len(of), self.k), None, dtype=object)
        numbers = np.full((len(of), self.k), np.nan)
        texts[:, :n_columns], numbers[:, :n_columns] = self._texts(cells, strongest, values), values
        self._add_words(rows, of, against, texts, numbers)
        is_none = numbers == 0.0
        texts[is_none], numbers[is_none] = None, np.nan
        return positions, posterior, texts, numbers

    def _log_odds(self, rows: Table, of: Index, against: Index) -> Floats:
        """Return what each column adds, (row, column); 0 for columns of text, whose words are reasons of their own."""
        log_odds = np.empty((rows.n_rows, len(self.model.schema.names)))
        for chunk, evidence in evidence_in_chunks(self.model, rows):
            row = np.arange(chunk.stop - chunk.start)
            first, second = of[chunk], against[chunk]
            log_prior = self.model.log_prior[np.stack([first, second])]
            sides = evidence[:, row, first], evidence[:, row, second]
            log_odds[chunk] = log_odds_of_columns(*sides, log_prior).T
        is_text = [name in self._text_columns for name in self.model.schema.names]
        log_odds[:, is_text] = 0.0
        return log_odds

    @property
    def _text_columns(self) -> frozenset[str]:
        blocks = self.model.chosen.schema.blocks
        return frozenset(name for block in blocks if block.family.own_block for name in block.names)

    def _texts(self, cells: pa.Table, strongest: Index, values: Floats) -> Any:
        """Return the reasons as texts, (row, reason)."""
        texts = np.full(strongest.shape, None, dtype=object)
        given = {name.strip().casefold(): name for name in cells.column_names}
        given |= {name: name for name in cells.column_names}
        for j, name in enumerate(self.model.schema.names):
            row, place = np.nonzero((strongest == j) & (values != 0.0))
            if len(row):
                written = given.get(name, given.get(name.strip().casefold()))
                column = [None] * len(row) if written is None else cells[written].take(row).to_pylist()
                texts[row, place] = [f"{name} missing" if v is None or v == "" else f"{name}={v}" for v in column]
        return texts

    def _add_words(self, rows: Table, of: Index, against: Index, texts: Any, numbers: Floats) -> None:
        """Put the words of texts among the reasons of their rows."""
        if not self._text_columns:
            return
        views = views_of(rows, self.model.chosen.schema)
        parts = zip(weighed_blocks(self.model), views, strict=True)
        blocks = [ExplainedBlock.of(b, view, rows.n_rows) for b, view in parts if b.block.family.own_block]
        for row, pair in enumerate(zip(of.tolist(), against.tolist(), strict=True)):
            reasons = [(text, x) for text, x in zip(texts[row], numbers[row].tolist(), strict=True) if text is not None]
            for block in blocks:
                lines, _ = block.lines(block.row(row), row, pair)
                reasons += [(f"{line.term.column}: {line.term.shown}", line.log_odds) for line in lines]
            reasons.sort(key=lambda reason: -abs(reason[1]))
            for i, (text, x) in enumerate(reasons[: self.k]):
                texts[row, i], numbers[row, i] = text, x


def _pairs(positions: Codes32, posterior: Floats) -> tuple[Index, Index]:
    """Return the class of each row, the most probable one if none is predicted, and the most probable other one."""
    of = np.where(positions < 0, posterior.argmax(axis=1), positions).astype(np.intp)
    others = posterior.copy()
    others[np.arange(len(of)), of] = -1.0
    return of, others.argmax(axis=1)
