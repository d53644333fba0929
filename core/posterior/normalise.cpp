#include "posterior/normalise.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <vector>

#include "support/simd.hpp"
#include "support/threads.hpp"

namespace naively::posterior {
namespace {

using support::bits_as;
using support::broadcast;
using support::greatest;
using support::kLanes;
using support::Lanes;
using support::load;
using support::Mask;
using support::store;

constexpr std::ptrdiff_t kChunkValues = 1 << 15;  // of a chunk of rows that stays in the cache
constexpr double kImpossible = -std::numeric_limits<double>::infinity();

std::ptrdiff_t rows_of_chunk(std::ptrdiff_t classes) {
  return std::max<std::ptrdiff_t>(1, kChunkValues / std::max<std::ptrdiff_t>(classes, 1));
}

// exp of x ≤ 0, within 2 units in the last place. x = k·log 2 + r with |r| ≤ ½ log 2; the product with the first 32
// bits of log 2 is exact (k < 2^11), and the rest of log 2 is a second term (as in fdlibm). exp r is its Taylor series,
// whose first neglected term is below 2^-57; 2^k is two factors, as it may be below the smallest normal number.
NAIVELY_INLINE Lanes exp_of_negative(const Lanes& x) {
  constexpr double kRound = 0x1.8p52;
  const Lanes bounded = greatest(x, broadcast(-800.0));  // exp is 0 below −745
  const Lanes k = (bounded * 1.4426950408889634 + kRound) - kRound;
  const Lanes r = (bounded - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10;
  constexpr double kSeries[] = {1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800,
                                1.0 / 362880,     1.0 / 40320,     1.0 / 5040,     1.0 / 720,
                                1.0 / 120,        1.0 / 24,        1.0 / 6,        1.0 / 2};
  Lanes sum = broadcast(kSeries[0]);
  for (int i = 1; i < 12; ++i) sum = sum * r + kSeries[i];
  sum = 1.0 + (r + r * r * sum);
  // 2^half: adding 2^52 + 1023 puts half + 1023 in the lowest bits, to be moved into the exponent.
  const Lanes half = (k * 0.5 + kRound) - kRound;
  auto power = [](const Lanes& n) { return bits_as<Lanes>(bits_as<Mask>(n + (0x1p52 + 1023)) << 52); };
  return sum * power(half) * power(k - half);
}

template <bool fused>
NAIVELY_INLINE void exponentiate_body(double* values, std::ptrdiff_t n) {
  std::ptrdiff_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(values + i, exp_of_negative(load(values + i)));
  if (i < n) {
    double last[kLanes] = {};
    std::copy(values + i, values + n, last);
    store(last, exp_of_negative(load(last)));
    std::copy_n(last, n - i, values + i);
  }
}

NAIVELY_DISPATCH(void, exponentiate, exponentiate_body, (double* values, std::ptrdiff_t n), (values, n))

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
