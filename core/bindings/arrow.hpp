// A column of an Arrow batch as Python gives it: values in a row, the bitmap of those that are there, the bit of row 0.
#pragma once
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "counts/arrow_columns.hpp"

namespace naively::cells {

using Bits = nanobind::ndarray<const std::uint8_t, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
using Values = nanobind::ndarray<nanobind::ro, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
using GivenColumn = std::tuple<Values, std::optional<Bits>, std::int64_t>;

inline Type type_of_values(nanobind::dlpack::dtype dtype, bool whole_only) {
  using Code = nanobind::dlpack::dtype_code;
  const auto code = static_cast<Code>(dtype.code);
  if (code == Code::Float && !whole_only && dtype.bits == 64) return Type::f64;
  if (code == Code::Float && !whole_only && dtype.bits == 32) return Type::f32;
  if (code == Code::Bool && dtype.bits == 8) return Type::b1;
  const bool sign = code == Code::Int;
  if (!sign && code != Code::UInt)
    throw std::invalid_argument("values are neither whole numbers nor float32 or float64; convert them");
  switch (dtype.bits) {
    case 8: return sign ? Type::i8 : Type::u8;
    case 16: return sign ? Type::i16 : Type::u16;
    case 32: return sign ? Type::i32 : Type::u32;
    default: return sign ? Type::i64 : Type::u64;
  }
}

inline Gapped gapped_of(const Values& values, const std::optional<Bits>& valid, std::int64_t first, std::size_t n,
                        bool whole_only) {
  if (values.size() != n) throw std::invalid_argument("the values are not as many as the rows");
  if (first < 0) throw std::invalid_argument("the first bit lies before the bitmap");
  if (valid && valid->size() < (static_cast<std::size_t>(first) + n + 7) / 8)
    throw std::invalid_argument("the bitmap ends before the values");
  return {{values.data(), type_of_values(values.dtype(), whole_only)}, {valid ? valid->data() : nullptr, first}};
}

inline std::vector<Gapped> gapped_of(const std::vector<GivenColumn>& columns, std::size_t n, bool whole_only) {
  std::vector<Gapped> found;
  found.reserve(columns.size());
  for (const auto& [values, valid, first] : columns) found.push_back(gapped_of(values, valid, first, n, whole_only));
  return found;
}

}  // namespace naively::cells
