#include "moments/gaussian.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "support/simd.hpp"
#include "support/threads.hpp"

namespace naively::dense {
namespace {

// Rows go by tiles of 64, stored by column, so that a vector holds one column of four rows and the parameters of a
// class are read once for 64 rows; columns by panels of 256, so that a tile (128 KB) stays in the cache.
constexpr std::ptrdiff_t tile_rows = 64, panel_columns = 256, block = 4, chunk_rows = 4096;

// The farthest x from the outermost means, in the smallest deviation of the column: its square is still finite.
constexpr double farthest = 1e150;

struct Parameters {
  double mean, inverse_deviation, log_scale;  // log_scale = log 2πσ²
};

class Gaussian {
 public:
  Gaussian(const double* mean, const double* variance, std::ptrdiff_t classes, std::ptrdiff_t columns);

  const Parameters* of(std::ptrdiff_t c, std::ptrdiff_t j) const { return &parameters_[c * columns_ + j]; }
  std::ptrdiff_t classes() const { return classes_; }
  const double* lowest(std::ptrdiff_t j) const { return &lowest_[j]; }
  const double* highest(std::ptrdiff_t j) const { return &highest_[j]; }
  bool extreme() const { return extreme_; }

 private:
  std::ptrdiff_t classes_, columns_;
  std::vector<Parameters> parameters_;    // (class, column)
  std::vector<double> lowest_, highest_;  // x is held between them
  bool extreme_ = false;                  // some z would have an infinite square even so
};

Gaussian::Gaussian(const double* mean, const double* variance, std::ptrdiff_t classes, std::ptrdiff_t columns)
    : classes_(classes), columns_(columns), parameters_(classes * columns), lowest_(columns), highest_(columns) {
  for (std::ptrdiff_t j = 0; j < columns; ++j) {
    double low = std::numeric_limits<double>::infinity(), high = -low, narrowest = low;
    for (std::ptrdiff_t c = 0; c < classes; ++c) {
      const double mu = mean[c * columns + j], square = variance[c * columns + j], deviation = std::sqrt(square);
      parameters_[c * columns + j] = {mu, 1 / deviation, std::log(2 * std::numbers::pi) + std::log(square)};
      low = std::min(low, mu), high = std::max(high, mu), narrowest = std::min(narrowest, deviation);
    }
    lowest_[j] = low - farthest * narrowest, highest_[j] = high + farthest * narrowest;
    extreme_ |= (high - low) / narrowest > farthest;
  }
}

// Copies rows × columns values, stored by row, by column.
template <bool fused, class Real>
NAIVELY_INLINE void transpose_values(const Real* x, std::ptrdiff_t row_stride, std::ptrdiff_t rows,
                                     std::ptrdiff_t columns, double* to) {
  const std::ptrdiff_t full_rows = rows / lanes * lanes, full_columns = columns / lanes * lanes;
  for (std::ptrdiff_t i = 0; i < full_rows; i += lanes)
    for (std::ptrdiff_t j = 0; j < full_columns; j += lanes) {
      const Real* const from = x + i * row_stride + j;
      const Lanes a = load(from), b = load(from + row_stride);
      const Lanes c = load(from + 2 * row_stride), d = load(from + 3 * row_stride);
      const Lanes ab_even = NAIVELY_SHUFFLE(FourPlaces, a, b, 0, 4, 2, 6);
      const Lanes ab_odd = NAIVELY_SHUFFLE(FourPlaces, a, b, 1, 5, 3, 7);
      const Lanes cd_even = NAIVELY_SHUFFLE(FourPlaces, c, d, 0, 4, 2, 6);
      const Lanes cd_odd = NAIVELY_SHUFFLE(FourPlaces, c, d, 1, 5, 3, 7);
      double* const corner = to + j * tile_rows + i;
      store(corner, NAIVELY_SHUFFLE(FourPlaces, ab_even, cd_even, 0, 1, 4, 5));
      store(corner + tile_rows, NAIVELY_SHUFFLE(FourPlaces, ab_odd, cd_odd, 0, 1, 4, 5));
      store(corner + 2 * tile_rows, NAIVELY_SHUFFLE(FourPlaces, ab_even, cd_even, 2, 3, 6, 7));
      store(corner + 3 * tile_rows, NAIVELY_SHUFFLE(FourPlaces, ab_odd, cd_odd, 2, 3, 6, 7));
    }
  for (std::ptrdiff_t i = 0; i < rows; ++i)
    for (std::ptrdiff_t j = i < full_rows ? full_columns : 0; j < columns; ++j)
      to[j * tile_rows + i] = x[i * row_stride + j];
}

template <bool fused>
NAIVELY_INLINE void transpose_body(const Table& x, std::ptrdiff_t offset, std::ptrdiff_t rows, std::ptrdiff_t columns,
                                   double* to) {
  if (x.single)
    transpose_values<fused>(static_cast<const float*>(x.data) + offset, x.row_stride, rows, columns, to);
  else
    transpose_values<fused>(static_cast<const double*>(x.data) + offset, x.row_stride, rows, columns, to);
}

// Holds the values of some columns between the limits of each; NaN stays. Whether all were finite.
template <bool fused>
NAIVELY_INLINE bool hold_body(double* values, std::ptrdiff_t columns, const double* low, const double* high) {
  const Lanes largest = broadcast(std::numeric_limits<double>::max());
  Mask finite = Mask{} - 1;
  for (std::ptrdiff_t j = 0; j < columns; ++j, values += tile_rows)
    for (std::ptrdiff_t i = 0; i < tile_rows; i += lanes) {
      const Lanes x = load(values + i);
      finite &= magnitude(x) <= largest;
      store(values + i, least(broadcast(high[j]), greatest(broadcast(low[j]), x)));
    }
  return !any(~finite);
}

NAIVELY_DISPATCH(void, transpose, transpose_body,
                 (const Table& x, std::ptrdiff_t offset, std::ptrdiff_t rows, std::ptrdiff_t columns, double* to),
                 (x, offset, rows, columns, to))
NAIVELY_DISPATCH(bool, hold, hold_body, (double* values, std::ptrdiff_t columns, const double* low, const double* high),
                 (values, columns, low, high))

// A tile of rows by column, missing values kept as NaN, all others held between the limits of their column.
struct Columns {
  Aligned<double> x{panel_columns * tile_rows};
  bool missing = false;
  std::ptrdiff_t infinite = -1;  // the first column with an infinity

