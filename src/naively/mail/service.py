"""What every way to run the filter does with one mail: answer, add headers, learn by itself."""

from __future__ import annotations

from collections.abc import Sequence

from naively.mail.filter import Filtered, code_of
from naively.mail.header import NAME, SPAMASSASSIN_NAMES, header_of, spamassassin_headers
from naively.mail.model import MIN_LEARNT_PROBABILITY, Answer, MailModel, Reason
from naively.mail.reader import Mail, read

N_REASONS = 5


def filter_mail(
    model: MailModel, data: bytes, *, spamassassin: bool = False, learn: bool = False, tune: bool = True
) -> Filtered:
    """Return our header for a mail, and the exit code of the answer.

    Parameters
    ----------
    model
        The model.
    data
        The mail.
    spamassassin
        Whether to add the headers of SpamAssassin as well.
    learn
        Whether to learn a sure answer.
    tune
        Whether to tune the model then, if that is due.

    Returns
    -------
    Filtered
        The exit code, and the headers to add.
    """
    mail = read(data)
    answer, reasons = model.answer_with_reasons(mail, N_REASONS)
    headers = headers_for(answer, reasons, spamassassin)
    if learn:
        learn_if_sure(model, mail, answer, tune=tune)
    return Filtered(code_of(answer.name), *headers)


def headers_for(
    answer: Answer, reasons: Sequence[Reason], spamassassin: bool
) -> tuple[list[tuple[str, str]], list[str]]:
    """Return the headers to add to a mail, and the names of those to remove: they can only be forged."""
    headers, names = [(NAME, header_of(answer, reasons))], [NAME]
    if spamassassin:
        headers += spamassassin_headers(answer)
        names += SPAMASSASSIN_NAMES
    return headers, names


def learn_if_sure(model: MailModel, mail: Mail, answer: Answer, *, tune: bool = True) -> bool:
    """Learn a mail as the class of a sure answer, and tune the model if that is due; return whether it was counted.

    It has a source of its own in the log. A mail that was learnt before keeps its class.
    """
    if answer.label is None or answer.posterior[answer.label] < MIN_LEARNT_PROBABILITY:
        return False
    return bool(model.learn([mail], answer.label, by_person=False, tune=tune).entries)
