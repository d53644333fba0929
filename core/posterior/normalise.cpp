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

// Equation (1): what is added for each class, and the rest that its posterior is multiplied by.
struct Floor {
  double rest = 1;
  std::vector<double> share;

  Floor(double floor, const double* log_prior, std::ptrdiff_t classes) : rest(1 - floor), share(classes) {
    const auto n_impossible = std::count(log_prior, log_prior + classes, kImpossible);
    for (std::ptrdiff_t c = 0; c < classes; ++c) {
      share[c] = log_prior[c] == kImpossible ? 0 : floor / static_cast<double>(classes - n_impossible);
    }
  }
};

// Applies (1) to posteriors, and takes their logarithms if these are wanted.
void raise_to_floor(double* value, std::ptrdiff_t rows, const Floor& floor, PosteriorKind kind) {
  const auto classes = static_cast<std::ptrdiff_t>(floor.share.size());
  for (double *row = value, *end = value + rows * classes; row < end; row += classes) {
    for (std::ptrdiff_t c = 0; c < classes; ++c) {
      const double posterior = floor.rest * row[c] + floor.share[c];
      row[c] = kind == PosteriorKind::kLogarithm ? std::log(posterior) : posterior;
    }
  }
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
                         PosteriorKind kind, double floor, int n_threads) {
  if (classes == 0) return 0;
  const Floor least(floor, log_prior, classes);
  const PosteriorKind first_kind = floor > 0 ? PosteriorKind::kProbability : kind;
  const std::ptrdiff_t step = rows_of_chunk(classes);
  std::atomic<std::ptrdiff_t> n_without_class{0};
  support::parallel_for((rows + step - 1) / step, n_threads, [&](std::ptrdiff_t chunk) {
    const std::ptrdiff_t end = std::min(rows, (chunk + 1) * step), part = (step + 15) / 16;
    std::vector<double> scratch(part * classes);
    for (std::ptrdiff_t i = chunk * step; i < end; i += part) {
      const std::ptrdiff_t count = std::min(part, end - i);
      n_without_class += subtract_largest(log_joint + i * classes, count, classes, log_prior);
      normalise_rows(log_joint + i * classes, count, classes, first_kind, scratch.data());
      if (floor > 0) raise_to_floor(log_joint + i * classes, count, least, kind);
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
