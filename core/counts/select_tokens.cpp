#include <algorithm>
#include <stdexcept>
#include <vector>

#include "counts/cells.hpp"

namespace naively::cells {
namespace {

// Where the cells of each place start; of the others, which are the last, as many as classes have any.
std::vector<std::int64_t> starts(const CellsView& cells, const std::int32_t* place, std::int64_t n_tokens,
                                 std::int64_t n_places, std::int64_t& n_seen) {
  std::vector<std::int64_t> start(n_places + 3);
  std::vector<char> seen(n_tokens);
  for (std::int64_t c = 0; c < cells.n_classes; ++c) {
    bool others = false;
    for (std::int64_t i = cells.indptr[c]; i < cells.indptr[c + 1]; ++i) {
      const std::int64_t k = cells.index[i];
      if (k < 0 || k >= n_tokens || place[k] < -1 || place[k] >= n_places)
        throw std::invalid_argument("a token of the cells has no place");
      seen[k] = 1;
      others |= place[k] < 0;
      if (place[k] >= 0) ++start[place[k] + 2];
    }
    start[n_places + 2] += others;
  }
  for (std::int64_t k = 2; k <= n_places + 2; ++k) start[k] += start[k - 1];
  n_seen = std::count(seen.begin(), seen.end(), 1);
  return start;
}

}  // namespace

SomeTokens some_tokens(const CellsView& cells, const std::int32_t* place, std::int64_t n_tokens,
                       std::int64_t n_places) {
  std::int64_t n_seen = 0;
  std::vector<std::int64_t> next =
      starts(cells, place, n_tokens, n_places, n_seen);  // one further on: next[k + 1] is that of k
  const std::int64_t size = next[n_places + 2];
  SomeTokens found{size,
                   n_seen,
                   Buffer<std::int64_t>(n_places + 2),
                   Buffer<std::int32_t>(size),
                   Buffer<double>(size * cells.n_sums),
                   Buffer<std::int64_t>(size)};
  std::copy_n(next.begin() + 1, n_places + 2, found.start.get());
  std::vector<double> rest(cells.n_sums);
  for (std::int64_t c = 0; c < cells.n_classes; ++c) {
    std::fill(rest.begin(), rest.end(), 0.0);
    bool others = false;
    for (std::int64_t i = cells.indptr[c]; i < cells.indptr[c + 1]; ++i) {
      const std::int64_t k = place[cells.index[i]];
      if (k < 0) {
        others = true;
        for (std::int64_t f = 0; f < cells.n_sums; ++f) rest[f] += cells.sums[f * cells.size + i];
        continue;
      }
      const std::int64_t at = next[k + 1]++;
      found.owner[at] = static_cast<std::int32_t>(c);
      found.rows[at] = cells.rows[i];
      for (std::int64_t f = 0; f < cells.n_sums; ++f) found.sums[f * size + at] = cells.sums[f * cells.size + i];
    }
    if (!others) continue;
    const std::int64_t at = next[n_places + 1]++;
    found.owner[at] = static_cast<std::int32_t>(c);
    found.rows[at] = 1;
    for (std::int64_t f = 0; f < cells.n_sums; ++f) found.sums[f * size + at] = rest[f];
  }
  return found;
}

}  // namespace naively::cells
