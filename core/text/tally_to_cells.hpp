// Turn a tally into the sorted arrays of `Cells` (src/naively/_kernels/cells.py).
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "support/memory.hpp"
#include "support/threads.hpp"
#include "text/class_tally.hpp"
#include "text/radix_sort.hpp"

namespace naively::text {

inline constexpr std::size_t kTableParts = 64;  // of the classes, for threads

struct CellTable {
  std::size_t n = 0;
  support::LargeArray<std::int64_t> indptr;  // classes + 1
  support::LargeArray<std::int32_t> index;
  support::LargeArray<double> sums;  // (n_sums, n)
  support::LargeArray<std::int64_t> rows;
};

struct WordTotal {
  std::uint64_t occurrences = 0, rows = 0;
  void add(const WordCount& cell) { occurrences += cell.occurrences, rows += cell.rows; }
  void add(const DenseCount& cell) { occurrences += cell.occurrences, rows += cell.rows; }
  double first() const { return static_cast<double>(occurrences); }
  double second() const { return static_cast<double>(rows); }
};

struct WeightedWordTotal {
  support::CompensatedSum occurrences, documents;
  std::uint64_t rows = 0;
  void add(const WeightedWordCount& cell) {
    occurrences.add(cell.occurrences), documents.add(cell.documents), rows += cell.rows;
  }
  void add(const DenseCount&) {}
  double first() const { return occurrences.total(); }
  double second() const { return documents.total(); }
};

inline WordTotal total_of(const WordCount*) { return {}; }
inline WeightedWordTotal total_of(const WeightedWordCount*) { return {}; }

// The scratch memory of a thread.
template <class Cell>
struct TableScratch {
  std::vector<Cell> cells;
  std::vector<std::uint32_t> dense;
};

// Calls put(id, total) for the tokens of a class, ascending; `cells` are sorted.
template <class Cell, class Put>
void for_totals(const ClassTally<Cell>& tally, std::size_t c, std::size_t n_tokens, const std::vector<Cell>& cells,
                TableScratch<Cell>& scratch, Put&& put) {
  std::size_t i = 0;
  const auto add_listed = [&](std::uint32_t id, auto& total) {
    for (; i < cells.size() && cells[i].id == id; ++i) total.add(cells[i]);
  };
  const auto put_listed = [&](std::size_t end) {  // tokens below this number
    while (i < cells.size() && cells[i].id < end) {
      const std::uint32_t id = cells[i].id;
      auto total = total_of(cells.data());
      add_listed(id, total);
      put(id, total);
    }
  };
  for (const std::uint32_t id : tally.dense_tokens(c, n_tokens, scratch.dense)) {
    put_listed(id);
    auto total = total_of(cells.data());
    total.add(tally.dense(c, id));
    add_listed(id, total);
    put(id, total);
  }
  put_listed(n_tokens);
}

// Empties the tally class by class; its tokens are below n_tokens. With one sum it is `occurrences`. The cells of all
// classes are counted first, so that threads can fill arrays of the right size.
template <class Cell>
CellTable make_table(ClassTally<Cell>& tally, std::size_t n_tokens, std::size_t n_sums, int n_threads) {
  const std::size_t n_classes = tally.classes();
  CellTable table;
  table.indptr = support::LargeArray<std::int64_t>(n_classes + 1);
  const auto parts = static_cast<std::ptrdiff_t>(std::min<std::size_t>(n_classes, kTableParts));
  const auto for_classes = [&](auto&& work) {
    support::parallel_for(parts, n_threads, [&](std::ptrdiff_t part) {
      const auto p = static_cast<std::size_t>(part), n = static_cast<std::size_t>(parts);
      TableScratch<Cell> scratch;
      for (std::size_t c = p * n_classes / n; c < (p + 1) * n_classes / n; ++c) work(c, scratch);
    });
  };
  for_classes([&](std::size_t c, TableScratch<Cell>& scratch) {
    sort_by_id(tally.list(c).data(), tally.list(c).size(), scratch.cells);
    std::int64_t n = 0;
    for_totals(tally, c, n_tokens, tally.list(c), scratch, [&](std::uint32_t, const auto&) { ++n; });
    table.indptr[c + 1] = n;
  });
  for (std::size_t c = 0; c < n_classes; ++c) table.indptr[c + 1] += table.indptr[c];
  const std::size_t n = table.n = static_cast<std::size_t>(table.indptr[n_classes]);
  table.index = support::LargeArray<std::int32_t>(n, support::Fill::kAnything);
  table.sums = support::LargeArray<double>(n_sums * n, support::Fill::kAnything);
  table.rows = support::LargeArray<std::int64_t>(n, support::Fill::kAnything);
  for_classes([&](std::size_t c, TableScratch<Cell>& scratch) {
    auto at = static_cast<std::size_t>(table.indptr[c]);
    const std::vector<Cell> cells = std::move(tally.list(c));
    for_totals(tally, c, n_tokens, cells, scratch, [&](std::uint32_t id, const auto& total) {
      table.index[at] = static_cast<std::int32_t>(id);
      table.sums[at] = total.first();
      if (n_sums > 1) table.sums[n + at] = total.second();
      table.rows[at++] = static_cast<std::int64_t>(total.rows);
    });
  });
  return table;
}

}  // namespace naively::text
