// Counting tokens per class: occurrences Σ w·x, documents Σ w and rows of every (class, token) that occurs.
//
// Rows are taken class by class (or tokens one by one, when the matrix lies by columns) and added up in a
// scratch line of accumulators, from which what is not zero is collected. Nothing of size classes × tokens is made.
// Whole numbers without weights are added as integers, two counts in one word; all else by compensated sums
// (Neumaier 1974), so that a sum is correctly rounded but for a few ulps whatever the number of rows.
#pragma once
#include <cstdint>

#include "counts/cells.hpp"
#include "counts/matrix_lines.hpp"

namespace naively::cells {

struct Labels {
  const std::int32_t* label;
  const double* weight;  // null: all 1
  std::int64_t n, n_classes;
};

struct Counted {
  Cells cells;                                  // two sums: occurrences, documents
  Cells missing;                                // one sum: the weight of rows whose entry is NaN
  std::int64_t negative = -1, fractional = -1;  // smallest columns with an entry < 0 or infinite; not whole
};

Counted count_rows(const Lines& rows, const Labels& labels, int n_jobs);
Counted count_columns(const Lines& columns, const Labels& labels, int n_jobs);
Counted count_dense(const Matrix& x, const Labels& labels, int n_jobs);

// Throws std::invalid_argument if a label is outside [0, n_classes).
void check_labels(const Labels& labels);

}  // namespace naively::cells
