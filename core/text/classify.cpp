// The classifier of 64 ASCII bytes, for AVX2, for SSSE3 and in plain C++, and the loop over blocks for each of them, in
// which it is inlined; all three give the same answer.
#include "text/scan.hpp"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#endif

namespace naively::text {
namespace {

#if defined(__GNUC__)
#define NAIVELY_INLINE __attribute__((always_inline)) inline
#else
#define NAIVELY_INLINE inline
#endif

NAIVELY_INLINE void write_plain(Edges& edges, const Block& block) { edges.add(block, kBlock); }

// Works on a copy of the edges, which stays in registers.
template <Classify kClassify, auto kWrite>
NAIVELY_INLINE std::size_t scan_with(const std::uint8_t* in, std::size_t blocks, std::uint8_t* out,
                                     std::uint8_t case_bit, Edges& edges) {
  Edges local = edges;
  std::size_t done = 0;
  for (; done < blocks; ++done, in += kBlock, out += kBlock) {
    const Block block = kClassify(in, out, case_bit);
    if (block.wide) break;
    kWrite(local, block);
  }
  edges = local;
  return done;
}

[[maybe_unused]] inline Block classify_plain(const std::uint8_t* in, std::uint8_t* out, std::uint8_t case_bit) {
  Block block{0, 0, 0};
  for (unsigned i = 0; i < kBlock; ++i) {
    const std::uint8_t b = in[i];
    const bool upper = b >= 'A' && b <= 'Z';
    const bool word = upper || (b >= 'a' && b <= 'z') || (b >= '0' && b <= '9') || b == '_';
    out[i] = upper ? static_cast<std::uint8_t>(b | case_bit) : b;
    block.word |= std::uint64_t{word} << i;
    block.apostrophe |= std::uint64_t{b == '\''} << i;
    block.wide |= std::uint64_t{b >= 0x80} << i;
  }
  return block;
}

#if defined(__SSSE3__) && defined(__GNUC__)
// A byte is a word character when the sets of its two nibbles meet: 1 = digits, 2 = 41–4F and 61–6F,
// 4 = 50–5A and 70–7A, 8 = 5F (Lemire and Langdale, "Parsing gigabytes of JSON per second", 2019, 3.1.3).
alignas(32) constexpr std::uint8_t kLow[32] = {5, 7, 7, 7, 7, 7, 7, 7, 7, 7, 6, 2, 2, 2, 2, 10,
                                               5, 7, 7, 7, 7, 7, 7, 7, 7, 7, 6, 2, 2, 2, 2, 10};
alignas(32) constexpr std::uint8_t kHigh[32] = {0, 0, 0, 1, 2, 12, 2, 4, 0, 0, 0, 0, 0, 0, 0, 0,
                                                0, 0, 0, 1, 2, 12, 2, 4, 0, 0, 0, 0, 0, 0, 0, 0};

inline Block classify_ssse3(const std::uint8_t* in, std::uint8_t* out, std::uint8_t case_bit) {
  const __m128i low = _mm_load_si128(reinterpret_cast<const __m128i*>(kLow));
  const __m128i high = _mm_load_si128(reinterpret_cast<const __m128i*>(kHigh));
  const __m128i nibble = _mm_set1_epi8(15), zero = _mm_setzero_si128();
  Block block{0, 0, 0};
  for (unsigned i = 0; i < kBlock; i += 16) {
    const __m128i b = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i));
    const __m128i sets = _mm_and_si128(_mm_shuffle_epi8(low, _mm_and_si128(b, nibble)),
                                       _mm_shuffle_epi8(high, _mm_and_si128(_mm_srli_epi16(b, 4), nibble)));
    const __m128i upper =
        _mm_and_si128(_mm_cmpgt_epi8(b, _mm_set1_epi8('A' - 1)), _mm_cmplt_epi8(b, _mm_set1_epi8('Z' + 1)));
    const __m128i folded = _mm_or_si128(b, _mm_and_si128(upper, _mm_set1_epi8(static_cast<char>(case_bit))));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), folded);
    const auto mask = [i](__m128i m) { return std::uint64_t{static_cast<std::uint32_t>(_mm_movemask_epi8(m))} << i; };
    block.word |= mask(_mm_cmpgt_epi8(sets, zero));
    block.apostrophe |= mask(_mm_cmpeq_epi8(b, _mm_set1_epi8('\'')));
    block.wide |= mask(b);
  }
  return block;
}

