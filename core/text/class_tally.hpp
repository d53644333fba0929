// Sparse counts per class, collected document by document; memory follows the counts that are not zero.
//
// A class has a list of cells. New cells are appended. When the list has doubled, cells of the same token are added up,
// in order, by a scratch array over all tokens, or by sorting them if numbers are hashes of many bits. Counts of the
// tokens with the smallest numbers, which come first and most often, are in a small dense table instead. Sums of
// weights are taken section by section (see count.cpp), each in the order of the documents, so that they are the same,
// bit for bit, for any number of threads.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "support/compiler.hpp"
#include "support/exact_sum.hpp"
#include "support/memory.hpp"
#include "support/threads.hpp"
#include "text/radix_sort.hpp"

namespace naively::text {

// A word in documents without weights, in 8 bytes. A count that exceeds 16 bits continues in another cell.
struct WordCount {
  // The largest number of cells of the dense table. With up to four classes it is not larger than lists would be, and
  // only blocks in use are allocated; with more it takes 4 MB.
  static constexpr std::size_t max_dense_cells(std::size_t n_classes) {
    return std::size_t{1} << (n_classes <= 4 ? 24 : 19);
  }
  static constexpr bool kExact = true;  // sums do not depend on the order

  std::uint32_t id;
  std::uint16_t occurrences, rows;

  static void append(std::vector<WordCount>& cells, std::uint32_t id, std::uint32_t n, std::uint32_t documents,
                     double) {
    constexpr std::uint32_t kMax = UINT16_MAX;
    for (; n > kMax || documents > kMax; n -= std::min(n, kMax), documents -= std::min(documents, kMax))
      cells.push_back(
          {id, static_cast<std::uint16_t>(std::min(n, kMax)), static_cast<std::uint16_t>(std::min(documents, kMax))});
    cells.push_back({id, static_cast<std::uint16_t>(n), static_cast<std::uint16_t>(documents)});
  }
  bool absorb(const WordCount& other) {
    if (occurrences + other.occurrences > UINT16_MAX || rows + other.rows > UINT16_MAX) return false;
    occurrences = static_cast<std::uint16_t>(occurrences + other.occurrences);
    rows = static_cast<std::uint16_t>(rows + other.rows);
    return true;
  }
};

// A word in documents with weights.
struct WeightedWordCount {
  static constexpr std::size_t max_dense_cells(std::size_t) { return 0; }
  static constexpr bool kExact = false;

  std::uint32_t id, rows;
  support::CompensatedSum occurrences, documents;

  static void append(std::vector<WeightedWordCount>& cells, std::uint32_t id, std::uint32_t n, std::uint32_t,
                     double weight) {
    WeightedWordCount cell{id, 1, {weight * n, 0}, {weight, 0}};
    cells.push_back(cell);
  }
  bool absorb(const WeightedWordCount& other) {
    occurrences.add(other.occurrences);
    documents.add(other.documents);
    rows += other.rows;
    return true;
  }
};

// Adds up cells of the same token; one per thread. Entries of earlier lists have another epoch.
template <class Cell>
class CellCombiner {
 public:
  explicit CellCombiner(bool sorts) : sorts_(sorts) {}

  // Adds up cells of the same token in place; returns the number of cells that remain.
  std::size_t combine(Cell* cells, std::size_t n) { return sorts_ ? combine_sorted(cells, n) : combine_seen(cells, n); }

 private:
  std::size_t combine_sorted(Cell* cells, std::size_t n) {
    sort_by_id(cells, n, spare_);
    std::size_t size = 0;
    for (std::size_t i = 0; i < n; ++i)
      if (!size || cells[size - 1].id != cells[i].id || !cells[size - 1].absorb(cells[i])) cells[size++] = cells[i];
    return size;
  }

