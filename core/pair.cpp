#include "pair.hpp"

#include <algorithm>
#include <cmath>

namespace naively::cells {
namespace {

constexpr std::int64_t TOGETHER = 4;  // rows added to a sum at once: it is loaded and stored less often

// Solves A y = b for the `n` rows and columns of A, row by row in `stride`, of which the lower triangle is given and
// overwritten by Cholesky's factor; false if A is not positive definite. b becomes y.
bool solve(double* A, std::int64_t n, std::int64_t stride, double* b) {
  for (std::int64_t j = 0; j < n; ++j) {
    double* const row = A + j * stride;
    for (std::int64_t k = 0; k <= j; ++k) {
      const double* const above = A + k * stride;
      double sum = row[k];
      for (std::int64_t l = 0; l < k; ++l) sum -= row[l] * above[l];
      if (k < j) row[k] = sum / above[k];
      else if (!(sum > 0)) return false;
      else row[j] = std::sqrt(sum);
    }
    for (std::int64_t k = 0; k < j; ++k) b[j] -= row[k] * b[k];
    b[j] /= row[j];
  }
  for (std::int64_t j = n - 1; j >= 0; --j) {
    for (std::int64_t k = j + 1; k < n; ++k) b[j] -= A[k * stride + j] * b[k];
    b[j] /= A[j * stride + j];
  }
  return true;
}

}  // namespace

Pair::Pair(std::int64_t n_rows, std::int64_t n_features, const double* base, const double* evidence,
           const std::int64_t* label, const double* row_weight)
    : n_((n_rows + TOGETHER - 1) / TOGETHER * TOGETHER), m_(n_features + 1), f_(n_ * m_), a_(n_), sign_(n_, 1.0), r_(n_),
      wrong_(n_), gradient_(m_), step_(m_), matrix_(m_ * m_) {
  for (std::int64_t i = 0; i < n_rows; ++i) {
    a_[i] = base[2 * i + 1] - base[2 * i];
    sign_[i] = label[i] == 1 ? 1.0 : -1.0;
    r_[i] = row_weight[i];
    f_[i * m_] = 1.0;
    for (std::int64_t j = 0; j < n_features; ++j) {
      const double* const e = evidence + 2 * (j * n_rows + i);
      f_[i * m_ + j + 1] = e[1] - e[0];
    }
  }
}

double Pair::value(const Pull& pull, const std::vector<double>& x) {
  double value = 0;
  for (std::int64_t j = 0; j < m_; ++j) {
    const double away = x[j] - pull.centre[j];
    value += 0.5 * pull.strength[j] * away * away;
    gradient_[j] = pull.strength[j] * away;
  }
  for (std::int64_t i = 0; i < n_; i += TOGETHER) {
    const double *const f = &f_[i * m_], *const g = f + m_, *const h = g + m_, *const k = h + m_;
    double score[TOGETHER], push[TOGETHER];
    std::copy_n(&a_[i], TOGETHER, score);
    for (std::int64_t j = 0; j < m_; ++j)  // four sums that do not wait for each other
      score[0] += x[j] * f[j], score[1] += x[j] * g[j], score[2] += x[j] * h[j], score[3] += x[j] * k[j];
    for (std::int64_t t = 0; t < TOGETHER; ++t) {
      const double margin = sign_[i + t] * score[t], rare = std::exp(-std::abs(margin));  // so that nothing overflows
      value += r_[i + t] * (std::log(1.0 + rare) - std::min(margin, 0.0));
      wrong_[i + t] = (margin < 0 ? 1.0 : rare) / (1.0 + rare);
      push[t] = r_[i + t] * sign_[i + t] * wrong_[i + t];
    }
    for (std::int64_t j = 0; j < m_; ++j) gradient_[j] -= push[0] * f[j] + push[1] * g[j] + push[2] * h[j] + push[3] * k[j];
  }
  return value;
}

void Pair::curvature(const Pull& pull) {
  std::fill(matrix_.begin(), matrix_.end(), 0.0);
  for (std::int64_t i = 0; i < n_; i += TOGETHER) {
    double q[TOGETHER];
    for (std::int64_t t = 0; t < TOGETHER; ++t) q[t] = r_[i + t] * wrong_[i + t] * (1.0 - wrong_[i + t]);
    const double *const f = &f_[i * m_], *const g = f + m_, *const h = g + m_, *const k = h + m_;
    for (std::int64_t j = 0; j < m_; ++j) {
      double* const row = &matrix_[j * m_];
      const double a = q[0] * f[j], b = q[1] * g[j], c = q[2] * h[j], d = q[3] * k[j];
      for (std::int64_t l = 0; l <= j; ++l) row[l] += a * f[l] + b * g[l] + c * h[l] + d * k[l];
    }
  }
  for (std::int64_t j = 0; j < m_; ++j) matrix_[j * m_ + j] = (matrix_[j * m_ + j] + pull.strength[j]) * (1.0 + 1e-9);
}

// Newton's step from x, zero for weights at a bound that push against it; false if there is none.
bool Pair::newton_step(const Pull& pull, const std::vector<double>& x) {
  curvature(pull);
  std::vector<std::int64_t> free;
  for (std::int64_t j = 0; j < m_; ++j)
    if (j == 0 || !((x[j] <= 0 && gradient_[j] > 0) || (x[j] >= pull.top && gradient_[j] < 0))) free.push_back(j);
  const auto n_free = static_cast<std::int64_t>(free.size());
  std::vector<double> downhill(n_free);
  for (std::int64_t j = 0; j < n_free; ++j) {
    downhill[j] = -gradient_[free[j]];
    for (std::int64_t k = 0; k <= j; ++k) matrix_[j * m_ + k] = matrix_[free[j] * m_ + free[k]];
  }
  if (!solve(matrix_.data(), n_free, m_, downhill.data())) return false;
  std::fill(step_.begin(), step_.end(), 0.0);
  for (std::int64_t j = 0; j < n_free; ++j) step_[free[j]] = downhill[j];
  return true;
}

double Pair::minimise(const Pull& pull, double close, int steps, std::vector<double>& x) {
  std::vector<double> tried(m_);
  double now = value(pull, x);
  for (int s = 0; s < steps && newton_step(pull, x); ++s) {
    double expected = 0;
    for (std::int64_t j = 0; j < m_; ++j) expected -= gradient_[j] * step_[j];
    if (!(expected > close * (1.0 + std::abs(now)))) break;
    const double before = now;
    for (double share = 1.0;; share *= 0.5) {
      for (std::int64_t j = 0; j < m_; ++j) {
        const double to = x[j] + share * step_[j];
        tried[j] = j == 0 ? to : std::clamp(to, 0.0, pull.top);
      }
      now = value(pull, tried);
      if (now <= before - 1e-4 * share * expected || share <= 2e-6) break;
    }
    x = tried;
    if (before - now <= close * (1.0 + std::abs(now))) break;
  }
  return now;
}

}  // namespace naively::cells
