// Bins of a numeric column that inform about its classes: the cuts of greatest posterior probability under Boullé's
// prior, by which every number of bins, every set of bounds and every distribution of classes in a bin is equally
// likely.
//
//   cost = log C(N + I − 1, I − 1) + Σ_i f_i                                                                   (1)
//   f_i = log C(N_i + J − 1, J − 1) + log N_i! − Σ_j log N_ij! = log (N_i + J − 1)!/(J − 1)! − Σ_j log N_ij!   (2)
//
// for I bins with N_ij rows (or weight; x! = Γ(x + 1)) of class j in bin i. The bins begin as single keys. The two
// neighbours whose union costs least are joined until one bin remains, and the best stage is taken: O(J K log K) for K
// keys. Then cuts are moved, added and removed, one at a time, while the cost falls.
// Source: M. Boullé, MODL: a Bayes optimal discretization method for continuous attributes, Machine Learning 65
// (2006) 131–165, theorem 1 and section 3.
#pragma once
#include <cstdint>
#include <vector>

#include "histogram/histogram.hpp"

namespace naively::histogram {

// For each column the cells at which a new bin begins, but for the first; infinite keys are left out of it.
std::vector<std::vector<std::int64_t>> cut_columns(const HistogramView& columns, std::int64_t n_classes, int n_threads);

// log Γ(x + 1), to about 1e-12; unlike std::lgamma it writes to no global variable. x ≥ 0.
double log_factorial(double x);

}  // namespace naively::histogram
