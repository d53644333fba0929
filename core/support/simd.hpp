// Four doubles at a time: one AVX2 register, two of SSE2 or NEON, or plain numbers (see vector.hpp). All machines
// do the same operations. Fused multiply-add is used only where it changes no bit of the result, that is, for errors of
// products, which are exact. The exception is the sum of squared rests in moments/fast_run.hpp, whose bound holds
// either way. So all processors of a kind give the same bits, and others differ in the last bit at most.
//
// A kernel is an inline body with a parameter `fused`. NAIVELY_DISPATCH makes a function that runs the body compiled
// for AVX2 and FMA if the processor has them. (target_clones would need a loader with ifunc.)
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "support/exact_sum.hpp"
#include "support/vector.hpp"

namespace naively::support {

inline constexpr std::ptrdiff_t kLanes = 4;  // doubles in a vector
using Lanes = Vector<double, kLanes>;
using Mask = Vector<std::int64_t, kLanes>;

using Lanes2 = WithError<Lanes>;

inline std::ptrdiff_t pad_to_lanes(std::ptrdiff_t n) { return (n + kLanes - 1) / kLanes * kLanes; }

NAIVELY_INLINE Lanes load(const double* p) {
  Lanes v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

NAIVELY_INLINE Lanes load(const float* p) { return Lanes{p[0], p[1], p[2], p[3]}; }

NAIVELY_INLINE void store(double* p, const Lanes& v) { std::memcpy(p, &v, sizeof v); }

// 4 · n float32, and their bits.
template <int n>
struct Singles {
  using Values = Vector<float, 4 * n>;
  using Bits = Vector<std::uint32_t, 4 * n>;
};

// Reads the k-th four as doubles, and writes them.
template <class Values>
NAIVELY_INLINE Lanes doubles(const Values& v, int k) {
  float four[sizeof v / 16][4];
  std::memcpy(four, &v, sizeof v);
  return load(four[k]);
}

template <class Values>
NAIVELY_INLINE void put_singles(Values& v, int k, const Lanes& four) {
  for (int i = 0; i < 4; ++i) v[4 * k + i] = static_cast<float>(four[i]);
}

NAIVELY_INLINE Lanes broadcast(double x) { return Lanes{x, x, x, x}; }

// v where the mask is set, else 0.
NAIVELY_INLINE Lanes keep(const Lanes& v, const Mask& where) { return bits_as<Lanes>(bits_as<Mask>(v) & where); }

NAIVELY_INLINE Lanes magnitude(const Lanes& v) { return keep(v, Mask{} + INT64_MAX); }

template <bool fused = false>
NAIVELY_INLINE bool any(const Mask& m) {
#if defined(NAIVELY_VECTOR_ASM)
  if constexpr (fused) {
    bool is_set;
    asm("vptest %1, %1" : "=@ccnz"(is_set) : "x"(m));
    return is_set;
  }
#endif
  return ((m[0] | m[1]) | (m[2] | m[3])) != 0;
}

// a · b − c with one rounding. In assembly because compilers may fail to make one instruction of the loop.
NAIVELY_INLINE Lanes fused_minus(const Lanes& a, const Lanes& b, const Lanes& c) {
  Lanes r = c;
#if defined(NAIVELY_VECTOR_ASM)
  asm("vfmsub231pd %1, %2, %0" : "+x"(r) : "xm"(a), "x"(b));
#else
  for (int k = 0; k < 4; ++k) r[k] = std::fma(a[k], b[k], -c[k]);
#endif
  return r;
}

// c + a · b with one rounding, likewise.
NAIVELY_INLINE Lanes fused_plus(const Lanes& a, const Lanes& b, const Lanes& c) {
  Lanes r = c;
#if defined(NAIVELY_VECTOR_ASM)
  asm("vfmadd231pd %1, %2, %0" : "+x"(r) : "xm"(a), "x"(b));
#else
  for (int k = 0; k < 4; ++k) r[k] = std::fma(a[k], b[k], c[k]);
#endif
  return r;
}

// The error a · b − p of the rounded product p. Without a fused multiply-add by Dekker's product, which cuts each
// factor into 26 and 27 bits; |a|, |b| < 2^970.
template <bool fused>
NAIVELY_INLINE Lanes product_error(const Lanes& a, const Lanes& b, const Lanes& p) {
  if constexpr (fused) {
    return fused_minus(a, b, p);
  } else {
    const Lanes cut_a = a * 0x1.0000002p27, cut_b = b * 0x1.0000002p27;
    const Lanes high_a = cut_a - (cut_a - a), high_b = cut_b - (cut_b - b);
    const Lanes low_a = a - high_a, low_b = b - high_b;
    return ((high_a * high_b - p) + high_a * low_b + low_a * high_b) + low_a * low_b;
  }
}

template <bool fused>
NAIVELY_INLINE Lanes2 two_product(const Lanes& a, const Lanes& b) {
  const Lanes p = a * b;
  return {p, product_error<fused>(a, b, p)};
}

// Ones that the compiler does not know to be ones.
template <bool fused>
NAIVELY_INLINE Lanes variable_one() {
  Lanes one = broadcast(1.0);
#if defined(NAIVELY_VECTOR_ASM)
  if constexpr (fused) asm("" : "+x"(one));
#endif
  return one;
}

// Makes the compiler finish a sum before what follows. It would mix the work of two rows and run out of registers.
template <bool fused, class Vector>
NAIVELY_INLINE void finish_first([[maybe_unused]] Vector& sum) {
#if defined(NAIVELY_VECTOR_ASM)
  if constexpr (fused) asm("" : "+x"(sum));
#endif
}

// As prefetch_once; an address is a number because it may lie outside any array.
NAIVELY_INLINE void prefetch_address(std::uintptr_t address) { prefetch_once(reinterpret_cast<const void*>(address)); }

}  // namespace naively::support

// Define NAIVELY_PLAIN to try the path of older processors on any machine.
#if defined(NAIVELY_AVX2_FMA) && !defined(NAIVELY_PLAIN)
#define NAIVELY_DISPATCH(result, name, body, parameters, arguments)                       \
  NAIVELY_AVX2_FMA static result name##_fused parameters { return body<true> arguments; } \
  static result name##_plain parameters { return body<false> arguments; }                 \
  static result name parameters {                                                         \
    static const bool fused = ::naively::support::has_avx2_fma();                         \
    return fused ? name##_fused arguments : name##_plain arguments;                       \
  }
#else
#define NAIVELY_DISPATCH(result, name, body, parameters, arguments) \
  static result name parameters { return body<NAIVELY_HAS_FMA> arguments; }
#endif
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define NAIVELY_HAS_FMA true
#else
#define NAIVELY_HAS_FMA false
#endif
