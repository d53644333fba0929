// Words and their numbers: an append-only table with open addressing, and the Vocabulary that threads share.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <shared_mutex>
#include <string_view>
#include <vector>

#include "hash.hpp"

namespace naively::text {

// A word of up to 16 bytes lies in its slot, so that finding it touches one cache line; a longer one has its hash
// and its place in the arena there. `stamp` and `place` belong to whoever counts (see counting.cpp).
struct Slot {
  std::uint64_t low, high;
  std::uint32_t size;
  std::int32_t next_id;  // id + 1, so that fresh zeros are empty slots
  std::uint32_t stamp, place;

  std::int32_t id() const { return next_id - 1; }
  bool taken() const { return next_id; }
};

// Number the words in order of first appearance. Not for several threads at once.
class Words {
 public:
  Words();

  std::size_t size() const { return ends_.size() - 1; }
  std::string_view word(std::size_t id) const {
    return {reinterpret_cast<const char*>(arena_.data()) + ends_[id], ends_[id + 1] - ends_[id]};
  }
  const std::vector<std::uint8_t>& arena() const { return arena_; }
  const std::vector<std::uint64_t>& ends() const { return ends_; }  // starts with 0

  Key key(const std::uint8_t* p, std::uint32_t size) const { return make_key(p, size, seeds_); }
  void prefetch(const Key& key) const { __builtin_prefetch(&slots_[key.hash >> shift_]); }
  // Once the slots are there: the bytes of a long word that is likely to be the one.
  void prefetch_long(const Key& key) const {
    if (key.size <= kInline) return;
    const Slot& slot = slots_[key.hash >> shift_];
    if (slot.taken() && slot.size == key.size) __builtin_prefetch(arena_.data() + slot.high);
  }
  std::int32_t find(const Key& key, const std::uint8_t* p) const { return probe(key, p)->id(); }
  // Room for so many more words, so that the slots that intern() returns stay where they are.
  void make_room(std::size_t more);
  Slot& intern(const Key& key, const std::uint8_t* p) {
    Slot* slot = probe(key, p);
    return slot->taken() ? *slot : append(slot, key, p);
  }
  // The same for a word that may end where memory ends.
  std::int32_t find(std::string_view word) const;
  std::int32_t intern(std::string_view word);
  // A word with kInline readable bytes at least, copied into `room` if it is shorter.
  static const std::uint8_t* padded(std::string_view word, std::uint8_t* room);
  // Words [from, to) of another table; appends their numbers here to `ids`.
  void intern_all(const Words& other, std::size_t from, std::size_t to, std::vector<std::int32_t>& ids);

  std::uint32_t next_stamp();

 private:
  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  struct Slots {
    std::unique_ptr<void, Free> memory;
    Slot* first = nullptr;  // on a cache line's edge
    Slot& operator[](std::size_t i) const { return first[i]; }
  };
  static Slots allocate(std::size_t n);
  Slot* probe(const Key& key, const std::uint8_t* p) const;
  Slot& append(Slot* slot, const Key& key, const std::uint8_t* p);
  std::uint64_t slot_hash(const Slot& slot) const;
  void rebuild(int bits);

  Seeds seeds_;
  int shift_ = 0;
  std::size_t mask_ = 0, limit_ = 0;
  Slots slots_;
  std::vector<std::uint8_t> arena_;
  std::vector<std::uint64_t> ends_{0};
  std::uint32_t stamp_ = 0;
};

inline Slot* Words::probe(const Key& key, const std::uint8_t* p) const {
  for (std::size_t i = key.hash >> shift_;; i = (i + 1) & mask_) {
    Slot* slot = &slots_[i];
    if (!slot->taken()) return slot;
    if (slot->low != key.low || slot->size != key.size) continue;
    if (key.size <= kInline ? slot->high == key.high : !std::memcmp(&arena_[slot->high], p, key.size)) return slot;
  }
}

// Words under a lock: any number of readers, or one writer. Numbers never change, so a reader may let go in between.
struct Vocabulary {
  mutable std::shared_mutex lock;
  Words words;
};

}  // namespace naively::text
