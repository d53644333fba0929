#include "gaps.hpp"

#include <limits>

namespace naively::cells {
namespace {

// What lies under a gap may be anything, so it is read but never kept. A byte of eight values is a plain copy.
template <class To>
void fill(const Numbers& values, const Gaps& gaps, std::int64_t n, To gap, To* out) {
  with_type(values.type, [&](auto* kind) {
    const auto* x = static_cast<decltype(kind)>(values.data);
    if (gaps.bits == nullptr) {
      for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<To>(x[i]);
      return;
    }
    std::int64_t i = 0;
    for (; i < n && (gaps.first + i) % 8 != 0; ++i) out[i] = gaps.has_value(i) ? static_cast<To>(x[i]) : gap;
    for (; i + 8 <= n; i += 8) {
      const std::uint8_t byte = gaps.bits[(gaps.first + i) >> 3];
      for (int k = 0; k < 8; ++k) out[i + k] = static_cast<To>(x[i + k]);
      if (byte == 0xFF) continue;
      for (int k = 0; k < 8; ++k)
        if ((byte >> k & 1) == 0) out[i + k] = gap;
    }
    for (; i < n; ++i) out[i] = gaps.has_value(i) ? static_cast<To>(x[i]) : gap;
  });
}

}  // namespace

void fill_numbers(const Numbers& values, const Gaps& gaps, std::int64_t n, double* out) {
  fill(values, gaps, n, std::numeric_limits<double>::quiet_NaN(), out);
}

void fill_codes(const Numbers& codes, const Gaps& gaps, std::int64_t n, std::int32_t* out) {
  fill(codes, gaps, n, std::int32_t{-1}, out);
}

}  // namespace naively::cells
