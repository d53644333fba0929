// Columns as the histograms read them: one by one, or a few neighbours at once where a row lies in a row.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "histogram/histogram.hpp"

namespace naively::histogram {

constexpr std::int64_t STRIP = 8;                       // columns read together when rows lie in a row: a cache line
constexpr std::int64_t SAMPLE = std::int64_t{1} << 13;  // rows that are looked at for the level to begin with

// Neighbouring columns of one piece, which are read and counted by one task after the other.
struct Strip {
  const Matrix* x;
  std::int64_t first, width, column;  // its first column within the piece, and among all

  // Numbers of `n` rows, from `from` on and `step` apart, of each column; n apart in `buffer` unless read in place.
  const double* read(std::int64_t from, std::int64_t step, std::int64_t n, std::vector<double>& buffer) const {
    const std::int64_t at = from * x->row_step + first * x->column_step, row = step * x->row_step;
    if (width == 1) {
      if (x->values.type != cells::Type::f64 || row != 1) buffer.resize(n);  // else it is read where it lies
      return x->values.read(at, row, n, buffer.data());
    }
    buffer.resize(n * width);
    cells::with_type(x->values.type, [&](auto* kind) {
      const auto* data = static_cast<decltype(kind)>(x->values.data) + at;
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < width; ++j)
          buffer[j * n + i] = static_cast<double>(data[i * row + j * x->column_step]);
    });
    return buffer.data();
  }
};

inline std::vector<Strip> strips_of(const std::vector<Matrix>& pieces) {
  std::vector<Strip> strips;
  std::int64_t column = 0;
  for (const Matrix& x : pieces) {
    const std::int64_t wide = x.by_columns() || x.p == 1 ? 1 : STRIP;
    for (std::int64_t j = 0; j < x.p; j += wide) {
      const std::int64_t width = std::min(wide, x.p - j);
      strips.push_back({&x, j, width, column});
      column += width;
    }
  }
  return strips;
}

// The level that these numbers alone would need: one below which all numbers cannot fit either.
inline int level_of(const double* x, std::int64_t n, std::int64_t cap) {
  std::vector<std::int64_t> keys;
  keys.reserve(n);
  for (std::int64_t i = 0; i < n; ++i)
    if (x[i] - x[i] == 0) keys.push_back(key_of(x[i]));
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return levels_to_fit(keys, cap);
}

}  // namespace naively::histogram
