// What kernels read: numbers of any type and stride, as doubles piece by piece; tables of floats in place; class codes.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace naively::support {

enum class NumberType : std::uint8_t { kF64, kF32, kI64, kI32, kI16, kI8, kU64, kU32, kU16, kU8, kBool };

// Calls f with a null pointer to the C++ type of the numbers.
template <class F>
decltype(auto) with_type(NumberType type, F&& f) {
  switch (type) {
    case NumberType::kF64: return f(static_cast<const double*>(nullptr));
    case NumberType::kF32: return f(static_cast<const float*>(nullptr));
    case NumberType::kI64: return f(static_cast<const std::int64_t*>(nullptr));
    case NumberType::kI32: return f(static_cast<const std::int32_t*>(nullptr));
    case NumberType::kI16: return f(static_cast<const std::int16_t*>(nullptr));
    case NumberType::kI8: return f(static_cast<const std::int8_t*>(nullptr));
    case NumberType::kU64: return f(static_cast<const std::uint64_t*>(nullptr));
    case NumberType::kU32: return f(static_cast<const std::uint32_t*>(nullptr));
    case NumberType::kU16: return f(static_cast<const std::uint16_t*>(nullptr));
    default: return f(static_cast<const std::uint8_t*>(nullptr));  // kU8; and kBool, a byte of 0 or 1
  }
}

struct NumberArray {
  const void* data;
  NumberType type;
  bool binary = false;  // a number is read as 1 above the threshold, 0 up to it, and NaN if it is not finite
  double threshold = 0;

  // Returns n numbers from index `first` on, `step` apart: where they are if they are contiguous doubles, else copied
  // to `buffer`, which has room for n.
  const double* read(std::int64_t first, std::int64_t step, std::int64_t n, double* buffer) const {
    if (!binary && type == NumberType::kF64 && step == 1) return static_cast<const double*>(data) + first;
    with_type(type, [&](auto* pointer) {
      const auto* from = static_cast<decltype(pointer)>(data) + first;
      if (binary)
        copy(from, step, n, buffer, [this](auto x) { return this->binarize(x); });
      else
        copy(from, step, n, buffer, [](auto x) { return static_cast<double>(x); });
    });
    return buffer;
  }

 private:
  template <class T, class Convert>
  static void copy(const T* from, std::int64_t step, std::int64_t n, double* to, Convert&& convert) {
    if (step == 1) {
      for (std::int64_t k = 0; k < n; ++k) to[k] = convert(from[k]);
    } else {
      for (std::int64_t k = 0; k < n; ++k) to[k] = convert(from[k * step]);
    }
  }

  // x − x is NaN unless x is finite. A float32 is compared as float32, as NumPy does.
  template <class T>
  double binarize(T x) const {
    using Compared = std::conditional_t<std::is_same_v<T, float>, float, double>;
    const auto value = static_cast<Compared>(x);
    return (value > static_cast<Compared>(threshold) ? 1.0 : 0.0) + static_cast<double>(value - value);
  }
};

// A dense (n, p) array; strides are in elements and may have any sign.
struct Matrix {
  NumberArray values;
  std::int64_t n, p;
  std::int64_t row_step, column_step;

  bool by_columns() const {
    const auto row = row_step < 0 ? -row_step : row_step, column = column_step < 0 ? -column_step : column_step;
    return row < column;
  }
};

// A two-dimensional table of float64 or float32 with any strides, read in place.
struct FloatTable {
  const void* data;
  std::ptrdiff_t rows, columns;
  std::ptrdiff_t row_stride, column_stride;  // in elements
  bool single;                               // float32

  FloatTable column(std::ptrdiff_t j) const {
    const void* const from = single ? static_cast<const void*>(static_cast<const float*>(data) + j * column_stride)
                                    : static_cast<const double*>(data) + j * column_stride;
    return {from, rows, 1, row_stride, column_stride, single};
  }
};

// Calls f(pointer to element (0, 0)) with the element type of the table.
template <class F>
void with_elements(const FloatTable& table, F&& f) {
  if (table.single)
    f(static_cast<const float*>(table.data));
  else
    f(static_cast<const double*>(table.data));
}

// The classes of rows, as numbers from 0 on.
struct Labels {
  const std::int32_t* label;
  const double* weight;  // null: all 1
  std::int64_t n, n_classes;
};

// Throws std::invalid_argument if a label is outside [0, n_classes).
inline void check_labels(const std::int32_t* label, std::int64_t n, std::int64_t n_classes,
                         std::int64_t first_row = 0) {
  std::uint32_t largest = 0;  // as an unsigned number a negative label is large
  for (std::int64_t i = 0; i < n; ++i) largest = std::max(largest, static_cast<std::uint32_t>(label[i]));
  if (n == 0 || static_cast<std::int64_t>(largest) < std::min<std::int64_t>(n_classes, 1LL << 31)) return;
  const auto wrong = std::find_if(label, label + n, [&](std::int32_t c) { return c < 0 || c >= n_classes; });
  throw std::invalid_argument("label of row " + std::to_string(first_row + (wrong - label)) + " is " +
                              std::to_string(*wrong) + "; labels must lie in [0, " + std::to_string(n_classes) + ")");
}
inline void check_labels(const Labels& labels) { check_labels(labels.label, labels.n, labels.n_classes); }

}  // namespace naively::support
