// Score numbers as if their row had not been counted, with a Gaussian per class and column.
//
//   score_c = −½ log 2πv_c − (x − μ_c)² / 2v_c                                                                  (1)
//   v_c = (S_c + ν v_within) / (n_c − d + ν)          n_c the weight, S_c the sum of squares about the mean      (2)
//
// v_within = Σ_c S_c / Σ_c n_c. A row of weight w leaves the mean and the squares of its class y by the rule
//
//   n' = n − w,   μ' = μ − w (x − μ) / n',   S' = S − w (x − μ)² n / n'                                          (3)
//
// and all classes together likewise. So v_within depends on the row, and v_c of the other classes does a little.
// Exceptions to (2) are those of families/gaussian.py. Where (3) would lose digits, the number is reported instead.
#pragma once
#include <cstdint>
#include <vector>

#include "leave_one_out/score_table.hpp"

namespace naively::leave_one_out {

// Weight, rows, mean and squares, (class, column) or, of all classes together, (column,).
struct MomentTable {
  const double* weight;
  const std::int64_t* rows;
  const double *mean, *squares;
};

struct GaussianSettings {
  double ddof, floor, pooled_rows;  // d, the least variance as a share of that of the column, ν
  bool pool_zero_variance;
};

// Numbers (row, column), NaN if missing. Row i was counted in class label[i] with a weight, and as `rows` rows.
struct NumberRows {
  std::int64_t n, n_columns;
  const double* value;
  const std::int32_t* label;
  const double* weight;
  const std::int64_t* rows;
};

// Adds (1) to `out`. Returns the positions i · n_columns + j of numbers that need exact arithmetic, in order; nothing
// is added for them. They are: infinite numbers, those without which little spread is left, and those of columns that
// are constant or whose variance is near the limits of a double.
std::vector<std::int64_t> leave_gaussian_out(const NumberRows& rows, std::int64_t n_classes, const MomentTable& classes,
                                             const MomentTable& pooled, const GaussianSettings& settings,
                                             const ScoreTable& out, int n_threads);

}  // namespace naively::leave_one_out
