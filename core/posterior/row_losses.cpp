#include "posterior/row_losses.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "posterior/exponential.hpp"
#include "support/threads.hpp"

namespace naively::posterior {
namespace {

constexpr std::int64_t kLossCells = 4096;  // (row, class) pairs that are scored at a time: they stay in the cache

// Losses of n rows; `score` has room for their scores.
void losses_of(const ScoredRows& rows, std::int64_t from, std::int64_t n, const double* evidence, double factor,
               double* score, double* out) {
  const std::int64_t classes = rows.n_classes;
  for (std::int64_t i = 0; i < n; ++i) {
    const double *const base = rows.score + (from + i) * classes, *const target = rows.target + (from + i) * classes;
    double *const own = score + i * classes, of_target = 0;
    for (std::int64_t c = 0; c < classes; ++c) own[c] = base[c] + factor * evidence[i * classes + c];
    double top = own[0];
    for (std::int64_t c = 1; c < classes; ++c) top = own[c] > top ? own[c] : top;
    for (std::int64_t c = 0; c < classes; ++c) own[c] -= top, of_target += target[c] * own[c];
    out[i] = -of_target;
  }
  exponentiate(score, n * classes);
  for (std::int64_t i = 0; i < n; ++i) {
    double sum = 0;
    for (std::int64_t c = 0; c < classes; ++c) sum += score[i * classes + c];
    out[i] += std::log(sum);
  }
}

}  // namespace

void row_losses(const ScoredRows& rows, std::int64_t n_tables, const double* evidence, double factor, double* out,
                int n_threads) {
  if (rows.n_classes == 0) return;
  const std::int64_t step = std::max<std::int64_t>(1, kLossCells / rows.n_classes);
  support::parallel_for(n_tables, n_threads, [&](std::ptrdiff_t k) {
    std::vector<double> score(step * rows.n_classes);
    for (std::int64_t i = 0; i < rows.n; i += step)
      losses_of(rows, i, std::min(step, rows.n - i), evidence + (k * rows.n + i) * rows.n_classes, factor, score.data(),
                out + k * rows.n + i);
  });
}

}  // namespace naively::posterior
