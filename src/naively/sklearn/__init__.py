"""The scikit-learn face: `NaiveBayes`, and drop-ins for the five classes of `sklearn.naive_bayes`."""

from naively.sklearn.drop_ins import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from naively.sklearn.naive_bayes import NaiveBayes

__all__ = ["BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "MultinomialNB", "NaiveBayes"]
