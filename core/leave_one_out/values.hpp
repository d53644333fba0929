// Score rows of one value per column as if they had not been counted.
//
//   score_c = Σ_j log (N_kc + α_kc) − log (N_jc + A_jc)     k the value in column j, N_j and A_j sums over the column
//
// A row of weight w is removed from N_ky and N_jy of its class y. A class without counts in a column gets those of all
// classes, themselves without the row. A value that loses its last row is not evidence, unless it is declared.
#pragma once
#include <cstdint>

#include "leave_one_out/score_table.hpp"

namespace naively::leave_one_out {

// The cells are the values of all columns, one column after the other: those of column j begin at start[j]. Counts,
// rows and alpha are (value, class), total_alpha is (column, class).
struct ValueCells {
  std::int64_t n_values, n_columns, n_classes;
  const double* weight;
  const std::int64_t* rows;
  const double* alpha;
  const double* total_alpha;
  const std::int64_t* start;
  const std::int64_t* rows_until_unknown;  // (value,): as many rows must leave until the value is not evidence
};

// value is (row, column), −1 if missing. Row i was counted in class label[i] with a weight, and as `rows` rows.
struct ValueRows {
  std::int64_t n;
  const std::int64_t* value;
  const std::int32_t* label;
  const double* weight;
  const std::int64_t* rows;
};

// A value that was never counted, and the rows and weight that its row would leave behind. row is −1 if there is none.
struct UncountedValue {
  std::int64_t row = -1, column = -1, rows = 0;
  double weight = 0;
};

// Adds to `out`, unless a value was never counted: returns the first of these.
UncountedValue leave_values_out(const ValueRows& rows, const ValueCells& cells, const ScoreTable& out, int n_threads);

}  // namespace naively::leave_one_out
