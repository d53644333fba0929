"""Evaluation of predictions and probabilities, and the comparison of two models."""

from naively.evaluation.comparison import Comparison, compare
from naively.evaluation.curves import CalibrationBin, ClassMetrics
from naively.evaluation.evaluate import Coverage, Evaluation, evaluate
from naively.evaluation.intervals import Estimate
from naively.evaluation.thresholds import Threshold, Thresholds

__all__ = [
    "CalibrationBin",
    "ClassMetrics",
    "Comparison",
    "Coverage",
    "Estimate",
    "Evaluation",
    "Threshold",
    "Thresholds",
    "compare",
    "evaluate",
]
