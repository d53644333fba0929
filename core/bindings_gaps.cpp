// Python's door to columns with gaps: lengths are checked here.
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <stdexcept>

#include "bindings.hpp"
#include "gaps.hpp"

namespace nb = nanobind;

namespace naively::cells {
namespace {

using Bits = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Values = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Out = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void require(bool holds, const char* text) {
  if (!holds) throw std::invalid_argument(text);
}

Type type_of(nb::dlpack::dtype dtype, bool whole_only) {
  using Code = nb::dlpack::dtype_code;
  const auto code = static_cast<Code>(dtype.code);
  if (code == Code::Float && !whole_only && dtype.bits == 64) return Type::f64;
  if (code == Code::Float && !whole_only && dtype.bits == 32) return Type::f32;
  const bool sign = code == Code::Int;
  require(sign || code == Code::UInt, "values are neither whole numbers nor float32 or float64; convert them");
  switch (dtype.bits) {
    case 8: return sign ? Type::i8 : Type::u8;
    case 16: return sign ? Type::i16 : Type::u16;
    case 32: return sign ? Type::i32 : Type::u32;
    default: return sign ? Type::i64 : Type::u64;
  }
}

Gaps gaps_of(const std::optional<Bits>& valid, std::int64_t first, std::size_t n) {
  require(first >= 0, "the first bit lies before the bitmap");
  require(!valid || valid->size() >= (static_cast<std::size_t>(first) + n + 7) / 8, "the bitmap ends before the values");
  return {valid ? valid->data() : nullptr, first};
}

void py_fill_numbers(const Values& values, const std::optional<Bits>& valid, std::int64_t first,
                     const Out<double>& out) {
  require(values.size() == out.size(), "values and out differ in length");
  const Gaps gaps = gaps_of(valid, first, values.size());
  const Numbers numbers{values.data(), type_of(values.dtype(), false)};
  nb::gil_scoped_release release;
  fill_numbers(numbers, gaps, static_cast<std::int64_t>(out.size()), out.data());
}

void py_fill_codes(const Values& codes, const std::optional<Bits>& valid, std::int64_t first,
                   const Out<std::int32_t>& out) {
  require(codes.size() == out.size(), "codes and out differ in length");
  const Gaps gaps = gaps_of(valid, first, codes.size());
  const Numbers numbers{codes.data(), type_of(codes.dtype(), true)};
  nb::gil_scoped_release release;
  fill_codes(numbers, gaps, static_cast<std::int64_t>(out.size()), out.data());
}

}  // namespace
}  // namespace naively::cells

void bind_gaps(nb::module_& m) {
  using namespace naively::cells;
  using namespace nb::literals;
  m.def("fill_numbers", py_fill_numbers, "values"_a, "valid"_a.none(), "first"_a, "out"_a.noconvert());
  m.def("fill_codes", py_fill_codes, "codes"_a, "valid"_a.none(), "first"_a, "out"_a.noconvert());
}
