// Bins of a numeric column that inform about its classes: the cuts of greatest posterior probability under Boullé's
// prior, by which every number of bins, every set of bounds and every distribution of classes in a bin is equally
// likely.
//
//   cost = log C(N + I − 1, I − 1) + Σ_i f_i                                                                   (1)
//   f_i = log C(N_i + J − 1, J − 1) + log N_i! − Σ_j log N_ij! = log (N_i + J − 1)!/(J − 1)! − Σ_j log N_ij!   (2)
//
// for I bins with N_ij rows (or weight; x! = Γ(x + 1)) of class j in bin i. The bins begin as single keys. The two
// neighbours whose union costs least are joined until one bin remains, and the best stage is taken: O(J K log K) for K
// keys. Then cuts are moved, added and removed, one at a time, while the cost falls.
// Source: M. Boullé, MODL: a Bayes optimal discretization method for continuous attributes, Machine Learning 65
// (2006) 131–165, theorem 1 and section 3.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "histogram/histogram.hpp"
#include "support/threads.hpp"

namespace naively::histogram {
namespace {

// Stirling's series for log Γ(z), z ≥ 9: the first term left out is below 1e-11.
double stirling(double z) {
  const double r = 1 / z, r2 = r * r;
  const double series = r * (1.0 / 12 - r2 * (1.0 / 360 - r2 * (1.0 / 1260 - r2 * (1.0 / 1680))));
  return (z - 0.5) * std::log(z) - z + 0.91893853320467274178 + series;  // ½ log 2π
}

double by_recurrence(double x) {
  double product = 1;
  for (int k = 1; k <= 8; ++k) product *= x + k;
  return stirling(x + 9) - std::log(product);
}

const std::array<double, 1024> kLogFactorials = [] {
  std::array<double, 1024> table{};
  double sum = 0;
  for (int k = 2; k < 1024; ++k) table[k] = sum += std::log(static_cast<double>(k));
  return table;
}();

// log Γ(x + 1), to about 1e-12; unlike std::lgamma it writes to no global variable. x ≥ 0.
double log_factorial(double x) {
  if (x < 1024) {
    const auto integer = static_cast<int>(x);
    if (integer == x) return kLogFactorials[integer];
    if (x < 8) return by_recurrence(x);
  }
  return stirling(x + 1);
}

using Indices = std::vector<std::int64_t>;

// The smallest of many numbers that change: a tree in which every node is the smaller of its two children.
//
// To change one of n numbers takes log2 n comparisons without branches, and so does to find the smallest. (A heap with
// outdated entries takes five times as long.)
class Tournament {
 public:
  explicit Tournament(std::int64_t n)
      : leaves_(std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(n, 1)))),
        node_(2 * leaves_, std::numeric_limits<double>::infinity()) {}

  // Numbers are set first; then the tree is built once.
  void set(std::int64_t at, double value) { node_[leaves_ + at] = value; }
  void build() {
    for (std::uint64_t k = leaves_ - 1; k > 0; --k) node_[k] = std::min(node_[2 * k], node_[2 * k + 1]);
  }

  void change(std::int64_t at, double value) {
    std::uint64_t k = leaves_ + at;
    node_[k] = value;
    for (; k > 1; k /= 2) node_[k / 2] = value = std::min(value, node_[k ^ 1]);
  }

  double least() const { return node_[1]; }

  // The index of the smallest, the first of several.
  std::int64_t least_index() const {
    std::uint64_t k = 1;
    while (k < leaves_) k = 2 * k + (node_[2 * k + 1] < node_[2 * k]);
    return static_cast<std::int64_t>(k - leaves_);
  }

 private:
  std::uint64_t leaves_;
  std::vector<double> node_;
};

// A cut of the keys up to `end` into two.
struct Split {
  double cost;
  std::int64_t at, end = -1;
};
using Splits = std::vector<Split>;

// Keys × classes of one column; if there are more, neighbouring keys begin joined.
constexpr std::int64_t kMaxCounts = std::int64_t{1} << 22;

