// The distinct keys of one column while it is counted. Each key has a slot, numbered in the order of appearance. When
// the keys are twice the cap, the level rises and slots join, so that memory is bounded; `fit` does so at the end.
//
// A column of many values soon reaches a level at which its keys lie close together. Keys within a window are looked up
// directly, and neighbours share a cache line. All others, such as a few integers at level 0, are hashed. At level 0
// the bits of the number are hashed; 0.0 and −0.0 have one slot. The usual NaNs are looked up like numbers, so that
// missing values, which come at random, cost no unpredictable branch.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <numeric>
#include <utility>
#include <vector>

#include "histogram/histogram.hpp"

namespace naively::histogram {

// A key, and its slot in a KeyTable.
struct KeySlot {
  std::int64_t key;
  std::int32_t slot;
};

// Sorts many keys byte by byte, from the lowest on (Knuth, TAOCP 3, 5.2.5), without bytes that are the same in all.
inline void sort_keys(std::vector<KeySlot>& keys) {
  const auto is_less = [](const KeySlot& a, const KeySlot& b) { return a.key < b.key; };
  if (std::is_sorted(keys.begin(), keys.end(), is_less)) return;
  if (keys.size() < 256) return std::sort(keys.begin(), keys.end(), is_less);
  const auto byte_of = [](const KeySlot& key, int byte) {
    return (static_cast<std::uint64_t>(key.key) ^ std::uint64_t{1} << 63) >> 8 * byte & 0xFF;
  };
  std::uint32_t count[8][256] = {};
  for (const KeySlot& key : keys)
    for (int byte = 0; byte < 8; ++byte) ++count[byte][byte_of(key, byte)];
  std::vector<KeySlot> spare(keys.size());
  for (int byte = 0; byte < 8; ++byte) {
    std::uint32_t* const start = count[byte];
    if (start[byte_of(keys[0], byte)] == keys.size()) continue;
    std::exclusive_scan(start, start + 256, start, 0u);
    for (const KeySlot& key : keys) spare[start[byte_of(key, byte)]++] = key;
    keys.swap(spare);
  }
}

inline std::vector<std::int64_t> keys_of(const std::vector<KeySlot>& sorted) {
  std::vector<std::int64_t> keys;
  keys.reserve(sorted.size());
  for (const KeySlot& key : sorted) keys.push_back(key.key);
  return keys;
}

class KeyTable {
 public:
  // No slot; the slots of NaN, −infinity and +infinity; the first slot of a key.
  enum : std::int32_t { kNone, kMissing, kBelow, kAbove, kFirst };

  // The level rises when this many keys are there: if it rose for each key above the cap, it would rise too often.
  static std::int64_t max_keys(std::int64_t cap) { return 2 * cap; }

  // Memory of the window that is not touched is not resident: calloc of this size maps empty pages.
  explicit KeyTable(std::int64_t cap)
      : cap_(cap), window_(static_cast<std::int32_t*>(std::calloc(kWindowKeys, sizeof(std::int32_t)))) {
    if (!window_) throw std::bad_alloc();
  }

  void reset(int level) {
    clear_window();
    level_ = level;
    keys_.clear();
    moved_.clear();
    hashed_ = 0;
    set_base(0);
    rebuild(kMinBits);
  }

  // Finds the slot of each of n numbers.
  void find(const double* x, std::int64_t n, std::int32_t* slot) {
    for (std::int64_t i = 0; i < n;) {
      i = level_ == 0    ? find_exact(x, i, n, slot)
          : level_ <= 51 ? find_keys<true>(x, i, n, slot)
                         : find_keys<false>(x, i, n, slot);
      if (i == n) return;
      if (!is_finite(x[i])) {
        slot[i] = slot_of_special(x[i]);
        ++i;
        continue;
      }
      if (static_cast<std::int64_t>(keys_.size()) == max_keys(cap_)) {
        raise_level(slot, i);
        continue;
      }
      slot[i] = insert(key_of(x[i]));
      ++i;
    }
  }

  // Raises the level until at most `cap` keys remain, and renumbers n slots that were filled.
  void fit(std::int32_t* slot, std::int64_t n) {
    if (static_cast<std::int64_t>(keys_.size()) > cap_) raise_level(slot, n);
  }

