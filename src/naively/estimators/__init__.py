"""The scikit-learn face: `NaiveBayes`, and drop-ins for the five classes of `sklearn.naive_bayes`."""

from naively.estimators.categorical import CategoricalNB
from naively.estimators.counts import BernoulliNB, ComplementNB, MultinomialNB
from naively.estimators.gaussian import GaussianNB
from naively.estimators.naive_bayes import NaiveBayes

__all__ = ["BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "MultinomialNB", "NaiveBayes"]
