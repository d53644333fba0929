// The log-loss of calibrated scores and its derivatives:
//
//   s_ic = a_ic + b_c + Σ_j w_j e_jic,     loss = Σ_i r_i (log Σ_c exp s_ic − s_iy)
//
// a is (row, class), e (feature, row, class), y the class of a row and r its weight.
#pragma once
#include <cstdint>

namespace naively::posterior {

struct ScoredRows {
  std::int64_t n_rows, n_classes, n_features;
  const double *base, *evidence;  // a, e
  const std::int64_t* label;
  const double* row_weight;
  const double *offset, *weight;  // b, w
};

// Returns the loss; of_offset (class,) and of_weight (feature,) become its slopes, posterior (row, class) exp s over
// its sum.
double log_loss(const ScoredRows& rows, double* offset_slope, double* weight_slope, double* posterior);

}  // namespace naively::posterior
