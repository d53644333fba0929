// The distinct keys of one column while it is being counted: each key has a slot, numbered as they come. When they
// exceed the cap the level rises and slots join, so memory is bounded whatever the column holds.
//
// A column of many values is soon at a level where its keys lie close together: those within a window are looked up
// directly, and neighbours share a cache line. All others, such as few whole numbers at level 0, go by a hash.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "histogram.hpp"

namespace naively::histogram {

// Sorts what begins with a long sorted stretch, as keys do after the level rose.
template <class T>
void sort_from_sorted(std::vector<T>& items) {
  const auto rest = std::is_sorted_until(items.begin(), items.end());
  std::sort(rest, items.end());
  std::inplace_merge(items.begin(), rest, items.end());
}

class KeyTable {
 public:
  enum : std::int32_t { MISSING, BELOW, ABOVE, FIRST };  // slots of NaN, −infinity, +infinity; then the keys

  // Memory of the window that is never touched is never resident, since calloc of so much maps empty pages.
  explicit KeyTable(std::int64_t cap)
      : cap_(cap), window_(static_cast<std::int32_t*>(std::calloc(WINDOW, sizeof(std::int32_t)))) {
    if (!window_) throw std::bad_alloc();
  }

  void reset(int level) {
    clear_window();
    level_ = level;
    keys_.clear();
    moved_.clear();
    hashed_ = 0;
    set_base(0);
    lay_out(FEWEST_BITS);
  }

  // The slot of each of n numbers; slot[-done .. 0) are those of earlier calls, and follow when slots join.
  void find(const double* x, std::int64_t n, std::int32_t* slot, std::int64_t done = 0) {
    for (std::int64_t i = 0; i < n;) {
      i = find_known(x, i, n, slot);
      if (i == n) return;
      const std::int64_t key = key_of(x[i]);
      if (static_cast<std::int64_t>(keys_.size()) == cap_)
        rise(key, slot - done, done + i);
      else
        insert(key);
    }
  }

  // Where the slots of before went if any were joined since this was last asked; else nothing.
  std::vector<std::int32_t> moved() { return std::exchange(moved_, {}); }

  int level() const { return level_; }
  const std::vector<std::int64_t>& keys() const { return keys_; }  // by slot, from FIRST on

 private:
  static constexpr std::int64_t EMPTY = MINUS_INFINITY;  // no finite number has this key
  static constexpr int FEWEST_BITS = 8;
  static constexpr std::int64_t WINDOW = std::int64_t{1} << 20;
  struct Entry {
    std::int64_t key = EMPTY;
    std::int32_t slot = 0;
  };
  struct Free {
    void operator()(std::int32_t* p) const { std::free(p); }
  };

  std::int64_t key_of(double x) const { return histogram::key_of(x) >> level_; }
  // Fibonacci hashing: every bit of the key reaches the high bits of the product.
  std::size_t place(std::int64_t key) const {
    return (static_cast<std::uint64_t>(key) * 0x9E3779B97F4A7C15u) >> shift_;
  }

  // Where in the window a key is, if below WINDOW: keys from −WINDOW/2 on about zero, or about the first key.
  std::uint64_t in_window(std::int64_t key) const {
    return static_cast<std::uint64_t>(key) - static_cast<std::uint64_t>(base_);
  }

  // Goes on until a key that has no slot yet, and returns its place.
  std::int64_t find_known(const double* x, std::int64_t i, std::int64_t n, std::int32_t* slot) const {
    const Entry* const table = table_.data();
    const std::int32_t* const window = window_.get();
    const std::size_t mask = table_.size() - 1;
    for (; i < n; ++i) {
      const double value = x[i];
      if (!(value - value == 0)) {  // NaN or infinite
        slot[i] = value != value ? MISSING : value < 0 ? BELOW : ABOVE;
        continue;
      }
      const std::int64_t key = key_of(value);
      if (const std::uint64_t at = in_window(key); at < WINDOW) {
        if (window[at] == 0) return i;
        slot[i] = window[at];
        continue;
      }
      std::size_t at = place(key);
      while (table[at].key != key) {
        if (table[at].key == EMPTY) return i;
        at = (at + 1) & mask;
      }
      slot[i] = table[at].slot;
    }
    return n;
  }

  void insert(std::int64_t key) {
    if (keys_.empty()) set_base(key);
    keys_.push_back(key);
    put(key, static_cast<std::int32_t>(keys_.size() - 1 + FIRST));
    // Sparse while it is small, where a collision would cost more than the memory.
    if ((table_.size() < 8192 ? 8 : 2) * hashed_ > table_.size()) lay_out(std::countr_zero(table_.size()) + 1);
  }

  void put(std::int64_t key, std::int32_t slot) {
    if (const std::uint64_t at = in_window(key); at < WINDOW) {
      window_[at] = slot;
      return;
    }
    std::size_t at = place(key);
    while (table_[at].key != EMPTY) at = (at + 1) & (table_.size() - 1);
    table_[at] = {key, slot};
    ++hashed_;
  }

  void lay_out(int bits) {
    table_.assign(std::size_t{1} << bits, Entry{});
    shift_ = 64 - bits;
    hashed_ = 0;
    for (std::size_t s = 0; s < keys_.size(); ++s) put(keys_[s], static_cast<std::int32_t>(s + FIRST));
  }

  // At level 0 no key is in the window; from level 44 on every key is.
  void set_base(std::int64_t key) {
    base_ = level_ == 0 ? PLUS_INFINITY - WINDOW : level_ >= 44 ? -WINDOW / 2 : key - WINDOW / 2;
  }

  void clear_window() {
    for (const std::int64_t key : keys_)
      if (const std::uint64_t at = in_window(key); at < WINDOW) window_[at] = 0;
  }

  // Makes room for one more key: the level rises until all fit, and n slots already given are renumbered.
  void rise(std::int64_t key, std::int32_t* slot, std::int64_t n) {
    std::vector<std::int64_t> sorted = keys_;
    sorted.push_back(key);
    sort_from_sorted(sorted);
    const int by = levels_to_fit(sorted, cap_);
    clear_window();
    level_ += by;
    const std::vector<std::int64_t> old = std::move(keys_);
    keys_.clear();
    for (std::int64_t& k : sorted) k >>= by;
    for (std::size_t s = 0; s < sorted.size(); ++s)
      if (s == 0 || sorted[s] != sorted[s - 1]) keys_.push_back(sorted[s]);
    std::vector<std::int32_t> now(old.size() + FIRST);
    for (std::int32_t s = 0; s < FIRST; ++s) now[s] = s;
    for (std::size_t s = 0; s < old.size(); ++s)
      now[s + FIRST] = static_cast<std::int32_t>(std::lower_bound(keys_.begin(), keys_.end(), old[s] >> by) -
                                                 keys_.begin() + FIRST);
    for (std::int64_t i = 0; i < n; ++i) slot[i] = now[slot[i]];
    for (std::int32_t& s : moved_) s = now[s];
    if (moved_.empty()) moved_ = std::move(now);
    set_base(keys_[keys_.size() / 2]);
    lay_out(std::max(FEWEST_BITS, static_cast<int>(std::bit_width(2 * keys_.size()))));
  }

  std::int64_t cap_;
  int level_ = 0, shift_ = 58;
  std::int64_t base_ = PLUS_INFINITY - WINDOW;
  std::size_t hashed_ = 0;
  std::vector<std::int64_t> keys_;
  std::vector<std::int32_t> moved_;
  std::vector<Entry> table_;
  std::unique_ptr<std::int32_t[], Free> window_;  // slots; 0 where there is no key
};

}  // namespace naively::histogram
