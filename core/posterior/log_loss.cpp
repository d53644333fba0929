#include "posterior/log_loss.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace naively::cells {
namespace {

// The posterior of a row from its scores, in place; returns −log of that of class y.
double normalise(double* score, std::int64_t n_classes, std::int64_t y) {
  const double most = *std::max_element(score, score + n_classes), own = score[y] - most;
  double sum = 0;
  for (std::int64_t c = 0; c < n_classes; ++c) sum += score[c] = std::exp(score[c] - most);
  for (std::int64_t c = 0; c < n_classes; ++c) score[c] /= sum;
  return std::log(sum) - own;
}

}  // namespace

double log_loss(const Scored& scored, double* of_offset, double* of_weight, double* posterior) {
  const std::int64_t n = scored.n_classes, stride = scored.n_rows * n;
  std::fill_n(of_offset, n, 0.0);
  std::fill_n(of_weight, scored.n_features, 0.0);
  double loss = 0;
  for (std::int64_t i = 0; i < scored.n_rows; ++i) {
    double* const p = posterior + i * n;
    const double *const base = scored.base + i * n, *const evidence = scored.evidence + i * n;
    for (std::int64_t c = 0; c < n; ++c) p[c] = base[c] + scored.offset[c];
    for (std::int64_t j = 0; j < scored.n_features; ++j)
      for (std::int64_t c = 0; c < n; ++c) p[c] += scored.weight[j] * evidence[j * stride + c];
    const double r = scored.row_weight[i];
    const std::int64_t y = scored.label[i];
    loss += r * normalise(p, n, y);
    for (std::int64_t c = 0; c < n; ++c) of_offset[c] += r * p[c];
    of_offset[y] -= r;
    for (std::int64_t j = 0; j < scored.n_features; ++j) {
      const double* const e = evidence + j * stride;
      double mean = 0;
      for (std::int64_t c = 0; c < n; ++c) mean += p[c] * e[c];
      of_weight[j] += r * (mean - e[y]);
    }
  }
  return loss;
}

}  // namespace naively::cells
