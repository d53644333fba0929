#include "vocabulary.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <random>
#include <stdexcept>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace naively::text {
namespace {

constexpr int kFewestBits = 6;

// Fuller than this, runs of taken slots grow long; emptier, the table falls out of the caches sooner.
constexpr std::size_t limit_of(std::size_t slots) { return slots / 16 * 11; }

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

// Zeros fresh from the system, which need not be written; in big pages where they are to be had, for a lookup in a big
// table misses the translation cache as well as the others.
Words::Slots Words::allocate(std::size_t n) {
  constexpr std::uintptr_t kLine = 64;
  const std::size_t bytes = n * sizeof(Slot) + kLine;
  Slots made{std::unique_ptr<void, Free>(std::calloc(bytes, 1))};
  if (!made.memory) throw std::bad_alloc();
  const auto start = reinterpret_cast<std::uintptr_t>(made.memory.get());
  made.first = reinterpret_cast<Slot*>((start + kLine - 1) / kLine * kLine);
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  constexpr std::uintptr_t kHuge = std::uintptr_t{2} << 20;
  const std::uintptr_t from = (start + kHuge - 1) / kHuge * kHuge, to = (start + bytes) / kHuge * kHuge;
  if (to > from) madvise(reinterpret_cast<void*>(from), to - from, MADV_HUGEPAGE);
#endif
  return made;
}

Words::Words() : seeds_(random_seeds()) { rebuild(kFewestBits); }

std::uint64_t Words::slot_hash(const Slot& slot) const {
  return slot.size > kInline ? slot.low : fold_product(slot.low ^ seeds_.first, slot.high ^ seeds_.second);
}

// Slots are taken by the upper bits of the hash, so the old table, walked in order, fills the new one in order.
void Words::rebuild(int bits) {
  const std::size_t n = std::size_t{1} << bits, old = slots_.first ? mask_ + 1 : 0;
  Slots grown = allocate(n);
  for (std::size_t i = 0; i < old; ++i) {
    if (!slots_[i].taken()) continue;
    std::size_t at = slot_hash(slots_[i]) >> (64 - bits);
    while (grown[at].taken()) at = (at + 1) & (n - 1);
    grown[at] = slots_[i];
  }
  slots_ = std::move(grown);
  shift_ = 64 - bits, mask_ = n - 1, limit_ = limit_of(n);
}

void Words::make_room(std::size_t more) {
  if (ends_.capacity() - ends_.size() < more) ends_.reserve(std::max(ends_.size() + more, 2 * ends_.size()));
  if (size() + more <= limit_) return;
  if (size() + more > INT32_MAX)
    throw std::length_error("the vocabulary would pass 2,147,483,647 words: use hash_bits, or shorter n-grams");
  int bits = 64 - shift_;
  while (limit_of(std::size_t{1} << bits) < size() + more) ++bits;
  rebuild(bits);
}

Slot& Words::append(Slot* slot, const Key& key, const std::uint8_t* p) {
  const std::size_t start = arena_.size();
  const auto next_id = static_cast<std::int32_t>(size()) + 1;
  arena_.insert(arena_.end(), p, p + key.size);
  ends_.push_back(arena_.size());  // cannot throw, as make_room() reserved it
  return *slot = {key.low, key.size > kInline ? start : key.high, key.size, next_id, 0, 0};
}

const std::uint8_t* Words::padded(std::string_view word, std::uint8_t* room) {
  if (word.size() > UINT32_MAX) throw std::length_error("a word has over 4 GB: cut it up beforehand");
  if (word.size() >= kInline) return reinterpret_cast<const std::uint8_t*>(word.data());
  std::fill_n(std::copy(word.begin(), word.end(), room), kInline - word.size(), 0);
  return room;
}

std::int32_t Words::find(std::string_view word) const {
  std::uint8_t room[kInline];
  const std::uint8_t* p = padded(word, room);
  return find(key(p, static_cast<std::uint32_t>(word.size())), p);
}

std::int32_t Words::intern(std::string_view word) {
  std::uint8_t room[kInline];
  const std::uint8_t* p = padded(word, room);
  make_room(1);
  return intern(key(p, static_cast<std::uint32_t>(word.size())), p).id();
}

void Words::intern_all(const Words& other, std::size_t from, std::size_t to, std::vector<std::int32_t>& ids) {
  constexpr std::size_t kTogether = 32;
  std::uint8_t room[kTogether][kInline];
  const std::uint8_t* start[kTogether];
  Key keys[kTogether];
  ids.reserve(ids.size() + (to - from));
  for (std::size_t i = from; i < to; i += kTogether) {
    const std::size_t few = std::min(kTogether, to - i);
    make_room(few);
    for (std::size_t k = 0; k < few; ++k) {
      const std::string_view word = other.word(i + k);
      start[k] = padded(word, room[k]);
      keys[k] = key(start[k], static_cast<std::uint32_t>(word.size()));
      prefetch(keys[k]);
    }
    for (std::size_t k = 0; k < few; ++k) ids.push_back(intern(keys[k], start[k]).id());
  }
}

// A number that no slot holds as its stamp. After 2^32 − 1 of them all stamps are wiped.
std::uint32_t Words::next_stamp() {
  if (++stamp_ == 0) {
    for (std::size_t i = 0; i <= mask_; ++i) slots_[i].stamp = 0;
    stamp_ = 1;
  }
  return stamp_;
}

}  // namespace naively::text
