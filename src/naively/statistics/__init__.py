"""One additive statistic per file; see `base.py` for the laws that they keep."""

from naively.data.views import Coded, Numbers, Texts, Value, Values
from naively.statistics.base import NegativeCountError, Statistic
from naively.statistics.class_weights import ClassWeights
from naively.statistics.empty import Nothing
from naively.statistics.histogram import Histogram
from naively.statistics.moments import Moments, TooLargeError
from naively.statistics.number_summary import Measured
from naively.statistics.sums import Sums
from naively.statistics.token_counts import TokenCounts
from naively.statistics.value_counts import ValueCounts
from naively.statistics.word_counts import WordCounts

__all__ = [
    "ClassWeights",
    "Coded",
    "Histogram",
    "Measured",
    "Moments",
    "NegativeCountError",
    "Nothing",
    "Numbers",
    "Statistic",
    "Sums",
    "Texts",
    "TokenCounts",
    "TooLargeError",
    "Value",
    "ValueCounts",
    "Values",
    "WordCounts",
]
