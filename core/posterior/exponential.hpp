// exp of many numbers that are not above 0.
#pragma once
#include <algorithm>
#include <cstddef>

#include "support/simd.hpp"

namespace naively::posterior {

// exp of x ≤ 0, within 2 units in the last place. x = k·log 2 + r with |r| ≤ ½ log 2; the product with the first 32
// bits of log 2 is exact (k < 2^11), and the rest of log 2 is a second term (as in fdlibm). exp r is its Taylor series,
// whose first neglected term is below 2^-57; 2^k is two factors, as it may be below the smallest normal number.
NAIVELY_INLINE support::Lanes exp_of_negative(const support::Lanes& x) {
  using namespace support;
  constexpr double kRound = 0x1.8p52;
  const Lanes bounded = greatest(x, broadcast(-800.0));  // exp is 0 below −745
  const Lanes k = (bounded * 1.4426950408889634 + kRound) - kRound;
  const Lanes r = (bounded - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10;
  constexpr double kSeries[] = {1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800,
                                1.0 / 362880,     1.0 / 40320,     1.0 / 5040,     1.0 / 720,
                                1.0 / 120,        1.0 / 24,        1.0 / 6,        1.0 / 2};
  Lanes sum = broadcast(kSeries[0]);
  for (int i = 1; i < 12; ++i) sum = sum * r + kSeries[i];
  sum = 1.0 + (r + r * r * sum);
  // 2^half: adding 2^52 + 1023 puts half + 1023 in the lowest bits, to be moved into the exponent.
  const Lanes half = (k * 0.5 + kRound) - kRound;
  auto power = [](const Lanes& n) { return bits_as<Lanes>(bits_as<Mask>(n + (0x1p52 + 1023)) << 52); };
  return sum * power(half) * power(k - half);
}

template <bool fused>
NAIVELY_INLINE void exponentiate_body(double* values, std::ptrdiff_t n) {
  using namespace support;
  std::ptrdiff_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(values + i, exp_of_negative(load(values + i)));
  if (i < n) {
    double last[kLanes] = {};
    std::copy(values + i, values + n, last);
    store(last, exp_of_negative(load(last)));
    std::copy_n(last, n - i, values + i);
  }
}

NAIVELY_DISPATCH(void, exponentiate, exponentiate_body, (double* values, std::ptrdiff_t n), (values, n))

}  // namespace naively::posterior
