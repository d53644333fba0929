// A tally, sorted and added up into the arrays of `Cells` (src/naively/kernels/cells.py).
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "word_tally.hpp"

namespace naively::text {

struct CellTable {
  std::size_t n = 0;
  std::unique_ptr<std::int64_t[]> indptr;  // classes + 1
  std::unique_ptr<std::int32_t[]> index;
  std::unique_ptr<double[]> sums;  // (n_sums, n)
  std::unique_ptr<std::int64_t[]> rows;
};

// Stable, by id, in passes of 11 bits (Knuth, TAOCP 3, 5.2.5); short lists by merging.
template <class Cell>
void sort_by_id(std::vector<Cell>& cells, std::vector<Cell>& spare) {
  constexpr unsigned kBits = 11, kValues = 1u << kBits;
  const auto smaller = [](const Cell& a, const Cell& b) { return a.id < b.id; };
  if (std::is_sorted(cells.begin(), cells.end(), smaller)) return;
  if (cells.size() < kValues / 2) return std::stable_sort(cells.begin(), cells.end(), smaller);
  std::uint32_t all = 0;
  for (const Cell& cell : cells) all |= cell.id;
  if (spare.size() < cells.size()) spare.resize(cells.size());
  Cell *from = cells.data(), *to = spare.data();
  for (unsigned shift = 0; shift < 32 && all >> shift; shift += kBits) {
    std::size_t start[kValues + 1] = {};
    for (std::size_t i = 0; i < cells.size(); ++i) ++start[(from[i].id >> shift & (kValues - 1)) + 1];
    for (unsigned v = 0; v < kValues; ++v) start[v + 1] += start[v];
    for (std::size_t i = 0; i < cells.size(); ++i) to[start[from[i].id >> shift & (kValues - 1)]++] = from[i];
    std::swap(from, to);
  }
  if (from != cells.data()) std::copy(from, from + cells.size(), cells.data());
}

struct CountTotal {
  std::uint64_t occurrences = 0, rows = 0;
  void add(const Count& cell) { occurrences += cell.occurrences, rows += cell.rows; }
  void add(const DenseCount& cell) { occurrences += cell.occurrences, rows += cell.rows; }
  double first() const { return static_cast<double>(occurrences); }
  double second() const { return static_cast<double>(rows); }
};

struct WeightedTotal {
  Sum occurrences, documents;
  std::uint64_t rows = 0;
  void add(const WeightedCount& cell) {
    occurrences.add(cell.occurrences), documents.add(cell.documents), rows += cell.rows;
  }
  void add(const DenseCount&) {}
  double first() const { return occurrences.total(); }
  double second() const { return documents.total(); }
};

inline CountTotal total_of(const Count*) { return {}; }
inline WeightedTotal total_of(const WeightedCount*) { return {}; }

// Empties the tally class by class. With one sum it is `occurrences`.
template <class Cell>
CellTable make_table(Tally<Cell>& tally, std::size_t n_sums) {
  std::size_t most = 0;
  for (std::size_t c = 0; c < tally.classes(); ++c) {
    most += tally.list(c).size();
    for (std::size_t id = 0; id < tally.n_dense(); ++id) most += tally.dense(c)[id].rows > 0;
  }
  CellTable table;
  table.indptr = std::make_unique<std::int64_t[]>(tally.classes() + 1);
  table.index = std::make_unique_for_overwrite<std::int32_t[]>(most);
  table.sums = std::make_unique_for_overwrite<double[]>(n_sums * most);
  table.rows = std::make_unique_for_overwrite<std::int64_t[]>(most);
  double *first = table.sums.get(), *second = first + (n_sums > 1 ? most : 0);
  std::vector<Cell> spare;
  std::size_t n = 0;
  for (std::size_t c = 0; c < tally.classes(); ++c) {
    std::vector<Cell> cells = std::move(tally.list(c));
    sort_by_id(cells, spare);
    const DenseCount* dense = tally.dense(c);
    std::size_t i = 0, d = 0;
    for (;; ++n) {
      while (d < tally.n_dense() && !dense[d].rows) ++d;
      if (d == tally.n_dense() && i == cells.size()) break;
      const auto id = static_cast<std::uint32_t>(
          i == cells.size() || (d < tally.n_dense() && d <= cells[i].id) ? d : cells[i].id);
      auto total = total_of(cells.data());
      if (d < tally.n_dense() && d == id) total.add(dense[d++]);
      for (; i < cells.size() && cells[i].id == id; ++i) total.add(cells[i]);
      table.index[n] = static_cast<std::int32_t>(id);
      second[n] = total.second();
      first[n] = total.first();
      table.rows[n] = static_cast<std::int64_t>(total.rows);
    }
    table.indptr[c + 1] = static_cast<std::int64_t>(n);
  }
  if (n_sums > 1 && n < most) std::memmove(first + n, second, n * sizeof(double));
  table.n = n;
  return table;
}

}  // namespace naively::text
