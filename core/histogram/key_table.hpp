// The distinct keys of one column while it is being counted: each key has a slot, numbered as they come. When they
// exceed the cap the level rises and slots join, so memory is bounded whatever the column holds.
//
// A column of many values is soon at a level where its keys lie close together: those within a window are looked up
// directly, and neighbours share a cache line. All others, such as few whole numbers at level 0, go by a hash; at
// level 0 it is one of the bits as they are, of which 0.0 and −0.0 have one slot. The usual NaNs are looked up like
// numbers, so that gaps, which come at random, cost no branch that nobody can foretell.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "histogram/histogram.hpp"

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
  enum : std::int32_t { NONE, MISSING, BELOW, ABOVE, FIRST };  // no slot; those of NaN, −infinity, +infinity; the keys

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
      i = level_ == 0    ? find_exact(x, i, n, slot)
          : level_ <= 51 ? find_keys<true>(x, i, n, slot)
                         : find_keys<false>(x, i, n, slot);
      if (i == n) return;
      if (!finite(x[i])) {
        slot[i] = slot_of_no_number(x[i]);
        ++i;
        continue;
      }
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
  static constexpr int FEWEST_BITS = 8;
  static constexpr std::int64_t WINDOW = std::int64_t{1} << 20;
  // What an empty entry of the hash has instead of a key: at level 0 the bits of a NaN, which so has its slot, and
  // above it a key that only an infinity could have.
  static constexpr std::int64_t SOME_NAN = 0x7FFDEADBEEF5EED5, EMPTY = MINUS_INFINITY;
  static constexpr std::int64_t NAN_BITS = 0x7FF8000000000000;  // as programs write it; processors set the sign as well
  struct Entry {
    std::int64_t key;
    std::int32_t slot;
  };
  struct Free {
    void operator()(std::int32_t* p) const { std::free(p); }
  };

  std::int64_t key_of(double x) const { return histogram::key_of(x) >> level_; }
  // Fibonacci hashing: every bit of the key reaches the high bits of the product.
  static std::size_t place(std::int64_t key, int shift) {
    return (static_cast<std::uint64_t>(key) * 0x9E3779B97F4A7C15u) >> shift;
  }

  // Where in the window a key is, if below WINDOW: keys from −WINDOW/2 on about zero, or about the first key.
  std::uint64_t in_window(std::int64_t key) const {
    return static_cast<std::uint64_t>(key) - static_cast<std::uint64_t>(base_);
  }

  static bool finite(double x) { return x - x == 0; }
  static std::int32_t slot_of_no_number(double x) { return x != x ? MISSING : x < 0 ? BELOW : ABOVE; }
  // A key of level 0 as the bits of its number; the other way around it is the same.
  static std::int64_t bits_of(std::int64_t key) { return key ^ ((key >> 63) & PLUS_INFINITY); }

  // Goes on until a number that has no slot yet, and returns its place: at level 0.
  std::int64_t find_exact(const double* x, std::int64_t i, std::int64_t n, std::int32_t* slot) const {
    const Entry* const table = table_.data();
    const std::size_t mask = table_.size() - 1;
    const int shift = shift_;  // as a member it would have to be read anew after each slot that is written
    for (; i < n; ++i) {
      const auto bits = std::bit_cast<std::int64_t>(x[i]);
      std::size_t at = place(bits, shift);
      while (table[at].key != bits) {
        if (table[at].key == SOME_NAN) return i;
        at = (at + 1) & mask;
      }
      slot[i] = table[at].slot;
    }
    return n;
  }

  // The same at higher levels; `apart`: up to level 51 the usual NaNs have keys that no number has.
  template <bool apart>
  std::int64_t find_keys(const double* x, std::int64_t i, std::int64_t n, std::int32_t* slot) const {
    const Entry* const table = table_.data();
    const std::int32_t* const window = window_.get();
    const std::size_t mask = table_.size() - 1;
    const int shift = shift_, level = level_;
    const auto base = static_cast<std::uint64_t>(base_);
    for (; i < n; ++i) {
      const double value = x[i];
      if (!apart && !finite(value)) return i;
      const std::int64_t key = histogram::key_of(value) >> level;
      if (const std::uint64_t at = static_cast<std::uint64_t>(key) - base; at < WINDOW) {
        const std::int32_t found = window[at];
        if (found == NONE) return i;
        slot[i] = found;
        continue;
      }
      std::size_t at = place(key, shift);
      while (table[at].key != key) {
        if (table[at].key == EMPTY) return i;
        at = (at + 1) & mask;
      }
      slot[i] = table[at].slot;
    }
    return n;
  }

  void insert(std::int64_t key) {
    if (keys_.empty()) {
      clear_window();
      set_base(key);
      lay_out(FEWEST_BITS);
    }
    keys_.push_back(key);
    put_key(key, static_cast<std::int32_t>(keys_.size() - 1 + FIRST));
    // Sparse while it is small, where a collision would cost more than the memory.
    if ((table_.size() < 8192 ? 8 : 2) * hashed_ > table_.size()) lay_out(std::countr_zero(table_.size()) + 1);
  }

  void put_key(std::int64_t key, std::int32_t slot) {
    put(level_ == 0 ? bits_of(key) : key, slot);
    if (level_ == 0 && key == 0) put(MINUS_INFINITY, slot);  // the bits of −0.0
  }

  void put(std::int64_t key, std::int32_t slot) {
    if (const std::uint64_t at = in_window(key); level_ > 0 && at < WINDOW) {
      window_[at] = slot;
      return;
    }
    std::size_t at = place(key, shift_);
    while (table_[at].key != empty()) at = (at + 1) & (table_.size() - 1);
    table_[at] = {key, slot};
    ++hashed_;
  }

  std::int64_t empty() const { return level_ == 0 ? SOME_NAN : EMPTY; }

  void lay_out(int bits) {
    table_.assign(std::size_t{1} << bits, Entry{empty(), MISSING});
    shift_ = 64 - bits;
    hashed_ = 0;
    for (const double nan : {std::bit_cast<double>(NAN_BITS), std::bit_cast<double>(NAN_BITS | MINUS_INFINITY)})
      if (level_ <= 51) put(level_ == 0 ? std::bit_cast<std::int64_t>(nan) : key_of(nan), MISSING);
    for (std::size_t s = 0; s < keys_.size(); ++s) put_key(keys_[s], static_cast<std::int32_t>(s + FIRST));
  }

  // At level 0 the window is not used; from level 44 on every key is in it.
  void set_base(std::int64_t key) { base_ = level_ >= 44 ? -WINDOW / 2 : key - WINDOW / 2; }

  void clear_window() {
    const auto clear = [&](std::int64_t key) {
      if (const std::uint64_t at = in_window(key); at < WINDOW) window_[at] = NONE;
    };
    if (level_ == 0) return;
    for (const std::int64_t key : keys_) clear(key);
    clear(key_of(std::bit_cast<double>(NAN_BITS)));
    clear(key_of(std::bit_cast<double>(NAN_BITS | MINUS_INFINITY)));
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
      now[s + FIRST] =
          static_cast<std::int32_t>(std::lower_bound(keys_.begin(), keys_.end(), old[s] >> by) - keys_.begin() + FIRST);
    for (std::int64_t i = 0; i < n; ++i) slot[i] = now[slot[i]];
    for (std::int32_t& s : moved_) s = now[s];
    if (moved_.empty()) moved_ = std::move(now);
    set_base(keys_[keys_.size() / 2]);
    lay_out(std::max(FEWEST_BITS, static_cast<int>(std::bit_width(2 * keys_.size()))));
  }

  std::int64_t cap_;
  int level_ = 0, shift_ = 58;
  std::int64_t base_ = 0;
  std::size_t hashed_ = 0;
  std::vector<std::int64_t> keys_;
  std::vector<std::int32_t> moved_;
  std::vector<Entry> table_;
  std::unique_ptr<std::int32_t[], Free> window_;  // slots; NONE where there is no key
};

// Slots in the order of their keys, −infinity first and +infinity last; without the missing.
inline std::vector<std::int32_t> slots_in_order(const std::vector<std::int64_t>& keys) {
  std::vector<std::pair<std::int64_t, std::int32_t>> order(keys.size());
  for (std::size_t s = 0; s < keys.size(); ++s) order[s] = {keys[s], static_cast<std::int32_t>(s)};
  sort_from_sorted(order);
  std::vector<std::int32_t> slots{KeyTable::BELOW};
  for (const auto& [key, s] : order) slots.push_back(s + KeyTable::FIRST);
  slots.push_back(KeyTable::ABOVE);
  return slots;
}

inline std::int64_t key_at(const std::vector<std::int64_t>& keys, std::int32_t slot) {
  if (slot >= KeyTable::FIRST) return keys[slot - KeyTable::FIRST];
  return slot == KeyTable::BELOW ? MINUS_INFINITY : PLUS_INFINITY;
}

}  // namespace naively::histogram
