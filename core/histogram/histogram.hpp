// Histograms of numeric columns: how often each value, or each bucket of neighbouring values, comes with each class.
//
// The key of a number is its float64 bits as an integer that keeps the order (−0.0 is 0.0), shifted right by the
// column's level:
//
//   key(x) = (bits ^ ((bits >> 63) & (2^63 − 1))) >> level                                                       (1)
//   level = the smallest at which the column's distinct keys, over all classes, number at most `cap`             (2)
//
// (2) does not depend on the order of the rows, and the keys of a part fit at the level of the whole, so counting in
// parts and merging is counting the whole. ±infinity have keys of their own at every level and do not fill the cap.
#pragma once
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "counts/count.hpp"
#include "support/any_number.hpp"

namespace naively::histogram {

using cells::Labels;
using cells::Matrix;

constexpr std::int64_t MINUS_INFINITY = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t PLUS_INFINITY = std::numeric_limits<std::int64_t>::max();

inline bool infinite(std::int64_t key) { return key == MINUS_INFINITY || key == PLUS_INFINITY; }

// Equation (1) of a finite number at level 0; adding 0.0 turns −0.0 into 0.0.
inline std::int64_t key_of(double x) {
  const auto bits = std::bit_cast<std::int64_t>(x + 0.0);
  return bits ^ ((bits >> 63) & PLUS_INFINITY);
}

struct Cell {
  std::int64_t key;
  std::int32_t label;
  double weight;
  std::int64_t rows;
};

struct Column {
  int level = 0;
  std::vector<Cell> cells;  // by key, then class
};

// Columns that someone else owns: the cells of column j are [offsets[j], offsets[j + 1]).
struct View {
  std::int64_t n_columns, n_cells;
  const std::int64_t *levels, *offsets, *keys;
  const std::int32_t* classes;
  const double* weight;
  const std::int64_t* rows;

  Column column(std::int64_t j) const {
    Column result{static_cast<int>(levels[j]), {}};
    result.cells.reserve(offsets[j + 1] - offsets[j]);
    for (std::int64_t i = offsets[j]; i < offsets[j + 1]; ++i)
      result.cells.push_back({keys[i], classes[i], weight[i], rows[i]});
    return result;
  }
};

// Equation (2): how many levels to rise from where `keys` (distinct, ascending, finite) are now. cap ≥ 2.
int levels_to_fit(const std::vector<std::int64_t>& keys, std::int64_t cap);

// The columns of all pieces, side by side; NaN is missing. Bit for bit the same for any n_jobs. No level lies below
// that of `at_least` (or null): of rows that will be added to columns of those levels, whose sum is then the same.
std::vector<Column> count_histogram(const std::vector<Matrix>& pieces, const Labels& labels, std::int64_t cap,
                                    const std::int64_t* at_least, int n_jobs);

// a + b at the level of (2); or a − b at the higher of both levels, where negative rows are left to the caller.
Column merge(Column a, Column b, int sign, std::int64_t cap);

// The bin of each value among all bins, −1 of NaN. The values of column j are [ends[j], ends[j + 1]); its cuts, and how
// bins follow from them, as below.
void find_bins(const double* values, const std::int64_t* ends, std::int64_t n_columns, const double* cuts,
               const std::int64_t* offsets, std::int64_t* out, int n_jobs);

// The weight and the rows of each class in each bin, (bin, class); a cell lies where the smallest number of its key
// does.
void bin_cells(const View& columns, const double* cuts, const std::int64_t* offsets, std::int64_t n_classes,
               double* weight, std::int64_t* rows);

// Score: out (row, class) += table[bin] for each column, bin = first bin of the column + number of its cuts ≤ x.
// The cuts of column j are [offsets[j], offsets[j + 1]), ascending; it has one bin more than cuts.
void score_bins(const std::vector<Matrix>& pieces, const double* cuts, const std::int64_t* offsets, const double* table,
                std::int64_t n_classes, double* out, int n_jobs);

}  // namespace naively::histogram
