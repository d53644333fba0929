// The range of each column, and whether it holds whole numbers only.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "counts/codes.hpp"
#include "counts/matrix_lines.hpp"
#include "support/simd.hpp"
#include "support/threads.hpp"

namespace naively::cells {
namespace {

struct Range {
  double minimum = std::numeric_limits<double>::infinity(), maximum = -minimum;
  bool whole = true, missing = false;

  // Comparisons with NaN are false, so a missing value changes neither end.
  void add(double x) {
    minimum = x < minimum ? x : minimum;
    maximum = x > maximum ? x : maximum;
    missing |= x != x;
    whole &= (std::floor(x) == x) | (x != x);
  }
  void add(const Range& other) {
    minimum = std::min(minimum, other.minimum);
    maximum = std::max(maximum, other.maximum);
    missing |= other.missing;
    whole &= other.whole;
  }
};

// Rows [from, to) of some neighbouring columns of whole numbers that lie row by row, as many as fill a vector.
template <bool, class T>
NAIVELY_INLINE void add_vector_of_ranges(const T* x, std::int64_t row_step, std::int64_t n, Range* ranges) {
  typedef T Several __attribute__((vector_size(32)));
  Several low, high;
  std::memcpy(&low, x, sizeof low);
  high = low;
  for (std::int64_t i = 1; i < n; ++i) {
    Several values;
    std::memcpy(&values, x + i * row_step, sizeof values);
    low = values < low ? values : low;
    high = values > high ? values : high;
  }
  for (std::size_t k = 0; k < 32 / sizeof(T); ++k) {
    ranges[k].add(static_cast<double>(low[k]));
    ranges[k].add(static_cast<double>(high[k]));
  }
}

template <bool fused>
NAIVELY_INLINE void add_long_ranges_body(const std::int64_t* x, std::int64_t row_step, std::int64_t n, Range* ranges) {
  add_vector_of_ranges<fused>(x, row_step, n, ranges);
}

NAIVELY_DISPATCH(void, add_long_ranges, add_long_ranges_body,
                 (const std::int64_t* x, std::int64_t row_step, std::int64_t n, Range* ranges),
                 (x, row_step, n, ranges))

// Whole numbers as they are, in tiles that fit the L1 cache; what does not fill a vector overlaps.
template <class T>
void add_whole_ranges(const Matrix& x, const T* data, std::int64_t from, std::int64_t to, Range* ranges) {
  constexpr std::int64_t WIDTH = 32 / sizeof(T), ROWS = 64;
  for (std::int64_t i = from; i < to; i += ROWS)
    for (std::int64_t j = 0; j < x.p; j += WIDTH) {
      const std::int64_t n = std::min(ROWS, to - i), column = std::min(j, x.p - WIDTH);
      const T* const corner = data + i * x.row_step + column;
      if constexpr (std::is_same_v<T, std::int64_t>)
        add_long_ranges(corner, x.row_step, n, ranges + column);
      else
        add_vector_of_ranges<false>(corner, x.row_step, n, ranges + column);
    }
}

// Rows [from, to) of every column, along whichever direction the memory runs.
void add_ranges(const Matrix& x, std::int64_t from, std::int64_t to, Range* ranges) {
  double buffer[PIECE];
  if (x.by_columns()) {
    for (std::int64_t j = 0; j < x.p; ++j)
      for (std::int64_t i = from; i < to; i += PIECE) {
        const std::int64_t n = std::min(PIECE, to - i);
        const double* values = x.values.read(i * x.row_step + j * x.column_step, x.row_step, n, buffer);
        Range range;
        for (std::int64_t k = 0; k < n; ++k) range.add(values[k]);
        ranges[j].add(range);
      }
    return;
  }
  const bool done = with_type(x.values.type, [&](auto* kind) {
    using T = std::remove_cv_t<std::remove_pointer_t<decltype(kind)>>;
    if constexpr (std::is_integral_v<T>) {
      if (x.column_step != 1 || x.p < static_cast<std::int64_t>(32 / sizeof(T))) return false;
      add_whole_ranges(x, static_cast<const T*>(x.values.data), from, to, ranges);
      return true;
    }
    return false;
  });
  if (done) return;
  for (std::int64_t i = from; i < to; ++i)
    for (std::int64_t j = 0; j < x.p; j += PIECE) {
      const std::int64_t n = std::min(PIECE, x.p - j);
      const double* values = x.values.read(i * x.row_step + j * x.column_step, x.column_step, n, buffer);
      for (std::int64_t k = 0; k < n; ++k) ranges[j + k].add(values[k]);
    }
}

}  // namespace

ColumnRange column_range(const Matrix& x, int n_jobs) {
  const std::int64_t step = std::max<std::int64_t>(4096, (x.n + 31) / 32), chunks = (x.n + step - 1) / step;
  std::vector<std::vector<Range>> parts(chunks, std::vector<Range>(x.p));
  support::parallel_for(
      chunks, n_jobs, [&](std::int64_t t) { add_ranges(x, t * step, std::min(x.n, (t + 1) * step), parts[t].data()); });
  ColumnRange result(x.p);
  for (std::int64_t j = 0; j < x.p; ++j) {
    Range range;
    for (const auto& part : parts) range.add(part[j]);
    const bool finite = !std::isinf(range.minimum) && !std::isinf(range.maximum);
    result.minimum[j] = range.minimum;
    result.maximum[j] = range.maximum;
    result.whole[j] = range.whole && (finite || range.minimum > range.maximum);
    result.missing[j] = range.missing;
  }
  return result;
}

}  // namespace naively::cells
