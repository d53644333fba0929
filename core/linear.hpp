// Scores that are linear in counts: out[i, c] += Σ_k x_ik·table[k, c] + L_i·constant[c], L_i = Σ_k x_ik.
//
// Entries that are NaN, and tokens that are unknown (table[k, 0] is NaN), are left out of both sums.
// Terms are added in pieces of at most 256, and the pieces by compensated sums: the error is below
// 256·2^−53 < 3e-14 of Σ|terms| however long the row.
#pragma once
#include <cstdint>

#include "lines.hpp"

namespace naively::cells {

// Sums of selected rows of a row-major table, a tile of its columns at a time, kept in registers.
// part[c] = Σ_k x[k]·table[token[k], c] for c < width; returns Σ_k x[k]. Tokens must be in range.
double sum_rows(const std::int32_t* token, const double* x, std::int64_t n, const double* table, std::int64_t width,
                double* part);
// The same with every x = 1 and every token known; entries of the table may be −∞.
void sum_rows(const std::int32_t* token, std::int64_t n, const double* table, std::int64_t width, double* part);

struct Scores {
  double* out;  // (n, n_classes), increased
  std::int64_t n_classes;
};

void score_lines(const Lines& rows, const double* table, const double* constant, Scores scores, int n_jobs);
void score_matrix(const Matrix& x, const double* table, const double* constant, Scores scores, int n_jobs);

// table[k, c] = base[k] + value, value ≠ 0 only for the classes listed for token k.
struct SparseTable {
  std::int64_t n_tokens, size;
  const double* base;           // NaN: unknown
  const std::int64_t* indptr;   // (n_tokens + 1)
  const std::int32_t* classes;  // (size)
  const double* values;         // (size)
};
void score_lines(const Lines& rows, const SparseTable& table, const double* constant, Scores scores, int n_jobs);

}  // namespace naively::cells
