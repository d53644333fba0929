"""What every way to run the filter does with one mail: answer, add headers, learn by itself."""

from __future__ import annotations

from naively.mail.filter import Filtered, code_of
from naively.mail.header import NAME, SPAMASSASSIN_NAMES, header_of, spamassassin_headers, with_headers
from naively.mail.model import MIN_LEARNT_PROBABILITY, Answer, MailModel
from naively.mail.read import Mail, read

N_REASONS = 5


def filter_mail(model: MailModel, data: bytes, *, spamassassin: bool = False, learn: bool = False) -> Filtered:
    """Return a mail with our header, and the exit code of the answer.

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

    Returns
    -------
    Filtered
        The mail, and the exit code.
    """
    mail = read(data)
    (answer,) = model.answers([mail])
    headers = [(NAME, header_of(answer, model.reasons(mail, N_REASONS)))]
    names = [NAME]
    if spamassassin:
        headers += spamassassin_headers(answer)
        names += SPAMASSASSIN_NAMES
    if learn:
        learn_if_sure(model, mail, answer)
    return Filtered(with_headers(data, headers, names), code_of(answer.name))


def learn_if_sure(model: MailModel, mail: Mail, answer: Answer) -> bool:
    """Learn a mail as the class of a sure answer; return whether it was counted.

    It has a source of its own in the log. A mail that was learnt before keeps its class.
    """
    if answer.label is None or answer.posterior[answer.label] < MIN_LEARNT_PROBABILITY:
        return False
    return bool(model.learn([mail], answer.label, by_person=False).entries)
