// Histograms of numeric columns: how often each value, or each bucket of neighbouring values, occurs with each class.
//
// The key of a number is its float64 bits as an integer that keeps the order (−0.0 is 0.0), shifted right by the level
// of the column:
//
//   key(x) = (bits ^ ((bits >> 63) & (2^63 − 1))) >> level                                                       (1)
//   level = the smallest at which the column has at most `cap` distinct keys over all classes                   (2)
//
// (2) does not depend on the order of the rows, and the keys of a part fit at the level of all rows. So counting in
// parts and merging gives the counts of all rows. ±infinity have their own keys at every level and do not count for the
// cap.
#pragma once
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "support/inputs.hpp"

namespace naively::histogram {

using support::Labels;
using support::Matrix;

constexpr std::int64_t kMinusInfinity = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kPlusInfinity = std::numeric_limits<std::int64_t>::max();

inline bool is_infinite(std::int64_t key) { return key == kMinusInfinity || key == kPlusInfinity; }

// Equation (1) of a finite number at level 0; adding 0.0 turns −0.0 into 0.0.
inline std::int64_t key_of(double x) {
  const auto bits = std::bit_cast<std::int64_t>(x + 0.0);
  return bits ^ ((bits >> 63) & kPlusInfinity);
}

struct HistogramCell {
  std::int64_t key;
  std::int32_t label;
  double weight;
  std::int64_t rows;
};

struct HistogramColumn {
  int level = 0;
  std::vector<HistogramCell> cells;  // by key, then class
};

// Columns in memory of the caller: the cells of column j are [offsets[j], offsets[j + 1]).
struct HistogramView {
  std::int64_t n_columns, n_cells;
  const std::int64_t *levels, *offsets, *keys;
  const std::int32_t* classes;
  const double* weight;
  const std::int64_t* rows;

  HistogramColumn column(std::int64_t j) const {
    HistogramColumn result{static_cast<int>(levels[j]), {}};
    result.cells.reserve(offsets[j + 1] - offsets[j]);
    for (std::int64_t i = offsets[j]; i < offsets[j + 1]; ++i)
      result.cells.push_back({keys[i], classes[i], weight[i], rows[i]});
    return result;
  }
};

// Equation (2): how many levels `keys` (distinct, ascending, finite) must rise. cap ≥ 2.
int levels_to_fit(const std::vector<std::int64_t>& keys, std::int64_t cap);

// Counts the columns of all pieces; NaN is missing. The result is the same, bit for bit, for any number of threads. No
// level is below that of `min_level` (or null): a sum with columns of these levels does not change by it.
std::vector<HistogramColumn> count_histogram(const std::vector<Matrix>& pieces, const Labels& labels, std::int64_t cap,
                                             const std::int64_t* min_level, int n_threads);

// Returns a + b at the level of (2), or a − b at the higher of both levels; the caller checks for negative rows.
HistogramColumn merge(HistogramColumn a, HistogramColumn b, int sign, std::int64_t cap);

// Sums the weight and the rows of each class in each bin, (bin, class). A cell belongs to the bin of the smallest
// number of its key.
void bin_cells(const HistogramView& columns, const double* cuts, const std::int64_t* offsets, std::int64_t n_classes,
               double* weight, std::int64_t* rows);

// Writes the bin of each number to out (row, column), −1 for NaN: first bin of the column + number of its cuts that are
// not above the smallest number of the key, at the level of the column. So a number is in the bin of its cell.
void find_bins(const std::vector<Matrix>& pieces, const std::int64_t* levels, const double* cuts,
               const std::int64_t* offsets, std::int64_t* out);

// Adds table[bin] to out (row, class) for each column, bin = first bin of the column + number of its cuts ≤ x. The cuts
// of column j are [offsets[j], offsets[j + 1]), ascending; it has one bin more than cuts.
void score_bins(const std::vector<Matrix>& pieces, const double* cuts, const std::int64_t* offsets, const double* table,
                std::int64_t n_classes, double* out, int n_threads);

// For each column the cells at which a new bin begins, but for the first; infinite keys are left out of it.
std::vector<std::vector<std::int64_t>> cut_columns(const HistogramView& columns, std::int64_t n_classes, int n_threads);

}  // namespace naively::histogram
