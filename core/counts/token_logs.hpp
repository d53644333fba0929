// Log weights of tokens with one pseudo-count α: base_k + log(1 + N_kc/α), the last term zero without a cell (equation
// 4 of src/naively/families/multinomial.py). The tables are token-major, as scoring reads them, and made directly from
// class-major cells.
#pragma once
#include <cstddef>
#include <cstdint>

#include "support/memory.hpp"

namespace naively::counts {

using support::LargeArray;

// Class c's cells are [indptr[c], indptr[c + 1]), ascending in `index`; `count` is N of each.
struct CountCells {
  std::size_t n_classes, n_cells, n_tokens;
  const std::int64_t* indptr;
  const std::int32_t* index;
  const double* count;
};

// (token, class).
LargeArray<double> token_log_table(const CountCells& cells, const double* base, double alpha, int n_threads);

// Token k's classes and values are [start[k], start[k + 1]).
struct TokenLogs {
  LargeArray<std::int64_t> start;
  LargeArray<std::int32_t> owner;
  LargeArray<double> value;
};
TokenLogs token_logs(const CountCells& cells, double alpha, int n_threads);

}  // namespace naively::counts
