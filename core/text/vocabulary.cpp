#include "text/vocabulary.hpp"

#include <algorithm>
#include <random>
#include <stdexcept>

namespace naively::text {
namespace {

constexpr int kMinBits = 6, kMaxExpectedBits = 23;  // 64 MB at most are allocated on expectation

// The most words of a table: in a fuller one the runs of used slots are long; an emptier one leaves the caches sooner.
constexpr std::size_t limit_of(std::size_t slots) { return slots / 2; }

}  // namespace

Seeds random_seeds() {
  static const Seeds once = [] {
    std::random_device device;
    const auto draw = [&] { return std::uint64_t{device()} << 32 | device(); };
    return Seeds{draw(), draw()};
  }();
  return once;
}

NAIVELY_NOINLINE std::uint64_t hash_long(const std::uint8_t* p, std::size_t size, Seeds seeds) {
  LongHash hash(p, size, seeds);
  for (std::size_t n = hash.steps(); n > 0; --n) hash.step(seeds);
  return hash.finish(seeds);
}

// Finds a zero among eight bytes: less one, only a zero byte borrows (Mycroft, 1987).
bool Words::has_space(const Key& key, const std::uint8_t* p) {
  if (is_long(key.size)) return std::memchr(p, ' ', key.size);
  const auto in_eight = [](std::uint64_t bytes) {
    const std::uint64_t zero = bytes ^ 0x2020202020202020;
    return (zero - 0x0101010101010101) & ~zero & 0x8080808080808080;
  };
  return in_eight(key.low) || in_eight(key.high);
}

Words::Words() : seeds_(random_seeds()) { rebuild(kMinBits); }

// Slots are numbered by the upper bits of the hash, so the old table in order fills the new one in order.
void Words::rebuild(int bits) {
  const std::size_t n = std::size_t{1} << bits, old = slots_.data() ? mask_ + 1 : 0;
  support::LargeArray<Slot> grown(n);
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
    support::LargeArray<Entry> first(n, support::Fill::kAnything);
    if (size_) std::copy_n(blocks_[0], size_, first.data());
    pages_.resize(1), blocks_.resize(1);
    pages_[0] = std::move(first), blocks_[0] = pages_[0].data();
    room_ = n;
  }
  for (; room_ < words; room_ += kBlockSize) {
    pages_.emplace_back(kBlockSize, support::Fill::kAnything);
    blocks_.push_back(pages_.back().data());
  }
}

void Words::grow(std::size_t n) {
  const std::size_t words = size_ + n;
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
  while (bits < kMaxExpectedBits && limit_of(std::size_t{1} << bits) < words) ++bits;
  if (std::size_t{1} << bits > mask_ + 1) rebuild(bits);
}

// Appends a word, without a slot.
Entry& Words::write(const Key& key, const std::uint8_t* p) {
  const std::size_t start = arena_.size();
  if (is_long(key.size)) arena_.insert(arena_.end(), p, p + key.size);
  if (key.size == kPair)
    longest_ = std::max(longest_, static_cast<std::uint32_t>(key.high));
  else
    spaced_ += has_space(key, p);
  return write_entry(static_cast<std::uint32_t>(size_++), key, start);
}

const std::uint8_t* Words::padded(std::string_view word, std::uint8_t* room) {
  if (word.size() >= kPair) throw std::length_error("a word has over 4 GB: cut it up beforehand");
  if (word.size() >= kShortBytes) return reinterpret_cast<const std::uint8_t*>(word.data());
  std::fill_n(std::copy(word.begin(), word.end(), room), kShortBytes - word.size(), 0);
  return room;
}

std::int32_t Words::find(std::string_view word) const {
  std::uint8_t room[kShortBytes];
  const std::uint8_t* p = padded(word, room);
  const Entry* entry = find(key(p, static_cast<std::uint32_t>(word.size())), p);
  return entry ? static_cast<std::int32_t>(entry->id) : -1;
}

std::int32_t Words::intern(std::string_view word) {
  std::uint8_t room[kShortBytes];
  const std::uint8_t* p = padded(word, room);
  make_room(1);
  return static_cast<std::int32_t>(intern(key(p, static_cast<std::uint32_t>(word.size())), p).id);
}

// The words of a pair have no space, so its last word follows the last space.
Entry* Words::find_pair(std::string_view word) const {
  const auto spaces = static_cast<std::size_t>(std::count(word.begin(), word.end(), ' '));
  if (spaces == 0 || spaces >= longest_) return nullptr;
  const std::size_t space = word.rfind(' ');
  const std::int32_t last = find(word.substr(space + 1)), first = last < 0 ? -1 : find(word.substr(0, space));
  return first < 0 ? nullptr : find(pair_of(first, last), nullptr);
}

std::int32_t Words::compose(std::string_view word) {
  const auto spaces = static_cast<std::size_t>(std::count(word.begin(), word.end(), ' '));
  if (spaces == 0 || spaces >= kMaxWords || !all_composed()) return intern(word);
  const std::size_t space = word.rfind(' ');
  const std::int32_t last = find(word.substr(space + 1)), first = last < 0 ? -1 : find(word.substr(0, space));
  if (first < 0) return intern(word);
  make_room(1);
  return static_cast<std::int32_t>(intern(pair_of(first, last), nullptr).id);
}

std::string Words::as_string(std::size_t id) const {
  const Entry* part = &entry(static_cast<std::uint32_t>(id));
  std::string tail;
  for (; part->is_pair(); part = &entry(part->first())) tail.insert(0, " " + std::string(word(part->last())));
  return std::string(word(part->id)) + tail;
}

// After 2^32 − 1 stamps all marks are cleared.
std::uint32_t Words::next_stamp() {
  if (--stamp_ == 0) {
    for (std::uint32_t id = 0; id < size_; ++id) entry(id).mark = UINT64_MAX;
    stamp_ = UINT32_MAX - 1;
  }
  return stamp_;
}

}  // namespace naively::text
