#include "posterior/log_loss.hpp"

#include <algorithm>
#include <cmath>

namespace naively::posterior {
namespace {

// Turns the scores of a row into its posterior; returns −log of that of class y.
double normalise(double* score, std::int64_t n_classes, std::int64_t y) {
  const double largest = *std::max_element(score, score + n_classes), own = score[y] - largest;
  double sum = 0;
  for (std::int64_t c = 0; c < n_classes; ++c) sum += score[c] = std::exp(score[c] - largest);
  for (std::int64_t c = 0; c < n_classes; ++c) score[c] /= sum;
  return std::log(sum) - own;
}

}  // namespace

double log_loss(const ScoredRows& rows, double* offset_slope, double* weight_slope, double* posterior) {
  const std::int64_t n = rows.n_classes, stride = rows.n_rows * n;
  std::fill_n(offset_slope, n, 0.0);
  std::fill_n(weight_slope, rows.n_features, 0.0);
  double loss = 0;
  for (std::int64_t i = 0; i < rows.n_rows; ++i) {
    double* const p = posterior + i * n;
    const double *const base = rows.base + i * n, *const evidence = rows.evidence + i * n;
    for (std::int64_t c = 0; c < n; ++c) p[c] = base[c] + rows.offset[c];
    for (std::int64_t j = 0; j < rows.n_features; ++j)
      for (std::int64_t c = 0; c < n; ++c) p[c] += rows.weight[j] * evidence[j * stride + c];
    const double r = rows.row_weight[i];
    const std::int64_t y = rows.label[i];
    loss += r * normalise(p, n, y);
    for (std::int64_t c = 0; c < n; ++c) offset_slope[c] += r * p[c];
    offset_slope[y] -= r;
    for (std::int64_t j = 0; j < rows.n_features; ++j) {
      const double* const e = evidence + j * stride;
      double mean = 0;
      for (std::int64_t c = 0; c < n; ++c) mean += p[c] * e[c];
      weight_slope[j] += r * (mean - e[y]);
    }
  }
  return loss;
}

}  // namespace naively::posterior
