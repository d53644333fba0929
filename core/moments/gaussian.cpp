#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "moments/moments.hpp"
#include "support/memory.hpp"
#include "support/simd.hpp"
#include "support/threads.hpp"

namespace naively::moments {
namespace {

using support::any;
using support::broadcast;
using support::FloatTable;
using support::greatest;
using support::keep;
using support::kLanes;
using support::Lanes;
using support::least;
using support::load;
using support::magnitude;
using support::Mask;
using support::shuffle;
using support::store;

// Rows are scored in tiles of 64, stored by column, so that a vector holds one column of four rows and the parameters
// of a class are read once for 64 rows. Columns go by blocks of 256, so that a tile (128 KB) stays in the cache.
constexpr std::ptrdiff_t kTileRows = 64, kBlockColumns = 256, kVectors = 4, kChunkRows = 4096;

// The largest distance of x from the outermost means, in the smallest deviation of the column, whose square is finite.
constexpr double kMaxDistance = 1e150;

struct Parameters {
  double mean, inverse_deviation, log_scale;  // log_scale = log 2πσ²
};

class Gaussian {
 public:
  Gaussian(const GaussianTable& table, std::ptrdiff_t columns);

  const Parameters* of(std::ptrdiff_t c, std::ptrdiff_t j) const { return &parameters_[c * columns_ + j]; }
  std::ptrdiff_t classes() const { return classes_; }
  const double* lowest(std::ptrdiff_t j) const { return &lowest_[j]; }
  const double* highest(std::ptrdiff_t j) const { return &highest_[j]; }
  bool extreme() const { return extreme_; }

 private:
  std::ptrdiff_t classes_, columns_;
  std::vector<Parameters> parameters_;    // (class, column)
  std::vector<double> lowest_, highest_;  // x is clamped between them
  bool extreme_ = false;                  // a z may have an infinite square nevertheless
};

Gaussian::Gaussian(const GaussianTable& table, std::ptrdiff_t columns)
    : classes_(table.classes),
      columns_(columns),
      parameters_(table.classes * columns),
      lowest_(columns),
      highest_(columns) {
  for (std::ptrdiff_t j = 0; j < columns; ++j) {
    double low = std::numeric_limits<double>::infinity(), high = -low, narrowest = low;
    for (std::ptrdiff_t c = 0; c < classes_; ++c) {
      const double mu = table.mean[c * table.stride + j], square = table.variance[c * table.stride + j];
      const double deviation = std::sqrt(square);
      parameters_[c * columns + j] = {mu, 1 / deviation, std::log(2 * std::numbers::pi) + std::log(square)};
      low = std::min(low, mu), high = std::max(high, mu), narrowest = std::min(narrowest, deviation);
    }
    lowest_[j] = low - kMaxDistance * narrowest, highest_[j] = high + kMaxDistance * narrowest;
    extreme_ |= (high - low) / narrowest > kMaxDistance;
  }
}

// Transposes rows × columns values that are stored by row.
template <bool fused, class Real>
NAIVELY_INLINE void transpose_values(const Real* x, std::ptrdiff_t row_stride, std::ptrdiff_t rows,
                                     std::ptrdiff_t columns, double* to) {
  const std::ptrdiff_t full_rows = rows / kLanes * kLanes, full_columns = columns / kLanes * kLanes;
  for (std::ptrdiff_t i = 0; i < full_rows; i += kLanes)
    for (std::ptrdiff_t j = 0; j < full_columns; j += kLanes) {
      const Real* const from = x + i * row_stride + j;
      const Lanes a = load(from), b = load(from + row_stride);
      const Lanes c = load(from + 2 * row_stride), d = load(from + 3 * row_stride);
      const Lanes ab_even = shuffle<0, 4, 2, 6>(a, b);
      const Lanes ab_odd = shuffle<1, 5, 3, 7>(a, b);
      const Lanes cd_even = shuffle<0, 4, 2, 6>(c, d);
      const Lanes cd_odd = shuffle<1, 5, 3, 7>(c, d);
      double* const corner = to + j * kTileRows + i;
      store(corner, shuffle<0, 1, 4, 5>(ab_even, cd_even));
      store(corner + kTileRows, shuffle<0, 1, 4, 5>(ab_odd, cd_odd));
      store(corner + 2 * kTileRows, shuffle<2, 3, 6, 7>(ab_even, cd_even));
      store(corner + 3 * kTileRows, shuffle<2, 3, 6, 7>(ab_odd, cd_odd));
    }
  for (std::ptrdiff_t i = 0; i < rows; ++i)
    for (std::ptrdiff_t j = i < full_rows ? full_columns : 0; j < columns; ++j)
      to[j * kTileRows + i] = x[i * row_stride + j];
}

template <bool fused>
NAIVELY_INLINE void transpose_body(const FloatTable& x, std::ptrdiff_t offset, std::ptrdiff_t rows,
                                   std::ptrdiff_t columns, double* to) {
  if (x.single)
    transpose_values<fused>(static_cast<const float*>(x.data) + offset, x.row_stride, rows, columns, to);
  else
    transpose_values<fused>(static_cast<const double*>(x.data) + offset, x.row_stride, rows, columns, to);
}

// Clamps the values of columns between the limits of each; NaN stays. Returns whether all are finite.
template <bool fused>
NAIVELY_INLINE bool clamp_body(double* values, std::ptrdiff_t columns, const double* low, const double* high) {
  const Lanes largest = broadcast(std::numeric_limits<double>::max());
  Mask finite = Mask{} - 1;
  for (std::ptrdiff_t j = 0; j < columns; ++j, values += kTileRows)
    for (std::ptrdiff_t i = 0; i < kTileRows; i += kLanes) {
      const Lanes x = load(values + i);
      finite &= magnitude(x) <= largest;
      store(values + i, least(broadcast(high[j]), greatest(broadcast(low[j]), x)));
    }
  return !any(~finite);
}

NAIVELY_DISPATCH(void, transpose, transpose_body,
                 (const FloatTable& x, std::ptrdiff_t offset, std::ptrdiff_t rows, std::ptrdiff_t columns, double* to),
                 (x, offset, rows, columns, to))
NAIVELY_DISPATCH(bool, clamp_columns, clamp_body,
                 (double* values, std::ptrdiff_t columns, const double* low, const double* high),
                 (values, columns, low, high))

// A tile of rows stored by column. Missing values are NaN, all others are clamped between the limits of their column.
struct ColumnTile {
  support::LargeArray<double> x;
  bool missing = false;
  std::ptrdiff_t infinite = -1;  // the first column with an infinity

