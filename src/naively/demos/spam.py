"""The coins and the dice that write mail. Run it with `naively demo spam`.

    φ                    the first coin: spam or ham                        (1)
    φ_j|c                word j's coin in class c: is it in the mail?       (2)
    θ_k|c                face k of die c: which word comes next?            (3)

A model with known coins writes mail, and counting the mail gives the coins back. Then the demo shows what goes wrong
with few mails, how adding one repairs it, and what the prior does.
Source: D. S. Rubin, Naive Bayes (NB) Classifiers; G. Kunapuli, Naïve Bayes (documents 000 and 003 of
docs/equations.md).
"""

import warnings
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

import naively

Floats = NDArray[np.float64]

PRIOR = {"ham": 0.7, "spam": 0.3}
COINS = {"meeting": (35, 2), "lunch": (20, 1), "please": (30, 40), "free": (5, 45), "winner": (1, 20)}  # % ham, % spam
DICE = {"meeting": (6, 1), "lunch": (4, 1), "please": (5, 4), "free": (3, 9), "winner": (2, 5)}  # per 20 words
MAILBOX = [
    *(("spam", "viagra free"), ("spam", "free"), ("spam", "free please"), ("ham", "mahalanobis please")),
    *(("ham", "please"), ("ham", "please"), ("ham", "please free"), ("ham", "")),
]


def true_coins() -> naively.Model:
    """Return the model with the coins of `COINS`: of 100 mails of each class, this many have the word."""
    mails = {word: [row < percent for percent in percents for row in range(100)] for word, percents in COINS.items()}
    labels = ["ham"] * 100 + ["spam"] * 100
    return naively.fit(mails, labels, columns=naively.Bernoulli(a=0, b=0), prior=PRIOR, tune=False)


def true_dice() -> naively.Model:
    """Return the model with the dice of `DICE`: one average mail of 20 words for each class."""
    return naively.fit(DICE, ["ham", "spam"], columns=naively.Multinomial(alpha=0), prior=PRIOR, tune=False)


def coin_probabilities(model: naively.Model) -> Floats:
    """Return p(word | class), (word, class): the likelihood of mails of which only one word is known."""
    is_known = np.where(np.eye(len(model.schema.names)) == 1, 1.0, np.nan)
    return np.exp(model.log_joint(dict(zip(model.schema.names, is_known, strict=True))) - model.log_prior)


def die_probabilities(model: naively.Model) -> Floats:
    """Return p(face | class), (word, class): the likelihood of mails with only one word."""
    counts = np.eye(len(model.schema.names), dtype=np.int64)
    return np.exp(model.log_joint(dict(zip(model.schema.names, counts, strict=True))) - model.log_prior)


def mailbox(words: Sequence[str], mails: Sequence[str]) -> dict[str, list[bool]]:
    """Return mails as a table: whether each word is in each mail."""
    return {word: [word in mail.split() for mail in mails] for word in words}


def show_recovery(words: Sequence[str], truth: Floats, estimate: Floats, n_trials: Floats) -> None:
    """Print true and estimated probabilities, with the standard error to expect."""
    print(f"\n   {'':12}{'ham: true':>11}{'counted':>9}{'+-':>8}{'spam: true':>13}{'counted':>9}{'+-':>8}")
    error = np.sqrt(truth * (1 - truth) / n_trials)
    for word, t, p, e in zip(words, truth, estimate, error, strict=True):
        print(f"   {word:12}{t[0]:>11.3f}{p[0]:>9.3f}{e[0]:>8.3f}{t[1]:>13.3f}{p[1]:>9.3f}{e[1]:>8.3f}")


def show_coins(n_mails: int = 5000) -> None:
    """Generate mail with the coins and estimate them from it."""
    truth = true_coins()
    mails = truth.sample(n_mails, seed=1)
    print("Where does mail come from? Suppose that coins and dice write it.")
    print("\n1. The coins. Flip one: spam (p = 0.3) or ham. Then flip one coin per word of that class:")
    print("   heads, and the word is written. truth.sample(...) wrote, for instance:\n")
    for row in mails.slice(0, 5).to_pylist():
        label = row.pop("class")
        print(f"   {label:5} {', '.join(word for word, is_in in row.items() if is_in) or '(none of the words)'}")
    model = naively.fit(mails, "class", columns=naively.Bernoulli(a=0, b=0), tune=False)
    print(f"\n2. Put the coins aside, keep {n_mails:,} mails and count. That is all of training:")
    print('   model = naively.fit(mails, "class", columns=Bernoulli(a=0, b=0), tune=False)')
    print(f"   p(spam): true 0.300, counted {float(np.exp(model.log_prior[1])):.3f}")
    show_recovery(model.schema.names, coin_probabilities(truth), coin_probabilities(model), model.class_counts)


