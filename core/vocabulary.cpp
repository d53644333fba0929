#include "vocabulary.hpp"

#include <algorithm>
#include <random>
#include <stdexcept>

#include "threads.hpp"

namespace naively::text {
namespace {

constexpr int kFewestBits = 6, kMostExpectedBits = 23;  // 64 MB: beyond that nothing is made on mere expectation

// Fuller than this, runs of taken slots grow long; emptier, the table falls out of the caches sooner.
constexpr std::size_t limit_of(std::size_t slots) { return slots / 2; }

// Whether one of eight bytes is a space: less one, a byte of zero alone borrows (Mycroft, 1987).
bool has_space(std::uint64_t bytes) {
  const std::uint64_t zero = bytes ^ 0x2020202020202020;
  return (zero - 0x0101010101010101) & ~zero & 0x8080808080808080;
}

}  // namespace

Seeds random_seeds() {
  static const Seeds once = [] {
    std::random_device device;
    const auto draw = [&] { return std::uint64_t{device()} << 32 | device(); };
    return Seeds{draw(), draw()};
  }();
  return once;
}

std::uint64_t hash_long(const std::uint8_t* p, std::size_t size, Seeds seeds) {
  std::uint64_t hash = fold_product(size ^ seeds.first, seeds.second);
  const std::uint8_t* last = p + size - 16;
  for (; p < last; p += 16) hash = fold_product(load8(p) ^ seeds.first, load8(p + 8) ^ seeds.second ^ hash);
  return fold_product(load8(last) ^ seeds.first, load8(last + 8) ^ seeds.second ^ hash);
}

Words::Words() : seeds_(random_seeds()) { rebuild(kFewestBits); }

// Slots are taken by the upper bits of the hash, so the old table, walked in order, fills the new one in order.
void Words::rebuild(int bits) {
  const std::size_t n = std::size_t{1} << bits, old = slots_.data() ? mask_ + 1 : 0;
  ZeroedPages<Slot> grown(n);
  for (std::size_t i = 0; i < old; ++i) {
    if (!slots_[i].next_id) continue;
    std::size_t at = slots_[i].tag >> (32 - bits);
    while (grown[at].next_id) at = (at + 1) & (n - 1);
    grown[at] = slots_[i];
  }
  slots_ = std::move(grown);
  shift_ = 64 - bits, mask_ = n - 1;
  limit_ = std::min(limit_of(n), room_);
}

void Words::make_blocks(std::size_t words) {
  if (room_ < kBlockSize) {
    const std::size_t n = std::min(kBlockSize, std::max(words, 2 * room_));
    ZeroedPages<Entry> first(n, Found::anything);
    if (size_) std::copy_n(blocks_[0], size_, first.data());
    pages_.resize(1), blocks_.resize(1);
    pages_[0] = std::move(first), blocks_[0] = pages_[0].data();
    room_ = n;
  }
  for (; room_ < words; room_ += kBlockSize) {
    pages_.emplace_back(kBlockSize, Found::anything);
    blocks_.push_back(pages_.back().data());
  }
}

void Words::grow(std::size_t more) {
  const std::size_t words = size_ + more;
  if (words > INT32_MAX)
    throw std::length_error("the vocabulary would pass 2,147,483,647 words: use hash_bits, or shorter n-grams");
  if (words > room_) make_blocks(words);
  int bits = 64 - shift_;
  while (limit_of(std::size_t{1} << bits) < words) ++bits;
  if (std::size_t{1} << bits > mask_ + 1)
    rebuild(bits);
  else
    limit_ = std::min(limit_of(mask_ + 1), room_);
}

void Words::expect(std::size_t words) {
  int bits = 64 - shift_;
  while (bits < kMostExpectedBits && limit_of(std::size_t{1} << bits) < words) ++bits;
  if (std::size_t{1} << bits > mask_ + 1) rebuild(bits);
}

// At the end of the words; the table does not know it yet.
Entry& Words::write(const Key& key, const std::uint8_t* p) {
  const std::size_t start = arena_.size();
  const auto id = static_cast<std::uint32_t>(size_);
  const bool is_long = key.size > kInline && key.size != kPair;
  if (is_long) arena_.insert(arena_.end(), p, p + key.size);
  if (key.size == kPair)
    deepest_ = std::max(deepest_, static_cast<std::uint32_t>(key.high));
  else
    spaced_ += is_long ? std::memchr(p, ' ', key.size) != nullptr : has_space(key.low) || has_space(key.high);
  Entry& made = entry(id);
  store8(made.bytes, key.low);
  store8(made.bytes + 8, is_long ? start : key.high);
  made.size = key.size, made.id = id, made.mark = UINT64_MAX;
  ++size_;
  return made;
}

const std::uint8_t* Words::padded(std::string_view word, std::uint8_t* room) {
  if (word.size() >= kPair) throw std::length_error("a word has over 4 GB: cut it up beforehand");
  if (word.size() >= kInline) return reinterpret_cast<const std::uint8_t*>(word.data());
  std::fill_n(std::copy(word.begin(), word.end(), room), kInline - word.size(), 0);
  return room;
}

std::int32_t Words::find(std::string_view word) const {
  std::uint8_t room[kInline];
  const std::uint8_t* p = padded(word, room);
  const Entry* found = find(key(p, static_cast<std::uint32_t>(word.size())), p);
  return found ? static_cast<std::int32_t>(found->id) : -1;
}

std::int32_t Words::intern(std::string_view word) {
  std::uint8_t room[kInline];
  const std::uint8_t* p = padded(word, room);
  make_room(1);
  return static_cast<std::int32_t>(intern(key(p, static_cast<std::uint32_t>(word.size())), p).id);
}

// The words of a pair have no space in them, so its last word is what follows the last space.
Entry* Words::find_pair(std::string_view word) const {
  const auto spaces = static_cast<std::size_t>(std::count(word.begin(), word.end(), ' '));
  if (spaces == 0 || spaces >= deepest_) return nullptr;
  const std::size_t space = word.rfind(' ');
  const std::int32_t last = find(word.substr(space + 1)), first = last < 0 ? -1 : find(word.substr(0, space));
  return first < 0 ? nullptr : find(pair_of(first, last), nullptr);
}

std::int32_t Words::compose(std::string_view word) {
  const auto spaces = static_cast<std::size_t>(std::count(word.begin(), word.end(), ' '));
  if (spaces == 0 || spaces >= kMostWords || !composes()) return intern(word);
  const std::size_t space = word.rfind(' ');
  const std::int32_t last = find(word.substr(space + 1)), first = last < 0 ? -1 : find(word.substr(0, space));
  if (first < 0) return intern(word);
  make_room(1);
  return static_cast<std::int32_t>(intern(pair_of(first, last), nullptr).id);
}

std::string Words::written(std::size_t id) const {
  const Entry* found = &entry(static_cast<std::uint32_t>(id));
  std::string tail;
  for (; found->is_pair(); found = &entry(found->first())) tail.insert(0, " " + std::string(word(found->last())));
  return std::string(word(found->id)) + tail;
}

// A pair whose parts have no numbers here yet is not here: its guess is null, and its key is to be asked for again.
template <class Id, class Act>
void Words::look_up(const Words& other, const std::vector<std::int32_t>& ids, std::size_t n, Id&& id, Act&& act) const {
  constexpr std::size_t kTogether = 32;
  const std::uint8_t* start[kTogether];
  Key keys[kTogether];
  Entry* guessed[kTogether];
  for (std::size_t i = 0; i < n; i += kTogether) {
    const std::size_t few = std::min(kTogether, n - i);
    for (std::size_t k = 0; k < few; ++k) {
      const Entry& theirs = other.entry(static_cast<std::uint32_t>(id(i + k)));
      start[k] = nullptr;
      if (!theirs.is_pair()) {
        const std::string_view word = other.word(id(i + k));  // a short one has zeros behind it
        start[k] = reinterpret_cast<const std::uint8_t*>(word.data());
        keys[k] = key(start[k], static_cast<std::uint32_t>(word.size()));
      } else if (ids[theirs.first()] >= 0 && ids[theirs.last()] >= 0) {
        keys[k] = pair_of(ids[theirs.first()], ids[theirs.last()]);
      } else {
        keys[k] = Key{0, 0, 0, 0};
      }
      prefetch(keys[k]);
    }
    for (std::size_t k = 0; k < few; ++k) guessed[k] = start[k] || keys[k].size ? guess(keys[k]) : nullptr;
    for (std::size_t k = 0; k < few; ++k) act(id(i + k), keys[k], start[k], guessed[k]);
  }
}

std::vector<std::int32_t> Words::intern_written(const Words& other) {
  std::vector<std::int32_t> ids(other.size());
  for (std::size_t id = 0; id < ids.size(); ++id) ids[id] = intern(other.written(id));
  return ids;
}

std::vector<std::int32_t> Words::intern_all(const Words& other, int n_jobs) {
  if ((deepest_ > 1 || other.deepest_ > 1) && !(composes() && other.composes())) return intern_written(other);
  constexpr std::size_t kPart = 8192;
  std::vector<std::int32_t> ids(other.size(), -1);
  for (std::uint32_t words = 1; words <= other.deepest_; ++words)  // what an n-gram is made of comes first
    parallel_for(static_cast<std::ptrdiff_t>((ids.size() + kPart - 1) / kPart), n_jobs, [&](std::ptrdiff_t part) {
      std::uint32_t few[kPart];
      std::size_t n = 0;
      const std::size_t from = static_cast<std::size_t>(part) * kPart, to = std::min(from + kPart, ids.size());
      for (std::size_t id = from; id < to; ++id)
        if (other.deepest_ == 1 || other.entry(static_cast<std::uint32_t>(id)).words() == words)
          few[n++] = static_cast<std::uint32_t>(id);
      look_up(other, ids, n, [&](std::size_t k) { return few[k]; },
              [&](std::size_t id, const Key& key, const std::uint8_t* start, Entry* guessed) {
                const Entry* found = guessed ? find(key, start, guessed) : nullptr;
                if (found) ids[id] = static_cast<std::int32_t>(found->id);
              });
    });
  std::vector<std::uint32_t> fresh;
  for (std::size_t id = 0; id < ids.size(); ++id)
    if (ids[id] < 0) fresh.push_back(static_cast<std::uint32_t>(id));
  make_room(fresh.size());
  look_up(other, ids, fresh.size(), [&](std::size_t k) { return fresh[k]; },
          [&](std::size_t id, Key key, const std::uint8_t* start, Entry* guessed) {
            const Entry& theirs = other.entry(static_cast<std::uint32_t>(id));
            if (theirs.is_pair()) key = pair_of(ids[theirs.first()], ids[theirs.last()]);
            const Entry& made = append_unplaced(key, start);
            ids[id] = static_cast<std::int32_t>(made.id);
            place(key.hash, made.id);
          });
  return ids;
}

// After 2^32 − 1 of them all marks are wiped.
std::uint32_t Words::next_stamp() {
  if (--stamp_ == 0) {
    for (std::uint32_t id = 0; id < size_; ++id) entry(id).mark = UINT64_MAX;
    stamp_ = UINT32_MAX - 1;
  }
  return stamp_;
}

}  // namespace naively::text
