// Rows of one value per column scored as if they had not been counted.
//
//   score_c = Σ_j log (N_kc + α_kc) − log (N_jc + A_jc)     k the value in column j, N_j and A_j sums over the column
//
// A row of weight w leaves N_ky and N_jy of its class y. A class that has nothing (left) in a column takes the counts
// of all classes, themselves without the row. A value whose last row leaves is no evidence, unless it lasts.
#pragma once
#include <cstdint>

namespace naively::cells {

// Slots are the values of all columns, one column after the other: those of column j begin at start[j]. Counts, rows
// and alpha are (slot, class), whole_alpha is (column, class).
struct ValueSlots {
  std::int64_t n_slots, n_columns, n_classes;
  const double* weight;
  const std::int64_t* rows;
  const double* alpha;
  const double* whole_alpha;
  const std::int64_t* start;
  const std::int64_t* lasting;  // (slot,): so many rows must leave until it is no evidence
};

// slot is (row, column), −1 where a value is missing; row i leaves class label[i] with its weight, as so many rows.
struct LeavingValues {
  std::int64_t n;
  const std::int64_t* slot;
  const std::int32_t* label;
  const double* weight;
  const std::int64_t* rows;
};

// A value that was never counted, and what its row would leave behind; row −1 if there is none.
struct ValueNotCounted {
  std::int64_t row = -1, column = -1, rows = 0;
  double weight = 0;
};

// Adds to out (row, column, class), unless some value was never counted: tells of the first.
ValueNotCounted leave_values_out(const LeavingValues& leaving, const ValueSlots& slots, double* out, int n_jobs);

}  // namespace naively::cells
