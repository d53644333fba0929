#include "leave_one_out/gaussian.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/threads.hpp"

namespace naively::leave_one_out {
namespace {

constexpr double kLog2Pi = 1.8378770664093454836, kTiny = std::numeric_limits<double>::min();
constexpr double kMaxSquare = 1e300;                     // of a standardised number
constexpr double kMinTotal = 1e-280, kMaxTotal = 1e280;  // variance of a column whose squares are far from the limits
constexpr double kMaxChange = 0x1p-10;  // of a variance, relative, up to which five terms of log(1 + x) are exact

// Equation (3).
struct Rest {
  double weight, mean, squares;
  bool keeps_digits;
};

Rest rest_of(double x, double taken, double weight, double mean, double squares) {
  const double rest = weight - taken, away = x - mean;
  const double rest_squares = squares - taken * (away * away) * (weight / rest);
  const bool keeps = rest_squares > 0.01 * squares && mean * mean * weight < 1e4 * squares;
  return {rest, mean - taken * away / rest, rest_squares, keeps};
}

class GaussianScorer {
 public:
  GaussianScorer(const NumberRows& rows, std::int64_t n_classes, const MomentTable& classes, const MomentTable& pooled,
                 const GaussianSettings& settings, std::int64_t column)
      : rows_(rows),
        pooled_(pooled),
        settings_(settings),
        j_(column),
        n_(n_classes),
        weight_(n_classes),
        mean_(n_classes),
        squares_(n_classes),
        n_rows_(n_classes),
        log_variance_(n_classes),
        inverse_(n_classes),
        change_(n_classes) {
    for (std::int64_t c = 0; c < n_; ++c) {
      const std::int64_t at = c * rows.n_columns + column;
      weight_[c] = classes.weight[at], mean_[c] = classes.mean[at], squares_[c] = classes.squares[at];
      n_rows_[c] = classes.rows[at];
    }
    other_weight_ = sums_of_others(weight_);
    other_squares_ = sums_of_others(squares_);
    const double total = pooled.weight[j_] > 0 ? pooled.squares[j_] / pooled.weight[j_] : 0.0;
    const double all_weight = other_weight_[0] + weight_[0], all_squares = other_squares_[0] + squares_[0];
    within_ = all_weight > 0 ? all_squares / all_weight : 0.0;
    is_regular_ = within_ > 0;
    for (std::int64_t c = 0; c < n_; ++c) {
      const double v = variance(weight_[c], squares_[c], n_rows_[c] > 0, total, within_);
      is_regular_ &= n_rows_[c] > 0 && weight_[c] > settings.ddof && squares_[c] > 0 && v > settings.floor * total;
      least_variance_ = std::min(least_variance_, v);
      log_variance_[c] = std::log(v), inverse_[c] = 1 / v;
      change_[c] = settings.pooled_rows / (squares_[c] + settings.pooled_rows * within_);
      most_change_ = std::max(most_change_, change_[c]);
    }
  }

  // Adds the scores of row i, or returns false.
  bool add(std::int64_t i, double* out) const {
    const double x = rows_.value[i * rows_.n_columns + j_];
    if (x != x) return true;
    if (std::isinf(x)) return false;
    const std::int64_t y = rows_.label[i];
    const double taken = rows_.weight[i];
    Rest own{weight_[y], mean_[y], squares_[y], true};
    Rest all{pooled_.weight[j_], pooled_.mean[j_], pooled_.squares[j_], true};
    std::int64_t own_rows = n_rows_[y], all_rows = pooled_.rows[j_];
    if (taken > 0) {
      own = rest_of(x, taken, own.weight, own.mean, own.squares);
      all = rest_of(x, taken, all.weight, all.mean, all.squares);
      own_rows -= rows_.rows[i], all_rows -= rows_.rows[i];
    }
    if (!own.keeps_digits || !all.keeps_digits || own_rows <= 0 || all_rows <= 0 || own.weight < 0) return false;
    const double total = all.weight > 0 ? all.squares / all.weight : 0.0;
    if (!(total > kMinTotal && total < kMaxTotal)) return false;
    const double within = (other_squares_[y] + own.squares) / (other_weight_[y] + own.weight);
    const double own_score = score(x, own.mean, variance(own.weight, own.squares, true, total, within));
    const double before = out[y], change = within - within_;
    if (is_regular_ && most_change_ * std::abs(change) < kMaxChange &&
        least_variance_ * (1 - 2 * kMaxChange) > settings_.floor * total && least_variance_ > kMinTotal) {
      add_regular(x, change, out);
    } else {
      for (std::int64_t c = 0; c < n_; ++c) {
        const bool has_rows = n_rows_[c] > 0;
        out[c] += score(x, has_rows ? mean_[c] : all.mean, variance(weight_[c], squares_[c], has_rows, total, within));
      }
    }
    out[y] = before + own_score;
    return true;
  }

