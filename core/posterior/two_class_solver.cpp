#include "posterior/two_class_solver.hpp"

#include <algorithm>
#include <cmath>

#include "support/simd.hpp"

namespace naively::cells {
namespace {

using dense::broadcast;
using dense::Lanes;
using dense::load;
using dense::store;

constexpr std::int64_t TOGETHER = 4;  // rows added to a sum at once: it is loaded and stored less often

std::int64_t in_fours(std::int64_t n) { return (n + 3) / 4 * 4; }

// score[t] += Σ_j x_j f_tj of four rows.
template <bool fused>
NAIVELY_INLINE void dot_body(const double* f, const double* x, std::int64_t width, double* score) {
  Lanes sum[TOGETHER] = {};
  for (std::int64_t j = 0; j < width; j += 4)
    for (std::int64_t t = 0; t < TOGETHER; ++t) sum[t] += load(x + j) * load(f + t * width + j);
  for (std::int64_t t = 0; t < TOGETHER; ++t) score[t] += (sum[t][0] + sum[t][1]) + (sum[t][2] + sum[t][3]);
}
NAIVELY_DISPATCH(void, dot, dot_body, (const double* f, const double* x, std::int64_t width, double* score),
                 (f, x, width, score))

// sum_j += Σ_t push_t f_tj over four rows, for the j below `to` in whole fours.
NAIVELY_INLINE void add_rows(const double* f, std::int64_t width, const Lanes* push, std::int64_t to, double* sum) {
  for (std::int64_t j = 0; j < to; j += 4)
    store(sum + j, load(sum + j) + ((push[0] * load(f + j) + push[1] * load(f + width + j)) +
                                    (push[2] * load(f + 2 * width + j) + push[3] * load(f + 3 * width + j))));
}

// The lower triangle of Σ_i q_i f_i f_iᵀ, and what lies beyond it in whole fours.
template <bool fused>
NAIVELY_INLINE void products_body(const double* f, const double* q, std::int64_t n, std::int64_t m, std::int64_t width,
                                  double* matrix) {
  for (std::int64_t i = 0; i < n; i += TOGETHER, f += TOGETHER * width)
    for (std::int64_t j = 0; j < m; ++j) {
      Lanes push[TOGETHER];
      for (std::int64_t t = 0; t < TOGETHER; ++t) push[t] = broadcast(q[i + t] * f[t * width + j]);
      add_rows(f, width, push, j + 1, matrix + j * width);
    }
}
NAIVELY_DISPATCH(void, products, products_body,
                 (const double* f, const double* q, std::int64_t n, std::int64_t m, std::int64_t width, double* matrix),
                 (f, q, n, m, width, matrix))

// Solves A y = b for the `n` rows and columns of A, row by row in `stride`, of which the lower triangle is given and
// overwritten by Cholesky's factor; false if A is not positive definite. b becomes y.
bool solve(double* A, std::int64_t n, std::int64_t stride, double* b) {
  for (std::int64_t j = 0; j < n; ++j) {
    double* const row = A + j * stride;
    for (std::int64_t k = 0; k <= j; ++k) {
      const double* const above = A + k * stride;
      double sum = row[k];
      for (std::int64_t l = 0; l < k; ++l) sum -= row[l] * above[l];
      if (k < j)
        row[k] = sum / above[k];
      else if (!(sum > 0))
        return false;
      else
        row[j] = std::sqrt(sum);
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
    : n_(in_fours(n_rows)),
      m_(n_features + 1),
      width_(in_fours(m_)),
      f_(n_ * width_),
      a_(n_),
      sign_(n_, 1.0),
      r_(n_),
      wrong_(n_),
      gradient_(width_),
      step_(width_),
      matrix_(m_ * width_) {
  for (std::int64_t i = 0; i < n_rows; ++i) {
    a_[i] = base[2 * i + 1] - base[2 * i];
    sign_[i] = label[i] == 1 ? 1.0 : -1.0;
    r_[i] = row_weight[i];
    f_[i * width_] = 1.0;
    for (std::int64_t j = 0; j < n_features; ++j) {
      const double* const e = evidence + 2 * (j * n_rows + i);
      f_[i * width_ + j + 1] = e[1] - e[0];
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
  double product = 1;  // of 1 + rare over rows of weight 1: one logarithm for many of them
  for (std::int64_t i = 0; i < n_; i += TOGETHER) {
    const double* const f = &f_[i * width_];
    double score[TOGETHER];
    Lanes push[TOGETHER];
    std::copy_n(&a_[i], TOGETHER, score);
    dot(f, x.data(), width_, score);
    for (std::int64_t t = 0; t < TOGETHER; ++t) {
      const double margin = sign_[i + t] * score[t], rare = std::exp(-std::abs(margin));  // so that nothing overflows
      value -= r_[i + t] * std::min(margin, 0.0);
      if (r_[i + t] == 1.0)
        product *= 1.0 + rare;
      else
        value += r_[i + t] * std::log(1.0 + rare);
      wrong_[i + t] = (margin < 0 ? 1.0 : rare) / (1.0 + rare);
      push[t] = broadcast(-r_[i + t] * sign_[i + t] * wrong_[i + t]);
    }
    add_rows(f, width_, push, m_, gradient_.data());
    if (product > 1e200) value += std::log(product), product = 1;
  }
  return value + std::log(product);
}

void Pair::curvature(const Pull& pull) {
  std::fill(matrix_.begin(), matrix_.end(), 0.0);
  std::vector<double> q(n_);
  for (std::int64_t i = 0; i < n_; ++i) q[i] = r_[i] * wrong_[i] * (1.0 - wrong_[i]);
  products(f_.data(), q.data(), n_, m_, width_, matrix_.data());
  for (std::int64_t j = 0; j < m_; ++j) {
    double& own = matrix_[j * width_ + j];
    own = (own + pull.strength[j]) * (1.0 + 1e-9);
  }
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
    for (std::int64_t k = 0; k <= j; ++k) matrix_[j * width_ + k] = matrix_[free[j] * width_ + free[k]];
  }
  if (!solve(matrix_.data(), n_free, width_, downhill.data())) return false;
  std::fill(step_.begin(), step_.end(), 0.0);
  for (std::int64_t j = 0; j < n_free; ++j) step_[free[j]] = downhill[j];
  return true;
}

double Pair::minimise(const Pull& pull, double close, int steps, std::vector<double>& x) {
  x.resize(width_);
  std::vector<double> tried(width_);
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
  x.resize(m_);
  return now;
}

}  // namespace naively::cells