  std::size_t combine_seen(Cell* cells, std::size_t n) {
    if (++epoch_ == 0) std::fill(entries_.begin(), entries_.end(), Entry{}), epoch_ = 1;
    std::size_t size = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const Cell cell = cells[i];
      if (cell.id >= entries_.size()) entries_.resize(std::max<std::size_t>(cell.id + 1, 2 * entries_.size()));
      Entry& entry = entries_[cell.id];
      if (entry.epoch == epoch_ && cells[entry.at].absorb(cell)) continue;
      entry = {epoch_, static_cast<std::uint32_t>(size)};
      cells[size++] = cell;
    }
    return size;
  }

  struct Entry {
    std::uint32_t epoch = 0, at = 0;
  };
  const bool sorts_;
  std::vector<Cell> spare_;
  std::vector<Entry> entries_;
  std::uint32_t epoch_ = 0;
};

// The counts of one token in one class, in the dense table.
struct DenseCount {
  std::uint32_t occurrences, rows;
};

template <class Cell>
class ClassTally {
 public:
  // The dense table has at most max_cells cells.
  ClassTally(std::size_t n_classes, std::size_t max_cells)
      : lists_(n_classes),
        states_(n_classes),
        n_dense_(n_classes ? std::min(Cell::max_dense_cells(n_classes), max_cells) / n_classes : 0) {
    while ((std::size_t{2} << bits_) * n_classes <= kBlockCells && std::size_t{1} << bits_ < n_dense_) ++bits_;
    blocks_.resize((n_dense_ + (std::size_t{1} << bits_) - 1) >> bits_);
  }

  std::size_t classes() const { return lists_.size(); }
  std::vector<Cell>& list(std::size_t c) { return lists_[c]; }
  std::size_t n_dense() const { return n_dense_; }  // tokens below this number
  // The counts of a token below n_dense().
  DenseCount dense(std::size_t c, std::size_t id) const {
    const DenseCount* block = blocks_[id >> bits_].data();
    return block ? block[index(c, id)] : DenseCount{0, 0};
  }

  // Returns the tokens below `end` of the dense table that the class has, ascending, without unpredictable branches.
  std::span<const std::uint32_t> dense_tokens(std::size_t c, std::size_t end,
                                              std::vector<std::uint32_t>& tokens) const {
    end = std::min(end, n_dense_);
    if (tokens.size() < end) tokens.resize(end);
    std::size_t n = 0;
    for (std::size_t from = 0; from < end; from += std::size_t{1} << bits_) {
      const DenseCount* const block = blocks_[from >> bits_].data();
      if (!block) continue;
      const DenseCount* const counts = block + index(c, from);
      const std::size_t size = std::min(end - from, std::size_t{1} << bits_);
      for (std::size_t k = 0; k < size; ++k) {
        tokens[n] = static_cast<std::uint32_t>(from + k);
        n += counts[k].rows != 0;
      }
    }
    return {tokens.data(), n};
  }

  NAIVELY_INLINE void add(std::size_t c, std::uint32_t id, std::uint32_t n, double weight) {
    add(c, id, {n, 1}, weight);
  }

  void prefetch(std::size_t c, std::uint32_t id) const {
    if (id < n_dense_) support::prefetch(blocks_[id >> bits_].data() + index(c, id));
  }

  // Adds up cells if the list has grown enough; call it after each document of a class.
  void combine_if_grown(std::size_t c, CellCombiner<Cell>& combiner) {
    const auto [from, size, joined] = states_[c];
    if (lists_[c].size() - from >= kMinCells + size + (size < kLargeList ? size : size / 2)) combine(c, combiner);
  }

  // Ends a section: its sums are added to those of other sections as one, in order. `is_first`: this tally has all
  // sections before, so they can be added up now.
  void end_section(CellCombiner<Cell>& combiner, bool is_first) {
    for (std::size_t c = 0; c < classes(); ++c) {
      ListState& state = states_[c];
      if (lists_[c].size() > state.from) combine(c, combiner);
      if (is_first && lists_[c].size() > kMinCells + 2 * state.joined) {
        state.from = 0;
        combine(c, combiner);
        state.joined = state.size;
      }
      state.from = lists_[c].size(), state.size = 0;
    }
  }

