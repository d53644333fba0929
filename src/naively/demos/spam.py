"""The coins and the die that write mail (documents 000 and 003): `python -m naively.demos.spam`.

    φ                    the first coin: spam or ham                        (1)
    φ_j|c                word j's coin in box c: is it in the mail?         (2)
    θ_k|c                face k of die c: which word comes next?            (3)

A model with known coins writes mail; counting the mail gives the coins back. Then what goes wrong with few mails,
how adding one repairs it, and what the prior does.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

import naively

__all__ = ["COINS", "DICE", "MAILBOX", "die_probabilities", "main", "true_coins", "true_dice", "word_probabilities"]

PRIOR = {"ham": 0.7, "spam": 0.3}
COINS = {"meeting": (35, 2), "lunch": (20, 1), "please": (30, 40), "free": (5, 45), "winner": (1, 20)}  # % ham, % spam
DICE = {"meeting": (6, 1), "lunch": (4, 1), "please": (5, 4), "free": (3, 9), "winner": (2, 5)}  # per 20 words
MAILBOX = [
    ("spam", "viagra free"),
    ("spam", "free"),
    ("spam", "free please"),
    ("ham", "mahalanobis please"),
    ("ham", "please"),
    ("ham", "please"),
    ("ham", "please free"),
    ("ham", ""),
]


def true_coins() -> naively.Model:
    """The model with the coins that we want: of 100 mails of each class, so many have the word. Only totals matter."""
    mails = {word: [row < percent for percent in percents for row in range(100)] for word, percents in COINS.items()}
    return naively.fit(
        mails, ["ham"] * 100 + ["spam"] * 100, columns=naively.Bernoulli(a=0, b=0), prior=PRIOR, tune=False
    )


def true_dice() -> naively.Model:
    """The model with the dice that we want: one average mail of 20 words for each class."""
    return naively.fit(DICE, ["ham", "spam"], columns=naively.Multinomial(alpha=0), prior=PRIOR, tune=False)


def word_probabilities(model: naively.Model) -> NDArray[np.float64]:
    """p(word | class), (word, class): what a mail of which only this one word is known says of each class."""
    n = len(model.schema.names)
    only = np.where(np.eye(n) == 1, 1.0, np.nan)
    rows = dict(zip(model.schema.names, only, strict=True))
    return np.exp(model.log_joint(rows) - model.log_prior)


def die_probabilities(model: naively.Model) -> NDArray[np.float64]:
    """p(face | class), (word, class): what a mail of this one word says of each class."""
    rows = dict(zip(model.schema.names, np.eye(len(model.schema.names), dtype=np.int64), strict=True))
    return np.exp(model.log_joint(rows) - model.log_prior)


def mailbox(words: Sequence[str], mails: Sequence[str]) -> dict[str, list[bool]]:
    """Mails as a table: is the word there?"""
    return {word: [word in mail.split() for mail in mails] for word in words}


def show_recovery(
    model: naively.Model, truth: NDArray[np.float64], found: NDArray[np.float64], trials: NDArray[np.float64]
) -> None:
    """Probabilities that wrote the mail beside those counted, with the standard error to expect."""
    print(f"\n   {'':12}{'ham: true':>11}{'counted':>9}{'+-':>8}{'spam: true':>13}{'counted':>9}{'+-':>8}")
    error = np.sqrt(truth * (1 - truth) / trials)
    for word, t, f, e in zip(model.schema.names, truth, found, error, strict=True):
        print(f"   {word:12}{t[0]:>11.3f}{f[0]:>9.3f}{e[0]:>8.3f}{t[1]:>13.3f}{f[1]:>9.3f}{e[1]:>8.3f}")


def show_coins(n: int = 5000) -> None:
    """Generate mail with the coins and get them back."""
    truth = true_coins()
    mails = truth.sample(n, seed=1)
    print("Where does mail come from? From coins and dice, the documents say.")
    print("\n1. The coins. Flip one: spam (p = 0.3) or ham. Then flip one coin per word, from that box:")
    print("   heads, and the word is written. truth.sample(...) wrote, for instance:\n")
    for row in mails.slice(0, 5).to_pylist():
        label = row.pop("class")
        print(f"   {label:5} {', '.join(word for word, there in row.items() if there) or '(none of the words)'}")
    model = naively.fit(mails, "class", columns=naively.Bernoulli(a=0, b=0), tune=False)
    print(f"\n2. Forget the coins, keep {n:,} mails and count. That is all of training:")
    print('   model = naively.fit(mails, "class", columns=Bernoulli(a=0, b=0), tune=False)')
    spam = float(np.exp(model.log_prior[1]))
    print(f"   p(spam): true 0.300, counted {spam:.3f}")
    show_recovery(model, word_probabilities(truth), word_probabilities(model), model.class_counts)


def show_dice(n: int = 2000) -> None:
    """Generate mail with the dice and get them back."""
    truth = true_dice()
    mails = truth.sample(n, seed=2)
    print("\n3. The dice. A mail of about 20 words is 20 rolls of one die, so words can come twice.")
    print(f"   {n:,} mails, counted with Multinomial(alpha=0); the first one:\n")
    first = mails.slice(0, 1).to_pylist()[0]
    print(f"   {first.pop('class'):5} {', '.join(f'{word} x{count}' for word, count in first.items() if count)}")
    model = naively.fit(mails, "class", columns=naively.Multinomial(alpha=0), tune=False)
    rolls = [sum(sum(row[w] for w in DICE) for row in mails.to_pylist() if row["class"] == c) for c in model.classes]
    show_recovery(model, die_probabilities(truth), die_probabilities(model), np.array(rolls, dtype=np.float64))


def small_model(a: float) -> naively.Model:
    """The eight mails of `MAILBOX` with a Beta(a, a) prior on every coin."""
    words = sorted({word for _, mail in MAILBOX for word in mail.split()})
    table = mailbox(words, [mail for _, mail in MAILBOX])
    return naively.fit(table, [label for label, _ in MAILBOX], columns=naively.Bernoulli(a=a, b=a), tune=False)


def p_spam(model: naively.Model, mail: str) -> float:
    """p(spam | mail)."""
    with warnings.catch_warnings():  # the demo says in words what the warning says
        warnings.simplefilter("ignore", naively.ImpossibleRowsWarning)
        return float(model.posterior(mailbox(list(model.schema.names), [mail]))[0, model.classes.index("spam")])


def show_zero() -> None:
    """Maximum likelihood's zero, and Laplace's repair."""
    plain, smooth = small_model(0), small_model(1)
    print("\n4. Now only eight mails, three of them spam:\n")
    for label, mail in MAILBOX:
        print(f"   {label:5} {mail or '(none of the words)'}")
    print('\n   "viagra" came once, in spam; "mahalanobis" once, in ham. Counting alone (maximum')
    print("   likelihood) makes the rest impossible; adding one to each side (Laplace) only unlikely:\n")
    print(f"   {'p(word | class)':22}{'counted':>12}{'add one':>22}{'naively':>10}")
    probabilities = dict(zip(smooth.schema.names, word_probabilities(smooth), strict=True))
    for word in ("viagra", "mahalanobis"):
        for label, value in zip(smooth.classes, probabilities[word], strict=True):
            mails = [mail.split() for of, mail in MAILBOX if of == label]
            have, n = sum(word in mail for mail in mails), len(mails)
            added = f"({have}+1)/({n}+2) = {Fraction(have + 1, n + 2)}"
            print(f"   {word + ' | ' + label:22}{f'{have}/{n}':>12}{added:>22}{value:>10.4f}")
    both = "viagra mahalanobis"
    ham, spam = np.exp(plain.log_joint(mailbox(list(plain.schema.names), [both]))[0])
    print(f"\n   A mail with both words. Maximum likelihood: p(mail, ham) = {ham:.0f}, p(mail, spam) = {spam:.0f},")
    print("   impossible either way, 0/0. naively warns of such rows and answers with the prior,")
    print(f"   p(spam) = {p_spam(plain, both):.3f}. With one added: p(spam) = {p_spam(smooth, both):.3f}.")


def show_priors() -> None:
    """The same coins in two mailboxes."""
    model = true_coins()
    mail = "free please"
    row = mailbox(list(COINS), [mail])
    print(f'\n5. The prior. The same coins, the same mail ("{mail}"), two mailboxes:\n')
    for share in (0.01, 0.5):
        there = model.with_prior({"ham": 1 - share, "spam": share})
        odds, start = float(there.odds(row, of="spam")[0]), share / (1 - share)
        said = f"p(spam) = {p_spam(there, mail):.3f}   {there.predict(row)[0]}"
        print(f"   {share:4.0%} spam: odds {start:7.4f} x {odds / start:.2f} = {odds:8.4f}   {said}")
    print("\n   The evidence multiplies the odds by the same number; where they start is the prior.")
    print("   model.with_prior({...}) changes it without counting again.")


def main() -> None:
    """All steps, in order."""
    show_coins()
    show_dice()
    show_zero()
    show_priors()


if __name__ == "__main__":
    main()
