// Words and their numbers: an append-only table with open addressing, and the Vocabulary that threads share.
//
// The words stand in the order of their numbers, 32 bytes each, and a table of 8 bytes a slot says by their hash where:
// what is frequent comes early, so that the words met most lie close together, and only the small table grows by
// copying.
//
// An n-gram of words is a pair of numbers, those of the n-gram without its last word and of that word: its string is
// made only when somebody reads it. It is the same token, with the same number, as the string would be.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "support/memory.hpp"
#include "text/keys.hpp"

namespace naively::text {

inline constexpr std::uint32_t kMostWords = 8;  // of an n-gram that is kept as a pair

// A word of up to 16 bytes as `bytes`, zero behind its end; of a longer one its hash, and its place in the arena; of a
// pair its two numbers, and how many words it has. `mark` belongs to whoever counts (see word_counter.hpp).
struct alignas(32) Entry {
  std::uint8_t bytes[kInline];
  std::uint32_t size, id;
  std::uint64_t mark;

  std::uint64_t low() const { return load8(bytes); }
  std::uint64_t high() const { return load8(bytes + 8); }
  bool is_pair() const { return size == kPair; }
  std::uint32_t first() const { return static_cast<std::uint32_t>(low()); }
  std::uint32_t last() const { return static_cast<std::uint32_t>(low() >> 32); }
  std::uint32_t words() const { return is_pair() ? static_cast<std::uint32_t>(high()) : 1; }
};

// Number the words in order of first appearance. Not for several threads at once.
class Words {
 private:
  struct alignas(8) Slot {
    std::uint32_t tag, next_id;  // the upper half of the hash; id + 1, so that fresh zeros are empty slots
  };
  // A full block is a big page; the first grows up to that by doubling.
  static constexpr unsigned kBlockBits = 16;
  static constexpr std::size_t kBlockSize = std::size_t{1} << kBlockBits;

  static std::uint32_t tag_of(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 32); }

 public:
  Words();

  std::size_t size() const { return size_; }
  // Of a word that is no pair; valid until the next word is appended.
  std::string_view word(std::size_t id) const {
    const Entry& found = entry(static_cast<std::uint32_t>(id));
    const std::uint8_t* start = found.size > kInline ? arena_.data() + found.high() : found.bytes;
    return {reinterpret_cast<const char*>(start), found.size};
  }
  // Any word; a pair is written out.
  std::string written(std::size_t id) const;

  // Whether every n-gram is there as a pair: no word has a space in it.
  bool composes() const { return spaced_ == 0; }

  Key key(const std::uint8_t* p, std::uint32_t size) const { return make_key(p, size, seeds_); }
  // An n-gram of so many words: one that is shorter by a word, and that word.
  Key key(std::uint32_t first, std::uint32_t last, std::uint32_t words) const {
    return pair_key(first, last, words, seeds_);
  }
  Entry& entry(std::uint32_t id) const { return blocks_[id >> kBlockBits][id & (kBlockSize - 1)]; }

