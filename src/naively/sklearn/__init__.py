"""The scikit-learn face: `NaiveBayes`, and drop-ins for the five classes of `sklearn.naive_bayes`."""

from naively.sklearn.categorical import CategoricalNB
from naively.sklearn.counts import BernoulliNB, ComplementNB, MultinomialNB
from naively.sklearn.gaussian import GaussianNB
from naively.sklearn.naive_bayes import NaiveBayes

__all__ = ["BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "MultinomialNB", "NaiveBayes"]