  // Appends the counts of later documents, with these numbers for their tokens (none: the same numbers), and empties
  // `later`.
  void append(ClassTally& later, std::span<const std::int32_t> ids, int n_threads) {
    for (std::size_t id = 0; id < later.n_dense(ids); ++id)  // before threads share the blocks
      if (later.blocks_[id >> later.bits_].data() && new_number(ids, id) < n_dense_) block(new_number(ids, id));
    support::parallel_for(static_cast<std::ptrdiff_t>(classes()), n_threads,
                          [&](std::ptrdiff_t c) { append(later, ids, static_cast<std::size_t>(c)); });
  }

 private:
  struct ListState {
    std::size_t from = 0, size = 0,
                joined = 0;  // start of the section; its cells at the last combine(); cells before it
  };
  static constexpr std::size_t kMinCells = 1024, kLargeList = std::size_t{1} << 20;

  std::size_t index(std::size_t c, std::size_t id) const {
    return (c << bits_) + (id & ((std::size_t{1} << bits_) - 1));
  }
  DenseCount* block(std::uint32_t id) {
    support::LargeArray<DenseCount>& block = blocks_[id >> bits_];
    if (!block.data()) block = support::LargeArray<DenseCount>(classes() << bits_);
    return block.data();
  }

  NAIVELY_INLINE void add(std::size_t c, std::uint32_t id, DenseCount added, double weight) {
    if (Cell::kExact && id < n_dense_) {
      DenseCount& cell = block(id)[index(c, id)];
      if (added.occurrences <= UINT32_MAX - cell.occurrences && added.rows <= UINT32_MAX - cell.rows) {
        cell.occurrences += added.occurrences, cell.rows += added.rows;
        return;
      }
    }
    Cell::append(lists_[c], id, added.occurrences, added.rows, weight);
  }

  static std::uint32_t new_number(std::span<const std::int32_t> ids, std::size_t id) {
    return static_cast<std::uint32_t>(ids.data() ? static_cast<std::size_t>(ids[id]) : id);
  }

  // The tokens of the dense table that have numbers in another tally.
  std::size_t n_dense(std::span<const std::int32_t> ids) const {
    return ids.data() ? std::min(n_dense_, ids.size()) : n_dense_;
  }

  void append(ClassTally& later, std::span<const std::int32_t> ids, std::size_t c) {
    constexpr std::size_t kPrefetch = 16;  // cells ahead: another thread wrote many of them
    std::vector<std::uint32_t> memory;
    const std::span<const std::uint32_t> tokens = later.dense_tokens(c, later.n_dense(ids), memory);
    for (std::size_t k = 0; k < tokens.size(); ++k) {
      if (k + kPrefetch < tokens.size()) prefetch(c, new_number(ids, tokens[k + kPrefetch]));
      add(c, new_number(ids, tokens[k]), later.dense(c, tokens[k]), 0);
    }
    std::vector<Cell> cells = std::move(later.lists_[c]);
    for (Cell& cell : cells) cell.id = new_number(ids, cell.id);
    lists_[c].insert(lists_[c].end(), cells.begin(), cells.end());
  }

  void combine(std::size_t c, CellCombiner<Cell>& combiner) {
    ListState& state = states_[c];
    state.size = combiner.combine(lists_[c].data() + state.from, lists_[c].size() - state.from);
    lists_[c].resize(state.from + state.size);
  }

  std::vector<std::vector<Cell>> lists_;
  std::vector<ListState> states_;
  // Blocks of tokens, class by class: a huge page at most, unless there are very many classes. Only blocks in use are
  // allocated.
  static constexpr std::size_t kBlockCells = (std::size_t{2} << 20) / sizeof(DenseCount);
  std::size_t n_dense_;
  unsigned bits_ = 0;
  std::vector<support::LargeArray<DenseCount>> blocks_;
};

}  // namespace naively::text
