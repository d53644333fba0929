// Add up the cells of a histogram within bins, and score numbers by their bins.
#include <algorithm>
#include <cmath>

#include "histogram/histogram.hpp"
#include "support/threads.hpp"

namespace naively::histogram {
namespace {

// Equation (1) of any number; infinities have their own keys.
std::int64_t key_of_any(double x) {
  if (std::isinf(x)) return x < 0 ? kMinusInfinity : kPlusInfinity;
  return key_of(x);
}

// Returns the key at level 0 of the smallest number of a key. The first bucket of a high level contains the bits of
// −infinity.
std::int64_t lowest_of(std::int64_t key, std::int64_t level) {
  static const std::int64_t kFirst = key_of(std::numeric_limits<double>::lowest());
  return is_infinite(key) ? key : std::max(kFirst, key << level);
}

}  // namespace

// Cells and cuts are both in order, so one pass is enough.
void bin_cells(const HistogramView& columns, const double* cuts, const std::int64_t* offsets, std::int64_t n_classes,
               double* weight, std::int64_t* rows) {
  std::fill_n(weight, (offsets[columns.n_columns] + columns.n_columns) * n_classes, 0.0);
  std::fill_n(rows, (offsets[columns.n_columns] + columns.n_columns) * n_classes, std::int64_t{0});
  for (std::int64_t j = 0; j < columns.n_columns; ++j) {
    std::int64_t cut = offsets[j];
    for (std::int64_t i = columns.offsets[j]; i < columns.offsets[j + 1]; ++i) {
      const std::int64_t lowest = lowest_of(columns.keys[i], columns.levels[j]);
      while (cut < offsets[j + 1] && key_of_any(cuts[cut]) <= lowest) ++cut;
      const std::int64_t at = (cut + j) * n_classes + columns.classes[i];
      weight[at] += columns.weight[i];
      rows[at] += columns.rows[i];
    }
  }
}

void find_bins(const std::vector<Matrix>& pieces, const std::int64_t* levels, const double* cuts,
               const std::int64_t* offsets, std::int64_t* out) {
  constexpr std::int64_t kTileRows = 64;
  std::int64_t n_columns = 0;
  for (const Matrix& x : pieces) n_columns += x.p;
  std::vector<std::int64_t> cut_keys(offsets[n_columns]);
  for (std::size_t k = 0; k < cut_keys.size(); ++k) cut_keys[k] = key_of_any(cuts[k]);
  const std::int64_t n = pieces.empty() ? 0 : pieces[0].n;
  for (std::int64_t from = 0; from < n; from += kTileRows) {
    const std::int64_t rows = std::min(kTileRows, n - from);
    double buffer[kTileRows];
    std::int64_t column = 0;
    for (const Matrix& x : pieces)
      for (std::int64_t j = 0; j < x.p; ++j, ++column) {
        const std::int64_t *const first = cut_keys.data() + offsets[column], level = levels[column];
        const std::int64_t *const last = cut_keys.data() + offsets[column + 1], first_bin = offsets[column] + column;
        const double* values = x.values.read(from * x.row_step + j * x.column_step, x.row_step, rows, buffer);
        for (std::int64_t i = 0; i < rows; ++i) {
          const double value = values[i];
          std::int64_t& bin = out[(from + i) * n_columns + column];
          if (value != value) {
            bin = -1;
            continue;
          }
          const std::int64_t key = std::isinf(value) ? key_of_any(value) : key_of(value) >> level;
          bin = first_bin + (std::upper_bound(first, last, lowest_of(key, level)) - first);
        }
      }
  }
}

void score_bins(const std::vector<Matrix>& pieces, const double* cuts, const std::int64_t* offsets, const double* table,
                std::int64_t n_classes, double* out, int n_threads) {
  constexpr std::int64_t kTileRows = 512;
  const std::int64_t n = pieces.empty() ? 0 : pieces[0].n;
  support::parallel_for((n + kTileRows - 1) / kTileRows, n_threads, [&](std::int64_t tile) {
    const std::int64_t from = tile * kTileRows, rows = std::min(kTileRows, n - from);
    double buffer[kTileRows];
    std::int64_t bin[kTileRows], column = 0;
    for (const Matrix& x : pieces)
      for (std::int64_t j = 0; j < x.p; ++j, ++column) {
        const double* cut = cuts + offsets[column];
        const std::int64_t n_cuts = offsets[column + 1] - offsets[column];
        const double* bins = table + (offsets[column] + column) * n_classes;
        const double* values = x.values.read(from * x.row_step + j * x.column_step, x.row_step, rows, buffer);
        // Binary search for all rows of the tile at once: no branch depends on a value, and rows do not wait.
        std::fill_n(bin, rows, 0);
        for (std::int64_t left = n_cuts; left > 0;) {
          const std::int64_t half = (left + 1) / 2;
          for (std::int64_t i = 0; i < rows; ++i)
            bin[i] += half & -static_cast<std::int64_t>(cut[bin[i] + half - 1] <= values[i]);
          left -= half;
        }
        for (std::int64_t i = 0; i < rows; ++i) {
          if (values[i] != values[i]) continue;
          const double* term = bins + bin[i] * n_classes;
          for (std::int64_t c = 0; c < n_classes; ++c) out[(from + i) * n_classes + c] += term[c];
        }
      }
  });
}

}  // namespace naively::histogram