  explicit ColumnTile(std::ptrdiff_t columns) : x(std::min(columns, kBlockColumns) * kTileRows) {}

  void read(const FloatTable& table, const Gaussian& model, std::ptrdiff_t row, std::ptrdiff_t rows,
            std::ptrdiff_t column, std::ptrdiff_t columns) {
    const std::ptrdiff_t offset = row * table.row_stride + column * table.column_stride;
    missing = false, infinite = -1;
    copy(table, offset, rows, columns);
    if (clamp_columns(x.data(), columns, model.lowest(column), model.highest(column))) return;
    copy(table, offset, rows, columns);  // again: what is clamped is not infinite any more
    for (std::ptrdiff_t j = 0; j < columns; ++j) {
      const double* const values = x.data() + j * kTileRows;
      missing |= std::any_of(values, values + rows, [](double v) { return std::isnan(v); });
      if (infinite < 0 && std::any_of(values, values + rows, [](double v) { return std::isinf(v); }))
        infinite = column + j;
    }
    clamp_columns(x.data(), columns, model.lowest(column), model.highest(column));
  }

 private:
  void copy(const FloatTable& table, std::ptrdiff_t offset, std::ptrdiff_t rows, std::ptrdiff_t columns) {
    if (table.column_stride == 1)
      transpose(table, offset, rows, columns, x.data());
    else
      with_elements(table, [&](auto* from) { copy(table, from + offset, rows, columns); });
    for (std::ptrdiff_t j = 0; rows < kTileRows && j < columns; ++j)
      std::fill(x.data() + j * kTileRows + rows, x.data() + (j + 1) * kTileRows, 0.0);
  }

