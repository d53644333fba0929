"""One additive statistic per file; see `base.py` for the laws that they keep."""

from naively._kernels.text import Tokeniser
from naively.data.views import Codes, Numbers, Texts, Value, Values
from naively.statistics.arrays import NegativeCountError
from naively.statistics.base import (
    ArrayStatistic,
    CountPlan,
    Statistic,
    ValueTable,
    register_statistic,
    statistic_named,
    statistic_names,
)
from naively.statistics.class_weights import ClassWeights
from naively.statistics.empty import EmptyStatistic
from naively.statistics.histogram import Histogram
from naively.statistics.moments import Moments, TooLargeError
from naively.statistics.number_summary import NumberSummary
from naively.statistics.row_hashes import RowHashes
from naively.statistics.sums import Sums
from naively.statistics.token_counts import TokenCounts
from naively.statistics.value_counts import ValueCounts
from naively.statistics.word_blocks import WordBlocks
from naively.statistics.word_counts import WordCounts

__all__ = [
    "ArrayStatistic",
    "ClassWeights",
    "Codes",
    "CountPlan",
    "EmptyStatistic",
    "Histogram",
    "Moments",
    "NegativeCountError",
    "NumberSummary",
    "Numbers",
    "RowHashes",
    "Statistic",
    "Sums",
    "Texts",
    "TokenCounts",
    "Tokeniser",
    "TooLargeError",
    "Value",
    "ValueCounts",
    "ValueTable",
    "Values",
    "WordBlocks",
    "WordCounts",
    "register_statistic",
    "statistic_named",
    "statistic_names",
]

for _statistic in (
    ClassWeights,
    EmptyStatistic,
    Histogram,
    Moments,
    NumberSummary,
    Sums,
    TokenCounts,
    ValueCounts,
    WordBlocks,
    WordCounts,
):
    register_statistic(_statistic)
