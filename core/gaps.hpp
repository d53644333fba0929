// Arrow's columns as the rest of the core reads them. Arrow marks a gap by a bit that is 0 in a bitmap beside the
// values; here a gap is NaN among numbers, and −1 among codes.
#pragma once
#include <cstdint>

#include "numbers.hpp"

namespace naively::cells {

// The gaps of a column: the bit of row i is that at `first` + i, or all rows have a value if `bits` is null.
struct Gaps {
  const std::uint8_t* bits;
  std::int64_t first;

  bool has_value(std::int64_t i) const {
    const std::int64_t at = first + i;
    return bits == nullptr || (bits[at >> 3] >> (at & 7) & 1) != 0;
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
