"""How good the answers and the probabilities of a model are."""

from naively.evaluation.curves import Bin, OfClass
from naively.evaluation.evaluate import Answered, Evaluation, evaluate
from naively.evaluation.intervals import Figure
from naively.evaluation.thresholds import Threshold, Thresholds

__all__ = ["Answered", "Bin", "Evaluation", "Figure", "OfClass", "Threshold", "Thresholds", "evaluate"]
