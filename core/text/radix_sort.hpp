// Sort by 32-bit numbers in linear time.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace naively::text {

template <unsigned kBits, class Cell>
void sort_in_passes(Cell* cells, std::size_t n, std::vector<Cell>& spare) {
  constexpr unsigned kValues = 1u << kBits;
  std::uint32_t all = 0;
  for (std::size_t i = 0; i < n; ++i) all |= cells[i].id;
  if (spare.size() < n) spare.resize(n);
  Cell *from = cells, *to = spare.data();
  for (unsigned shift = 0; shift < 32 && all >> shift; shift += kBits) {
    std::size_t start[kValues + 1] = {};
    for (std::size_t i = 0; i < n; ++i) ++start[(from[i].id >> shift & (kValues - 1)) + 1];
    for (unsigned v = 0; v < kValues; ++v) start[v + 1] += start[v];
    for (std::size_t i = 0; i < n; ++i) to[start[from[i].id >> shift & (kValues - 1)]++] = from[i];
    std::swap(from, to);
  }
  if (from != cells) std::copy(from, from + n, cells);
}

// A stable sort by id in passes of some bits (Knuth, TAOCP 3, 5.2.5); very short lists are merged.
template <class Cell>
void sort_by_id(Cell* cells, std::size_t n, std::vector<Cell>& spare) {
  const auto smaller = [](const Cell& a, const Cell& b) { return a.id < b.id; };
  if (std::is_sorted(cells, cells + n, smaller)) return;
  if (n < 100) return std::stable_sort(cells, cells + n, smaller);
  if (n < 2000) return sort_in_passes<8>(cells, n, spare);
  sort_in_passes<11>(cells, n, spare);
}

}  // namespace naively::text
