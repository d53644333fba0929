#include "posterior/normalise.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <vector>

#include "posterior/exponential.hpp"
#include "support/threads.hpp"

namespace naively::posterior {
namespace {

constexpr std::ptrdiff_t kChunkValues = 1 << 15;  // of a chunk of rows that stays in the cache
constexpr double kImpossible = -std::numeric_limits<double>::infinity();

std::ptrdiff_t rows_of_chunk(std::ptrdiff_t classes) {
  return std::max<std::ptrdiff_t>(1, kChunkValues / std::max<std::ptrdiff_t>(classes, 1));
}

double largest_of(const double* row, std::ptrdiff_t classes) {
  double largest = row[0];
  for (std::ptrdiff_t c = 1; c < classes; ++c) largest = row[c] > largest ? row[c] : largest;
  return largest;
}

// Subtracts the largest value of every row, after rows without a possible class got the prior.
std::ptrdiff_t subtract_largest(double* value, std::ptrdiff_t rows, std::ptrdiff_t classes, const double* log_prior) {
  std::ptrdiff_t n_without_class = 0;
  for (double *row = value, *end = value + rows * classes; row < end; row += classes) {
    double largest = largest_of(row, classes);
    if (largest == kImpossible) {
      ++n_without_class;
      std::copy_n(log_prior, classes, row);
      largest = largest_of(row, classes);
    }
    for (std::ptrdiff_t c = 0; c < classes; ++c) row[c] -= largest;
  }
  return n_without_class;
}

// Normalises rows; `exponential` has room for as many values.
void normalise_rows(double* value, std::ptrdiff_t rows, std::ptrdiff_t classes, PosteriorKind kind,
                    double* exponential) {
  std::copy_n(value, rows * classes, exponential);
  exponentiate(exponential, rows * classes);
  for (std::ptrdiff_t i = 0; i < rows; ++i) {
    double* const row = value + i * classes;
    const double* const e = exponential + i * classes;
    double sum = 0;
    for (std::ptrdiff_t c = 0; c < classes; ++c) sum += e[c];
    if (kind == PosteriorKind::kLogarithm) {
      const double log_sum = std::log(sum);
      for (std::ptrdiff_t c = 0; c < classes; ++c) row[c] -= log_sum;
    } else {
      const double inverse = 1 / sum;
      for (std::ptrdiff_t c = 0; c < classes; ++c) row[c] = e[c] * inverse;
    }
  }
}

}  // namespace

std::ptrdiff_t normalise(double* log_joint, std::ptrdiff_t rows, std::ptrdiff_t classes, const double* log_prior,
                         PosteriorKind kind, int n_threads) {
  if (classes == 0) return 0;
  const std::ptrdiff_t step = rows_of_chunk(classes);
  std::atomic<std::ptrdiff_t> n_without_class{0};
  support::parallel_for((rows + step - 1) / step, n_threads, [&](std::ptrdiff_t chunk) {
    const std::ptrdiff_t end = std::min(rows, (chunk + 1) * step), part = (step + 15) / 16;
    std::vector<double> scratch(part * classes);
    for (std::ptrdiff_t i = chunk * step; i < end; i += part) {
      const std::ptrdiff_t count = std::min(part, end - i);
      n_without_class += subtract_largest(log_joint + i * classes, count, classes, log_prior);
      normalise_rows(log_joint + i * classes, count, classes, kind, scratch.data());
    }
  });
  return n_without_class;
}

std::ptrdiff_t best_class(const double* log_joint, std::ptrdiff_t rows, std::ptrdiff_t classes, const double* log_prior,
                          std::int32_t* out, int n_threads) {
  const auto prior_class = static_cast<std::int32_t>(std::max_element(log_prior, log_prior + classes) - log_prior);
  const std::ptrdiff_t step = rows_of_chunk(classes);
  std::atomic<std::ptrdiff_t> n_without_class{0};
  support::parallel_for((rows + step - 1) / step, n_threads, [&](std::ptrdiff_t chunk) {
    std::ptrdiff_t n_here = 0;
    for (std::ptrdiff_t i = chunk * step, end = std::min(rows, i + step); i < end; ++i) {
      const double* const row = log_joint + i * classes;
      const double* const best = std::max_element(row, row + classes);
      const bool none = *best == kImpossible;
      out[i] = none ? prior_class : static_cast<std::int32_t>(best - row);
      n_here += none;
    }
    n_without_class += n_here;
  });
  return n_without_class;
}

}  // namespace naively::posterior