  void read(const Table& table, const Gaussian& model, std::ptrdiff_t row, std::ptrdiff_t rows, std::ptrdiff_t column,
            std::ptrdiff_t columns) {
    const std::ptrdiff_t offset = row * table.row_stride + column * table.column_stride;
    missing = false, infinite = -1;
    copy(table, offset, rows, columns);
    if (hold(x.data(), columns, model.lowest(column), model.highest(column))) return;
    copy(table, offset, rows, columns);  // once more: what is held is no longer infinite
    for (std::ptrdiff_t j = 0; j < columns; ++j) {
      const double* const values = x.data() + j * tile_rows;
      missing |= std::any_of(values, values + rows, [](double v) { return std::isnan(v); });
      if (infinite < 0 && std::any_of(values, values + rows, [](double v) { return std::isinf(v); }))
        infinite = column + j;
    }
    hold(x.data(), columns, model.lowest(column), model.highest(column));
  }

 private:
  void copy(const Table& table, std::ptrdiff_t offset, std::ptrdiff_t rows, std::ptrdiff_t columns) {
    if (table.column_stride == 1)
      transpose(table, offset, rows, columns, x.data());
    else
      with_elements(table, [&](auto* from) { copy(table, from + offset, rows, columns); });
    for (std::ptrdiff_t j = 0; rows < tile_rows && j < columns; ++j)
      std::fill(x.data() + j * tile_rows + rows, x.data() + (j + 1) * tile_rows, 0.0);
  }

