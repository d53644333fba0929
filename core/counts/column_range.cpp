// The range of each column, and whether it holds integers only.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "counts/count.hpp"
#include "support/simd.hpp"
#include "support/threads.hpp"

namespace naively::counts {
namespace {

struct Extent {
  double minimum = std::numeric_limits<double>::infinity(), maximum = -minimum;
  bool integral = true, missing = false;

  // Comparisons with NaN are false, so a missing value changes neither bound.
  void add(double x) {
    minimum = x < minimum ? x : minimum;
    maximum = x > maximum ? x : maximum;
    missing |= x != x;
    integral &= (std::floor(x) == x) | (x != x);
  }
  void add(const Extent& other) {
    minimum = std::min(minimum, other.minimum);
    maximum = std::max(maximum, other.maximum);
    missing |= other.missing;
    integral &= other.integral;
  }
};

// n rows of neighbouring columns of integers that are stored by row, as many as fill a vector.
template <bool, class T>
NAIVELY_INLINE void add_vector_extents(const T* x, std::int64_t row_step, std::int64_t n, Extent* extents) {
  using Several = support::Vector<T, 32 / sizeof(T)>;
  Several low, high;
  std::memcpy(&low, x, sizeof low);
  high = low;
  for (std::int64_t i = 1; i < n; ++i) {
    Several values;
    std::memcpy(&values, x + i * row_step, sizeof values);
    low = support::least(values, low);
    high = support::greatest(values, high);
  }
  for (std::size_t k = 0; k < 32 / sizeof(T); ++k) {
    extents[k].add(static_cast<double>(low[k]));
    extents[k].add(static_cast<double>(high[k]));
  }
}

template <bool fused>
NAIVELY_INLINE void add_int64_extents_body(const std::int64_t* x, std::int64_t row_step, std::int64_t n,
                                           Extent* extents) {
  add_vector_extents<fused>(x, row_step, n, extents);
}

NAIVELY_DISPATCH(void, add_int64_extents, add_int64_extents_body,
                 (const std::int64_t* x, std::int64_t row_step, std::int64_t n, Extent* extents),
                 (x, row_step, n, extents))

// Integers in tiles that fit the L1 cache; columns that do not fill a vector overlap with those before.
template <class T>
void add_integer_extents(const Matrix& x, const T* data, std::int64_t from, std::int64_t to, Extent* extents) {
  constexpr std::int64_t kWidth = 32 / sizeof(T), kRows = 64;
  for (std::int64_t i = from; i < to; i += kRows)
    for (std::int64_t j = 0; j < x.p; j += kWidth) {
      const std::int64_t n = std::min(kRows, to - i), column = std::min(j, x.p - kWidth);
      const T* const corner = data + i * x.row_step + column;
      if constexpr (std::is_same_v<T, std::int64_t>)
        add_int64_extents(corner, x.row_step, n, extents + column);
      else
        add_vector_extents<false>(corner, x.row_step, n, extents + column);
    }
}

// Rows [from, to) of every column, in the order of memory.
void add_extents(const Matrix& x, std::int64_t from, std::int64_t to, Extent* extents) {
  double buffer[kPieceEntries];
  if (x.by_columns()) {
    for (std::int64_t j = 0; j < x.p; ++j)
      for (std::int64_t i = from; i < to; i += kPieceEntries) {
        const std::int64_t n = std::min(kPieceEntries, to - i);
        const double* values = x.values.read(i * x.row_step + j * x.column_step, x.row_step, n, buffer);
        Extent extent;
        for (std::int64_t k = 0; k < n; ++k) extent.add(values[k]);
        extents[j].add(extent);
      }
    return;
  }
  const bool done = with_type(x.values.type, [&](auto* kind) {
    using T = std::remove_cv_t<std::remove_pointer_t<decltype(kind)>>;
    if constexpr (std::is_integral_v<T>) {
      if (x.column_step != 1 || x.p < static_cast<std::int64_t>(32 / sizeof(T))) return false;
      add_integer_extents(x, static_cast<const T*>(x.values.data), from, to, extents);
      return true;
    }
    return false;
  });
  if (done) return;
  for (std::int64_t i = from; i < to; ++i)
    for (std::int64_t j = 0; j < x.p; j += kPieceEntries) {
      const std::int64_t n = std::min(kPieceEntries, x.p - j);
      const double* values = x.values.read(i * x.row_step + j * x.column_step, x.column_step, n, buffer);
      for (std::int64_t k = 0; k < n; ++k) extents[j + k].add(values[k]);
    }
}

}  // namespace

ColumnRange column_range(const Matrix& x, int n_threads) {
  const std::int64_t step = std::max<std::int64_t>(4096, (x.n + 31) / 32), chunks = (x.n + step - 1) / step;
  std::vector<std::vector<Extent>> parts(chunks, std::vector<Extent>(x.p));
  support::parallel_for(chunks, n_threads, [&](std::int64_t t) {
    add_extents(x, t * step, std::min(x.n, (t + 1) * step), parts[t].data());
  });
  ColumnRange result(x.p);
  for (std::int64_t j = 0; j < x.p; ++j) {
    Extent extent;
    for (const auto& part : parts) extent.add(part[j]);
    const bool finite = !std::isinf(extent.minimum) && !std::isinf(extent.maximum);
    result.minimum[j] = extent.minimum;
    result.maximum[j] = extent.maximum;
    result.integral[j] = extent.integral && (finite || extent.minimum > extent.maximum);
    result.missing[j] = extent.missing;
  }
  return result;
}

}  // namespace naively::counts
