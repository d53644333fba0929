// Sums whose rounding errors are known (error-free transformations).
//
//   two_sum      a + b = value + error exactly     Knuth, The Art of Computer Programming 2, 4.2.2, theorem B
//   two_product  a · b = value + error exactly     by a fused multiply-add
//
// The code must not be compiled with -ffast-math or fused contraction.
#pragma once
#include <cmath>

#include "support/compiler.hpp"

namespace naively::support {

// R is double, or a vector of doubles.
template <class R>
struct WithError {
  R value, error;
};

template <class R>
NAIVELY_INLINE WithError<R> two_sum(const R& a, const R& b) {
  const R sum = a + b, added = sum - a;
  return {sum, (a - (sum - added)) + (b - added)};
}

NAIVELY_INLINE WithError<double> two_product(double a, double b) {
  const double product = a * b;
  return {product, std::fma(a, b, -product)};
}

// A sum with the total of its rounding errors. Exact while all terms are multiples of one power of two and the sum of
// their magnitudes fits 53 bits; else correct but for a few units in the last place, for any number of terms. A sum of
// no terms is all zero bits.
struct CompensatedSum {
  double sum = 0, error = 0;

  NAIVELY_INLINE void add(double x) {
    const WithError<double> next = two_sum(sum, x);
    sum = next.value, error += next.error;
  }
  NAIVELY_INLINE void add(const CompensatedSum& other) {
    add(other.sum);
    error += other.error;
  }
  double total() const { return sum + error; }
};

}  // namespace naively::support
