// Scores that are linear in counts: out[i, c] += Σ_k x_ik·table[k, c] + L_i·constant[c], L_i = Σ_k x_ik.
//
// Entries that are NaN, and tokens that are unknown (table[k, 0] is NaN), are left out of both sums.
// Terms are added in pieces of at most 256, and the pieces by compensated sums: the error is below
// 256·2^−53 < 3e-14 of Σ|terms| however long the row.
#pragma once
#include <cstdint>

#include "counts/matrix_lines.hpp"

namespace naively::cells {

// The terms of a sum: x[k] times the row of a table that token[k] names, k < n. Tokens must be in range.
struct Terms {
  const std::int32_t* token;
  const double* x;  // null: all 1, and every token is known; then entries of the table may be −∞
  std::int64_t n;
  std::int64_t readable;  // tokens known to be in range from token[0] on, n or more: those beyond n come next
};

struct Length {
  double sum;  // Σ_k x[k]
  bool odd;    // whether an x[k] is missing or infinite
};

// Sums of selected rows of a row-major table, a tile of its columns at a time, kept in registers:
// part[c] = Σ_k x[k]·table[token[k], c] for c < width.
Length sum_rows(const Terms& terms, const double* table, std::int64_t width, double* part);

struct Scores {
  double* out;  // (n, n_classes), increased
  std::int64_t n_classes;
  double* length = nullptr;  // (n,), increased by L_i, unless null
};

// Each returns whether all entries were finite; infinite ones spoil their row, missing ones are left out.
bool score_lines(const Lines& rows, const double* table, const double* constant, Scores scores, int n_jobs);
bool score_matrix(const Matrix& x, const double* table, const double* constant, Scores scores, int n_jobs);

// table[k, c] = base[k] + value, value ≠ 0 only for the classes listed for token k.
struct SparseTable {
  std::int64_t n_tokens, size;
  const double* base;           // NaN: unknown
  const std::int64_t* indptr;   // (n_tokens + 1)
  const std::int32_t* classes;  // (size)
  const double* values;         // (size)
};
bool score_lines(const Lines& rows, const SparseTable& table, const double* constant, Scores scores, int n_jobs);

}  // namespace naively::cells
