// Words and their numbers: an append-only table with open addressing, and the Vocabulary that threads share.
//
// The words stand in the order of their numbers, 32 bytes each, and a table of 8 bytes a slot says by their hash where:
// what is frequent comes early, so that the words met most lie close together, and only the small table grows by copying.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <shared_mutex>
#include <string_view>
#include <vector>

#include "hash.hpp"
#include "pages.hpp"

namespace naively::text {

// A word of up to 16 bytes as `bytes`, zero behind its end; of a longer one its hash, and its place in the arena.
// `mark` belongs to whoever counts (see word_counter.hpp).
struct alignas(32) Entry {
  std::uint8_t bytes[kInline];
  std::uint32_t size, id;
  std::uint64_t mark;

  std::uint64_t low() const { return load8(bytes); }
  std::uint64_t high() const { return load8(bytes + 8); }
};

// Number the words in order of first appearance. Not for several threads at once.
class Words {
 public:
  Words();

  std::size_t size() const { return size_; }
  // Valid until the next word is appended.
  std::string_view word(std::size_t id) const {
    const Entry& found = entry(static_cast<std::uint32_t>(id));
    const std::uint8_t* start = found.size > kInline ? arena_.data() + found.high() : found.bytes;
    return {reinterpret_cast<const char*>(start), found.size};
  }
  std::size_t bytes() const { return bytes_; }  // of all words together

  Key key(const std::uint8_t* p, std::uint32_t size) const { return make_key(p, size, seeds_); }
  Entry& entry(std::uint32_t id) const { return blocks_[id >> kBlockBits][id & (kBlockSize - 1)]; }

  // Looking up many words at once, in rounds that wait for memory together: prefetch, guess, find or intern.
  void prefetch(const Key& key) const { __builtin_prefetch(&slots_[key.hash >> shift_]); }
  // The first word with the key's tag, very likely the one; null: the word is not there.
  Entry* guess(const Key& key) const {
    const std::uint32_t tag = tag_of(key.hash);
    for (std::size_t i = key.hash >> shift_;; i = (i + 1) & mask_) {
      const Slot slot = slots_[i];
      if (!slot.next_id) return nullptr;
      if (slot.tag != tag) continue;
      Entry* found = &entry(slot.next_id - 1);
      __builtin_prefetch(found);
      return found;
    }
  }
  // Once the entries are there: the bytes of a long word.
  void prefetch_long(const Entry* guessed, const Key& key) const {
    if (key.size > kInline && guessed && guessed->size > kInline) __builtin_prefetch(arena_.data() + guessed->high());
  }
  std::int32_t find(const Key& key, const std::uint8_t* p, const Entry* guessed) const {
    if (guessed && is(*guessed, key, p)) return static_cast<std::int32_t>(guessed->id);
    return guessed ? find(key, p) : -1;
  }
  // After make_room(). A word that was not there when it was guessed at may be there by now.
  Entry& intern(const Key& key, const std::uint8_t* p, Entry* guessed) {
    return guessed && is(*guessed, key, p) ? *guessed : intern(key, p);
  }

  std::int32_t find(const Key& key, const std::uint8_t* p) const {
    return static_cast<std::int32_t>(slots_[probe(key, p)].next_id) - 1;
  }
  Entry& intern(const Key& key, const std::uint8_t* p) {
    const std::size_t at = probe(key, p);
    return slots_[at].next_id ? entry(slots_[at].next_id - 1) : append(at, key, p);
  }
  // Room for so many more words.
  void make_room(std::size_t more) {
    if (size_ + more > limit_) grow(more);
  }
  // The same for a word that may end where memory ends.
  std::int32_t find(std::string_view word) const;
  std::int32_t intern(std::string_view word);
  // A word with kInline readable bytes at least, copied into `room` if it is shorter.
  static const std::uint8_t* padded(std::string_view word, std::uint8_t* room);
  // All words of another table; their numbers here. Several threads look for them before one appends the new ones.
  std::vector<std::int32_t> intern_all(const Words& other, int n_jobs = 1);

  // A number below 2^32 that is smaller than the upper half of every mark, if marks start with such numbers.
  std::uint32_t next_stamp();

 private:
  struct Slot {
    std::uint32_t tag, next_id;  // the upper half of the hash; id + 1, so that fresh zeros are empty slots
  };
  // A full block is a big page; the first grows up to that by doubling.
  static constexpr unsigned kBlockBits = 16;
  static constexpr std::size_t kBlockSize = std::size_t{1} << kBlockBits;

  static std::uint32_t tag_of(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 32); }
  bool is(const Entry& found, const Key& key, const std::uint8_t* p) const {
    if ((found.low() ^ key.low) | (found.size ^ key.size)) return false;
    if (found.high() == key.high && key.size <= kInline) return true;
    return key.size > kInline && !std::memcmp(&arena_[found.high()], p, key.size);
  }
  // The word's slot, or the empty one where it belongs.
  std::size_t probe(const Key& key, const std::uint8_t* p) const {
    const std::uint32_t tag = tag_of(key.hash);
    for (std::size_t i = key.hash >> shift_;; i = (i + 1) & mask_) {
      const Slot slot = slots_[i];
      if (!slot.next_id || (slot.tag == tag && is(entry(slot.next_id - 1), key, p))) return i;
    }
  }
  // Calls act(id, key, start, guess) for words of another table, those numbered id(0) to id(n - 1), a few at once.
  template <class Id, class Act>
  void look_up(const Words& other, std::size_t n, Id&& id, Act&& act) const;
  Entry& append(std::size_t at, const Key& key, const std::uint8_t* p);
  void grow(std::size_t more);
  void rebuild(int bits);
  void make_blocks(std::size_t words);

  Seeds seeds_;
  int shift_ = 0;
  std::size_t mask_ = 0, limit_ = 0, size_ = 0, bytes_ = 0, room_ = 0;  // room_: entries that there are blocks for
  ZeroedPages<Slot> slots_;
  std::vector<ZeroedPages<Entry>> pages_;
  std::vector<Entry*> blocks_;       // where they start
  std::vector<std::uint8_t> arena_;  // the long words
  std::uint32_t stamp_ = UINT32_MAX;
};

// Words under a lock: any number of readers, or one writer. Numbers never change, so a reader may let go in between.
struct Vocabulary {
  mutable std::shared_mutex lock;
  Words words;
};

}  // namespace naively::text
