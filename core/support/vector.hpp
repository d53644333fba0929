// Vector<T, n>: n numbers that are added, compared and shuffled at a time. By the vector extensions of GCC and Clang,
// or as a class with the same operators. A comparison gives a vector of integers, −1 where it holds and 0 elsewhere.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "support/compiler.hpp"

#if defined(NAIVELY_GNU) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi"  // vectors are passed between inlined functions only
#endif

namespace naively::support {

// The signed integer of `bytes` bytes.
template <std::size_t bytes>
using SignedOf = std::conditional_t<
    bytes == 8, std::int64_t,
    std::conditional_t<bytes == 4, std::int32_t, std::conditional_t<bytes == 2, std::int16_t, std::int8_t>>>;

#if defined(NAIVELY_GNU)

template <class T, int n>
struct VectorOf {
  typedef T Type __attribute__((vector_size(n * sizeof(T))));
};
template <class T, int n>
using Vector = typename VectorOf<T, n>::Type;

// a where the mask is set, else b.
template <class V, class M>
NAIVELY_INLINE V choose(const M& mask, const V& a, const V& b) {
  return mask ? a : b;
}

// The smaller and the larger numbers; b where a is NaN. This expression is one instruction, `choose` is three.
template <class V>
NAIVELY_INLINE V least(const V& a, const V& b) {
  return a < b ? a : b;
}
template <class V>
NAIVELY_INLINE V greatest(const V& a, const V& b) {
  return a > b ? a : b;
}

// The same bits as another vector.
template <class To, class From>
NAIVELY_INLINE To bits_as(const From& from) {
  return reinterpret_cast<To>(from);
}

// Selects elements of two vectors, numbered through both. GCC 11 has another name for it.
template <int... indices, class V>
NAIVELY_INLINE V shuffle(const V& a, const V& b) {
#if defined(__clang__) || __GNUC__ >= 12
  return __builtin_shufflevector(a, b, indices...);
#else
  return __builtin_shuffle(a, b, Vector<SignedOf<sizeof(V) / sizeof...(indices)>, sizeof...(indices)>{indices...});
#endif
}

#else

template <class T, int n>
struct Vector {
  T element[n];

  NAIVELY_INLINE T& operator[](std::ptrdiff_t k) { return element[k]; }
  NAIVELY_INLINE const T& operator[](std::ptrdiff_t k) const { return element[k]; }
};

template <class T, int n>
using MaskOf = Vector<SignedOf<sizeof(T)>, n>;

// A vector and a number: the number is repeated.
#define NAIVELY_OPERATOR(op, Result, expression)                                        \
  template <class T, int n>                                                             \
  NAIVELY_INLINE Result operator op(const Vector<T, n>& a, const Vector<T, n>& b) {     \
    using Element = std::remove_cvref_t<decltype(Result{}[0])>;                         \
    Result r;                                                                           \
    for (int k = 0; k < n; ++k) r.element[k] = static_cast<Element>(expression);        \
    return r;                                                                           \
  }                                                                                     \
  template <class T, int n>                                                             \
  NAIVELY_INLINE Result operator op(const Vector<T, n>& a, std::type_identity_t<T> x) { \
    Vector<T, n> b;                                                                     \
    for (int k = 0; k < n; ++k) b.element[k] = x;                                       \
    return a op b;                                                                      \
  }                                                                                     \
  template <class T, int n>                                                             \
  NAIVELY_INLINE Result operator op(std::type_identity_t<T> x, const Vector<T, n>& b) { \
    Vector<T, n> a;                                                                     \
    for (int k = 0; k < n; ++k) a.element[k] = x;                                       \
    return a op b;                                                                      \
  }
#define NAIVELY_SUM(op)                                                             \
  NAIVELY_OPERATOR(op, NAIVELY_VECTOR, a.element[k] op b.element[k])                \
  template <class T, int n, class Other>                                            \
  NAIVELY_INLINE Vector<T, n>& operator op## = (Vector<T, n> & a, const Other& b) { \
    return a = a op b;                                                              \
  }
#define NAIVELY_COMPARISON(op) NAIVELY_OPERATOR(op, NAIVELY_MASK, a.element[k] op b.element[k] ? -1 : 0)
#define NAIVELY_VECTOR Vector<T, n>
#define NAIVELY_MASK MaskOf<T, n>
NAIVELY_SUM(+)
NAIVELY_SUM(-)
NAIVELY_SUM(*)
NAIVELY_SUM(&)
NAIVELY_SUM(|)
NAIVELY_SUM(<<)
NAIVELY_SUM(>>)
NAIVELY_COMPARISON(<)
NAIVELY_COMPARISON(<=)
NAIVELY_COMPARISON(>)
NAIVELY_COMPARISON(>=)
NAIVELY_COMPARISON(==)
NAIVELY_COMPARISON(!=)
#undef NAIVELY_MASK
#undef NAIVELY_VECTOR
#undef NAIVELY_COMPARISON
#undef NAIVELY_SUM
#undef NAIVELY_OPERATOR

template <class T, int n>
NAIVELY_INLINE Vector<T, n> operator-(const Vector<T, n>& a) {
  Vector<T, n> r;
  for (int k = 0; k < n; ++k) r.element[k] = -a.element[k];
  return r;
}

template <class T, int n>
NAIVELY_INLINE Vector<T, n> operator~(const Vector<T, n>& a) {
  Vector<T, n> r;
  for (int k = 0; k < n; ++k) r.element[k] = static_cast<T>(~a.element[k]);
  return r;
}

template <class T, int n>
NAIVELY_INLINE Vector<T, n> choose(const MaskOf<T, n>& mask, const Vector<T, n>& a, const Vector<T, n>& b) {
  Vector<T, n> r;
  for (int k = 0; k < n; ++k) r.element[k] = mask.element[k] ? a.element[k] : b.element[k];
  return r;
}

template <class T, int n>
NAIVELY_INLINE Vector<T, n> least(const Vector<T, n>& a, const Vector<T, n>& b) {
  return choose(a < b, a, b);
}
template <class T, int n>
NAIVELY_INLINE Vector<T, n> greatest(const Vector<T, n>& a, const Vector<T, n>& b) {
  return choose(a > b, a, b);
}

template <class To, class From>
NAIVELY_INLINE To bits_as(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

template <int... indices, class T, int n>
NAIVELY_INLINE Vector<T, n> shuffle(const Vector<T, n>& a, const Vector<T, n>& b) {
  return {(indices < n ? a.element[indices % n] : b.element[indices % n])...};
}

#endif

}  // namespace naively::support