 private:
  static std::vector<double> sums_of_others(const std::vector<double>& values) {
    std::vector<double> sums(values.size());
    double before = 0, after = 0;
    for (std::size_t c = 0; c < values.size(); ++c) sums[c] = before, before += values[c];
    for (std::size_t c = values.size(); c-- > 0;) sums[c] += after, after += values[c];
    return sums;
  }

  double score(double x, double mean, double variance) const {
    const double away = x - mean;
    return -0.5 * (kLog2Pi + std::log(variance) + std::min(away * away / variance, kMaxSquare));
  }

  // Equation (2), or what replaces it.
  double variance(double n, double squares, bool has_rows, double total, double within) const {
    const double pooled = within > 0 ? within : total;
    double v;
    if (settings_.pooled_rows > 0) {
      const double known = std::max(n - settings_.ddof, 0.0) + settings_.pooled_rows;
      v = ((n > settings_.ddof ? squares : 0.0) + settings_.pooled_rows * pooled) / known;
    } else if (n <= settings_.ddof || !(squares > 0)) {
      v = settings_.pool_zero_variance ? pooled : 0.0;
    } else {
      v = squares / (n - settings_.ddof);
    }
    v = has_rows ? std::max(v, settings_.floor * total) : total;
    return v >= kTiny ? v : 1.0;
  }

  // All classes follow (2), and their variances change by a factor 1 + e near 1: log(1 + e) by its series.
  void add_regular(double x, double change, double* out) const {
    for (std::int64_t c = 0; c < n_; ++c) {
      const double e = change_[c] * change, away = x - mean_[c];
      const double log_change = e * (1 - e * (0.5 - e * (1.0 / 3 - e * (0.25 - e * 0.2))));
      const double square = away * away * inverse_[c] / (1 + e);
      out[c] -= 0.5 * (kLog2Pi + log_variance_[c] + log_change + (square < kMaxSquare ? square : kMaxSquare));
    }
  }

  const NumberRows& rows_;
  const MomentTable& pooled_;
  const GaussianSettings& settings_;
  std::int64_t j_, n_;
  std::vector<double> weight_, mean_, squares_;
  std::vector<std::int64_t> n_rows_;
  std::vector<double> other_weight_, other_squares_;  // sums over all other classes; differences would cancel
  std::vector<double> log_variance_, inverse_;        // of (2) with all rows
  std::vector<double> change_;                        // of the variance, relative, by a change of v_within
  double within_ = 0, least_variance_ = std::numeric_limits<double>::infinity(), most_change_ = 0;
  bool is_regular_ = false;  // every class has rows and enough spread
};

}  // namespace

std::vector<std::int64_t> leave_gaussian_out(const NumberRows& rows, std::int64_t n_classes, const MomentTable& classes,
                                             const MomentTable& pooled, const GaussianSettings& settings,
                                             const ScoreTable& out, int n_threads) {
  if (n_classes == 0) return {};
  std::vector<std::vector<std::int64_t>> refused(rows.n_columns);
  support::parallel_for(rows.n_columns, n_threads, [&](std::ptrdiff_t j) {
    const GaussianScorer scorer(rows, n_classes, classes, pooled, settings, j);
    for (std::int64_t i = 0; i < rows.n; ++i)
      if (!scorer.add(i, out.at(i, j))) refused[j].push_back(i * rows.n_columns + j);
  });
  std::vector<std::int64_t> positions;
  for (const auto& of_column : refused) positions.insert(positions.end(), of_column.begin(), of_column.end());
  std::sort(positions.begin(), positions.end());
  return positions;
}

}  // namespace naively::leave_one_out
