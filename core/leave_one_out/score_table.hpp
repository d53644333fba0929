// Scores (row, column, class) in memory of the caller.
#pragma once
#include <cstdint>

namespace naively::leave_one_out {

// The scores of one row and column are neighbours; rows and columns may be in any order.
struct ScoreTable {
  double* data;
  std::int64_t row_step, column_step;
  double* at(std::int64_t i, std::int64_t j) const { return data + i * row_step + j * column_step; }
};

}  // namespace naively::leave_one_out