// The finite keys of one column and the counts of their classes: prefix[k · n_classes + j] counts class j before key k.
class Discretiser {
 public:
  Discretiser(const HistogramView& view, std::int64_t column, std::int64_t n_classes) {
    const std::int64_t from = view.offsets[column], to = view.offsets[column + 1];
    std::vector<std::int32_t> number(n_classes, -1);  // of the classes that occur
    std::vector<std::int64_t> keys;
    for (std::int64_t i = from; i < to; ++i) {
      if (is_infinite(view.keys[i])) continue;
      if (keys.empty() || view.keys[i] != keys.back()) keys.push_back(view.keys[i]);
      if (number[view.classes[i]] < 0) number[view.classes[i]] = static_cast<std::int32_t>(n_classes_++);
    }
    const int by = levels_to_fit(keys, std::max<std::int64_t>(64, kMaxCounts / std::max<std::int64_t>(n_classes_, 1)));
    for (std::int64_t i = from; i < to; ++i)
      if (!is_infinite(view.keys[i]) && (first_cell_.empty() || view.keys[i] >> by != view.keys[i - 1] >> by))
        first_cell_.push_back(i);
    n_keys_ = static_cast<std::int64_t>(first_cell_.size());
    prefix_.assign((n_keys_ + 1) * n_classes_, 0.0);
    std::int64_t k = 0;
    for (std::int64_t i = n_keys_ > 0 ? first_cell_[0] : to; i < to && !is_infinite(view.keys[i]); ++i) {
      if (k < n_keys_ && i == first_cell_[k]) {
        std::copy_n(&prefix_[k * n_classes_], n_classes_, &prefix_[(k + 1) * n_classes_]);
        ++k;
      }
      prefix_[k * n_classes_ + number[view.classes[i]]] += view.weight[i];
      cells_.push_back({number[view.classes[i]], view.weight[i]});
    }
    for (std::int64_t j = 0; j < n_classes_; ++j) total_ += prefix_[n_keys_ * n_classes_ + j];
    constant_ = log_factorial(static_cast<double>(std::max<std::int64_t>(n_classes_, 1) - 1));
  }

  Indices cuts() const {
    if (n_keys_ < 2 || n_classes_ < 2) return {};
    Indices bounds = greedy();
    Splits moved(n_keys_), halved(n_keys_);
    for (int sweep = 0; sweep < 16 && improve(bounds, moved, halved); ++sweep) {
    }
    Indices cells;
    for (std::size_t i = 1; i + 1 < bounds.size(); ++i) cells.push_back(first_cell_[bounds[i]]);
    return cells;
  }

 private:
  // Equation (2) for the keys [a, b).
  double cost(std::int64_t a, std::int64_t b) const {
    double n = 0, terms = 0;
    for (std::int64_t j = 0; j < n_classes_; ++j) {
      const double count = std::max(0.0, prefix_[b * n_classes_ + j] - prefix_[a * n_classes_ + j]);
      n += count;
      terms += log_factorial(count);
    }
    return log_factorial(n + static_cast<double>(n_classes_ - 1)) - constant_ - terms;
  }

  // The first term of equation (1).
  double bounds_cost(std::int64_t n_bins) const {
    const auto more = static_cast<double>(n_bins - 1);
    return log_factorial(total_ + more) - log_factorial(more) - log_factorial(total_);
  }

  // Joins neighbours until one bin remains; returns the bounds (0 … n_keys) of the best stage.
  Indices greedy() const {
    std::vector<double> own(n_keys_);
    Indices next(n_keys_ + 1), previous(n_keys_ + 1), removed;
    double total = 0;
    for (std::int64_t k = 0; k < n_keys_; ++k) total += own[k] = cost(k, k + 1);
    for (std::int64_t k = 0; k <= n_keys_; ++k) next[k] = k + 1, previous[k] = k - 1;
    // The cost of joining the bin that begins with key `right` to the one before it.
    auto change_by = [&](std::int64_t right) {
      const std::int64_t left = previous[right];
      return cost(left, next[right]) - own[left] - own[right];
    };
    Tournament changes(n_keys_);
    for (std::int64_t k = 1; k < n_keys_; ++k) changes.set(k, change_by(k));
    changes.build();
    double best = total + bounds_cost(n_keys_);
    std::size_t best_stage = 0;
    for (std::int64_t n_bins = n_keys_ - 1; n_bins > 0; --n_bins) {
      const double change = changes.least();
      const std::int64_t right = changes.least_index(), left = previous[right], after = next[right];
      own[left] += own[right] + change;
      total += change;
      next[left] = after;
      previous[after] = left;
      removed.push_back(right);
      changes.change(right, std::numeric_limits<double>::infinity());
      if (left > 0) changes.change(left, change_by(left));
      if (after < n_keys_) changes.change(after, change_by(after));
      const double now = total + bounds_cost(n_bins);
      if (now <= best) best = now, best_stage = removed.size();
    }
    std::vector<bool> is_removed(n_keys_ + 1, false);
    for (std::size_t i = 0; i < best_stage; ++i) is_removed[removed[i]] = true;
    Indices bounds;
    for (std::int64_t k = 0; k <= n_keys_; ++k)
      if (!is_removed[k]) bounds.push_back(k);
    return bounds;
  }