  // Returns the keys of finite numbers in order, with their slots.
  std::vector<KeySlot> in_order() const {
    std::vector<KeySlot> sorted(keys_.size());
    for (std::size_t s = 0; s < keys_.size(); ++s) sorted[s] = {keys_[s], static_cast<std::int32_t>(s + kFirst)};
    sort_keys(sorted);
    return sorted;
  }

  // Returns the new slot of each old slot if slots joined since the last call; else nothing.
  std::vector<std::int32_t> moved() { return std::exchange(moved_, {}); }

  int level() const { return level_; }
  const std::vector<std::int64_t>& keys() const { return keys_; }  // by slot, from kFirst on

 private:
  static constexpr int kMinBits = 8;
  static constexpr std::int64_t kWindowKeys = std::int64_t{1} << 20;
  // The key of an empty entry of the hash: at level 0 the bits of a NaN, which has the slot of NaN, and above it a key
  // that only an infinity could have.
  static constexpr std::int64_t kUnusedNan = 0x7FFDEADBEEF5EED5, kEmptyKey = kMinusInfinity;
  static constexpr std::int64_t kNanBits = 0x7FF8000000000000;  // processors set the sign, too
  using Entry = KeySlot;
  struct Free {
    void operator()(std::int32_t* p) const { std::free(p); }
  };

  std::int64_t key_of(double x) const { return histogram::key_of(x) >> level_; }
  // Fibonacci hashing: every bit of the key reaches the high bits of the product.
  static std::size_t hash(std::int64_t key, int shift) {
    return (static_cast<std::uint64_t>(key) * 0x9E3779B97F4A7C15u) >> shift;
  }

  // The index of a key in the window, if below kWindowKeys. The window is about zero or about the first key.
  std::uint64_t in_window(std::int64_t key) const {
    return static_cast<std::uint64_t>(key) - static_cast<std::uint64_t>(base_);
  }

  static bool is_finite(double x) { return x - x == 0; }
  static std::int32_t slot_of_special(double x) { return x != x ? kMissing : x < 0 ? kBelow : kAbove; }
  // Turns a key of level 0 into the bits of its number, and back.
  static std::int64_t bits_of(std::int64_t key) { return key ^ ((key >> 63) & kPlusInfinity); }

  // Fills slots at level 0 up to the first number without one, and returns its index.
  std::int64_t find_exact(const double* x, std::int64_t i, std::int64_t n, std::int32_t* slot) const {
    const Entry* const table = table_.data();
    const std::size_t mask = table_.size() - 1;
    const int shift = shift_;  // a member would be read again after each slot that is written
    for (; i < n; ++i) {
      const auto bits = std::bit_cast<std::int64_t>(x[i]);
      std::size_t at = hash(bits, shift);
      while (table[at].key != bits) {
        if (table[at].key == kUnusedNan) return i;
        at = (at + 1) & mask;
      }
      slot[i] = table[at].slot;
    }
    return n;
  }

  // Does so at higher levels. `has_nan_keys`: up to level 51 the usual NaNs have keys that no number has.
  template <bool has_nan_keys>
  std::int64_t find_keys(const double* x, std::int64_t i, std::int64_t n, std::int32_t* slot) const {
    const Entry* const table = table_.data();
    const std::int32_t* const window = window_.get();
    const std::size_t mask = table_.size() - 1;
    const int shift = shift_, level = level_;
    const auto base = static_cast<std::uint64_t>(base_);
    for (; i < n; ++i) {
      const double value = x[i];
      if (!has_nan_keys && !is_finite(value)) return i;
      const std::int64_t key = histogram::key_of(value) >> level;
      if (const std::uint64_t at = static_cast<std::uint64_t>(key) - base; at < kWindowKeys) {
        const std::int32_t in_window = window[at];
        if (in_window == kNone) return i;
        slot[i] = in_window;
        continue;
      }
      std::size_t at = hash(key, shift);
      while (table[at].key != key) {
        if (table[at].key == kEmptyKey) return i;
        at = (at + 1) & mask;
      }
      slot[i] = table[at].slot;
    }
    return n;
  }

