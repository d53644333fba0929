"""The model of a mail filter: learn and forget mails by key, tune when that is due, and answer.

A mail is five columns of text (`Mail.columns`): words of its addresses, of subject and links, of headers and shape, and
of its delivery, each with the prefix of its field, and the pairs of words of its body. Pairs, because a spammer can add
words that are common in ham, but not the pairs that they are in (docs/mail.md has the figures).

The words of the delivery are those of the Received lines, which differ when a mail comes back from elsewhere. So the
file remembers them for each mail as they were counted.

The file is a ledger whose rows are known by key, `store/keyed.py`. A tuning is chosen from a sample of the learnt mails
(`sample.py`) when each class has 20 of them, and again when their number has grown by half. It is an entry of the
ledger, and can be undone.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from naively.data.table import table_of_texts
from naively.errors import InputError
from naively.families import Family, Text
from naively.mail.reader import COLUMN_FIELDS, EXTRACTOR, Mail
from naively.mail.sample import Sample
from naively.mail.words import untag
from naively.model.calibrate import ByColumn, Tuning
from naively.store.entries import Entry
from naively.store.keyed import Position, Taught, create_keyed
from naively.store.ledger import Ledger

if TYPE_CHECKING:
    from naively.explanation import Explanation
    from naively.model.model import Model

SPAM, UNSURE = "spam", "unsure"
MIN_MAILS = 20  # of a class; below, every answer is unsure
MAX_FALSE_ALARMS = 0.001  # share of the ham that is called spam
MIN_SPAM_PROBABILITY, MIN_OTHER_PROBABILITY = 0.9, 0.9
MIN_SPAM_PROBABILITY_OF_FEW = 0.99  # where the sample has fewer than 1,000 ham mails
MIN_LEARNT_PROBABILITY = 0.99  # of an answer that the filter learns by itself
MAX_PROBABILITY = 1 - 1e-9
GROWTH = 1.5  # of the number of mails, or of the class that has the fewest, after which the model is tuned again
AUTOMATIC = "automatic"  # the source of what the filter has learnt by itself
ALPHA = 0.001  # pseudo-count of a word: small, because most words of mail belong to one class (decision 0029)
LENGTH_EXPONENT = 0.75  # of each column: the words of a mail repeat each other, and n of them are worth about n^0.25
WORDS = Text(binary=True, alpha=ALPHA)
PAIRS = Text(binary=True, alpha=ALPHA, ngrams=(2, 2), window=3, hash_bits=31)
FAMILIES: dict[str, Family] = {name: PAIRS if name == "body" else WORDS for name in COLUMN_FIELDS}
COLUMNS = {name: f"{name} (extractor {EXTRACTOR})" for name in FAMILIES}
REMEMBERED = COLUMNS["delivery"]


@dataclass(frozen=True)
class Answer:
    """What the filter says of a mail.

    Parameters
    ----------
    label
        The class; None if the filter is unsure.
    best
        The most probable class; None if the model knows fewer than two.
    probability
        The probability of the class spam; of the most probable class if the model does not know spam.
    threshold
        The least probability that is called spam.
    posterior
        The probability of each class.
    entry
        The number of the last entry of the model file that was counted.
    """

    label: str | None
    best: str | None
    probability: float
    threshold: float
    posterior: dict[str, float]
    entry: int

    @property
    def name(self) -> str:
        """The class, or unsure."""
        return self.label or UNSURE

    @property
    def score(self) -> float:
        """A score as SpamAssassin has it: 5 or more is spam. It grows by 1 when the odds grow e-fold."""
        if SPAM not in self.posterior or (self.label is None and self.probability >= self.threshold):
            return 0.0
        return max(-99.0, min(99.0, 5.0 + _logit(self.probability) - _logit(self.threshold)))


@dataclass(frozen=True)
class Reason:
    """A word of a mail, with its field, and what it adds to the log-odds."""

    words: str
    log_odds: float

    def __str__(self) -> str:
        return f"{self.log_odds:+.1f} {self.words}"


class MailModel:
    """A model file of mails.

    Parameters
    ----------
    path
        The file. It is created when the first mail is learnt.
    wait
        How many seconds to wait while another process writes.
    """

    def __init__(self, path: str | Path, *, wait: float = 30.0) -> None:
        """Name the file; it is opened when it is needed."""
        self.path = Path(path)
        self.sample = Sample(path)
        self._wait = wait
        self._ledger: Ledger | None = None

    @property
    def ledger(self) -> Ledger:
        """The open file; InputError if there is none, or if it was not written by this extractor."""
        if self._ledger is None:
            if not self.path.exists():
                raise InputError(f"{self.path}: there is no such model: learn mails first (naively mail learn).")
            ledger = Ledger(self.path, wait=self._wait)
            _check_columns(self.path, ledger.model().schema.names)
            self._ledger = ledger
        return self._ledger

    def close(self) -> None:
        """Close the file."""
        if self._ledger is not None:
            self._ledger.close()
            self._ledger = None

    def __enter__(self) -> MailModel:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def learn(
        self,
        mails: Sequence[Mail],
        label: str,
        *,
        source: str = "",
        comment: str = "",
        by_person: bool = True,
        tune: bool = True,
    ) -> Taught:
        """Learn mails as one entry: each once, and under one class at a time.

        Parameters
        ----------
        mails
            The mails.
        label
            Their class.
        source, comment
            Where they come from, and a comment, for the log.
        by_person
            Whether a person says so. What the filter learns by itself has a source of its own, and never changes what a
            person has said.
        tune
            Whether to tune the model if that is due.

        Returns
        -------
        Taught
            The new entries, and how many mails were new, known and moved from another class.
        """
        _check_label(label)
        if not mails:
            return Taught()
        X, keys = _table(mails), [mail.key for mail in mails]
        source = source if by_person else AUTOMATIC
        if not self.path.exists():
            families = {COLUMNS[name]: family for name, family in FAMILIES.items()}
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            mask = os.umask(0o077)
            try:
                settings: dict[str, Any] = {"columns": families, "remembered": REMEMBERED}
                if create_keyed(self.path, X, label, keys=keys, **settings, source=source, comment=comment):
                    self.sample.add(mails, label)
                    n_new = len(set(keys))
                    with Ledger(self.path, wait=self._wait) as ledger:  # its counts are not needed
                        return Taught(ledger.log(), n_new=n_new, n_known=len(keys) - n_new)
            finally:
                os.umask(mask)
        settings = {"takes_over": (AUTOMATIC,)} if by_person else {"may_move": False}
        settings |= {"source": source, "comment": comment, "remembered": REMEMBERED}
        taught = self.ledger.teach(X, label, keys=keys, **settings)
        if taught.entries:
            self.sample.add(mails, label)
            if tune:
                self.tune_if_due()
        return taught

    def forget(self, mails: Sequence[Mail], *, comment: str = "") -> Taught:
        """Unlearn mails, under whatever class they were learnt; mails that were not learnt are left alone.

        Parameters
        ----------
        mails
            The mails.
        comment
            A comment for the log.

        Returns
        -------
        Taught
            The new entries, and how many mails were forgotten and unknown.
        """
        keys = [mail.key for mail in mails]
        taught = self.ledger.forget_keys(_table(mails), keys=keys, comment=comment) if mails else Taught()
        self.sample.remove(keys)
        return taught

    def positions(self, mails: Sequence[Mail]) -> list[Position | None]:
        """Return under which class, and by which entry, each mail was learnt; None if it was not."""
        return self.ledger.positions([mail.key for mail in mails])

    def answers(self, mails: Sequence[Mail]) -> list[Answer]:
        """Return what the filter says of mails."""
        return _answers(self.ledger.model(), self.ledger.version, mails)

    def reasons(self, mail: Mail, n: int = 5) -> list[Reason]:
        """Return the words that speak most for or against spam, the strongest first."""
        return self.answer_with_reasons(mail, n)[1]

    def answer_with_reasons(self, mail: Mail, n: int = 5) -> tuple[Answer, list[Reason]]:
        """Return what the filter says of a mail, and the words that speak most for or against spam, strongest first."""
        model = self.ledger.model()
        (answer,) = _answers(model, self.ledger.version, [mail])
        return answer, _reasons(model, mail, answer.posterior, n)

    def explain(self, mail: Mail, n: int = 20) -> Explanation:
        """Return the explanation of the answer for a mail."""
        from naively.explanation import explain

        model = self.ledger.model()
        of = SPAM if SPAM in model.classes else None
        (explanation,) = explain(model, _table([mail]), of=of, top=n, changes=False)
        lines = (replace(line, column="mail", shown=untag(line.shown)) for line in explanation.contributions)
        return replace(explanation, contributions=tuple(lines), texts=None)

    @property
    def is_tuning_due(self) -> bool:
        """Whether each class has enough mails, and all of them or those of the smallest class have grown by half."""
        model = self.ledger.model()
        weight = model.class_weights.weight
        if len(weight) < 2 or weight.min() < MIN_MAILS:
            return False
        tuning = model.tuning
        if tuning is None or set(map(str, model.classes)) != set(map(str, tuning.offsets or model.classes)):
            return True
        before = tuning.report
        grown = weight.sum() / max(1.0, before.get("mails", 1.0)), weight.min() / max(1.0, before.get("fewest", 1.0))
        return bool(max(grown) >= GROWTH)

    def tune_if_due(self) -> Entry | None:
        """Tune the model if that is due; return the entry."""
        return self.tune() if self.is_tuning_due else None

    def tune(self) -> Entry | None:
        """Choose weights and the threshold for spam from the sample; return the entry, None without mails.

        The file is not locked while that is computed.
        """
        from naively.tuning.tune import rows_to_look_at, sample_of, tune_and_predict

        model = self.ledger.model()
        sampled = self.sample.mails()
        mails, labels = list[dict[str, str]](), list[str]()
        counted = self.ledger.remembered([mail.key for mail in sampled])
        for mail, known in zip(sampled, counted, strict=True):
            if known is not None and known[0] == mail.label:
                mails.append(mail.columns | {"delivery": known[1]})
                labels.append(mail.label)
        if len(set(labels)) < 2 or len(set(labels)) < len(model.classes):
            return None
        X = {column: [columns[name] for columns in mails] for name, column in COLUMNS.items()}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # which columns are worth what is of no interest here
            sample = sample_of(model, table_of_texts(X), labels, None, rows_to_look_at(model))
            exponents: ByColumn = dict.fromkeys(COLUMNS.values(), LENGTH_EXPONENT)
            tuning, predictions = tune_and_predict(model, sample, Tuning(exponents=exponents))
        threshold = 1.0
        if SPAM in model.classes:
            position = list(model.classes).index(SPAM)
            probability = np.exp(predictions.log_posterior[:, position])
            threshold = spam_threshold(probability, predictions.label == position)
        weight = model.class_weights.weight
        report = {"mails": float(weight.sum()), "fewest": float(weight.min()), "spam_threshold": threshold}
        tuned = replace(tuning, report=dict(tuning.report) | report, importance=())
        return self.ledger.tune(tuning=tuned, source="naively mail", comment=f"spam from p={threshold:.4f} on")


def spam_threshold(
    probability: np.ndarray[Any, np.dtype[np.float64]], is_spam: np.ndarray[Any, np.dtype[np.bool_]]
) -> float:
    """Return the least probability to call a mail spam, such that at most 1 ham in 1,000 is called spam.

    Parameters
    ----------
    probability
        The probability of spam of mails that were left out.
    is_spam
        Which of them are spam.

    Returns
    -------
    float
        A probability, at least 0.9, and 0.99 below 1,000 ham mails. Of the ham of the sample, no more than one in 1,000
        is above it, or a single one; nor is more to be expected by the probabilities themselves.
    """
    ham = np.sort(probability[~is_spam])[::-1]
    n_allowed = max(1, int(MAX_FALSE_ALARMS * len(ham)))
    observed = float(ham[n_allowed]) if len(ham) > n_allowed else 0.0
    descending = np.sort(probability)[::-1]
    expected = np.cumsum(1 - descending)
    n_within = int(np.searchsorted(expected, MAX_FALSE_ALARMS * expected[-1], side="right"))
    by_probability = float(descending[min(n_within, len(descending) - 1)])
    least = MIN_SPAM_PROBABILITY if len(ham) * MAX_FALSE_ALARMS >= 1 else MIN_SPAM_PROBABILITY_OF_FEW
    return float(np.clip(np.nextafter(max(observed, by_probability), 1.0), least, MAX_PROBABILITY))


def _answers(model: Model, entry: int, mails: Sequence[Mail]) -> list[Answer]:
    if len(model.classes) < 2 or not mails:
        return [Answer(None, None, 0.0, 1.0, {}, entry) for _ in mails]
    classes = [str(label) for label in model.classes]
    rows = model.posterior(table_of_texts(_table(mails))).tolist()
    has_enough = float(model.class_weights.weight.min()) >= MIN_MAILS
    threshold = _threshold(model.tuning)
    return [_answer(dict(zip(classes, row, strict=True)), threshold, has_enough, entry) for row in rows]


def _reasons(model: Model, mail: Mail, posterior: dict[str, float], n: int) -> list[Reason]:
    """Return the words that speak most for spam, or against it and for the most probable of the other classes."""
    if len(model.classes) < 2 or not n:
        return []
    classes = list(posterior)
    spam = classes.index(SPAM) if SPAM in classes else 0
    other = max((c for c in range(len(classes)) if c != spam), key=lambda c: posterior[classes[c]])
    strongest: list[tuple[float, str]] = []
    weighted, columns = model.weighted_blocks, mail.columns
    texts = {COLUMNS[name]: text for name, text in columns.items()}
    for block, parameters, factor in zip(weighted.schema.blocks, weighted.parameters, weighted.factors, strict=True):
        words, scores = block.family.word_scores(texts[block.names[0]], parameters)
        weight, exponent = factor or (1.0, 0.0)
        if words:
            log_odds = (scores[:, spam] - scores[:, other]) * weight * len(words) ** -exponent
            order = np.argsort(-abs(log_odds), kind="stable")[:n].tolist()
            strongest += [(float(log_odds[i]), words[i]) for i in order]
    strongest.sort(key=lambda item: -abs(item[0]))
    return [Reason(untag(word), log_odds) for log_odds, word in strongest[:n]]


def _answer(posterior: dict[str, float], threshold: float, has_enough: bool, entry: int) -> Answer:
    best = max(posterior, key=lambda label: posterior[label])
    probability = posterior.get(SPAM, posterior[best])
    least = threshold if best == SPAM else MIN_OTHER_PROBABILITY
    is_sure = has_enough and posterior[best] >= least
    return Answer(best if is_sure else None, best, probability, threshold, posterior, entry)


def _threshold(tuning: Tuning | None) -> float:
    return MAX_PROBABILITY if tuning is None else tuning.report.get("spam_threshold", MAX_PROBABILITY)


def _table(mails: Iterable[Mail]) -> dict[str, list[str]]:
    rows = [mail.columns for mail in mails]
    return {column: [row[name] for row in rows] for name, column in COLUMNS.items()}


def _check_label(label: str) -> None:
    """Refuse a name of a class that an answer could not show."""
    if not label.strip() or not label.isprintable() or label == UNSURE:
        raise InputError(f"{label!r} cannot be the name of a class: give a word such as spam, ham or work.")


def _check_columns(path: Path, names: Iterable[str]) -> None:
    """Refuse a model of something else, or of another extractor."""
    if set(names) == set(COLUMNS.values()):
        return
    if any("(extractor " in name for name in names):
        raise InputError(
            f"{path}: was written by another extractor of mails ({', '.join(names)}), and this naively has number "
            f"{EXTRACTOR}: their words differ, so nothing can be learnt or forgotten. Learn the mails in a new file."
        )
    raise InputError(f"{path}: is a model, but not of mails: learn mails in a new file.")


def _logit(probability: float) -> float:
    bounded = min(max(probability, 1e-12), 1 - 1e-12)
    return float(np.log(bounded) - np.log1p(-bounded))