  // Returns the best split of the keys [a, b), remembered at a: most bins do not change from one pass to the next.
  const Split& best_split(std::int64_t a, std::int64_t b, Splits& splits) const {
    Split& best = splits[a];
    if (best.end == b) return best;
    best = {std::numeric_limits<double>::infinity(), a, b};
    for (const std::int64_t k : least_splits(a, b)) {
      const double both = cost(a, k) + cost(k, b);
      if (both < best.cost) best.cost = both, best.at = k;
    }
    return best;
  }

  // Returns the splits of the keys [a, b) whose cost is the least but for rounding. From one key to the next only the
  // counts of the classes of that key change.
  Indices least_splits(std::int64_t a, std::int64_t b) const {
    constexpr double kRounding = 1e-7;  // far above what the sums of a column can lose
    std::vector<double> left(n_classes_, 0.0), right(n_classes_);
    double n_left = 0, n_right = 0, terms = 0, least = std::numeric_limits<double>::infinity();
    for (std::int64_t j = 0; j < n_classes_; ++j) {
      right[j] = std::max(0.0, prefix_[b * n_classes_ + j] - prefix_[a * n_classes_ + j]);
      n_right += right[j];
      terms -= log_factorial(right[j]);
    }
    Indices splits;
    const auto more = static_cast<double>(n_classes_ - 1);
    for (std::int64_t k = a + 1; k < b; ++k) {
      for (std::int64_t i = first_cell_[k - 1] - first_cell_[0]; i < first_cell_[k] - first_cell_[0]; ++i) {
        const auto [j, weight] = cells_[i];
        terms += log_factorial(left[j]) + log_factorial(right[j]);
        left[j] += weight, right[j] = std::max(0.0, right[j] - weight);
        terms -= log_factorial(left[j]) + log_factorial(right[j]);
        n_left += weight, n_right = std::max(0.0, n_right - weight);
      }
      const double both = log_factorial(n_left + more) + log_factorial(n_right + more) + terms;
      if (both < least - kRounding) splits.clear();
      if (both < least + kRounding) splits.push_back(k);
      least = std::min(least, both);
    }
    return splits;
  }

  // Passes once over the bins: moves each cut to its best position, splits bins, joins two. Returns whether the cost
  // fell.
  bool improve(Indices& bounds, Splits& moved, Splits& halved) const {
    constexpr double kMinGain = 1e-6;  // far above rounding, far below the cost of one row
    bool better = false;
    for (std::size_t i = 1; i + 1 < bounds.size(); ++i) {
      const double now = cost(bounds[i - 1], bounds[i]) + cost(bounds[i], bounds[i + 1]);
      const Split& split = best_split(bounds[i - 1], bounds[i + 1], moved);
      if (split.cost < now - kMinGain) bounds[i] = split.at, better = true;
    }
    for (std::size_t i = 0; i + 1 < bounds.size(); ++i) {
      const auto n_bins = static_cast<std::int64_t>(bounds.size()) - 1;
      const double now = cost(bounds[i], bounds[i + 1]);
      const Split& split = best_split(bounds[i], bounds[i + 1], halved);
      if (split.cost + bounds_cost(n_bins + 1) < now + bounds_cost(n_bins) - kMinGain)
        bounds.insert(bounds.begin() + static_cast<std::ptrdiff_t>(i) + 1, split.at), better = true;
    }
    for (std::size_t i = 1; i + 1 < bounds.size();) {
      const auto n_bins = static_cast<std::int64_t>(bounds.size()) - 1;
      const double separate = cost(bounds[i - 1], bounds[i]) + cost(bounds[i], bounds[i + 1]);
      if (cost(bounds[i - 1], bounds[i + 1]) + bounds_cost(n_bins - 1) < separate + bounds_cost(n_bins) - kMinGain)
        bounds.erase(bounds.begin() + static_cast<std::ptrdiff_t>(i)), better = true;
      else
        ++i;
    }
    return better;
  }

  struct Cell {
    std::int32_t class_number;
    double weight;
  };

  std::int64_t n_keys_ = 0, n_classes_ = 0;
  double total_ = 0, constant_ = 0;
  Indices first_cell_;
  std::vector<double> prefix_;
  std::vector<Cell> cells_;  // of the finite keys, from first_cell_[0]
};

}  // namespace

std::vector<std::vector<std::int64_t>> cut_columns(const HistogramView& columns, std::int64_t n_classes,
                                                   int n_threads) {
  std::vector<Indices> cuts(columns.n_columns);
  support::parallel_for(columns.n_columns, n_threads,
                        [&](std::int64_t j) { cuts[j] = Discretiser(columns, j, n_classes).cuts(); });
  return cuts;
}

}  // namespace naively::histogram
