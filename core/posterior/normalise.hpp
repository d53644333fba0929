// From log joint probabilities to posteriors and answers. log_joint is (rows, classes); a row without a possible
// class (all −inf) gets the prior, and each function returns how many such rows there were.
#pragma once
#include <cstddef>
#include <cstdint>

namespace naively::dense {

enum class Posterior { logarithm = 0, probability = 1 };

std::ptrdiff_t normalise(double* log_joint, std::ptrdiff_t rows, std::ptrdiff_t classes, const double* log_prior,
                         Posterior kind, int n_jobs);

// The first class of the largest log_joint.
std::ptrdiff_t best_class(const double* log_joint, std::ptrdiff_t rows, std::ptrdiff_t classes, const double* log_prior,
                          std::int32_t* out, int n_jobs);

}  // namespace naively::dense