  template <class Real>
  void copy(const FloatTable& table, const Real* from, std::ptrdiff_t rows, std::ptrdiff_t columns) {
    for (std::ptrdiff_t j = 0; j < columns; ++j)
      for (std::ptrdiff_t i = 0; i < rows; ++i)
        x[j * kTileRows + i] = from[i * table.row_stride + j * table.column_stride];
  }
};

struct SumJob {
  const double* x;          // a column of 16 rows; the next column is kTileRows further
  const Parameters* first;  // of two classes
  const Parameters* second;
  std::ptrdiff_t columns;
  Lanes* squares;  // Σ z² for 4 vectors of rows, of the first class and then of the second
};

NAIVELY_INLINE Lanes square(const Lanes& x, const Parameters& class_) {
  const Lanes z = (x - class_.mean) * class_.inverse_deviation;
  return z * z;
}

// Σ_j z², if nothing is missing.
template <bool fused>
NAIVELY_INLINE void sum_squares_body(const SumJob& job) {
  Lanes first[kVectors] = {}, second[kVectors] = {};
  const double* x = job.x;
  for (std::ptrdiff_t j = 0; j < job.columns; ++j, x += kTileRows)
    for (int k = 0; k < kVectors; ++k) {
      const Lanes value = load(x + k * kLanes);
      first[k] += square(value, job.first[j]);
      second[k] += square(value, job.second[j]);
    }
  for (int k = 0; k < kVectors; ++k) job.squares[k] = first[k], job.squares[kVectors + k] = second[k];
}

NAIVELY_INLINE Lanes term(const Lanes& x, const Parameters& class_) {
  const Lanes limit = broadcast(2 * kMaxDistance);
  const Lanes z = least(magnitude((x - class_.mean) * class_.inverse_deviation), limit);
  return keep(z * z + class_.log_scale, x == x);
}

// Σ_j log 2πσ² + z² over the values that are not missing, with every z kept finite.
template <bool fused>
NAIVELY_INLINE void sum_terms_body(const SumJob& job) {
  Lanes first[kVectors] = {}, second[kVectors] = {};
  const double* x = job.x;
  for (std::ptrdiff_t j = 0; j < job.columns; ++j, x += kTileRows)
    for (int k = 0; k < kVectors; ++k) {
      const Lanes value = load(x + k * kLanes);
      first[k] += term(value, job.first[j]);
      second[k] += term(value, job.second[j]);
    }
  for (int k = 0; k < kVectors; ++k) job.squares[k] = first[k], job.squares[kVectors + k] = second[k];
}

NAIVELY_DISPATCH(void, sum_squares, sum_squares_body, (const SumJob& job), (job))
NAIVELY_DISPATCH(void, sum_terms, sum_terms_body, (const SumJob& job), (job))

// Adds −½ Σ to out for one tile, two classes and 16 rows at a time.
void score_tile(const Gaussian& model, const ColumnTile& tile, std::ptrdiff_t column, std::ptrdiff_t columns,
                const double* log_scale, std::ptrdiff_t rows, double* out) {
  const bool term_by_term = tile.missing || model.extreme();
  for (std::ptrdiff_t c = 0; c < model.classes(); c += 2) {
    const std::ptrdiff_t other = std::min(c + 1, model.classes() - 1);
    for (std::ptrdiff_t i = 0; i < rows; i += kVectors * kLanes) {
      Lanes squares[2 * kVectors];
      const SumJob job = {tile.x.data() + i, model.of(c, column), model.of(other, column), columns, squares};
      term_by_term ? sum_terms(job) : sum_squares(job);
      const double* const sums = reinterpret_cast<const double*>(squares);
      const std::ptrdiff_t filled = std::min(kVectors * kLanes, rows - i);
      for (std::ptrdiff_t d = c; d <= other; ++d)
        for (std::ptrdiff_t r = 0; r < filled; ++r)
          out[(i + r) * model.classes() + d] -=
              0.5 * (sums[(d - c) * kVectors * kLanes + r] + (term_by_term ? 0.0 : log_scale[d]));
    }
  }
}

}  // namespace

IrregularValues score_gaussian(const FloatTable& x, const GaussianTable& table, double* out, int n_threads) {
  const Gaussian model(table, x.columns);
  const std::ptrdiff_t classes = table.classes;
  const std::ptrdiff_t n_blocks = (x.columns + kBlockColumns - 1) / kBlockColumns;
  std::vector<double> log_scale(n_blocks * classes);  // Σ log 2πσ² over a block
  for (std::ptrdiff_t c = 0; c < classes; ++c)
    for (std::ptrdiff_t j = 0; j < x.columns; ++j)
      log_scale[j / kBlockColumns * classes + c] += model.of(c, j)->log_scale;

  const std::ptrdiff_t none = std::numeric_limits<std::ptrdiff_t>::max();
  std::atomic<std::ptrdiff_t> infinite{none};
  std::atomic<bool> missing{false};
  support::parallel_for((x.rows + kChunkRows - 1) / kChunkRows, n_threads, [&](std::ptrdiff_t chunk) {
    ColumnTile tile(x.columns);
    const std::ptrdiff_t end = std::min(x.rows, (chunk + 1) * kChunkRows);
    for (std::ptrdiff_t row = chunk * kChunkRows; row < end; row += kTileRows)
      for (std::ptrdiff_t block = 0; block < n_blocks; ++block) {
        const std::ptrdiff_t column = block * kBlockColumns, rows = std::min(kTileRows, end - row);
        const std::ptrdiff_t columns = std::min(kBlockColumns, x.columns - column);
        tile.read(x, model, row, rows, column, columns);
        if (tile.missing) missing = true;
        if (tile.infinite >= 0) {
          std::ptrdiff_t known = infinite;
          while (tile.infinite < known && !infinite.compare_exchange_weak(known, tile.infinite)) {
          }
        }
        score_tile(model, tile, column, columns, &log_scale[block * classes], rows, out + row * classes);
      }
  });
  return {infinite == none ? -1 : infinite.load(), missing};
}

}  // namespace naively::moments