def show_dice(n_mails: int = 2000) -> None:
    """Generate mail with the dice and estimate them from it."""
    truth = true_dice()
    mails = truth.sample(n_mails, seed=2)
    print("\n3. The dice. A mail of about 20 words is 20 rolls of one die, so words can come twice.")
    print(f"   {n_mails:,} mails, counted with Multinomial(alpha=0); the first one:\n")
    rows = mails.to_pylist()
    counts = ", ".join(f"{word} x{rows[0][word]}" for word in DICE if rows[0][word])
    print(f"   {rows[0]['class']:5} {counts}")
    model = naively.fit(mails, "class", columns=naively.Multinomial(alpha=0), tune=False)
    n_rolls = [sum(row[word] for row in rows if row["class"] == c for word in DICE) for c in model.classes]
    show_recovery(model.schema.names, die_probabilities(truth), die_probabilities(model), np.array(n_rolls, np.float64))


def small_model(a: float) -> naively.Model:
    """Return the model of the eight mails of `MAILBOX`, with a Beta(a, a) prior on every coin."""
    labels, mails = zip(*MAILBOX, strict=True)
    words = sorted({word for mail in mails for word in mail.split()})
    return naively.fit(mailbox(words, mails), labels, columns=naively.Bernoulli(a=a, b=a), tune=False)


def p_spam(model: naively.Model, mail: str) -> float:
    """Return p(spam | mail)."""
    with warnings.catch_warnings():  # the demo explains in words what the warning says
        warnings.simplefilter("ignore", naively.ImpossibleRowsWarning)
        return float(model.posterior(mailbox(model.schema.names, [mail]))[0, model.classes.index("spam")])


def show_zero() -> None:
    """Print the zero of maximum likelihood, and how Laplace repairs it."""
    plain, smooth = small_model(0), small_model(1)
    print("\n4. Now only eight mails, three of them spam:\n")
    for label, mail in MAILBOX:
        print(f"   {label:5} {mail or '(none of the words)'}")
    print('\n   "viagra" came once, in spam; "mahalanobis" once, in ham. Counting alone (maximum')
    print("   likelihood) makes the rest impossible; adding one to each side (Laplace) only unlikely:\n")
    print(f"   {'p(word | class)':22}{'counted':>12}{'add one':>22}{'naively':>10}")
    probabilities = dict(zip(smooth.schema.names, coin_probabilities(smooth), strict=True))
    for word in ("viagra", "mahalanobis"):
        for class_, p in zip(smooth.classes, probabilities[word], strict=True):
            mails = [mail.split() for mail_label, mail in MAILBOX if mail_label == class_]
            n_with, n = sum(word in mail for mail in mails), len(mails)
            by_hand = f"({n_with}+1)/({n}+2) = {Fraction(n_with + 1, n + 2)}"
            print(f"   {f'{word} | {class_}':22}{f'{n_with}/{n}':>12}{by_hand:>22}{p:>10.4f}")
    both = "viagra mahalanobis"
    ham, spam = np.exp(plain.log_joint(mailbox(plain.schema.names, [both]))[0])
    print(f"\n   A mail with both words. Maximum likelihood: p(mail, ham) = {ham:.0f}, p(mail, spam) = {spam:.0f},")
    print("   impossible in both classes, 0/0. naively warns of such rows and returns the prior,")
    print(f"   p(spam) = {p_spam(plain, both):.3f}. With one added: p(spam) = {p_spam(smooth, both):.3f}.")


def show_priors() -> None:
    """Print the same coins in two mailboxes."""
    coins, mail = true_coins(), "free please"
    row = mailbox(list(COINS), [mail])
    print(f'\n5. The prior. The same coins, the same mail ("{mail}"), two mailboxes:\n')
    for share in (0.01, 0.5):
        model = coins.with_prior({"ham": 1 - share, "spam": share})
        odds, prior_odds = float(model.odds(row, of="spam")[0]), share / (1 - share)
        result = f"p(spam) = {p_spam(model, mail):.3f}   {model.predict(row)[0]}"
        print(f"   {share:4.0%} spam: odds {prior_odds:7.4f} x {odds / prior_odds:.2f} = {odds:8.4f}   {result}")
    print("\n   The evidence multiplies the odds by the same number; they start from the prior.")
    print("   model.with_prior({...}) changes it without counting again.")


def main() -> None:
    """Run all steps, in order."""
    show_coins()
    show_dice()
    show_zero()
    show_priors()
