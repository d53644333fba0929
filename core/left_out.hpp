// Rows of tokens scored as if they had not been counted.
//
//   multinomial   score_c = Σ_k x_k log(N_kc + α_k) − L log(N_c + A)                                                  (1)
//   complement    score_c = −Σ_k x_k log(N_k − N_kc + α_k) + L log(N − N_c + A)                                       (2)
//
// Row i, w times x_k, leaves N_ky of its class y, and with it N_k, N_y and N. A token whose last row leaves is no
// evidence (if it fades), and takes its α out of A (if the distribution shrinks). A class without a token takes the counts
// of all classes. All α_k of known tokens are above 0.
#pragma once
#include <cstdint>

namespace naively::cells {

// Row i has the tokens index[indptr[i], indptr[i + 1]), count times each, and leaves as `rows` rows of a cell for
// each of `times` (or 1).
struct LeavingRows {
  std::int64_t n;
  const std::int64_t* indptr;
  const std::int32_t* index;
  const double* count;
  const std::int64_t* times;  // null: all 1
  const std::int32_t* label;
  const double* weight;
  const std::int64_t* rows;
};

// Cells of token k are [start[k], start[k + 1]), their classes ascending.
struct TokenCells {
  std::int64_t n_tokens, n_classes;
  const std::int64_t* start;
  const std::int32_t* owner;
  const double* sum;
  const std::int64_t* rows;
  const double* alpha;
  const bool *known, *fades;
  bool shrinks;
};

// An entry that was never counted: what its row would leave behind; row −1 if there is none.
struct NotCounted {
  std::int64_t row = -1, token = -1, rows = 0;
  double sum = 0;
};

// Adds to out (n, n_classes); of several rows that were not counted, tells of the first, and out is then of no use.
NotCounted leave_out(const LeavingRows& rows, const TokenCells& cells, bool complement, double* out, int n_jobs);

}  // namespace naively::cells
