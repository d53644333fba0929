"""Write the strongest reasons of predictions as columns of a table, for many rows.

A reason is a column and its value, or a word of a text, with what it adds to the log-odds of the predicted class
against the most probable other class. Columns are computed for all rows together; only words need each row by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from naively._kernels.types import Codes32, Floats, Index
from naively.data.table import Table
from naively.errors import InputError
from naively.explanation.explain import ExplainedBlock, scored_blocks
from naively.model.contributions import evidence_in_chunks, log_odds_of_columns
from naively.model.count import views_of
from naively.model.model import Model

if TYPE_CHECKING:
    import pyarrow as pa

    from naively.data.columns import ArrowArray


@dataclass(frozen=True)
class Reasons:
    """The k strongest reasons of each row, as the columns reason_1, log_odds_1, reason_2, …"""

    model: Model
    k: int

    def __post_init__(self) -> None:
        if len(self.model.classes) < 2:
            raise InputError("reasons compare two classes, and the model has one.")

    def __call__(self, rows: Table, cells: pa.Table, positions: Codes32, posterior: Floats) -> dict[str, ArrowArray]:
        """Return the columns.

        Parameters
        ----------
        rows, cells
            The rows as the model reads them, and as they are written.
        positions, posterior
            The predicted class of each row, −1 for none, and the probabilities.
        """
        import pyarrow as pa

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
        columns: dict[str, ArrowArray] = {}
        for i in range(self.k):
            columns[f"reason_{i + 1}"] = pa.array(texts[:, i], pa.string())
            columns[f"log_odds_{i + 1}"] = pa.array(numbers[:, i], pa.float64(), mask=np.isnan(numbers[:, i]))
        return columns

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
        blocks = [
            ExplainedBlock.of(self.model, *block, view, rows.n_rows)
            for block, view in zip(scored_blocks(self.model), views, strict=True)
            if block[0].family.own_block
        ]
        for row, pair in enumerate(zip(of.tolist(), against.tolist(), strict=True)):
            reasons = [(text, x) for text, x in zip(texts[row], numbers[row].tolist(), strict=True) if text is not None]
            for block in blocks:
                lines, _ = block.lines(row, pair)
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
