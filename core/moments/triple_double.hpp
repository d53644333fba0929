// Error-free transformations, and numbers of three doubles ("triple-double", about 159 bits).
//
//   two_sum      a + b = s + e exactly            Knuth, The Art of Computer Programming 2, 4.2.2
//   two_product  a · b = p + e exactly            by fused multiply-add
//
// A Triple is an unevaluated sum hi + mid + lo. Sums cascade the exact error of each level into the next and round
// only in the last (SumK with K = 3: Ogita, Rump, Oishi, "Accurate sum and dot product", 2005); products and
// quotients keep all terms down to 2^-159 (Fabiano, Muller, Picot, "Algorithms for triple-word arithmetic", 2019).
// The code must not be compiled with -ffast-math or fused contraction.
#pragma once
#include <cmath>

#if defined(__GNUC__)
#define NAIVELY_INLINE inline __attribute__((always_inline))
#else
#define NAIVELY_INLINE inline
#endif

namespace naively::dense {

// R is double, or a vector of doubles.
template <class R>
struct Pair {
  R value, error;
};
using Double2 = Pair<double>;

template <class R>
NAIVELY_INLINE Pair<R> two_sum(const R& a, const R& b) {
  const R s = a + b, bb = s - a;
  return {s, (a - (s - bb)) + (b - bb)};
}

NAIVELY_INLINE Double2 two_product(double a, double b) {
  const double p = a * b;
  return {p, std::fma(a, b, -p)};
}

template <class R>
struct Three {
  R hi{}, mid{}, lo{};
};
using Triple = Three<double>;

// Moves the weight of the sum upwards, so that each part is below the last place of the one before it.
template <class R>
NAIVELY_INLINE Three<R> renormalised(const R& hi, const R& mid, const R& lo) {
  const Pair<R> tail = two_sum(mid, lo);
  const Pair<R> head = two_sum(hi, tail.value);
  const Pair<R> rest = two_sum(head.error, tail.error);
  return {head.value, rest.value, rest.error};
}

NAIVELY_INLINE Triple operator-(Triple a) { return {-a.hi, -a.mid, -a.lo}; }

NAIVELY_INLINE Triple operator+(Triple a, double x) {
  const Double2 first = two_sum(a.hi, x);
  const Double2 second = two_sum(a.mid, first.error);
  return renormalised(first.value, second.value, a.lo + second.error);
}

template <class R>
NAIVELY_INLINE Three<R> operator+(const Three<R>& a, const Three<R>& b) {
  const Pair<R> first = two_sum(a.hi, b.hi);
  const Pair<R> second = two_sum(a.mid, b.mid);
  const Pair<R> middle = two_sum(second.value, first.error);
  return renormalised<R>(first.value, middle.value, (a.lo + b.lo) + (second.error + middle.error));
}

NAIVELY_INLINE Triple operator*(Triple a, double x) {
  const Double2 first = two_product(a.hi, x);
  const Double2 second = two_product(a.mid, x);
  const Double2 middle = two_sum(second.value, first.error);
  return renormalised(first.value, middle.value, a.lo * x + (second.error + middle.error));
}

NAIVELY_INLINE Triple operator*(Triple a, Triple b) {
  const Double2 first = two_product(a.hi, b.hi);
  const Double2 cross = two_product(a.hi, b.mid), other = two_product(a.mid, b.hi);
  const Double2 sum = two_sum(cross.value, other.value);
  const Double2 middle = two_sum(sum.value, first.error);
  const double last = (a.hi * b.lo + a.lo * b.hi) + a.mid * b.mid;
  return renormalised(first.value, middle.value, last + ((cross.error + other.error) + (sum.error + middle.error)));
}

// Long division: each quotient digit is a double, each remainder is exact to 159 bits.
NAIVELY_INLINE Triple operator/(Triple a, double x) {
  double digit[3];
  for (double& q : digit) {
    q = a.hi / x;
    const Double2 p = two_product(q, x);
    a = a + -p.value + -p.error;
  }
  return renormalised(digit[0], digit[1], digit[2]);
}

NAIVELY_INLINE double rounded(Triple a) { return a.hi + (a.mid + a.lo); }

}  // namespace naively::dense
