// Arrays from Python, arrays for Python, and the checks of their shapes and types.
#pragma once
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "support/inputs.hpp"

namespace naively::bindings {

namespace nb = nanobind;
using namespace nb::literals;

template <class T, int N>
using In = nb::ndarray<const T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;
template <class T, int N>
using Out = nb::ndarray<T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;
template <int N>
using Numbers = nb::ndarray<nb::ro, nb::ndim<N>, nb::device::cpu>;  // of any type and strides
using Pieces = std::vector<Numbers<2>>;                             // columns side by side
template <class T, int N>
using New = nb::ndarray<nb::numpy, T, nb::ndim<N>>;

using Ints = In<std::int64_t, 1>;
using Floats = In<double, 1>;
using Table = In<double, 2>;
using OutTable = Out<double, 2>;
using SparseWeights = std::tuple<Floats, Ints, In<std::int32_t, 1>, Floats>;  // base, start, class and value
using Weight = std::optional<Floats>;
using Length = std::optional<Out<double, 1>>;

inline constexpr std::int64_t kMaxInt32 = (std::int64_t{1} << 31) - 1;

inline void require(bool condition, const char* message) {
  if (!condition) throw std::invalid_argument(message);
}
inline void require(bool condition, const std::string& message) { require(condition, message.c_str()); }

inline void require_classes(std::int64_t n_classes) {
  require(n_classes >= 0 && n_classes <= kMaxInt32, "n_classes must lie in [0, 2^31)");
}

inline void require_sign(int sign) { require(sign == 1 || sign == -1, "sign must be 1 (add) or -1 (subtract)"); }

template <class Array>
std::int64_t size_of(const Array& array, std::size_t axis = 0) {
  return static_cast<std::int64_t>(array.shape(axis));
}

[[noreturn]] inline void refuse_shape(const char* name, const std::vector<std::int64_t>& actual,
                                      const std::vector<std::int64_t>& needed) {
  const auto text = [](const std::vector<std::int64_t>& shape) {
    std::string sizes;
    for (const std::int64_t size : shape) {
      if (!sizes.empty()) sizes += ", ";
      sizes += size < 0 ? "any" : std::to_string(size);
    }
    return sizes;
  };
  const bool is_line = needed.size() == 1;
  throw std::invalid_argument(std::string(name) + (is_line ? " has " : " has the shape (") + text(actual) +
                              (is_line ? " entries, but " : "), but (") + text(needed) +
                              (is_line ? " are needed" : ") is needed"));
}

using Shape = std::initializer_list<std::int64_t>;

// Checks the shape of an array (−1: any size) and returns its data.
template <class Array>
auto checked(const Array& array, const char* name, Shape shape) -> decltype(array.data()) {
  bool fits = true;
  for (std::size_t k = 0; k < shape.size(); ++k) fits &= shape.begin()[k] < 0 || size_of(array, k) == shape.begin()[k];
  if (fits) return array.data();
  std::vector<std::int64_t> actual;
  for (std::size_t k = 0; k < shape.size(); ++k) actual.push_back(size_of(array, k));
  refuse_shape(name, actual, shape);
}

// The same for an array that may be None: returns null.
template <class Array>
auto checked(const std::optional<Array>& array, const char* name, Shape shape) -> decltype(array->data()) {
  return array ? checked(*array, name, shape) : nullptr;
}

// Checks that offsets rise from 0 to the size of what they divide; returns them.
inline const std::int64_t* checked_offsets(const Ints& offsets, const char* name, std::int64_t n, std::int64_t size) {
  checked(offsets, name, {n + 1});
  bool rises = offsets(0) == 0 && offsets(n) == size;
  for (std::int64_t i = 0; i < n; ++i) rises &= offsets(i) <= offsets(i + 1);
  require(rises, rises ? "" : std::string(name) + " must rise from 0 to " + std::to_string(size) + "; it does not");
  return offsets.data();
}

inline support::NumberType type_of(nb::dlpack::dtype dtype) {
  using Code = nb::dlpack::dtype_code;
  using support::NumberType;
  const auto code = static_cast<Code>(dtype.code);
  if (dtype.lanes == 1) {
    if (code == Code::Float && dtype.bits == 64) return NumberType::kF64;
    if (code == Code::Float && dtype.bits == 32) return NumberType::kF32;
    if (code == Code::Bool && dtype.bits == 8) return NumberType::kBool;
    const bool integer = code == Code::Int || code == Code::UInt, sign = code == Code::Int;
    if (integer && dtype.bits == 64) return sign ? NumberType::kI64 : NumberType::kU64;
    if (integer && dtype.bits == 32) return sign ? NumberType::kI32 : NumberType::kU32;
    if (integer && dtype.bits == 16) return sign ? NumberType::kI16 : NumberType::kU16;
    if (integer && dtype.bits == 8) return sign ? NumberType::kI8 : NumberType::kU8;
  }
  throw std::invalid_argument("numbers must be bool, integers, float32 or float64; convert the array first");
}

inline support::Matrix matrix_of(const Numbers<2>& x) {
  const std::int64_t n = size_of(x), p = size_of(x, 1);
  require(n < kMaxInt32 && p < kMaxInt32, "an array may have at most 2^31 - 2 rows and columns; give it in batches");
  return {{x.data(), type_of(x.dtype())}, n, p, x.stride(0), x.stride(1)};
}

inline support::FloatTable float_table(const Numbers<2>& x) {
  const bool single = x.dtype() == nb::dtype<float>();
  require(single || x.dtype() == nb::dtype<double>(), "x is neither float64 nor float32; convert it with astype");
  require(reinterpret_cast<std::uintptr_t>(x.data()) % (single ? 4 : 8) == 0,
          "x is not aligned in memory; copy it first");
  return {x.data(), size_of(x), size_of(x, 1), x.stride(0), x.stride(1), single};
}

using LabelArray = In<std::int32_t, 1>;

inline support::Labels labels_of(const LabelArray& label, const Weight& weight, std::int64_t n,
                                 std::int64_t n_classes) {
  require_classes(n_classes);
  return {checked(label, "label", {n}), checked(weight, "weight", {n}), n, n_classes};
}

// Hands memory (a Buffer, LargeArray or vector) to NumPy.
template <int N, class Memory>
auto to_numpy(Memory memory, const std::array<std::size_t, N>& shape) {
  using T = std::remove_pointer_t<decltype(memory.data())>;
  auto* owner = new Memory(std::move(memory));
  nb::capsule capsule(owner, [](void* p) noexcept { delete static_cast<Memory*>(p); });
  return New<T, N>(owner->data(), N, shape.data(), capsule);
}
template <class Memory>
auto to_numpy(Memory memory, std::int64_t n) {
  return to_numpy<1>(std::move(memory), {static_cast<std::size_t>(n)});
}
template <class Memory>
auto to_numpy(Memory memory, std::int64_t rows, std::int64_t columns) {
  return to_numpy<2>(std::move(memory), {static_cast<std::size_t>(rows), static_cast<std::size_t>(columns)});
}

// Calls f without the lock of the interpreter.
template <class F>
auto without_gil(F&& f) {
  nb::gil_scoped_release release;
  return f();
}

using CellArrays = std::tuple<New<std::int64_t, 1>, New<std::int32_t, 1>, New<double, 2>, New<std::int64_t, 1>>;

// The arrays of n cells (counts::Cells or text::CellTable).
template <class Cells>
CellArrays cells_to_numpy(Cells cells, std::int64_t n_classes, std::int64_t n_sums, std::int64_t n) {
  return {to_numpy(std::move(cells.indptr), n_classes + 1), to_numpy(std::move(cells.index), n),
          to_numpy(std::move(cells.sums), n_sums, n), to_numpy(std::move(cells.rows), n)};
}

}  // namespace naively::bindings
