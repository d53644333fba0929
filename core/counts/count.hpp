// Count tokens per class: occurrences Σ w·x, documents Σ w and rows of every (class, token) that occurs.
//
// Rows are taken class by class (tokens one by one if the matrix is stored by columns) and added up in a scratch line
// of cells; those that are not empty are then collected. Nothing of size classes × tokens is allocated. Integers
// without weights are added as integers, two counts in one word. All other numbers go to compensated sums.
#pragma once
#include <cstdint>

#include "counts/cells.hpp"
#include "counts/matrix_lines.hpp"
#include "support/labels.hpp"

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

}  // namespace naively::counts
