// What ISO C++ has no word for: forced inlining, prefetching, products of 128 bits, functions for newer processors.
//
// Every construct of one compiler or system is in this file, in vector.hpp or in simd.hpp, beside a form in ISO C++
// that gives the same bits. Compilers without it (MSVC) take that form, and so does every compiler if NAIVELY_PORTABLE
// is defined: see `make portable`. Other files ask for NAIVELY_SSE4, NAIVELY_AVX2 or NAIVELY_HUGE_PAGES.
#pragma once
#include <cstddef>
#include <cstdint>

// GCC and Clang. Not GCC for Windows, which keeps vectors of 32 bytes at wrong addresses on the stack.
#if defined(__GNUC__) && !defined(NAIVELY_PORTABLE) && !(defined(__MINGW32__) && !defined(__clang__))
#define NAIVELY_GNU
#endif

#if defined(NAIVELY_GNU) && defined(__SSE4_1__)
#define NAIVELY_SSE4
#endif

// Marks a function that is compiled for AVX2 (or AVX2 and FMA), to be called if the processor has it.
#if defined(NAIVELY_GNU) && defined(__x86_64__)
#define NAIVELY_AVX2 __attribute__((target("avx2")))
#define NAIVELY_AVX2_FMA __attribute__((target("avx2,fma")))
#endif

// Assembly on vectors of 32 bytes. Clang refuses it in functions that are inlined into those for AVX2.
#if defined(NAIVELY_AVX2) && !defined(__clang__)
#define NAIVELY_VECTOR_ASM
#endif

#if defined(__linux__) && !defined(NAIVELY_PORTABLE)
#define NAIVELY_HUGE_PAGES
#endif

// NAIVELY_INLINE_LAMBDA stands between the parameters of a lambda and its body. NAIVELY_NOINLINE marks what is rarely
// called from a loop, which would have fewer registers with it.
#if defined(NAIVELY_GNU)
#define NAIVELY_INLINE inline __attribute__((always_inline))
#define NAIVELY_INLINE_LAMBDA __attribute__((always_inline))
#define NAIVELY_NOINLINE __attribute__((noinline))
#elif defined(_MSC_VER)
#define NAIVELY_INLINE __forceinline
#define NAIVELY_INLINE_LAMBDA
#define NAIVELY_NOINLINE __declspec(noinline)
#else
#define NAIVELY_INLINE inline
#define NAIVELY_INLINE_LAMBDA
#define NAIVELY_NOINLINE
#endif

// A pointer whose memory no other pointer of the function reaches.
#if defined(__GNUC__) || defined(_MSC_VER)
#define NAIVELY_RESTRICT __restrict
#else
#define NAIVELY_RESTRICT
#endif

namespace naively::support {

#if defined(NAIVELY_AVX2)
inline bool has_avx2() { return __builtin_cpu_supports("avx2"); }
inline bool has_avx2_fma() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
#endif

// Prefetches memory; the address need not be valid. For data that is read once, to the second cache only.
#if defined(NAIVELY_GNU)
NAIVELY_INLINE void prefetch(const void* p) { __builtin_prefetch(p); }
NAIVELY_INLINE void prefetch_to_write(const void* p) { __builtin_prefetch(p, 1); }
NAIVELY_INLINE void prefetch_once(const void* p) { __builtin_prefetch(p, 0, 2); }
#else
NAIVELY_INLINE void prefetch(const void*) {}
NAIVELY_INLINE void prefetch_to_write(const void*) {}
NAIVELY_INLINE void prefetch_once(const void*) {}
#endif

// Keeps the compiler from moving a number into a vector register with others.
NAIVELY_INLINE void keep_apart([[maybe_unused]] std::uint64_t& number) {
#if defined(NAIVELY_GNU)
  __asm__("" : "+r"(number));
#endif
}

// The two halves of the product of two numbers, folded by exclusive or.
NAIVELY_INLINE std::uint64_t fold_product(std::uint64_t a, std::uint64_t b) {
#if defined(NAIVELY_GNU) && defined(__SIZEOF_INT128__)
  __extension__ using Wide = unsigned __int128;
  const Wide product = Wide{a} * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
#else
  const std::uint64_t a0 = a & 0xFFFFFFFF, a1 = a >> 32, b0 = b & 0xFFFFFFFF, b1 = b >> 32;
  const std::uint64_t middle = a1 * b0 + (a0 * b0 >> 32), cross = a0 * b1 + (middle & 0xFFFFFFFF);
  return (a * b) ^ (a1 * b1 + (middle >> 32) + (cross >> 32));
#endif
}

}  // namespace naively::support
