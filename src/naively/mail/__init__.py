"""Mail: read it, learn it, answer for it, and never lose it. Needs selectolax (`pip install "naively[mail]"`)."""

from naively.mail.model import Answer, MailModel
from naively.mail.read import EXTRACTOR, Mail, read
from naively.mail.sources import mails_in

__all__ = ["EXTRACTOR", "Answer", "Mail", "MailModel", "mails_in", "read"]
