// The log-loss of rows under several tables of evidence, each on its own.
#pragma once
#include <cstdint>

namespace naively::posterior {

// Rows with scores and targets, (row, class); the targets of a row add up to 1.
struct ScoredRows {
  std::int64_t n, n_classes;
  const double *score, *target;
};

//   out_ki = log Σ_c exp(s_ic + f e_kic) − Σ_c t_ic (s_ic + f e_kic)
//
// for evidence e (table, row, class), scores s, targets t and a factor f; out is (table, row).
void row_losses(const ScoredRows& rows, std::int64_t n_tables, const double* evidence, double factor, double* out,
                int n_threads);

}  // namespace naively::posterior
