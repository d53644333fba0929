// The inner loop of scoring: sums of rows of a table in registers.
//
// A tile of W = 4V + 2H + S columns is summed in V vectors of four, H of two and S scalars. Every W up to 32 has a
// function, once for any processor and once for AVX2. There is no fused multiply-add, so that all give the same result.
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include "counts/linear_score.hpp"
#include "support/vector.hpp"

namespace naively::counts {
namespace {

using Four = support::Vector<double, 4>;
using Two = support::Vector<double, 2>;

template <class Several>
NAIVELY_INLINE Several load(const double* from) {
  Several numbers;
  std::memcpy(&numbers, from, sizeof numbers);
  return numbers;
}

template <class Several>
NAIVELY_INLINE void store(double* to, const Several& numbers) {
  std::memcpy(to, &numbers, sizeof numbers);
}

constexpr int kMaxWidth = 32;

struct TileJob {
  Terms terms;
  const double* table;
  std::int64_t width, first;  // columns of the table; first column of the tile
  double* part;
};

// Terms are added one by one, in order. Zeros change nothing, so a dense and a sparse row have the same score, bit for
// bit. If `careful`, terms that are NaN are left out.
template <int V, int H, int S, bool careful>
NAIVELY_INLINE Length sum_tile(const TileJob& given) {
  constexpr std::int64_t kPrefetchTerms = V > 1 ? 32 : 24;  // measured with a table in the third cache
  constexpr int kLast = 4 * V + 2 * H + S - 1;
  const TileJob job = given;  // a copy: stores through `part` cannot change it
  const Terms& terms = job.terms;
  Four four[V > 0 ? V : 1] = {};
  Two two = {};
  double one = 0, length = 0;
  bool is_finite = true;
  for (std::int64_t k = 0; k < terms.n; ++k) {
    if (k + kPrefetchTerms < terms.readable) {
      const double* later = job.table + terms.token[k + kPrefetchTerms] * job.width + job.first;
      support::prefetch(later);
      for (int c = 8; c < kLast; c += 8) support::prefetch(later + c);
      if constexpr (kLast > 1) support::prefetch(later + kLast);  // two numbers nearly always share a cache line
    }
    const double* row = job.table + terms.token[k] * job.width;
    const double x = terms.x ? terms.x[k] : 1.0;
    if constexpr (careful)
      if (std::isnan(x * row[0])) {  // a missing entry or an unknown token
        is_finite &= std::isfinite(x);
        continue;
      }
    length += x;
    row += job.first;
    for (int v = 0; v < V; ++v) four[v] += x * load<Four>(row + 4 * v);
    if (H) two += x * load<Two>(row + 4 * V);
    if (S) one += x * row[4 * V + 2 * H];
  }
  double* part = job.part + job.first;
  for (int v = 0; v < V; ++v) store(part + 4 * v, four[v]);
  if (H) store(part + 4 * V, two);
  if (S) part[4 * V + 2 * H] = one;
  return {length, is_finite && std::isfinite(length)};
}

using Tile = Length (*)(const TileJob&);

template <int W, bool careful>
Length any_processor(const TileJob& job) {
  return sum_tile<W / 4, W / 2 % 2, W % 2, careful>(job);
}

template <bool careful, std::size_t... W>
constexpr std::array<Tile, sizeof...(W)> all_any(std::index_sequence<W...>) {
  return {any_processor<static_cast<int>(W), careful>...};
}

#if defined(NAIVELY_AVX2)
template <int W, bool careful>
NAIVELY_AVX2 Length with_avx2(const TileJob& job) {
  return sum_tile<W / 4, W / 2 % 2, W % 2, careful>(job);
}

template <bool careful, std::size_t... W>
constexpr std::array<Tile, sizeof...(W)> all_avx2(std::index_sequence<W...>) {
  return {with_avx2<static_cast<int>(W), careful>...};
}
#endif

using Tiles = std::array<Tile, kMaxWidth + 1>;

template <bool careful>
Tiles tiles() {
  constexpr auto widths = std::make_index_sequence<kMaxWidth + 1>{};
#if defined(NAIVELY_AVX2)
  if (support::has_avx2()) return all_avx2<careful>(widths);
#endif
  return all_any<careful>(widths);
}

}  // namespace

// Missing entries and unknown tokens are rare and make the first sum NaN; only then are they looked for.
Length sum_rows(const Terms& terms, const double* table, std::int64_t width, double* part) {
  static const Tiles quick = tiles<false>(), careful = tiles<true>();
  const Tiles* tile = &quick;
  Length length{};
  for (std::int64_t first = 0; first < width;) {
    length = (*tile)[width - first < kMaxWidth ? width - first : kMaxWidth]({terms, table, width, first, part});
    if (tile == &quick && terms.x && std::isnan(part[0]))
      tile = &careful;  // and sum again
    else
      first += kMaxWidth;
  }
  return length;
}

}  // namespace naively::counts