  // Looking up many words at once, in rounds that wait for memory together: prefetch, guess, find or intern. Where the
  // table stands is copied, so that a loop can keep it in registers; valid until the next word is appended.
  class Finder {
   public:
    explicit Finder(const Words& words)
        : seeds_(words.seeds_),
          shift_(words.shift_),
          mask_(words.mask_),
          slots_(words.slots_.data()),
          blocks_(words.blocks_.data()) {}
    Key key(const std::uint8_t* p, std::uint32_t size) const { return make_key(p, size, seeds_); }
    void prefetch(const Key& key) const { __builtin_prefetch(&slots_[key.hash >> shift_]); }
    // The first word with the key's tag, very likely the one; null: the word is not there.
    Entry* guess(const Key& key) const {
      const std::uint32_t tag = tag_of(key.hash);
      for (std::size_t i = key.hash >> shift_;; i = (i + 1) & mask_) {
        const Slot slot = slots_[i];
        if (!slot.next_id) return nullptr;
        if (slot.tag != tag) continue;
        const std::uint32_t id = slot.next_id - 1;
        Entry* found = &blocks_[id >> kBlockBits][id & (kBlockSize - 1)];
        __builtin_prefetch(found);
        return found;
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
  // Once the entries are there: the bytes of a long word.
  void prefetch_long(const Entry* guessed, const Key& key) const {
    if (key.size > kInline && guessed && guessed->size > kInline) __builtin_prefetch(arena_.data() + guessed->high());
  }
  // Null: the word is not there.
  Entry* find(const Key& key, const std::uint8_t* p, Entry* guessed) const {
    if (guessed && is(*guessed, key, p)) return guessed;
    return guessed || deepest_ > 1 ? find(key, p) : nullptr;
  }
  // After make_room(). A word that was not there when it was guessed at may be there by now.
  Entry& intern(const Key& key, const std::uint8_t* p, Entry* guessed) {
    return guessed && is(*guessed, key, p) ? *guessed : intern(key, p);
  }

  Entry* find(const Key& key, const std::uint8_t* p) const {
    const std::size_t at = probe(key, p);
    if (slots_[at].next_id) return &entry(slots_[at].next_id - 1);
    return deepest_ > 1 && key.size != kPair ? find_pair({reinterpret_cast<const char*>(p), key.size}) : nullptr;
  }
  Entry& intern(const Key& key, const std::uint8_t* p) {
    const std::size_t at = probe(key, p);
    if (slots_[at].next_id) return entry(slots_[at].next_id - 1);
    if (deepest_ > 1 && key.size != kPair)
      if (Entry* pair = find_pair({reinterpret_cast<const char*>(p), key.size})) return *pair;
    return append(at, key, p);
  }
  // A word that is certainly not there gets its number now, and is to be placed before anybody looks for it.
  Entry& append_unplaced(const Key& key, const std::uint8_t* p) {
    prefetch(key);
    return write(key, p);
  }
  void place(std::uint64_t hash, std::uint32_t id) {
    std::size_t at = hash >> shift_;
    while (slots_[at].next_id) at = (at + 1) & mask_;
    slots_[at] = {tag_of(hash), id + 1};
  }
  // The same while other threads place other words and nobody looks for any.
  void place_beside_others(std::uint64_t hash, std::uint32_t id) {
    Slot made{tag_of(hash), id + 1}, taken{0, 0};
    for (std::size_t at = hash >> shift_;
         !__atomic_compare_exchange(&slots_[at], &taken, &made, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
         at = (at + 1) & mask_)
      taken = {0, 0};
  }
  // Room for so many more words.
  void make_room(std::size_t more) {
    if (size_ + more > limit_) grow(more);
  }
  // Slots for so many words altogether at once, so that fewer tables are outgrown on the way.
  void expect(std::size_t words);
  // The same for a word that may end where memory ends.
  std::int32_t find(std::string_view word) const;
  std::int32_t intern(std::string_view word);
  // The same; an n-gram whose parts are there becomes a pair of them.
  std::int32_t compose(std::string_view word);
  // A word with kInline readable bytes at least, copied into `room` if it is shorter.
  static const std::uint8_t* padded(std::string_view word, std::uint8_t* room);
  // All words of another table; their numbers here. New ones are numbered in the order of their numbers there, or of
  // their marks. Threads look for the words together, and write the new ones together.
  enum class Order { number, mark };
  std::vector<std::int32_t> intern_all(const Words& other, int n_jobs = 1, Order order = Order::number);
  // For words that have these numbers here, the smaller of both marks.
  void lower_marks(const Words& other, const std::vector<std::int32_t>& ids);

  // A number below 2^32 that is smaller than the upper half of every mark, if marks start with such numbers.
  std::uint32_t next_stamp();

 private:
  bool is(const Entry& found, const Key& key, const std::uint8_t* p) const {
    if ((found.low() ^ key.low) | (found.size ^ key.size)) return false;
    if (key.size <= kInline) return found.high() == key.high;
    return key.size == kPair || !std::memcmp(&arena_[found.high()], p, key.size);
  }
  Key pair_of(std::int32_t first, std::int32_t last) const {
    const auto front = static_cast<std::uint32_t>(first);
    return key(front, static_cast<std::uint32_t>(last), entry(front).words() + 1);
  }
  // Of a string with a space in it, the pair that it is, or null.
  Entry* find_pair(std::string_view word) const;
  // The word's slot, or the empty one where it belongs.
  std::size_t probe(const Key& key, const std::uint8_t* p) const {
    const std::uint32_t tag = tag_of(key.hash);
    for (std::size_t i = key.hash >> shift_;; i = (i + 1) & mask_) {
      const Slot slot = slots_[i];
      if (!slot.next_id || (slot.tag == tag && is(entry(slot.next_id - 1), key, p))) return i;
    }
  }
  // What joins two tables; see vocabulary_join.cpp.
  struct Sought;
  Sought seek(const Words& other, std::uint32_t id, const std::vector<std::int32_t>& ids) const;
  void find_some(const Words& other, const std::vector<std::uint32_t>& some, std::vector<std::int32_t>& ids) const;
  void append_all(const Words& other, const std::vector<std::uint32_t>& fresh, std::vector<std::int32_t>& ids,
                  std::size_t long_bytes, int n_jobs);
  std::size_t append_some(const Words& other, const std::uint32_t* fresh, std::size_t n,
                          const std::vector<std::int32_t>& ids, std::atomic<std::size_t>& end);
  std::vector<std::int32_t> intern_written(const Words& other, int n_jobs, Order order);
  Entry& append(std::size_t at, const Key& key, const std::uint8_t* p) {
    Entry& made = write(key, p);
    slots_[at] = {tag_of(key.hash), made.id + 1};
    return made;
  }
  static bool is_long(std::uint32_t size) { return size > kInline && size != kPair; }
  static bool has_space(const Key& key, const std::uint8_t* p);
  // `start`: where in the arena a long word is.
  Entry& write_entry(std::uint32_t id, const Key& key, std::size_t start) {
    Entry& made = entry(id);
    store8(made.bytes, key.low);
    store8(made.bytes + 8, is_long(key.size) ? start : key.high);
    made.size = key.size, made.id = id, made.mark = UINT64_MAX;
    return made;
  }
  Entry& write(const Key& key, const std::uint8_t* p);
  void grow(std::size_t more);
  void rebuild(int bits);
  void make_blocks(std::size_t words);

  Seeds seeds_;
  int shift_ = 0;
  std::size_t mask_ = 0, limit_ = 0, size_ = 0, room_ = 0;  // room_: entries that there are blocks for
  std::size_t spaced_ = 0;                                  // words with a space in them that are no pairs
  std::uint32_t deepest_ = 1;                               // words of the longest pair
  support::LargeArray<Slot> slots_;
  std::vector<support::LargeArray<Entry>> pages_;
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
