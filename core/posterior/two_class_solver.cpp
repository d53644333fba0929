#include "posterior/two_class_solver.hpp"

#include <algorithm>
#include <cmath>

#include "posterior/exponential.hpp"
#include "support/simd.hpp"

namespace naively::posterior {
namespace {

using support::broadcast;
using support::Lanes;
using support::load;
using support::store;

constexpr std::int64_t kRows = 4;  // added to a sum at once: it is loaded and stored less often

// The rows as TwoClassSolver has them.
struct TwoClassRows {
  std::int64_t n, width;
  const double *f, *a, *sign, *r, *doubt;
};

std::int64_t pad_to_fours(std::int64_t n) { return (n + 3) / 4 * 4; }

// score[t] += Σ_j x_j f_tj of four rows.
NAIVELY_INLINE void dot(const double* f, const double* x, std::int64_t width, double* score) {
  Lanes sum[kRows] = {};
  for (std::int64_t j = 0; j < width; j += 4)
    for (std::int64_t t = 0; t < kRows; ++t) sum[t] += load(x + j) * load(f + t * width + j);
  for (std::int64_t t = 0; t < kRows; ++t) score[t] += (sum[t][0] + sum[t][1]) + (sum[t][2] + sum[t][3]);
}

// sum_j += Σ_t factor_t f_tj over four rows, for j below `to`, padded to fours.
NAIVELY_INLINE void add_rows(const double* f, std::int64_t width, const Lanes* factor, std::int64_t to, double* sum) {
  for (std::int64_t j = 0; j < to; j += 4)
    store(sum + j, load(sum + j) + ((factor[0] * load(f + j) + factor[1] * load(f + width + j)) +
                                    (factor[2] * load(f + 2 * width + j) + factor[3] * load(f + 3 * width + j))));
}

// The sum over rows of (1). Adds its gradient to `gradient`, and writes the probabilities of the other class.
template <bool fused>
NAIVELY_INLINE double loss_body(const TwoClassRows& rows, const double* x, double* wrong, double* gradient) {
  constexpr std::int64_t kRowsOfProduct = 512;  // at most 2^512
  double value = 0, product = 1;                // of 1 + rare over rows of weight 1: one logarithm for many rows
  for (std::int64_t i = 0; i < rows.n; i += kRows) {
    const double* const f = rows.f + i * rows.width;
    double margin[kRows], rare[kRows];
    Lanes factor[kRows];
    std::copy_n(rows.a + i, kRows, margin);
    dot(f, x, rows.width, margin);
    for (std::int64_t t = 0; t < kRows; ++t) {
      margin[t] *= rows.sign[i + t];
      rare[t] = -std::abs(margin[t]);  // so that nothing overflows
    }
    store(rare, exp_of_negative(load(rare)));
    for (std::int64_t t = 0; t < kRows; ++t) {
      const double r = rows.r[i + t], doubt = rows.doubt[i + t];
      value += r * (doubt * margin[t] - std::min(margin[t], 0.0));
      if (r == 1.0)
        product *= 1.0 + rare[t];
      else if (r != 0.0)
        value += r * std::log(1.0 + rare[t]);
      wrong[i + t] = (margin[t] < 0 ? 1.0 : rare[t]) / (1.0 + rare[t]);
      factor[t] = broadcast(-r * rows.sign[i + t] * (wrong[i + t] - doubt));
    }
    add_rows(f, rows.width, factor, rows.width, gradient);
    if (i % kRowsOfProduct == kRowsOfProduct - kRows) value += std::log(product), product = 1;
  }
  return value + std::log(product);
}
NAIVELY_DISPATCH(double, loss, loss_body, (const TwoClassRows& rows, const double* x, double* wrong, double* gradient),
                 (rows, x, wrong, gradient))

// The lower triangle of Σ_i q_i f_i f_iᵀ, padded to fours.
template <bool fused>
NAIVELY_INLINE void products_body(const double* f, const double* q, std::int64_t n, std::int64_t m, std::int64_t width,
                                  double* matrix) {
  for (std::int64_t i = 0; i < n; i += kRows, f += kRows * width)
    for (std::int64_t j = 0; j < m; ++j) {
      Lanes factor[kRows];
      for (std::int64_t t = 0; t < kRows; ++t) factor[t] = broadcast(q[i + t] * f[t * width + j]);
      add_rows(f, width, factor, j + 1, matrix + j * width);
    }
}
NAIVELY_DISPATCH(void, products, products_body,
                 (const double* f, const double* q, std::int64_t n, std::int64_t m, std::int64_t width, double* matrix),
                 (f, q, n, m, width, matrix))

// Σ_l a_l b_l.
template <bool fused>
NAIVELY_INLINE double product_body(const double* a, const double* b, std::int64_t n) {
  Lanes sum[4] = {};
  std::int64_t l = 0;
  for (; l + 16 <= n; l += 16)
    for (std::int64_t t = 0; t < 4; ++t) sum[t] += load(a + l + 4 * t) * load(b + l + 4 * t);
  const Lanes all = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  double rest = (all[0] + all[1]) + (all[2] + all[3]);
  for (; l < n; ++l) rest += a[l] * b[l];
  return rest;
}
NAIVELY_DISPATCH(double, product, product_body, (const double* a, const double* b, std::int64_t n), (a, b, n))

// Solves A y = b for n rows and columns of A, stored by row with a stride. Its lower triangle is given and overwritten
// by the Cholesky factor. Returns false if A is not positive definite; b becomes y.
bool solve(double* A, std::int64_t n, std::int64_t stride, double* b) {
  for (std::int64_t j = 0; j < n; ++j) {
    double* const row = A + j * stride;
    for (std::int64_t k = 0; k <= j; ++k) {
      const double* const above = A + k * stride;
      const double sum = row[k] - product(row, above, k);
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

TwoClassSolver::TwoClassSolver(std::int64_t n_rows, std::int64_t n_features, const double* base, const double* evidence,
                               const double* target)
    : n_rows_(n_rows),
      n_(pad_to_fours(n_rows)),
      m_(n_features + 1),
      width_(pad_to_fours(m_)),
      f_(n_ * width_),
      a_(n_),
      sign_(n_, 1.0),
      r_(n_),
      doubt_(n_),
      wrong_(n_),
      gradient_(width_),
      step_(width_),
      matrix_(m_ * width_) {
  constexpr std::int64_t kTileRows = 64;  // whose features stay in the cache
  for (std::int64_t i = 0; i < n_rows; ++i) {
    a_[i] = base[2 * i + 1] - base[2 * i];
    sign_[i] = target[2 * i + 1] >= target[2 * i] ? 1.0 : -1.0;
    doubt_[i] = std::min(target[2 * i], target[2 * i + 1]);
    f_[i * width_] = 1.0;
  }
  for (std::int64_t from = 0; from < n_rows; from += kTileRows)
    for (std::int64_t j = 0; j < n_features; ++j) {
      const double* const e = evidence + 2 * j * n_rows;
      for (std::int64_t i = from; i < std::min(from + kTileRows, n_rows); ++i)
        f_[i * width_ + j + 1] = e[2 * i + 1] - e[2 * i];
    }
}

double TwoClassSolver::value(const Penalty& penalty, const std::vector<double>& x) {
  double value = 0;
  for (std::int64_t j = 0; j < m_; ++j) {
    const double distance = x[j] - penalty.centre[j];
    value += 0.5 * penalty.strength[j] * distance * distance;
    gradient_[j] = penalty.strength[j] * distance;
  }
  const TwoClassRows rows{n_, width_, f_.data(), a_.data(), sign_.data(), r_.data(), doubt_.data()};
  return value + loss(rows, x.data(), wrong_.data(), gradient_.data());
}

void TwoClassSolver::curvature(const Penalty& penalty) {
  std::fill(matrix_.begin(), matrix_.end(), 0.0);
  std::vector<double> q(n_);
  for (std::int64_t i = 0; i < n_; ++i) q[i] = r_[i] * wrong_[i] * (1.0 - wrong_[i]);
  products(f_.data(), q.data(), n_, m_, width_, matrix_.data());
  for (std::int64_t j = 0; j < m_; ++j) {
    double& own = matrix_[j * width_ + j];
    own = (own + penalty.strength[j]) * (1.0 + 1e-9);
  }
}

// Newton's step from x, zero for weights that a bound holds; false if there is none.
bool TwoClassSolver::newton_step(const Penalty& penalty, const std::vector<double>& x) {
  curvature(penalty);
  std::vector<std::int64_t> free;
  for (std::int64_t j = 0; j < m_; ++j)
    if (j == 0 || !((x[j] <= 0 && gradient_[j] > 0) || (x[j] >= penalty.max_weight && gradient_[j] < 0)))
      free.push_back(j);
  const auto n_free = static_cast<std::int64_t>(free.size());
  std::vector<double> descent(n_free);
  for (std::int64_t j = 0; j < n_free; ++j) {
    descent[j] = -gradient_[free[j]];
    for (std::int64_t k = 0; k <= j; ++k) matrix_[j * width_ + k] = matrix_[free[j] * width_ + free[k]];
  }
  if (!solve(matrix_.data(), n_free, width_, descent.data())) return false;
  std::fill(step_.begin(), step_.end(), 0.0);
  for (std::int64_t j = 0; j < n_free; ++j) step_[free[j]] = descent[j];
  return true;
}

double TwoClassSolver::minimise(const double* row_weight, const Penalty& penalty, double tolerance, int max_steps,
                                std::vector<double>& x) {
  std::copy_n(row_weight, n_rows_, r_.data());
  x.resize(width_);
  std::vector<double> tried(width_);
  double now = value(penalty, x);
  for (int s = 0; s < max_steps && newton_step(penalty, x); ++s) {
    double expected = 0;
    for (std::int64_t j = 0; j < m_; ++j) expected -= gradient_[j] * step_[j];
    if (!(expected > tolerance * (1.0 + std::abs(now)))) break;
    const double before = now;
    for (double share = 1.0;; share *= 0.5) {
      for (std::int64_t j = 0; j < m_; ++j) {
        const double to = x[j] + share * step_[j];
        tried[j] = j == 0 ? to : std::clamp(to, 0.0, penalty.max_weight);
      }
      now = value(penalty, tried);
      if (now <= before - 1e-4 * share * expected || share <= 2e-6) break;
    }
    x = tried;
    if (before - now <= tolerance * (1.0 + std::abs(now))) break;
  }
  x.resize(m_);
  return now;
}

}  // namespace naively::posterior
