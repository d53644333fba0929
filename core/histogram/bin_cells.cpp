// The cells of a histogram added up within bins. Both lie in order, so one pass meets each cell and each cut once.
#include <algorithm>
#include <cmath>

#include "histogram/histogram.hpp"

namespace naively::histogram {
namespace {

// Equation (1) of any number, with the keys of their own that infinities have.
std::int64_t order_of(double x) {
  if (std::isinf(x)) return x < 0 ? MINUS_INFINITY : PLUS_INFINITY;
  return key_of(x);
}

// The order of the smallest number of a key. The first bucket of a high level reaches into the codes of −infinity.
std::int64_t lowest_of(std::int64_t key, std::int64_t level) {
  static const std::int64_t FIRST = key_of(std::numeric_limits<double>::lowest());
  return infinite(key) ? key : std::max(FIRST, key << level);
}

}  // namespace

void bin_cells(const View& columns, const double* cuts, const std::int64_t* offsets, std::int64_t n_classes,
               double* weight, std::int64_t* rows) {
  std::fill_n(weight, (offsets[columns.n_columns] + columns.n_columns) * n_classes, 0.0);
  std::fill_n(rows, (offsets[columns.n_columns] + columns.n_columns) * n_classes, std::int64_t{0});
  for (std::int64_t j = 0; j < columns.n_columns; ++j) {
    std::int64_t cut = offsets[j];
    for (std::int64_t i = columns.offsets[j]; i < columns.offsets[j + 1]; ++i) {
      const std::int64_t lowest = lowest_of(columns.keys[i], columns.levels[j]);
      while (cut < offsets[j + 1] && order_of(cuts[cut]) <= lowest) ++cut;
      const std::int64_t place = (cut + j) * n_classes + columns.classes[i];
      weight[place] += columns.weight[i];
      rows[place] += columns.rows[i];
    }
  }
}

}  // namespace naively::histogram
