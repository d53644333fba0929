#include "gaps.hpp"

#include <bit>
#include <cstring>
#include <limits>

namespace naively::cells {
namespace {

// The bits of 64 rows, that of the first at `at`; the bitmap has a byte for each of them.
std::uint64_t bits_at(const std::uint8_t* bits, std::int64_t at) {
  std::uint64_t word;
  std::memcpy(&word, bits + (at >> 3), sizeof word);
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
  const int shift = static_cast<int>(at & 7);
  return shift == 0 ? word : word >> shift | static_cast<std::uint64_t>(bits[(at >> 3) + 8]) << (64 - shift);
}

// What lies under a gap may be anything, so it is copied like the rest, and then written over.
template <class To>
void fill(const Numbers& values, const Gaps& gaps, std::int64_t n, To gap, To* out) {
  with_type(values.type, [&](auto* kind) {
    const auto* x = static_cast<decltype(kind)>(values.data);
    std::int64_t i = 0;
    if (gaps.bits != nullptr)
      for (; i + 64 <= n; i += 64) {
        for (int k = 0; k < 64; ++k) out[i + k] = static_cast<To>(x[i + k]);
        for (std::uint64_t none = ~bits_at(gaps.bits, gaps.first + i); none != 0; none &= none - 1)
          out[i + std::countr_zero(none)] = gap;
      }
    for (; i < n; ++i) out[i] = gaps.has_value(i) ? static_cast<To>(x[i]) : gap;
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
