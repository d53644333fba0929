// Words and their numbers: an append-only table with open addressing, and the Vocabulary that threads share.
//
// The words are stored in the order of their numbers, 32 bytes each, and a table of 8 bytes a slot leads from hashes to
// words. Frequent words come early, so they are close together, and only the small table is copied when it grows.
//
// An n-gram of words is a pair of numbers: that of the n-gram without its last word, and that of the last word. Its
// string is made only when it is read. It is the same token, with the same number, as the string.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "support/compiler.hpp"
#include "support/memory.hpp"
#include "text/hash_index.hpp"
#include "text/keys.hpp"

namespace naively::text {

inline constexpr std::uint32_t kMaxWords = 8;  // of an n-gram that is a pair

// A word of up to 16 bytes is `bytes`, padded with zeros. A longer one has its hash and its position in the arena
// there; a pair, its two numbers and its number of words. `mark` belongs to the counter (see document_words.hpp).
struct alignas(32) Entry {
  std::uint8_t bytes[kShortBytes];
  std::uint32_t size, id;
  std::uint64_t mark;

  std::uint64_t low() const { return load8(bytes); }
  std::uint64_t high() const { return load8(bytes + 8); }
  bool is_pair() const { return size == kPair; }
  std::uint32_t first() const { return static_cast<std::uint32_t>(low()); }
  std::uint32_t last() const { return static_cast<std::uint32_t>(low() >> 32); }
  std::uint32_t words() const { return is_pair() ? static_cast<std::uint32_t>(high()) : 1; }
};

// Numbers words in order of first appearance. Not for several threads at once.
class Words {
 private:
  struct alignas(8) Slot {
    std::uint32_t tag, next_id;  // the upper half of the hash; id + 1, so that zeros are an empty slot
  };
  // A full block is a huge page; the first grows to that by doubling.
  static constexpr unsigned kBlockBits = 16;
  static constexpr std::size_t kBlockSize = std::size_t{1} << kBlockBits;

  static std::uint32_t tag_of(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 32); }

 public:
  Words();

  std::size_t size() const { return size_; }
  // The bytes of a word that is not a pair; valid until the next word is appended.
  std::string_view word(std::size_t id) const {
    const Entry& stored = entry(static_cast<std::uint32_t>(id));
    const std::uint8_t* start = stored.size > kShortBytes ? arena_.data() + stored.high() : stored.bytes;
    return {reinterpret_cast<const char*>(start), stored.size};
  }
  // The string of any word or pair.
  std::string as_string(std::size_t id) const;

  // Whether every n-gram is a pair: no word has a space in it.
  bool all_composed() const { return spaced_ == 0; }

  Key key(const std::uint8_t* p, std::uint32_t size) const { return make_key(p, size, seeds_); }
  // The key of an n-gram: one that is shorter by a word, that word, and the number of words.
  Key key(std::uint32_t first, std::uint32_t last, std::uint32_t words) const {
    return pair_key(first, last, words, seeds_);
  }
  Entry& entry(std::uint32_t id) const { return blocks_[id >> kBlockBits][id & (kBlockSize - 1)]; }

  // Looks up many words in steps that wait for memory together: prefetch, guess, then find or intern. It copies the
  // position of the table, so that a loop can hold it in registers; valid until the next word is appended.
  class Finder {
   public:
    explicit Finder(const Words& words)
        : seeds_(words.seeds_),
          shift_(words.shift_),
          mask_(words.mask_),
          slots_(words.slots_.data()),
          blocks_(words.blocks_.data()) {}
    Key key(const std::uint8_t* p, std::uint32_t size) const { return make_key(p, size, seeds_); }
    void prefetch(const Key& key) const { support::prefetch(&slots_[key.hash >> shift_]); }
    // Returns the first word with the tag of the key, very likely the right one; null if the word is not in the table.
    Entry* guess(const Key& key) const {
      const std::uint32_t tag = tag_of(key.hash);
      for (std::size_t i = key.hash >> shift_;; i = (i + 1) & mask_) {
        const Slot slot = slots_[i];
        if (!slot.next_id) return nullptr;
        if (slot.tag != tag) continue;
        const std::uint32_t id = slot.next_id - 1;
        Entry* guess = &blocks_[id >> kBlockBits][id & (kBlockSize - 1)];
        support::prefetch(guess);
        return guess;
      }
    }