  std::int32_t insert(std::int64_t key) {
    if (keys_.empty()) {
      clear_window();
      set_base(key);
      rebuild(kMinBits);
    }
    keys_.push_back(key);
    const auto slot = static_cast<std::int32_t>(keys_.size() - 1 + kFirst);
    put_key(key, slot);
    // Sparse while it is small, as a collision costs more than the memory.
    const bool is_small = table_.size() < 8192;
    if ((is_small ? 8 : 2) * hashed_ > table_.size()) rebuild(std::countr_zero(table_.size()) + (is_small ? 2 : 1));
    return slot;
  }

  void put_key(std::int64_t key, std::int32_t slot) {
    put(level_ == 0 ? bits_of(key) : key, slot);
    if (level_ == 0 && key == 0) put(kMinusInfinity, slot);  // the bits of −0.0
  }

  void put(std::int64_t key, std::int32_t slot) {
    if (const std::uint64_t at = in_window(key); level_ > 0 && at < kWindowKeys) {
      window_[at] = slot;
      return;
    }
    std::size_t at = hash(key, shift_);
    while (table_[at].key != empty()) at = (at + 1) & (table_.size() - 1);
    table_[at] = {key, slot};
    ++hashed_;
  }

  std::int64_t empty() const { return level_ == 0 ? kUnusedNan : kEmptyKey; }

  void rebuild(int bits) {
    table_.assign(std::size_t{1} << bits, Entry{empty(), kMissing});
    shift_ = 64 - bits;
    hashed_ = 0;
    for (const double nan : {std::bit_cast<double>(kNanBits), std::bit_cast<double>(kNanBits | kMinusInfinity)})
      if (level_ <= 51) put(level_ == 0 ? std::bit_cast<std::int64_t>(nan) : key_of(nan), kMissing);
    for (std::size_t s = 0; s < keys_.size(); ++s) put_key(keys_[s], static_cast<std::int32_t>(s + kFirst));
  }

  // At level 0 the window is not used; from level 44 on it has every key.
  void set_base(std::int64_t key) { base_ = level_ >= 44 ? -kWindowKeys / 2 : key - kWindowKeys / 2; }

  void clear_window() {
    const auto clear = [&](std::int64_t key) {
      if (const std::uint64_t at = in_window(key); at < kWindowKeys) window_[at] = kNone;
    };
    if (level_ == 0) return;
    for (const std::int64_t key : keys_) clear(key);
    clear(key_of(std::bit_cast<double>(kNanBits)));
    clear(key_of(std::bit_cast<double>(kNanBits | kMinusInfinity)));
  }

  // Raises the level until `cap` keys remain, which makes room for as many more, and renumbers n slots that were
  // filled.
  void raise_level(std::int32_t* slot, std::int64_t n) {
    const std::vector<KeySlot> sorted = in_order();
    const int by = levels_to_fit(keys_of(sorted), cap_);
    clear_window();
    level_ += by;
    std::vector<std::int32_t> new_slot(keys_.size() + kFirst);
    for (std::int32_t s = 0; s < kFirst; ++s) new_slot[s] = s;
    keys_.clear();
    for (const auto [key, old_slot] : sorted) {
      if (keys_.empty() || key >> by != keys_.back()) keys_.push_back(key >> by);
      new_slot[old_slot] = static_cast<std::int32_t>(keys_.size() - 1 + kFirst);
    }
    set_base(keys_[keys_.size() / 2]);
    rebuild(std::max(kMinBits, static_cast<int>(std::bit_width(2 * keys_.size()))));
    for (std::int64_t i = 0; i < n; ++i) slot[i] = new_slot[slot[i]];
    for (std::int32_t& s : moved_) s = new_slot[s];
    if (moved_.empty()) moved_ = std::move(new_slot);
  }

  std::int64_t cap_;
  int level_ = 0, shift_ = 58;
  std::int64_t base_ = 0;
  std::size_t hashed_ = 0;
  std::vector<std::int64_t> keys_;
  std::vector<std::int32_t> moved_;
  std::vector<Entry> table_;
  std::unique_ptr<std::int32_t[], Free> window_;  // slots; kNone without a key
};

}  // namespace naively::histogram
