// Small integers as values of columns: their range, how often each occurs with each class, and scores.
//
// Value v of column j, v in [0, size_j), has slot offset_j + v, offset_j = Σ_{i<j} size_i. All other values, and NaN,
// are missing: they are neither counted nor scored.
#pragma once
#include <cstdint>
#include <vector>

#include "counts/cells.hpp"
#include "counts/count.hpp"
#include "counts/linear_score.hpp"
#include "support/any_number.hpp"

namespace naively::counts {

struct ColumnRange {
  explicit ColumnRange(std::int64_t p) : minimum(p), maximum(p), integral(p), missing(p) {}
  Buffer<double> minimum, maximum;  // +∞ and −∞ where there is no value
  Buffer<bool> integral, missing;   // all values are finite integers; there is a NaN
};
ColumnRange column_range(const Matrix& x, int n_threads);

struct Codes {
  Matrix x;
  const std::int64_t* sizes;  // (p), each ≥ 0, with a sum below 2^31 − 1
};

std::int64_t n_slots(const Codes& codes);  // Σ sizes

// weight and rows are (n_classes, Σ sizes), and overwritten.
void count_codes(const Codes& codes, const Labels& labels, double* weight, std::int64_t* rows, int n_threads);
// table is (Σ sizes, n_classes) and may hold −∞.
void score_codes(const Codes& codes, const double* table, Scores scores, int n_threads);

}  // namespace naively::counts
