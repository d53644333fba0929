// Numbers of three doubles ("triple-double", about 159 bits).
//
// A Triple is an unevaluated sum hi + mid + lo. Sums cascade the exact error of each level into the next and round only
// in the last (SumK with K = 3: Ogita, Rump, Oishi, "Accurate sum and dot product", 2005). Products and quotients keep
// all terms down to 2^-159 (Fabiano, Muller, Picot, "Algorithms for triple-word arithmetic", 2019).
#pragma once
#include "support/exact_sum.hpp"

namespace naively::moments {

using support::two_product;
using support::two_sum;
using support::WithError;

// R is double, or a vector of doubles.
template <class R>
struct TripleOf {
  R hi{}, mid{}, lo{};
};
using Triple = TripleOf<double>;

// Makes each part smaller than the last place of the part before it.
template <class R>
NAIVELY_INLINE TripleOf<R> renormalise(const R& hi, const R& mid, const R& lo) {
  const WithError<R> tail = two_sum(mid, lo);
  const WithError<R> head = two_sum(hi, tail.value);
  const WithError<R> rest = two_sum(head.error, tail.error);
  return {head.value, rest.value, rest.error};
}

NAIVELY_INLINE Triple operator-(Triple a) { return {-a.hi, -a.mid, -a.lo}; }

NAIVELY_INLINE Triple operator+(Triple a, double x) {
  const WithError<double> first = two_sum(a.hi, x);
  const WithError<double> second = two_sum(a.mid, first.error);
  return renormalise(first.value, second.value, a.lo + second.error);
}

template <class R>
NAIVELY_INLINE TripleOf<R> operator+(const TripleOf<R>& a, const TripleOf<R>& b) {
  const WithError<R> first = two_sum(a.hi, b.hi);
  const WithError<R> second = two_sum(a.mid, b.mid);
  const WithError<R> middle = two_sum(second.value, first.error);
  return renormalise<R>(first.value, middle.value, (a.lo + b.lo) + (second.error + middle.error));
}

NAIVELY_INLINE Triple operator*(Triple a, double x) {
  const WithError<double> first = two_product(a.hi, x);
  const WithError<double> second = two_product(a.mid, x);
  const WithError<double> middle = two_sum(second.value, first.error);
  return renormalise(first.value, middle.value, a.lo * x + (second.error + middle.error));
}

NAIVELY_INLINE Triple operator*(Triple a, Triple b) {
  const WithError<double> first = two_product(a.hi, b.hi);
  const WithError<double> cross = two_product(a.hi, b.mid), other = two_product(a.mid, b.hi);
  const WithError<double> sum = two_sum(cross.value, other.value);
  const WithError<double> middle = two_sum(sum.value, first.error);
  const double last = (a.hi * b.lo + a.lo * b.hi) + a.mid * b.mid;
  return renormalise(first.value, middle.value, last + ((cross.error + other.error) + (sum.error + middle.error)));
}

// Long division: each quotient digit is a double, each remainder is exact to 159 bits.
NAIVELY_INLINE Triple operator/(Triple a, double x) {
  double digit[3];
  for (double& q : digit) {
    q = a.hi / x;
    const WithError<double> p = two_product(q, x);
    a = a + -p.value + -p.error;
  }
  return renormalise(digit[0], digit[1], digit[2]);
}

NAIVELY_INLINE Triple operator/(Triple a, Triple b) {
  if (b.mid == 0 && b.lo == 0) return a / b.hi;
  double digit[3];
  for (double& q : digit) {
    q = a.hi / b.hi;
    a = a + -(b * q);
  }
  return renormalise(digit[0], digit[1], digit[2]);
}

NAIVELY_INLINE double rounded(Triple a) { return a.hi + (a.mid + a.lo); }

}  // namespace naively::moments