  template <class Real>
  void copy(const Table& table, const Real* from, std::ptrdiff_t rows, std::ptrdiff_t columns) {
    for (std::ptrdiff_t j = 0; j < columns; ++j)
      for (std::ptrdiff_t i = 0; i < rows; ++i)
        x[j * tile_rows + i] = from[i * table.row_stride + j * table.column_stride];
  }
};

struct Job {
  const double* x;          // a column of 16 rows; the next column is tile_rows further on
  const Parameters* first;  // of two classes
  const Parameters* second;
  std::ptrdiff_t columns;
  Lanes* squares;  // Σ z² for 4 vectors of rows, of the first class and then of the second
};

NAIVELY_INLINE Lanes square(const Lanes& x, const Parameters& class_) {
  const Lanes z = (x - class_.mean) * class_.inverse_deviation;
  return z * z;
}

// Σ_j z², where nothing is missing.
template <bool fused>
NAIVELY_INLINE void sum_squares_body(const Job& job) {
  Lanes first[block] = {}, second[block] = {};
  const double* x = job.x;
  for (std::ptrdiff_t j = 0; j < job.columns; ++j, x += tile_rows)
    for (int k = 0; k < block; ++k) {
      const Lanes value = load(x + k * lanes);
      first[k] += square(value, job.first[j]);
      second[k] += square(value, job.second[j]);
    }
  for (int k = 0; k < block; ++k) job.squares[k] = first[k], job.squares[block + k] = second[k];
}

NAIVELY_INLINE Lanes term(const Lanes& x, const Parameters& class_) {
  const Lanes limit = broadcast(2 * farthest);
  const Lanes z = least(magnitude((x - class_.mean) * class_.inverse_deviation), limit);
  return keep(z * z + class_.log_scale, x == x);
}

// Σ_j log 2πσ² + z² over the values that are there, with every z held finite.
template <bool fused>
NAIVELY_INLINE void sum_terms_body(const Job& job) {
  Lanes first[block] = {}, second[block] = {};
  const double* x = job.x;
  for (std::ptrdiff_t j = 0; j < job.columns; ++j, x += tile_rows)
    for (int k = 0; k < block; ++k) {
      const Lanes value = load(x + k * lanes);
      first[k] += term(value, job.first[j]);
      second[k] += term(value, job.second[j]);
    }
  for (int k = 0; k < block; ++k) job.squares[k] = first[k], job.squares[block + k] = second[k];
}

NAIVELY_DISPATCH(void, sum_squares, sum_squares_body, (const Job& job), (job))
NAIVELY_DISPATCH(void, sum_terms, sum_terms_body, (const Job& job), (job))

// Adds −½ Σ to out for one tile, two classes and 16 rows at a time.
void score_tile(const Gaussian& model, const Columns& tile, std::ptrdiff_t column, std::ptrdiff_t columns,
                const double* log_scale, std::ptrdiff_t rows, double* out) {
  const bool slow = tile.missing || model.extreme();
  for (std::ptrdiff_t c = 0; c < model.classes(); c += 2) {
    const std::ptrdiff_t other = std::min(c + 1, model.classes() - 1);
    for (std::ptrdiff_t i = 0; i < rows; i += block * lanes) {
      Lanes squares[2 * block];
      const Job job = {tile.x.data() + i, model.of(c, column), model.of(other, column), columns, squares};
      slow ? sum_terms(job) : sum_squares(job);
      const double* const sums = reinterpret_cast<const double*>(squares);
      const std::ptrdiff_t filled = std::min(block * lanes, rows - i);
      for (std::ptrdiff_t d = c; d <= other; ++d)
        for (std::ptrdiff_t r = 0; r < filled; ++r)
          out[(i + r) * model.classes() + d] -= 0.5 * (sums[(d - c) * block * lanes + r] + (slow ? 0.0 : log_scale[d]));
    }
  }
}

}  // namespace

Oddities score_gaussian(const Table& x, const double* mean, const double* variance, std::ptrdiff_t classes, double* out,
                        int n_jobs) {
  const Gaussian model(mean, variance, classes, x.columns);
  const std::ptrdiff_t panels = (x.columns + panel_columns - 1) / panel_columns;
  std::vector<double> log_scale(panels * classes);  // Σ log 2πσ² over a panel
  for (std::ptrdiff_t c = 0; c < classes; ++c)
    for (std::ptrdiff_t j = 0; j < x.columns; ++j)
      log_scale[j / panel_columns * classes + c] += model.of(c, j)->log_scale;

  const std::ptrdiff_t none = std::numeric_limits<std::ptrdiff_t>::max();
  std::atomic<std::ptrdiff_t> infinite{none};
  std::atomic<bool> missing{false};
  support::parallel_for((x.rows + chunk_rows - 1) / chunk_rows, n_jobs, [&](std::ptrdiff_t chunk) {
    Columns tile;
    const std::ptrdiff_t end = std::min(x.rows, (chunk + 1) * chunk_rows);
    for (std::ptrdiff_t row = chunk * chunk_rows; row < end; row += tile_rows)
      for (std::ptrdiff_t panel = 0; panel < panels; ++panel) {
        const std::ptrdiff_t column = panel * panel_columns, rows = std::min(tile_rows, end - row);
        const std::ptrdiff_t columns = std::min(panel_columns, x.columns - column);
        tile.read(x, model, row, rows, column, columns);
        if (tile.missing) missing = true;
        if (tile.infinite >= 0) {
          std::ptrdiff_t known = infinite;
          while (tile.infinite < known && !infinite.compare_exchange_weak(known, tile.infinite)) {
          }
        }
        score_tile(model, tile, column, columns, &log_scale[panel * classes], rows, out + row * classes);
      }
  });
  return {infinite == none ? -1 : infinite.load(), missing};
}

}  // namespace naively::dense
