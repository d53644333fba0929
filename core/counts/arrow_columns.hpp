// Arrow's columns as the rest of the core reads them. Arrow marks a gap by a bit that is 0 in a bitmap beside the
// values; here a gap is NaN among numbers, and −1 among codes.
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>

#include "support/any_number.hpp"

namespace naively::cells {

// The gaps of a column: the bit of row i is that at `first` + i, or all rows have a value if `bits` is null.
struct Gaps {
  const std::uint8_t* bits;
  std::int64_t first;

  bool has_value(std::int64_t i) const {
    const std::int64_t at = first + i;
    return bits == nullptr || (bits[at >> 3] >> (at & 7) & 1) != 0;
  }

  Gaps from(std::int64_t i) const { return {bits, first + i}; }

  // Calls f(i) for each of n rows that has none, in order.
  template <class F>
  void each(std::int64_t n, F&& f) const {
    std::int64_t i = 0;
    if (bits == nullptr) return;
    for (; i + 64 <= n; i += 64)
      for (std::uint64_t none = ~values_at(first + i); none != 0; none &= none - 1) f(i + std::countr_zero(none));
    for (; i < n; ++i)
      if (!has_value(i)) f(i);
  }

  // The bits of 64 rows, that of the first at `at`; the bitmap has a byte for each of them.
  std::uint64_t values_at(std::int64_t at) const {
    std::uint64_t word;
    std::memcpy(&word, bits + (at >> 3), sizeof word);
    if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
    const int shift = static_cast<int>(at & 7);
    return shift == 0 ? word : word >> shift | static_cast<std::uint64_t>(bits[(at >> 3) + 8]) << (64 - shift);
  }
};

// A column of an Arrow batch, where it lies: numbers or codes in a row, of which those under a gap may be anything.
struct Gapped {
  Numbers values;
  Gaps gaps;

  // Numbers of n rows from `from` on, NaN in gaps: where they lie if they are doubles without a gap, or in `buffer`.
  const double* numbers(std::int64_t from, std::int64_t n, double* buffer) const;
  // The same with codes, −1 in gaps.
  const std::int32_t* codes(std::int64_t from, std::int64_t n, std::int32_t* buffer) const;
};

void fill_numbers(const Numbers& values, const Gaps& gaps, std::int64_t n, double* out);
void fill_codes(const Numbers& codes, const Gaps& gaps, std::int64_t n, std::int32_t* out);

}  // namespace naively::cells
