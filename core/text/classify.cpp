// The classifier of 64 ASCII bytes, with SSE4.1 and in plain C++, and the loop over blocks that inlines it. Both give
// the same result. For processors with AVX2 the loop is compiled once more: eight bounds are then written at a time.
#include "support/compiler.hpp"
#include "text/scan.hpp"

#if defined(NAIVELY_SSE4)
#include <immintrin.h>
#endif

namespace naively::text {

#if defined(NAIVELY_SSE4)

namespace {

// A byte is a word character when the sets of its two nibbles meet: 1 = digits, 2 = 41–4F and 61–6F,
// 4 = 50–5A and 70–7A, 8 = 5F (Lemire and Langdale, "Parsing gigabytes of JSON per second", 2019, 3.1.3).
alignas(16) constexpr std::uint8_t kLow[16] = {5, 7, 7, 7, 7, 7, 7, 7, 7, 7, 6, 2, 2, 2, 2, 10};
alignas(16) constexpr std::uint8_t kHigh[16] = {0, 0, 0, 1, 2, 12, 2, 4, 0, 0, 0, 0, 0, 0, 0, 0};

// The positions of the bits that are set in each byte.
struct Positions {
  alignas(64) std::uint8_t of[256][8];
};
constexpr Positions kPositions = [] {
  Positions positions{};
  for (unsigned byte = 0; byte < 256; ++byte)
    for (unsigned bit = 0, n = 0; bit < 8; ++bit)
      if (byte >> bit & 1) positions.of[byte][n++] = static_cast<std::uint8_t>(bit);
  return positions;
}();

// Writes eight positions, counted from `from`.
inline void put(std::uint32_t* out, __m128i positions, int from) {
  const __m128i base = _mm_set1_epi32(from), next = _mm_srli_si128(positions, 4);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm_add_epi32(_mm_cvtepu8_epi32(positions), base));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 4), _mm_add_epi32(_mm_cvtepu8_epi32(next), base));
}

#if defined(NAIVELY_AVX2)
NAIVELY_AVX2 inline void put_avx2(std::uint32_t* out, __m128i positions, int from) {
  const __m256i bounds = _mm256_add_epi32(_mm256_cvtepu8_epi32(positions), _mm256_set1_epi32(from));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), bounds);
}
#endif

// Writes the bounds of eight bytes of text at a time, by a table: nothing branches on their number.
template <auto write>
NAIVELY_INLINE void add_bounds(Edges& edges, const Block& block) {
  const std::uint64_t bits = edges.edges_of(block, kBlock);
  std::uint32_t* out = edges.next;
  for (unsigned k = 0; k < 8; ++k) {
    const std::uint8_t byte = static_cast<std::uint8_t>(bits >> 8 * k);
    const __m128i positions = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(kPositions.of[byte]));
    write(out, positions, static_cast<int>(edges.size + 8 * k));
    out += std::popcount(byte);
  }
  edges.next = out;
  edges.size += kBlock;
}

NAIVELY_INLINE Block classify_block(const std::uint8_t* in, std::uint8_t* out, std::uint8_t case_bit) {
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

}  // namespace

#else

namespace {

void add_bounds(Edges& edges, const Block& block) { edges.add(block, kBlock); }

Block classify_block(const std::uint8_t* in, std::uint8_t* out, std::uint8_t case_bit) {
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

}  // namespace

#endif

Block classify(const std::uint8_t* in, std::uint8_t* out, std::uint8_t case_bit) {
  return classify_block(in, out, case_bit);
}

namespace {

// Works on a copy of the edges, which stays in registers.
template <auto add_bounds>
NAIVELY_INLINE std::size_t scan(const std::uint8_t* in, std::size_t n_blocks, std::uint8_t* out, std::uint8_t case_bit,
                                Edges& edges) {
  Edges local = edges;
  std::size_t done = 0;
  for (; done < n_blocks; ++done, in += kBlock, out += kBlock) {
    const Block block = classify_block(in, out, case_bit);
    if (block.wide) break;
    add_bounds(local, block);
  }
  edges = local;
  return done;
}

#if defined(NAIVELY_AVX2) && defined(NAIVELY_SSE4)
NAIVELY_AVX2 std::size_t scan_avx2(const std::uint8_t* in, std::size_t n_blocks, std::uint8_t* out,
                                   std::uint8_t case_bit, Edges& edges) {
  return scan<add_bounds<put_avx2>>(in, n_blocks, out, case_bit, edges);
}
#endif

}  // namespace

std::size_t scan_blocks(const std::uint8_t* in, std::size_t n_blocks, std::uint8_t* out, std::uint8_t case_bit,
                        Edges& edges) {
#if defined(NAIVELY_AVX2) && defined(NAIVELY_SSE4)
  static const bool has_avx2 = support::has_avx2();
  if (has_avx2) return scan_avx2(in, n_blocks, out, case_bit, edges);
#endif
#if defined(NAIVELY_SSE4)
  return scan<add_bounds<put>>(in, n_blocks, out, case_bit, edges);
#else
  return scan<add_bounds>(in, n_blocks, out, case_bit, edges);
#endif
}

}  // namespace naively::text
