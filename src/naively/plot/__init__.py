"""Pictures: one function per picture, each returns a matplotlib `Figure`; `figure.savefig("name.svg")` writes it.

A notebook shows them. They draw an explanation, a model or an estimator, an evaluation, or labels with probabilities.
matplotlib is imported when a picture is drawn: `pip install "naively[plot]"`.
"""

from naively.plot.calibration import calibration
from naively.plot.confusion import confusion
from naively.plot.distributions import distributions
from naively.plot.importance import importance
from naively.plot.nomogram import nomogram
from naively.plot.ranking import precision_recall, roc
from naively.plot.waterfall import waterfall
from naively.plot.words import words

__all__ = [
    "calibration",
    "confusion",
    "distributions",
    "importance",
    "nomogram",
    "precision_recall",
    "roc",
    "waterfall",
    "words",
]
