"""Coins and dice are estimated from their mail; the zero and its repair; two mailboxes."""

import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

import naively
from naively.demos import spam


def test_true_coins_are_those_in_the_tables() -> None:
    model = spam.true_coins()
    assert model.classes == ("ham", "spam")
    assert np.exp(model.log_prior) == pytest.approx([0.7, 0.3])
    assert spam.coin_probabilities(model) == pytest.approx(np.array(list(spam.COINS.values())) / 100)


def test_true_dice_are_those_in_the_tables() -> None:
    assert spam.die_probabilities(spam.true_dice()) == pytest.approx(np.array(list(spam.DICE.values())) / 20)


def test_each_die_has_20_faces() -> None:
    assert np.array(list(spam.DICE.values())).sum(axis=0).tolist() == [20, 20]


@pytest.mark.parametrize("seed", range(3))
def test_coins_are_recovered_from_their_mail(seed: int) -> None:
    truth = spam.true_coins()
    model = naively.fit(truth.sample(20_000, seed=seed), "class", columns=naively.Bernoulli(a=0, b=0), tune=False)
    expected = spam.coin_probabilities(truth)
    error = np.sqrt(expected * (1 - expected) / model.class_counts)
    assert (np.abs(spam.coin_probabilities(model) - expected) < 4.5 * error).all()
    assert np.exp(model.log_prior[1]) == pytest.approx(0.3, abs=4.5 * np.sqrt(0.21 / 20_000))


@pytest.mark.parametrize("seed", range(3))
def test_dice_are_recovered_from_their_mail(seed: int) -> None:
    truth = spam.true_dice()
    mails = truth.sample(5_000, seed=seed)
    model = naively.fit(mails, "class", columns=naively.Multinomial(alpha=0), tune=False)
    expected = spam.die_probabilities(truth)
    error = np.sqrt(expected * (1 - expected) / (19 * model.class_counts))
    assert (np.abs(spam.die_probabilities(model) - expected) < 4.5 * error).all()


def test_maximum_likelihood_makes_the_mail_impossible() -> None:
    model = spam.small_model(0)
    row = spam.mailbox(list(model.schema.names), ["viagra mahalanobis"])
    assert np.isneginf(model.log_joint(row)).all()
    with pytest.warns(naively.ImpossibleRowsWarning):
        assert model.posterior(row)[0].tolist() == pytest.approx([5 / 8, 3 / 8])


def test_laplace_repairs_it() -> None:
    """Words in order: free, mahalanobis, please, viagra; the second and the last are in the mail."""
    ham = Fraction(5, 8) * (1 - Fraction(2, 7)) * Fraction(2, 7) * (1 - Fraction(5, 7)) * Fraction(1, 7)
    junk = Fraction(3, 8) * (1 - Fraction(4, 5)) * Fraction(1, 5) * (1 - Fraction(2, 5)) * Fraction(2, 5)
    model = spam.small_model(1)
    assert list(model.schema.names) == ["free", "mahalanobis", "please", "viagra"]
    assert spam.p_spam(model, "viagra mahalanobis") == pytest.approx(float(junk / (ham + junk)), rel=1e-12)


@pytest.mark.parametrize(("share", "answer"), [(Fraction(1, 100), "ham"), (Fraction(1, 2), "spam")])
def test_two_mailboxes_differ_by_their_prior_only(share: Fraction, answer: str) -> None:
    ham, junk = 1 - share, share
    for word, (of_ham, of_spam) in spam.COINS.items():
        is_in = word in ("free", "please")
        ham *= Fraction(of_ham if is_in else 100 - of_ham, 100)
        junk *= Fraction(of_spam if is_in else 100 - of_spam, 100)
    model = spam.true_coins().with_prior({"ham": float(1 - share), "spam": float(share)})
    assert spam.p_spam(model, "free please") == pytest.approx(float(junk / (ham + junk)), rel=1e-12)
    assert model.predict(spam.mailbox(list(spam.COINS), ["free please"])).tolist() == [answer]


def test_demo_prints_the_figures() -> None:
    code = "from naively.demos import spam; spam.main()"
    run = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert "viagra | ham                   0/5     (0+1)/(5+2) = 1/7    0.1429" in run.stdout
    assert "mahalanobis | spam             0/3     (0+1)/(3+2) = 1/5    0.2000" in run.stdout
    assert "p(mail, ham) = 0, p(mail, spam) = 0" in run.stdout
    assert "1% spam: odds  0.0101 x 18.09 =   0.1828   p(spam) = 0.155   ham" in run.stdout
    assert "50% spam: odds  1.0000 x 18.09 =  18.0923   p(spam) = 0.948   spam" in run.stdout
    assert max(map(len, run.stdout.splitlines())) <= 100
