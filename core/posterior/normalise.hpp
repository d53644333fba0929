// Turn log joint probabilities into posteriors and classes. log_joint is (rows, classes). A row without a possible
// class (all −inf) gets the prior; each function returns the number of such rows.
//
// A floor ε > 0 mixes posteriors with equal probabilities of the C classes whose prior is not zero:
//
//   p_c ← (1 − ε) p_c + ε / C                                                                                     (1)
#pragma once
#include <cstddef>
#include <cstdint>

namespace naively::posterior {

enum class PosteriorKind { kLogarithm = 0, kProbability = 1 };

std::ptrdiff_t normalise(double* log_joint, std::ptrdiff_t rows, std::ptrdiff_t classes, const double* log_prior,
                         PosteriorKind kind, double floor, int n_threads);

// Writes the class of the largest log_joint, the first of several.
std::ptrdiff_t best_class(const double* log_joint, std::ptrdiff_t rows, std::ptrdiff_t classes, const double* log_prior,
                          std::int32_t* out, int n_threads);

}  // namespace naively::posterior
