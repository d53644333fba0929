// Arrays as they come from Python and go back, and the words with which they are refused.
#pragma once
#include <nanobind/ndarray.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "counts/cells.hpp"
#include "support/any_number.hpp"

namespace naively::cells {

template <class T, int N>
using In = nanobind::ndarray<const T, nanobind::ndim<N>, nanobind::c_contig, nanobind::device::cpu>;
template <int N>
using Any = nanobind::ndarray<nanobind::ro, nanobind::ndim<N>, nanobind::device::cpu>;
using Out = nanobind::ndarray<double, nanobind::ndim<2>, nanobind::c_contig, nanobind::device::cpu>;
template <class T, int N>
using New = nanobind::ndarray<nanobind::numpy, T, nanobind::ndim<N>>;

inline void require(bool condition, const std::string& message) {
  if (!condition) throw std::invalid_argument(message);
}

// A text that stands there already costs nothing where the condition holds: it may be asked of every cell.
inline void require(bool condition, const char* message) {
  if (!condition) throw std::invalid_argument(message);
}

inline void require_size(std::size_t found, std::int64_t wanted, const char* what) {
  require(static_cast<std::int64_t>(found) == wanted, std::string(what) + " has " + std::to_string(found) +
                                                          " entries, but " + std::to_string(wanted) + " are needed");
}

inline Type type_of(nanobind::dlpack::dtype dtype) {
  using Code = nanobind::dlpack::dtype_code;
  const auto code = static_cast<Code>(dtype.code);
  if (dtype.lanes == 1) {
    if (code == Code::Float && dtype.bits == 64) return Type::f64;
    if (code == Code::Float && dtype.bits == 32) return Type::f32;
    if (code == Code::Bool && dtype.bits == 8) return Type::b1;
    const bool whole = code == Code::Int || code == Code::UInt, sign = code == Code::Int;
    if (whole && dtype.bits == 64) return sign ? Type::i64 : Type::u64;
    if (whole && dtype.bits == 32) return sign ? Type::i32 : Type::u32;
    if (whole && dtype.bits == 16) return sign ? Type::i16 : Type::u16;
    if (whole && dtype.bits == 8) return sign ? Type::i8 : Type::u8;
  }
  throw std::invalid_argument("numbers must be bool, integers, float32 or float64; convert the array first");
}

template <class T, int N>
New<T, N> give(Buffer<T>& buffer, std::initializer_list<std::size_t> shape) {
  T* memory = buffer.release();
  nanobind::capsule owner(memory, [](void* p) noexcept { std::free(p); });
  return New<T, N>(memory, shape, owner);
}

}  // namespace naively::cells
