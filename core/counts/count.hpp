// Count tokens per class: occurrences Σ w·x, documents Σ w and rows of every (class, token) that occurs.
//
// Rows are taken class by class (tokens one by one if the matrix is stored by columns) and added up in a scratch line
// of cells; those that are not empty are then collected. Nothing of size classes × tokens is allocated. Integers
// without weights are added as integers, two counts in one word. All other numbers go to compensated sums.
#pragma once
#include <cstdint>

#include "counts/cells.hpp"
#include "counts/matrix_lines.hpp"
#include "support/inputs.hpp"

namespace naively::counts {

using support::Labels;

struct CountedCells {
  Cells cells;                                  // two sums: occurrences, documents
  Cells missing;                                // one sum: the weight of rows whose entry is NaN
  std::int64_t negative = -1, fractional = -1;  // first column with a negative or infinite entry; a fraction
};

CountedCells count_rows(const MatrixLines& rows, const Labels& labels, int n_threads);
CountedCells count_columns(const MatrixLines& columns, const Labels& labels, int n_threads);
CountedCells count_dense(const Matrix& x, const Labels& labels, int n_threads);

struct ColumnRange {
  explicit ColumnRange(std::int64_t p) : minimum(p), maximum(p), integral(p), missing(p) {}
  Buffer<double> minimum, maximum;  // +∞ and −∞ where there is no value
  Buffer<bool> integral, missing;   // all values are finite integers; there is a NaN
};
ColumnRange column_range(const Matrix& x, int n_threads);

// Small integers as values of columns. Value v of column j, v in [0, size_j), has slot offset_j + v, offset_j =
// Σ_{i<j} size_i. All other values, and NaN, are missing: they are neither counted nor scored.
struct Codes {
  Matrix x;
  const std::int64_t* sizes;  // (p), each ≥ 0, with a sum below 2^31 − 1
};

std::int64_t n_slots(const Codes& codes);  // Σ sizes

// weight and rows are (n_classes, Σ sizes), and overwritten.
void count_codes(const Codes& codes, const Labels& labels, double* weight, std::int64_t* rows, int n_threads);

}  // namespace naively::counts