   private:
    const Seeds seeds_;
    const int shift_;
    const std::size_t mask_;
    const Slot* const slots_;
    Entry* const* const blocks_;
  };
  void prefetch(const Key& key) const { Finder(*this).prefetch(key); }
  Entry* guess(const Key& key) const { return Finder(*this).guess(key); }
  // Prefetches the bytes of a long word, after its entry was.
  void prefetch_long(const Entry* guessed, const Key& key) const {
    if (key.size > kShortBytes && guessed && guessed->size > kShortBytes)
      support::prefetch(arena_.data() + guessed->high());
  }
  // Returns null if the word is not in the table.
  Entry* find(const Key& key, const std::uint8_t* p, Entry* guessed) const {
    if (guessed && is(*guessed, key, p)) return guessed;
    return guessed || longest_ > 1 ? find(key, p) : nullptr;
  }
  // To be called after make_room(). A word may have been added since it was guessed.
  Entry& intern(const Key& key, const std::uint8_t* p, Entry* guessed) {
    return guessed && is(*guessed, key, p) ? *guessed : intern(key, p);
  }

  Entry* find(const Key& key, const std::uint8_t* p) const {
    const std::size_t at = probe(key, p);
    if (slots_[at].next_id) return &entry(slots_[at].next_id - 1);
    return longest_ > 1 && key.size != kPair ? find_pair({reinterpret_cast<const char*>(p), key.size}) : nullptr;
  }
  Entry& intern(const Key& key, const std::uint8_t* p) {
    const std::size_t at = probe(key, p);
    if (slots_[at].next_id) return entry(slots_[at].next_id - 1);
    if (longest_ > 1 && key.size != kPair)
      if (Entry* pair = find_pair({reinterpret_cast<const char*>(p), key.size})) return *pair;
    return append(at, key, p);
  }
  // Numbers a word that is certainly new; it must be placed before it is looked up.
  Entry& append_unplaced(const Key& key, const std::uint8_t* p) {
    prefetch(key);
    return write(key, p);
  }
  void place(std::uint64_t hash, std::uint32_t id) {
    std::size_t at = hash >> shift_;
    while (slots_[at].next_id) at = (at + 1) & mask_;
    slots_[at] = {tag_of(hash), id + 1};
  }
  // Does so while other threads place other words and none looks up words.
  void place_in_parallel(std::uint64_t hash, std::uint32_t id) {
    Slot placed{tag_of(hash), id + 1}, expected{0, 0};
    for (std::size_t at = hash >> shift_;
         !__atomic_compare_exchange(&slots_[at], &expected, &placed, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
         at = (at + 1) & mask_)
      expected = {0, 0};
  }
  // Makes room for n more words.
  void make_room(std::size_t n) {
    if (size_ + n > limit_) grow(n);
  }
  // Makes slots for this many words at once, so that fewer tables are outgrown.
  void expect(std::size_t words);
  // For a word that may end at the end of memory.
  std::int32_t find(std::string_view word) const;
  std::int32_t intern(std::string_view word);
  // Interns a word; an n-gram whose parts are in the table becomes a pair.
  std::int32_t compose(std::string_view word);
  // Returns the word with at least kShortBytes readable bytes, copied into `room` if it is shorter.
  static const std::uint8_t* padded(std::string_view word, std::uint8_t* room);
  // Interns all words of another table and returns their numbers here. New words are numbered in the order of their
  // numbers or marks there. Threads share the lookups and the writes.
  enum class Order { kNumber, kMark };
  std::vector<std::int32_t> intern_all(const Words& other, int n_threads = 1, Order order = Order::kNumber);
  // Sets the marks of words with these numbers here to the smaller of both marks.
  void lower_marks(const Words& other, const std::vector<std::int32_t>& ids);

  // Returns a number below 2^32 that is smaller than the upper half of every mark.
  std::uint32_t next_stamp();

 private:
  bool is(const Entry& entry, const Key& key, const std::uint8_t* p) const {
    if ((entry.low() ^ key.low) | (entry.size ^ key.size)) return false;
    if (key.size <= kShortBytes) return entry.high() == key.high;
    return key.size == kPair || !std::memcmp(&arena_[entry.high()], p, key.size);
  }
  Key pair_of(std::int32_t first, std::int32_t last) const {
    const auto front = static_cast<std::uint32_t>(first);
    return key(front, static_cast<std::uint32_t>(last), entry(front).words() + 1);
  }
  // Returns the pair that a string with a space is, or null.
  Entry* find_pair(std::string_view word) const;
  // Returns the slot of the word, or the empty one for it.
  std::size_t probe(const Key& key, const std::uint8_t* p) const {
    const std::uint32_t tag = tag_of(key.hash);
    for (std::size_t i = key.hash >> shift_;; i = (i + 1) & mask_) {
      const Slot slot = slots_[i];
      if (!slot.next_id || (slot.tag == tag && is(entry(slot.next_id - 1), key, p))) return i;
    }
  }
  // To join two tables; see vocabulary_join.cpp.
  struct Sought;
  Sought seek(const Words& other, std::uint32_t id, const std::vector<std::int32_t>& ids) const;
  void find_batch(const Words& other, const std::vector<std::uint32_t>& numbers, std::vector<std::int32_t>& ids) const;
  void append_all(const Words& other, const std::vector<std::uint32_t>& added, std::vector<std::int32_t>& ids,
                  std::size_t long_bytes, int n_threads);
  std::size_t append_batch(const Words& other, const std::uint32_t* added, std::size_t n,
                           const std::vector<std::int32_t>& ids, std::atomic<std::size_t>& end);
  std::vector<std::int32_t> intern_as_strings(const Words& other, Order order);
  Entry& append(std::size_t at, const Key& key, const std::uint8_t* p) {
    Entry& entry = write(key, p);
    slots_[at] = {tag_of(key.hash), entry.id + 1};
    return entry;
  }
  static bool is_long(std::uint32_t size) { return size > kShortBytes && size != kPair; }
  static bool has_space(const Key& key, const std::uint8_t* p);
  // `start`: the position of a long word in the arena.
  Entry& write_entry(std::uint32_t id, const Key& key, std::size_t start) {
    Entry& stored = entry(id);
    store8(stored.bytes, key.low);
    store8(stored.bytes + 8, is_long(key.size) ? start : key.high);
    stored.size = key.size, stored.id = id, stored.mark = UINT64_MAX;
    return stored;
  }
  Entry& write(const Key& key, const std::uint8_t* p);
  void grow(std::size_t n);
  void rebuild(int bits);
  void make_blocks(std::size_t words);

  Seeds seeds_;
  int shift_ = 0;
  std::size_t mask_ = 0, limit_ = 0, size_ = 0, room_ = 0;  // room_: entries of all blocks
  std::size_t spaced_ = 0;                                  // words with a space that are not pairs
  std::uint32_t longest_ = 1;                               // words of the longest pair
  support::LargeArray<Slot> slots_;
  std::vector<support::LargeArray<Entry>> pages_;
  std::vector<Entry*> blocks_;       // their starts
  std::vector<std::uint8_t> arena_;  // the long words
  std::uint32_t stamp_ = UINT32_MAX;
};

// Words under a lock: any number of readers, or one writer. Numbers never change, so a reader may release it in
// between. Or the hashes of words, which do not change.
struct Vocabulary {
  mutable std::shared_mutex lock;
  Words words;
  std::optional<HashIndex> hashes;

  std::size_t size() const { return hashes ? hashes->size() : words.size(); }
};

}  // namespace naively::text
