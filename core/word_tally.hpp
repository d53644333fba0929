// Sparse counts per class, gathered document by document in memory that follows what is not zero.
//
// A class has a list of cells. New ones are appended; when the list has doubled, cells of the same token are added up,
// in order, by way of a scratch array over all tokens. So a sum of weights is always taken in the order of the documents,
// whatever the threads do, and is the same bit for bit.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace naively::text {

// Of documents without weights: 8 bytes. A count that outgrows 16 bits goes on in another cell.
struct Count {
  std::uint32_t id;
  std::uint16_t occurrences, rows;

  static void append(std::vector<Count>& cells, std::uint32_t id, std::uint32_t n, double) {
    for (; n > UINT16_MAX; n -= UINT16_MAX) cells.push_back({id, UINT16_MAX, 0});
    cells.push_back({id, static_cast<std::uint16_t>(n), 1});
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
  std::uint32_t id, rows;
  Sum occurrences, documents;

  static void append(std::vector<WeightedCount>& cells, std::uint32_t id, std::uint32_t n, double weight) {
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

template <class Cell>
class Tally {
 public:
  explicit Tally(std::size_t n_classes) : lists_(n_classes), settled_(n_classes) {}

  std::size_t classes() const { return lists_.size(); }
  std::vector<Cell>& list(std::size_t c) { return lists_[c]; }

  void add(std::size_t c, std::uint32_t id, std::uint32_t n, double weight) {
    Cell::append(lists_[c], id, n, weight);
  }
  // To be called after each document of a class.
  void settle(std::size_t c, Places& places) {
    auto& list = lists_[c];
    const std::size_t settled = settled_[c];
    if (list.size() < kFew + settled + (settled < kMany ? settled : settled / 2)) return;
    list.resize(places.combine(list.data(), list.size()));
    settled_[c] = list.size();
  }

 private:
  static constexpr std::size_t kFew = 1024, kMany = std::size_t{1} << 20;
  std::vector<std::vector<Cell>> lists_;
  std::vector<std::size_t> settled_;
};

}  // namespace naively::text
