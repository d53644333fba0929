// Sparse counts per class, gathered document by document in memory that follows what is not zero.
//
// A class has a list of cells. New ones are appended; when the list has doubled, cells of the same token are added up,
// in order, by way of a scratch array over all tokens. Counts of the tokens with the smallest numbers, which were met
// first and come most, are kept out of the lists, in a small dense table. Sums of weights are taken strand by strand
// (see text_count.cpp), each in the order of the documents, so that they are the same bit for bit whatever the threads
// do.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "support/memory.hpp"
#include "support/threads.hpp"

namespace naively::text {

// Of documents without weights: 8 bytes. A count that outgrows 16 bits goes on in another cell.
struct Count {
  // Cells of the dense table at most. Of four classes it is no larger than lists would be, and only what is in use is
  // there; of more it is 4 MB.
  static constexpr std::size_t dense(std::size_t n_classes) { return std::size_t{1} << (n_classes <= 4 ? 24 : 19); }
  static constexpr bool kExact = true;  // sums are the same in any order

  std::uint32_t id;
  std::uint16_t occurrences, rows;

  static void append(std::vector<Count>& cells, std::uint32_t id, std::uint32_t n, std::uint32_t documents, double) {
    constexpr std::uint32_t kMost = UINT16_MAX;
    for (; n > kMost || documents > kMost; n -= std::min(n, kMost), documents -= std::min(documents, kMost))
      cells.push_back(
          {id, static_cast<std::uint16_t>(std::min(n, kMost)), static_cast<std::uint16_t>(std::min(documents, kMost))});
    cells.push_back({id, static_cast<std::uint16_t>(n), static_cast<std::uint16_t>(documents)});
  }
  bool absorb(const Count& other) {
    if (occurrences + other.occurrences > UINT16_MAX || rows + other.rows > UINT16_MAX) return false;
    occurrences = static_cast<std::uint16_t>(occurrences + other.occurrences);
    rows = static_cast<std::uint16_t>(rows + other.rows);
    return true;
  }
};

// A sum of doubles and what its roundings lost (Knuth, TAOCP 2, 4.2.2, theorem B).
struct Sum {
  double value = 0, lost = 0;
  void add(double x) {
    const double sum = value + x, kept = sum - value;
    lost += (value - (sum - kept)) + (x - kept);
    value = sum;
  }
  void add(const Sum& other) {
    add(other.value);
    lost += other.lost;
  }
  double total() const { return value + lost; }
};

struct WeightedCount {
  static constexpr std::size_t dense(std::size_t) { return 0; }
  static constexpr bool kExact = false;

  std::uint32_t id, rows;
  Sum occurrences, documents;

  static void append(std::vector<WeightedCount>& cells, std::uint32_t id, std::uint32_t n, std::uint32_t,
                     double weight) {
    WeightedCount cell{id, 1, {weight * n, 0}, {weight, 0}};
    cells.push_back(cell);
  }
  bool absorb(const WeightedCount& other) {
    occurrences.add(other.occurrences);
    documents.add(other.documents);
    rows += other.rows;
    return true;
  }
};

// Where each token's cell of the list in hand lies; one per thread. Entries of older lists are told by their epoch.
class Places {
 public:
  // Adds up cells of the same token, in place; returns how many are left.
  template <class Cell>
  std::size_t combine(Cell* cells, std::size_t n) {
    if (++epoch_ == 0) std::fill(places_.begin(), places_.end(), Place{}), epoch_ = 1;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const Cell cell = cells[i];
      if (cell.id >= places_.size()) places_.resize(std::max<std::size_t>(cell.id + 1, 2 * places_.size()));
      Place& place = places_[cell.id];
      if (place.epoch == epoch_ && cells[place.at].absorb(cell)) continue;
      place = {epoch_, static_cast<std::uint32_t>(kept)};
      cells[kept++] = cell;
    }
    return kept;
  }

 private:
  struct Place {
    std::uint32_t epoch = 0, at = 0;
  };
  std::vector<Place> places_;
  std::uint32_t epoch_ = 0;
};

// Counts of one token in one class, of the dense table.
struct DenseCount {
  std::uint32_t occurrences, rows;
};

template <class Cell>
class Tally {
 public:
  // The dense table has no more cells than so many, about those that there may be.
  Tally(std::size_t n_classes, std::size_t most)
      : lists_(n_classes),
        settled_(n_classes),
        n_dense_(n_classes ? std::min(Cell::dense(n_classes), most) / n_classes : 0) {
    while ((std::size_t{2} << bits_) * n_classes <= kBlockCells && std::size_t{1} << bits_ < n_dense_) ++bits_;
    blocks_.resize((n_dense_ + (std::size_t{1} << bits_) - 1) >> bits_);
  }

  std::size_t classes() const { return lists_.size(); }
  std::vector<Cell>& list(std::size_t c) { return lists_[c]; }
  std::size_t n_dense() const { return n_dense_; }  // tokens below this number
  // Of a token below that number.
  DenseCount dense(std::size_t c, std::size_t id) const {
    const DenseCount* block = blocks_[id >> bits_].data();
    return block ? block[place(c, id)] : DenseCount{0, 0};
  }

