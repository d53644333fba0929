"""The model file as a ledger: entries that add up to the model. docs/living_models.md shows it in use."""

from naively.ledger.copying import Salvaged, copy, salvage
from naively.ledger.live import Ledger, open  # noqa: A004  (naively.open)
from naively.ledger.merge import merge
from naively.ledger.reading import load
from naively.ledger.remembering import write_remembered
from naively.storage.entries import Entry

__all__ = ["Entry", "Ledger", "Salvaged", "copy", "load", "merge", "open", "salvage", "write_remembered"]
