#include "counts/arrow_columns.hpp"

#include <algorithm>
#include <limits>

namespace naively::cells {
namespace {

// What lies under a gap may be anything, so it is copied like the rest, and then written over.
template <class To>
void fill(const Numbers& values, const Gaps& gaps, std::int64_t n, To gap, To* out) {
  with_type(values.type, [&](auto* kind) {
    const auto* x = static_cast<decltype(kind)>(values.data);
    for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<To>(x[i]);
    gaps.each(n, [&](std::int64_t i) { out[i] = gap; });
  });
}

// The column from a row on.
Gapped from_row(const Gapped& column, std::int64_t from) {
  const void* data = with_type(column.values.type, [&](auto* kind) {
    return static_cast<const void*>(static_cast<decltype(kind)>(column.values.data) + from);
  });
  return {{data, column.values.type}, {column.gaps.bits, column.gaps.first + from}};
}

}  // namespace

void fill_numbers(const Numbers& values, const Gaps& gaps, std::int64_t n, double* out) {
  fill(values, gaps, n, std::numeric_limits<double>::quiet_NaN(), out);
}

void fill_codes(const Numbers& codes, const Gaps& gaps, std::int64_t n, std::int32_t* out) {
  fill(codes, gaps, n, std::int32_t{-1}, out);
}

const double* Gapped::numbers(std::int64_t from, std::int64_t n, double* buffer) const {
  const Gapped rest = from_row(*this, from);
  if (gaps.bits == nullptr && values.type == Type::f64) return static_cast<const double*>(rest.values.data);
  fill_numbers(rest.values, rest.gaps, n, buffer);
  return buffer;
}

const std::int32_t* Gapped::codes(std::int64_t from, std::int64_t n, std::int32_t* buffer) const {
  const Gapped rest = from_row(*this, from);
  if (gaps.bits == nullptr && values.type == Type::i32) return static_cast<const std::int32_t*>(rest.values.data);
  fill_codes(rest.values, rest.gaps, n, buffer);
  return buffer;
}

}  // namespace naively::cells
