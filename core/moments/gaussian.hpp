// The log density of every row under every class, columns independent and normal:
//
//   out_ic += Σ_j −½ (log 2πσ²_cj + z²_ijc),   z_ijc = (x_ij − μ_cj) / σ_cj                      (1)
//
// over the columns j whose x_ij is not missing (NaN).
#pragma once
#include <cstddef>

#include "support/table.hpp"

namespace naively::dense {

struct Oddities {
  std::ptrdiff_t infinite;  // the first column that holds an infinity, and then out is not to be used; or −1
  bool missing;             // whether any value is
};

// mean and variance are (classes, columns), out (rows, classes).
Oddities score_gaussian(const Table& x, const double* mean, const double* variance, std::ptrdiff_t classes, double* out,
                        int n_jobs);

}  // namespace naively::dense
