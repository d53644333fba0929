"""The model file as a ledger: entries that add up to the model. docs/living_models.md shows it in use.

Each name is loaded when it is asked for: who only loads a model need not load what teaches it.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from naively.ledger.copying import Salvaged, copy, salvage
    from naively.ledger.live import Ledger, open  # noqa: A004  (naively.open)
    from naively.ledger.merging import merge
    from naively.ledger.reading import load
    from naively.ledger.remembering import write_remembered
    from naively.storage.entries import Entry

__all__ = ["Entry", "Ledger", "Salvaged", "copy", "load", "merge", "open", "salvage", "write_remembered"]

_WHERE = {
    "Entry": "naively.storage.entries",
    "Ledger": "naively.ledger.live",
    "Salvaged": "naively.ledger.copying",
    "copy": "naively.ledger.copying",
    "load": "naively.ledger.reading",
    "merge": "naively.ledger.merging",
    "open": "naively.ledger.live",
    "salvage": "naively.ledger.copying",
    "write_remembered": "naively.ledger.remembering",
}


def __getattr__(name: str) -> object:
    if name not in _WHERE:
        raise AttributeError(f"module 'naively.ledger' has no attribute {name!r}")
    found: object = getattr(import_module(_WHERE[name]), name)
    globals()[name] = found
    return found
