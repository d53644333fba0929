// The inner loop of all scoring: sums of selected rows of a table, with the sums kept in registers.
//
// A tile of W = 4V + 2H + S columns is summed in V vectors of four, H of two and S scalars; every W up to 32 has
// a function of its own, once for any processor and once for those with AVX2. No fused multiply-add: the
// result is the same on all of them.
#include <array>
#include <cmath>
#include <utility>

#include "linear.hpp"

namespace naively::cells {
namespace {

using Four = double __attribute__((vector_size(32), aligned(8), may_alias));
using Two = double __attribute__((vector_size(16), aligned(8), may_alias));

constexpr int WIDEST = 32;

struct Job {
  const std::int32_t* token;
  const double* x;  // null: all 1
  std::int64_t n;
  const double* table;
  std::int64_t width, first;  // columns of the table; first column of the tile
  double* part;
};

// Terms are added one by one, in order: zeros between them change nothing, so a row has the same score, bit for bit,
// whether it comes dense or sparse.
template <int V, int H, int S>
[[gnu::always_inline]] inline double sum_tile(const Job& given) {
  constexpr std::int64_t AHEAD = 12;
  constexpr int LAST = 4 * V + 2 * H + S - 1;
  const Job job = given;  // a copy: stores through `part` cannot change it
  Four four[V > 0 ? V : 1] = {};
  Two two = {};
  double one = 0, length = 0;
  for (std::int64_t k = 0; k < job.n; ++k) {
    if (V > 1 && k + AHEAD < job.n) {
      const double* later = job.table + job.token[k + AHEAD] * job.width + job.first;
      for (int c = 0; c < LAST; c += 8) __builtin_prefetch(later + c);
      __builtin_prefetch(later + LAST);
    }
    const double* row = job.table + job.token[k] * job.width;
    const double x = job.x ? job.x[k] : 1.0;
    if (job.x && std::isnan(x * row[0])) continue;  // a missing entry or an unknown token
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
  return length;
}

using Tile = double (*)(const Job&);

template <int W>
double any_processor(const Job& job) {
  return sum_tile<W / 4, W / 2 % 2, W % 2>(job);
}

template <std::size_t... W>
constexpr std::array<Tile, sizeof...(W)> all_any(std::index_sequence<W...>) {
  return {any_processor<static_cast<int>(W)>...};
}

#if defined(__x86_64__) && defined(__GNUC__)
template <int W>
[[gnu::target("avx2")]] double with_avx2(const Job& job) {
  return sum_tile<W / 4, W / 2 % 2, W % 2>(job);
}

template <std::size_t... W>
constexpr std::array<Tile, sizeof...(W)> all_avx2(std::index_sequence<W...>) {
  return {with_avx2<static_cast<int>(W)>...};
}
#endif

using Tiles = std::array<Tile, WIDEST + 1>;

const Tiles& tiles() {
  static const Tiles chosen = [] {
    constexpr auto widths = std::make_index_sequence<WIDEST + 1>{};
#if defined(__x86_64__) && defined(__GNUC__)
    if (__builtin_cpu_supports("avx2")) return all_avx2(widths);
#endif
    return all_any(widths);
  }();
  return chosen;
}

double sum_tiles(Job job) {
  static const Tiles& tile = tiles();
  double length = 0;
  for (job.first = 0; job.first < job.width; job.first += WIDEST)
    length = tile[job.width - job.first < WIDEST ? job.width - job.first : WIDEST](job);
  return length;
}

}  // namespace

double sum_rows(const std::int32_t* token, const double* x, std::int64_t n, const double* table, std::int64_t width,
                double* part) {
  return sum_tiles({token, x, n, table, width, 0, part});
}

void sum_rows(const std::int32_t* token, std::int64_t n, const double* table, std::int64_t width, double* part) {
  sum_tiles({token, nullptr, n, table, width, 0, part});
}

}  // namespace naively::cells
