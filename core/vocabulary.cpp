#include "vocabulary.hpp"

#include <algorithm>
#include <random>
#include <stdexcept>

#include "threads.hpp"

namespace naively::text {
namespace {

constexpr int kFewestBits = 6;

// Fuller than this, runs of taken slots grow long; emptier, the table falls out of the caches sooner.
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
    ZeroedPages<Entry> first(n);
    if (size_) std::copy_n(blocks_[0], size_, first.data());
    pages_.resize(1), blocks_.resize(1);
    pages_[0] = std::move(first), blocks_[0] = pages_[0].data();
    room_ = n;
  }
  for (; room_ < words; room_ += kBlockSize) {
    pages_.emplace_back(kBlockSize);
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

Entry& Words::append(std::size_t at, const Key& key, const std::uint8_t* p) {
  const std::size_t start = arena_.size();
  const auto id = static_cast<std::uint32_t>(size_);
  if (key.size > kInline) arena_.insert(arena_.end(), p, p + key.size);
  Entry& made = entry(id);
  store8(made.bytes, key.low);
  store8(made.bytes + 8, key.size > kInline ? start : key.high);
  made.size = key.size, made.id = id, made.mark = UINT64_MAX;
  slots_[at] = {tag_of(key.hash), id + 1};
  bytes_ += key.size;
  ++size_;
  return made;
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
  return static_cast<std::int32_t>(intern(key(p, static_cast<std::uint32_t>(word.size())), p).id);
}

template <class Id, class Act>
void Words::look_up(const Words& other, std::size_t n, Id&& id, Act&& act) const {
  constexpr std::size_t kTogether = 32;
  const std::uint8_t* start[kTogether];
  Key keys[kTogether];
  Entry* guessed[kTogether];
  for (std::size_t i = 0; i < n; i += kTogether) {
    const std::size_t few = std::min(kTogether, n - i);
    for (std::size_t k = 0; k < few; ++k) {
      const std::string_view word = other.word(id(i + k));  // a short one has zeros behind it
      start[k] = reinterpret_cast<const std::uint8_t*>(word.data());
      keys[k] = key(start[k], static_cast<std::uint32_t>(word.size()));
      prefetch(keys[k]);
    }
    for (std::size_t k = 0; k < few; ++k) guessed[k] = guess(keys[k]);
    for (std::size_t k = 0; k < few; ++k) act(id(i + k), keys[k], start[k], guessed[k]);
  }
}

std::vector<std::int32_t> Words::intern_all(const Words& other, int n_jobs) {
  constexpr std::size_t kPart = 8192;
  std::vector<std::int32_t> ids(other.size());
  parallel_for(static_cast<std::ptrdiff_t>((ids.size() + kPart - 1) / kPart), n_jobs, [&](std::ptrdiff_t part) {
    const std::size_t from = static_cast<std::size_t>(part) * kPart, n = std::min(kPart, ids.size() - from);
    look_up(other, n, [=](std::size_t k) { return from + k; },
            [&](std::size_t id, const Key& key, const std::uint8_t* start, const Entry* guessed) {
              ids[id] = find(key, start, guessed);
            });
  });
  std::vector<std::uint32_t> fresh;
  for (std::size_t id = 0; id < ids.size(); ++id)
    if (ids[id] < 0) fresh.push_back(static_cast<std::uint32_t>(id));
  make_room(fresh.size());
  look_up(other, fresh.size(), [&](std::size_t k) { return fresh[k]; },
          [&](std::size_t id, const Key& key, const std::uint8_t* start, Entry* guessed) {
            ids[id] = static_cast<std::int32_t>(intern(key, start, guessed).id);
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
