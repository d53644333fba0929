"""The model file as a ledger: entries that add up to the model. docs/living_models.md shows it in use.

Each name is loaded when it is asked for: who only loads a model need not load what teaches it.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from naively.store.copy import Salvaged, copy, salvage
    from naively.store.entries import Entry
    from naively.store.ledger import Ledger, open  # noqa: A004  (naively.open)
    from naively.store.load import load
    from naively.store.merge import merge
    from naively.store.remembering import write_remembered

__all__ = ["Entry", "Ledger", "Salvaged", "copy", "load", "merge", "open", "salvage", "write_remembered"]

_WHERE = {
    "Entry": "naively.store.entries",
    "Ledger": "naively.store.ledger",
    "Salvaged": "naively.store.copy",
    "copy": "naively.store.copy",
    "load": "naively.store.load",
    "merge": "naively.store.merge",
    "open": "naively.store.ledger",
    "salvage": "naively.store.copy",
    "write_remembered": "naively.store.remembering",
}


def __getattr__(name: str) -> object:
    if name not in _WHERE:
        raise AttributeError(f"module 'naively.store' has no attribute {name!r}")
    found: object = getattr(import_module(_WHERE[name]), name)
    globals()[name] = found
    return found