__attribute__((target("avx2"))) inline std::uint64_t mask32(__m256i m) {
  return static_cast<std::uint32_t>(_mm256_movemask_epi8(m));
}

__attribute__((target("avx2"))) inline Block classify_avx2(const std::uint8_t* in, std::uint8_t* out,
                                                           std::uint8_t case_bit) {
  const __m256i low = _mm256_load_si256(reinterpret_cast<const __m256i*>(kLow));
  const __m256i high = _mm256_load_si256(reinterpret_cast<const __m256i*>(kHigh));
  const __m256i nibble = _mm256_set1_epi8(15), zero = _mm256_setzero_si256();
  Block block{0, 0, 0};
  for (unsigned i = 0; i < kBlock; i += 32) {
    const __m256i b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + i));
    const __m256i sets = _mm256_and_si256(_mm256_shuffle_epi8(low, _mm256_and_si256(b, nibble)),
                                          _mm256_shuffle_epi8(high, _mm256_and_si256(_mm256_srli_epi16(b, 4), nibble)));
    const __m256i upper = _mm256_and_si256(_mm256_cmpgt_epi8(b, _mm256_set1_epi8('A' - 1)),
                                           _mm256_cmpgt_epi8(_mm256_set1_epi8('Z' + 1), b));
    const __m256i folded = _mm256_or_si256(b, _mm256_and_si256(upper, _mm256_set1_epi8(static_cast<char>(case_bit))));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), folded);
    block.word |= mask32(_mm256_cmpgt_epi8(sets, zero)) << i;
    block.apostrophe |= mask32(_mm256_cmpeq_epi8(b, _mm256_set1_epi8('\''))) << i;
    block.wide |= mask32(b) << i;
  }
  return block;
}

// Of every byte, the places of its bits that are set.
struct Places {
  alignas(64) std::uint8_t of[256][8];
};
constexpr Places kPlaces = [] {
  Places places{};
  for (unsigned byte = 0; byte < 256; ++byte)
    for (unsigned bit = 0, n = 0; bit < 8; ++bit)
      if (byte >> bit & 1) places.of[byte][n++] = static_cast<std::uint8_t>(bit);
  return places;
}();

// Bounds of eight bytes of text at a time, by a table: nobody can foretell how many there are, and nothing branches on
// it.
__attribute__((target("avx2,bmi,bmi2,popcnt"))) inline void write_avx2(Edges& edges, const Block& block) {
  const std::uint64_t bits = edges.edges_of(block, kBlock);
  std::uint32_t* out = edges.next;
  __m256i base = _mm256_set1_epi32(static_cast<int>(edges.size));
  const __m256i eight = _mm256_set1_epi32(8);
  for (unsigned k = 0; k < 8; ++k) {
    const std::uint8_t byte = static_cast<std::uint8_t>(bits >> 8 * k);
    const __m128i places = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(kPlaces.of[byte]));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm256_add_epi32(_mm256_cvtepu8_epi32(places), base));
    out += std::popcount(byte);
    base = _mm256_add_epi32(base, eight);
  }
  edges.next = out;
  edges.size += kBlock;
}

// Every processor with AVX2 has these as well; they are asked for all the same.
__attribute__((target("avx2,bmi,bmi2,popcnt"))) std::size_t scan_avx2(const std::uint8_t* in, std::size_t blocks,
                                                                      std::uint8_t* out, std::uint8_t case_bit,
                                                                      Edges& edges) {
  return scan_with<classify_avx2, write_avx2>(in, blocks, out, case_bit, edges);
}
#endif

}  // namespace

Kernels fastest_kernels() {
#if defined(__SSSE3__) && defined(__GNUC__)
  const bool modern = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  return modern ? Kernels{scan_avx2, classify_avx2} : Kernels{scan_with<classify_ssse3, write_plain>, classify_ssse3};
#else
  return {scan_with<classify_plain, write_plain>, classify_plain};
#endif
}

}  // namespace naively::text
