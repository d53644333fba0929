// The log density of every row under every class, columns independent and normal:
//
//   out_ic += Σ_j −½ (log 2πσ²_cj + z²_ijc),   z_ijc = (x_ij − μ_cj) / σ_cj                      (1)
//
// over the columns j whose x_ij is not NaN (missing).
#pragma once
#include <cstddef>

#include "support/table.hpp"

namespace naively::moments {

struct IrregularValues {
  std::ptrdiff_t infinite;  // the first column with an infinity, −1 if none; `out` is then of no use
  bool missing;             // whether a value is missing
};

// mean and variance are (classes, columns), out (rows, classes).
IrregularValues score_gaussian(const support::FloatTable& x, const double* mean, const double* variance,
                               std::ptrdiff_t classes, double* out, int n_threads);

}  // namespace naively::moments
