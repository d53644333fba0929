// The inner loop of all scoring: sums of selected rows of a table, with the sums kept in registers.
//
// A tile of W = 4V + 2H + S columns is summed in V vectors of four, H of two and S scalars; every W up to 32 has
// a function of its own, once for any processor and once for those with AVX2. No fused multiply-add: the
// result is the same on all of them.
#include <array>
#include <cmath>
#include <utility>

#include "counts/linear_score.hpp"

namespace naively::cells {
namespace {

using Four = double __attribute__((vector_size(32), aligned(8), may_alias));
using Two = double __attribute__((vector_size(16), aligned(8), may_alias));

constexpr int WIDEST = 32;

struct Job {
  Terms terms;
  const double* table;
  std::int64_t width, first;  // columns of the table; first column of the tile
  double* part;
};

// Terms are added one by one, in order: zeros between them change nothing, so a row has the same score, bit for bit,
// whether it comes dense or sparse. Carefully, those that are no number are left out.
template <int V, int H, int S, bool careful>
[[gnu::always_inline]] inline Length sum_tile(const Job& given) {
  constexpr std::int64_t AHEAD = V > 1 ? 32 : 24;  // measured; the table lies in the third cache or beyond
  constexpr int LAST = 4 * V + 2 * H + S - 1;
  const Job job = given;  // a copy: stores through `part` cannot change it
  const Terms& terms = job.terms;
  Four four[V > 0 ? V : 1] = {};
  Two two = {};
  double one = 0, length = 0;
  bool odd = false;
  for (std::int64_t k = 0; k < terms.n; ++k) {
    if (k + AHEAD < terms.readable) {
      const double* later = job.table + terms.token[k + AHEAD] * job.width + job.first;
      __builtin_prefetch(later);
      for (int c = 8; c < LAST; c += 8) __builtin_prefetch(later + c);
      if constexpr (LAST > 1) __builtin_prefetch(later + LAST);  // two numbers nearly always share a cache line
    }
    const double* row = job.table + terms.token[k] * job.width;
    const double x = terms.x ? terms.x[k] : 1.0;
    if constexpr (careful)
      if (std::isnan(x * row[0])) {  // a missing entry or an unknown token
        odd |= !std::isfinite(x);
        continue;
      }
    length += x;
    row += job.first;
    for (int v = 0; v < V; ++v) four[v] += x * *reinterpret_cast<const Four*>(row + 4 * v);
    if (H) two += x * *reinterpret_cast<const Two*>(row + 4 * V);
    if (S) one += x * row[4 * V + 2 * H];
  }
  double* part = job.part + job.first;
  for (int v = 0; v < V; ++v) *reinterpret_cast<Four*>(part + 4 * v) = four[v];
  if (H) *reinterpret_cast<Two*>(part + 4 * V) = two;
  if (S) part[4 * V + 2 * H] = one;
  return {length, odd || !std::isfinite(length)};
}

using Tile = Length (*)(const Job&);

template <int W, bool careful>
Length any_processor(const Job& job) {
  return sum_tile<W / 4, W / 2 % 2, W % 2, careful>(job);
}

template <bool careful, std::size_t... W>
constexpr std::array<Tile, sizeof...(W)> all_any(std::index_sequence<W...>) {
  return {any_processor<static_cast<int>(W), careful>...};
}

#if defined(__x86_64__) && defined(__GNUC__)
template <int W, bool careful>
[[gnu::target("avx2")]] Length with_avx2(const Job& job) {
  return sum_tile<W / 4, W / 2 % 2, W % 2, careful>(job);
}

template <bool careful, std::size_t... W>
constexpr std::array<Tile, sizeof...(W)> all_avx2(std::index_sequence<W...>) {
  return {with_avx2<static_cast<int>(W), careful>...};
}
#endif

using Tiles = std::array<Tile, WIDEST + 1>;

template <bool careful>
Tiles tiles() {
  constexpr auto widths = std::make_index_sequence<WIDEST + 1>{};
#if defined(__x86_64__) && defined(__GNUC__)
  if (__builtin_cpu_supports("avx2")) return all_avx2<careful>(widths);
#endif
  return all_any<careful>(widths);
}

}  // namespace

// What is missing or unknown is rare, and shows in the first sum, which is no number then: it is not looked for before.
Length sum_rows(const Terms& terms, const double* table, std::int64_t width, double* part) {
  static const Tiles quick = tiles<false>(), careful = tiles<true>();
  const Tiles* tile = &quick;
  Length length{};
  for (std::int64_t first = 0; first < width;) {
    length = (*tile)[width - first < WIDEST ? width - first : WIDEST]({terms, table, width, first, part});
    if (tile == &quick && terms.x && std::isnan(part[0]))
      tile = &careful;  // once more
    else
      first += WIDEST;
  }
  return length;
}

}  // namespace naively::cells
