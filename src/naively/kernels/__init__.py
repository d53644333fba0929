"""The one door to the compiled core `_core`: every kernel, typed, with its checks of shape.

Each kernel has a readable twin in `naively.kernels.twins`, which is its oracle in the tests.
"""

from naively.kernels.cells import (
    Cells,
    Counted,
    above,
    by_token,
    column_range,
    count_codes,
    count_csc,
    count_csr,
    count_dense,
    count_labels,
    merge_cells,
    renumber_cells,
    score_codes,
    score_csr,
    score_csr_sparse,
    score_dense,
)
from naively.kernels.gaps import Gapped, count_gapped_codes, fill_codes, fill_numbers
from naively.kernels.histogram import (
    MINUS_INFINITY,
    PLUS_INFINITY,
    HistogramCells,
    RunningNumbers,
    count_histogram,
    cut_histogram,
    find_bins,
    key_values,
    merge_histograms,
    score_bins,
)
from naively.kernels.left_out import LeftTokens, TokenCells, leave_text_out, leave_tokens_out
from naively.kernels.moments import (
    add_moments,
    best_class,
    count_moments,
    describe_moments,
    normalise,
    pool_moments,
    score_gaussian,
)
from naively.kernels.packing import pack_arrays
from naively.kernels.values import merge_strings

__all__ = [
    "MINUS_INFINITY",
    "PLUS_INFINITY",
    "Cells",
    "Counted",
    "Gapped",
    "HistogramCells",
    "LeftTokens",
    "RunningNumbers",
    "TokenCells",
    "above",
    "add_moments",
    "best_class",
    "by_token",
    "column_range",
    "count_codes",
    "count_csc",
    "count_csr",
    "count_dense",
    "count_gapped_codes",
    "count_histogram",
    "count_labels",
    "count_moments",
    "cut_histogram",
    "describe_moments",
    "fill_codes",
    "fill_numbers",
    "find_bins",
    "key_values",
    "leave_text_out",
    "leave_tokens_out",
    "merge_cells",
    "merge_histograms",
    "merge_strings",
    "normalise",
    "pack_arrays",
    "pool_moments",
    "renumber_cells",
    "score_bins",
    "score_codes",
    "score_csr",
    "score_csr_sparse",
    "score_dense",
    "score_gaussian",
]
