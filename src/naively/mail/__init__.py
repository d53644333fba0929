"""Mail: read it, learn it, answer for it, and never lose it. Needs selectolax (`pip install "naively[mail]"`)."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from naively.mail.model import Answer, MailModel
    from naively.mail.reader import EXTRACTOR, Mail, read
    from naively.mail.sources import mails_in

__all__ = ["EXTRACTOR", "Answer", "Mail", "MailModel", "mails_in", "read"]
_MODULES = {"Answer": "model", "MailModel": "model", "mails_in": "sources"}
_MODULES |= dict.fromkeys(("EXTRACTOR", "Mail", "read"), "reader")


def __getattr__(name: str) -> object:
    """Import a name when it is first used: a process that passes a mail through loads neither NumPy nor the core."""
    if name not in _MODULES:
        raise AttributeError(f"module 'naively.mail' has no attribute {name!r}")
    return getattr(import_module(f"naively.mail.{_MODULES[name]}"), name)
