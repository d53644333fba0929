// Scores that are linear in counts: out[i, c] += Σ_k x_ik·table[k, c] + L_i·constant[c], L_i = Σ_k x_ik.
//
// Entries that are NaN and tokens that are unknown (table[k, 0] is NaN) are left out of both sums. Terms are added in
// pieces of at most 256, and the pieces by compensated sums. The error is below 256·2^−53 < 3e-14 of Σ|terms| for rows
// of any length.
#pragma once
#include <cstdint>

#include "counts/count.hpp"

namespace naively::counts {

// The terms of a sum: x[k] times the row of a table that token[k] names, k < n. Tokens must be in range.
struct Terms {
  const std::int32_t* token;
  const double* x;  // null: all 1, and every token is known; entries of the table may then be −∞
  std::int64_t n;
  std::int64_t readable;  // tokens from token[0] on that are known to be in range, n or more: to be prefetched
};

struct Length {
  double sum;      // Σ_k x[k]
  bool is_finite;  // whether all x[k] are
};

// Sums rows of a row-major table, a tile of its columns at a time in registers:
// part[c] = Σ_k x[k]·table[token[k], c] for c < width.
Length sum_rows(const Terms& terms, const double* table, std::int64_t width, double* part);

struct Scores {
  double* out;  // (n, n_classes), increased
  std::int64_t n_classes;
  double* length = nullptr;  // (n,), increased by L_i, unless null
};

// Each returns whether all entries are finite. An infinite entry spoils its row; a missing one is left out.
bool score_lines(const MatrixLines& rows, const double* table, const double* constant, Scores scores, int n_threads);
bool score_matrix(const Matrix& x, const double* table, const double* constant, Scores scores, int n_threads);

// table[k, c] = base[k] + value, value ≠ 0 only for the classes listed for token k.
struct SparseTable {
  std::int64_t n_tokens, size;
  const double* base;           // NaN: unknown
  const std::int64_t* indptr;   // (n_tokens + 1)
  const std::int32_t* classes;  // (size)
  const double* values;         // (size)
};
bool score_lines(const MatrixLines& rows, const SparseTable& table, const double* constant, Scores scores,
                 int n_threads);

// Adds table[slot] of every code of a row; the table is (Σ sizes, n_classes) and may hold −∞.
void score_codes(const Codes& codes, const double* table, Scores scores, int n_threads);

}  // namespace naively::counts
