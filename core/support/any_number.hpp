// Numbers of any type and stride, read as doubles piece by piece, so that one kernel serves all types.
#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <type_traits>

namespace naively::cells {

enum class Type : std::uint8_t { f64, f32, i64, i32, i16, i8, u64, u32, u16, u8, b1 };

// Calls f with a null pointer to the C++ type that `type` names.
template <class F>
decltype(auto) with_type(Type type, F&& f) {
  switch (type) {
    case Type::f64: return f(static_cast<const double*>(nullptr));
    case Type::f32: return f(static_cast<const float*>(nullptr));
    case Type::i64: return f(static_cast<const std::int64_t*>(nullptr));
    case Type::i32: return f(static_cast<const std::int32_t*>(nullptr));
    case Type::i16: return f(static_cast<const std::int16_t*>(nullptr));
    case Type::i8: return f(static_cast<const std::int8_t*>(nullptr));
    case Type::u64: return f(static_cast<const std::uint64_t*>(nullptr));
    case Type::u32: return f(static_cast<const std::uint32_t*>(nullptr));
    case Type::u16: return f(static_cast<const std::uint16_t*>(nullptr));
    default: return f(static_cast<const std::uint8_t*>(nullptr));  // u8, and b1: a byte of 0 or 1
  }
}

struct Numbers {
  const void* data;
  Type type;
  bool binary = false;  // read as 1 above the threshold, as 0 up to it, and as NaN what is infinite or missing
  double threshold = 0;

  // n numbers from place `first` on, `step` apart: the memory itself when it is doubles in a row, else a copy
  // in `buffer`, which must have room for n.
  const double* read(std::int64_t first, std::int64_t step, std::int64_t n, double* buffer) const {
    if (binary) return read_binary(first, step, n, buffer);
    if (type == Type::f64 && step == 1) return static_cast<const double*>(data) + first;
    with_type(type, [&](auto* kind) {
      const auto* from = static_cast<decltype(kind)>(data) + first;
      if (step == 1) {
        for (std::int64_t k = 0; k < n; ++k) buffer[k] = static_cast<double>(from[k]);
      } else {
        for (std::int64_t k = 0; k < n; ++k) buffer[k] = static_cast<double>(from[k * step]);
      }
    });
    return buffer;
  }

  // One number so; x − x is NaN unless x is finite. A float32 is compared as such, as NumPy does.
  template <class T>
  double in_binary(T x) const {
    using Compared = std::conditional_t<std::is_same_v<T, float>, float, double>;
    const auto value = static_cast<Compared>(x);
    return (value > static_cast<Compared>(threshold) ? 1.0 : 0.0) + static_cast<double>(value - value);
  }

 private:
  const double* read_binary(std::int64_t first, std::int64_t step, std::int64_t n, double* buffer) const {
    with_type(type, [&](auto* kind) {
      const auto* from = static_cast<decltype(kind)>(data) + first;
      if (step == 1) {
        for (std::int64_t k = 0; k < n; ++k) buffer[k] = in_binary(from[k]);
      } else {
        for (std::int64_t k = 0; k < n; ++k) buffer[k] = in_binary(from[k * step]);
      }
    });
    return buffer;
  }
};

// A dense (n, p) array; strides are in elements and may have any sign.
struct Matrix {
  Numbers values;
  std::int64_t n, p;
  std::int64_t row_step, column_step;

  bool by_columns() const {
    const auto row = row_step < 0 ? -row_step : row_step, column = column_step < 0 ? -column_step : column_step;
    return row < column;
  }
};

}  // namespace naively::cells
