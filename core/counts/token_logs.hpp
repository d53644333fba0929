// What counts say of tokens under one pseudo-count α for all of them: base_k + log(1 + N_kc/α), the last term zero
// where there is no cell (src/naively/families/multinomial.py, equation 4). Token-major, as scoring reads it, straight
// from class-major cells: nothing of their size is made on the way.
#pragma once
#include <cstddef>
#include <cstdint>

#include "support/memory.hpp"

namespace naively::text {

// Class c's cells are [indptr[c], indptr[c + 1]), ascending in `index`; `count` is N of each.
struct CountCells {
  std::size_t n_classes, n_cells, n_tokens;
  const std::int64_t* indptr;
  const std::int32_t* index;
  const double* count;
};

// (token, class).
support::LargeArray<double> token_log_table(const CountCells& cells, const double* base, double alpha, int n_jobs);

// Token k's classes and values are [start[k], start[k + 1]).
struct TokenLogs {
  support::LargeArray<std::int64_t> start;
  support::LargeArray<std::int32_t> owner;
  support::LargeArray<double> value;
};
TokenLogs token_logs(const CountCells& cells, double alpha, int n_jobs);

}  // namespace naively::text