  // Those of them below `end` that the class has, ascending; found without a branch on a coin that nobody can foretell.
  std::span<const std::uint32_t> dense_tokens(std::size_t c, std::size_t end, std::vector<std::uint32_t>& room) const {
    end = std::min(end, n_dense_);
    if (room.size() < end) room.resize(end);
    std::size_t n = 0;
    for (std::size_t from = 0; from < end; from += std::size_t{1} << bits_) {
      const DenseCount* const block = blocks_[from >> bits_].data();
      if (!block) continue;
      const DenseCount* const counts = block + place(c, from);
      const std::size_t size = std::min(end - from, std::size_t{1} << bits_);
      for (std::size_t k = 0; k < size; ++k) {
        room[n] = static_cast<std::uint32_t>(from + k);
        n += counts[k].rows != 0;
      }
    }
    return {room.data(), n};
  }

  void add(std::size_t c, std::uint32_t id, std::uint32_t n, double weight) { add(c, id, {n, 1}, weight); }

  void prefetch(std::size_t c, std::uint32_t id) const {
    if (id < n_dense_) __builtin_prefetch(blocks_[id >> bits_].data() + place(c, id));
  }

  // To be called after each document of a class.
  void settle(std::size_t c, Places& places) {
    const auto [from, settled, joined] = settled_[c];
    if (lists_[c].size() - from >= kFew + settled + (settled < kMany ? settled : settled / 2)) combine(c, places);
  }

  // What was counted since the last call is a strand: its sums are added to those of other strands as wholes, in order.
  // `first`: no strands come before those that this tally has, so they can be added up at once.
  void end_strand(Places& places, bool first) {
    for (std::size_t c = 0; c < classes(); ++c) {
      Settled& settled = settled_[c];
      if (lists_[c].size() > settled.from) combine(c, places);
      if (first && lists_[c].size() > kFew + 2 * settled.joined) {
        settled.from = 0;
        combine(c, places);
        settled.joined = settled.size;
      }
      settled.from = lists_[c].size(), settled.size = 0;
    }
  }

  // Appends what was counted of later documents, with these numbers for its tokens (none: its own); empties the other.
  void append(Tally& later, std::span<const std::int32_t> ids, int n_jobs) {
    for (std::size_t id = 0; id < later.n_dense(ids); ++id)  // before threads share the blocks
      if (later.blocks_[id >> later.bits_].data() && number(ids, id) < n_dense_) block(number(ids, id));
    support::parallel_for(static_cast<std::ptrdiff_t>(classes()), n_jobs,
                          [&](std::ptrdiff_t c) { append(later, ids, static_cast<std::size_t>(c)); });
  }

 private:
  struct Settled {
    std::size_t from = 0, size = 0,
                joined = 0;  // where the strand starts; its cells at the last combine(); those before it
  };
  static constexpr std::size_t kFew = 1024, kMany = std::size_t{1} << 20;

  std::size_t place(std::size_t c, std::size_t id) const {
    return (c << bits_) + (id & ((std::size_t{1} << bits_) - 1));
  }
  DenseCount* block(std::uint32_t id) {
    support::LargeArray<DenseCount>& block = blocks_[id >> bits_];
    if (!block.data()) block = support::LargeArray<DenseCount>(classes() << bits_);
    return block.data();
  }

  void add(std::size_t c, std::uint32_t id, DenseCount more, double weight) {
    if (Cell::kExact && id < n_dense_) {
      DenseCount& cell = block(id)[place(c, id)];
      if (more.occurrences <= UINT32_MAX - cell.occurrences && more.rows <= UINT32_MAX - cell.rows) {
        cell.occurrences += more.occurrences, cell.rows += more.rows;
        return;
      }
    }
    Cell::append(lists_[c], id, more.occurrences, more.rows, weight);
  }

  static std::uint32_t number(std::span<const std::int32_t> ids, std::size_t id) {
    return static_cast<std::uint32_t>(ids.data() ? static_cast<std::size_t>(ids[id]) : id);
  }

  // Tokens of the dense table, of those that have numbers in another one.
  std::size_t n_dense(std::span<const std::int32_t> ids) const {
    return ids.data() ? std::min(n_dense_, ids.size()) : n_dense_;
  }

  void append(Tally& later, std::span<const std::int32_t> ids, std::size_t c) {
    constexpr std::size_t kAhead = 16;  // cells under way at once: another thread wrote many of them
    std::vector<std::uint32_t> room;
    const std::span<const std::uint32_t> tokens = later.dense_tokens(c, later.n_dense(ids), room);
    for (std::size_t k = 0; k < tokens.size(); ++k) {
      if (k + kAhead < tokens.size()) prefetch(c, number(ids, tokens[k + kAhead]));
      add(c, number(ids, tokens[k]), later.dense(c, tokens[k]), 0);
    }
    std::vector<Cell> cells = std::move(later.lists_[c]);
    for (Cell& cell : cells) cell.id = number(ids, cell.id);
    lists_[c].insert(lists_[c].end(), cells.begin(), cells.end());
  }

  void combine(std::size_t c, Places& places) {
    Settled& settled = settled_[c];
    settled.size = places.combine(lists_[c].data() + settled.from, lists_[c].size() - settled.from);
    lists_[c].resize(settled.from + settled.size);
  }

  std::vector<std::vector<Cell>> lists_;
  std::vector<Settled> settled_;
  // Blocks of tokens, class by class inside: a big page at most, unless there are very many classes. Those in use are
  // there.
  static constexpr std::size_t kBlockCells = (std::size_t{2} << 20) / sizeof(DenseCount);
  std::size_t n_dense_;
  unsigned bits_ = 0;
  std::vector<support::LargeArray<DenseCount>> blocks_;
};

}  // namespace naively::text
