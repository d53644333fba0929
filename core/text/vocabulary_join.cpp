// All words of one table into another. Threads look for them; then the new ones get their numbers, and threads write
// them.
#include <algorithm>
#include <numeric>
#include <span>

#include "support/threads.hpp"
#include "text/radix_sort.hpp"
#include "text/vocabulary.hpp"

namespace naively::text {
namespace {

constexpr std::size_t kPart = 8192;    // words that a thread takes at a time
constexpr std::size_t kTogether = 32;  // lookups under way at once

template <class Work>
void for_parts(std::size_t n, int n_jobs, Work&& work) {
  support::parallel_for(static_cast<std::ptrdiff_t>((n + kPart - 1) / kPart), n_jobs, [&](std::ptrdiff_t part) {
    const std::size_t from = static_cast<std::size_t>(part) * kPart;
    work(from, std::min(from + kPart, n));
  });
}

// A word's mark in two halves, and its number. What it is sorted by next is `id`.
struct Marked {
  std::uint32_t id, upper, lower, number;
  std::uint64_t mark() const { return std::uint64_t{upper} << 32 | lower; }
};

// First by the lower half of the mark, then, stably, by the upper one, which is `from` at least.
void sort_stretch(std::vector<Marked>& words, std::uint32_t from) {
  std::vector<Marked> spare;
  for (Marked& word : words) word.id = word.lower;
  sort_by_id(words, spare);
  for (Marked& word : words) word.id = word.upper - from;
  sort_by_id(words, spare);
}

// Words are dealt out to stretches of upper halves, some words each, which threads sort one by one, each in its cache.
void sort_by_mark(const Words& words, std::vector<std::uint32_t>& numbers, int n_jobs) {
  constexpr std::size_t kFew = 32,
                        kTogether = 64;  // words that are sorted by comparing them; stretches that a thread takes
  if (numbers.empty()) return;
  const std::size_t n = numbers.size();
  const support::LargeArray<Marked> marked(n, support::Fill::kAnything), dealt(n, support::Fill::kAnything);
  for_parts(n, n_jobs, [&](std::size_t from, std::size_t to) {
    for (std::size_t k = from; k < to; ++k) {
      const std::uint64_t mark = words.entry(numbers[k]).mark;
      marked[k] = {0, static_cast<std::uint32_t>(mark >> 32), static_cast<std::uint32_t>(mark), numbers[k]};
    }
  });
  const std::span all(marked.data(), n);
  std::uint32_t first = UINT32_MAX, last = 0;
  for (const Marked& word : all) first = std::min(first, word.upper), last = std::max(last, word.upper);
  unsigned bits = 0;
  while ((last - first) >> bits >= n) ++bits;
  const std::size_t n_stretches = ((last - first) >> bits) + std::size_t{1};
  std::vector<std::size_t> start(n_stretches +
                                 2);  // of a stretch, two places on; then, where its next word goes, one place on
  for (const Marked& word : all) ++start[((word.upper - first) >> bits) + 2];
  std::partial_sum(start.begin(), start.end(), start.begin());
  for (const Marked& word : all) dealt[start[((word.upper - first) >> bits) + 1]++] = word;
  const auto sort = [&](std::size_t s, std::vector<Marked>& stretch) {
    const std::span some(dealt.data() + start[s], dealt.data() + start[s + 1]);
    if (some.size() <= kFew) {
      std::sort(some.begin(), some.end(), [](const Marked& a, const Marked& b) { return a.mark() < b.mark(); });
    } else {
      stretch.assign(some.begin(), some.end());
      sort_stretch(stretch, first + static_cast<std::uint32_t>(s << bits));
      std::copy(stretch.begin(), stretch.end(), some.begin());
    }
    for (std::size_t k = start[s]; k < start[s + 1]; ++k) numbers[k] = dealt[k].number;
  };
  support::parallel_for(static_cast<std::ptrdiff_t>((n_stretches + kTogether - 1) / kTogether), n_jobs,
                        [&](std::ptrdiff_t part) {
                          std::vector<Marked> stretch;
                          const std::size_t from = static_cast<std::size_t>(part) * kTogether;
                          for (std::size_t s = from; s < std::min(from + kTogether, n_stretches); ++s) sort(s, stretch);
                        });
}

}  // namespace

// A word of another table as it is looked up here. A pair whose parts have no numbers here yet is not here.
struct Words::Sought {
  Key key{0, 0, 0, 0};
  const std::uint8_t* start = nullptr;  // of a word that is no pair
  bool possible = true;
};

Words::Sought Words::seek(const Words& other, std::uint32_t id, const std::vector<std::int32_t>& ids) const {
  const Entry& theirs = other.entry(id);
  if (!theirs.is_pair()) {
    const std::string_view word = other.word(id);  // a short one has zeros behind it
    const auto* start = reinterpret_cast<const std::uint8_t*>(word.data());
    return {key(start, theirs.size), start, true};
  }
  const std::int32_t first = ids[theirs.first()], last = ids[theirs.last()];
  if (first < 0 || last < 0) return {{0, 0, 0, 0}, nullptr, false};
  return {key(static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(last), theirs.words()), nullptr, true};
}

void Words::find_some(const Words& other, const std::vector<std::uint32_t>& some,
                      std::vector<std::int32_t>& ids) const {
  Sought sought[kTogether];
  Entry* guessed[kTogether];
  for (std::size_t i = 0; i < some.size(); i += kTogether) {
    const std::size_t few = std::min(kTogether, some.size() - i);
    for (std::size_t k = 0; k < few; ++k) {
      sought[k] = seek(other, some[i + k], ids);
      prefetch(sought[k].key);
    }
    for (std::size_t k = 0; k < few; ++k) guessed[k] = sought[k].possible ? guess(sought[k].key) : nullptr;
    for (std::size_t k = 0; k < few; ++k)
      if (guessed[k])
        if (const Entry* found = find(sought[k].key, sought[k].start, guessed[k]))
          ids[some[i + k]] = static_cast<std::int32_t>(found->id);
  }
}

// Words that have their numbers already, but nothing else. `end` is that of the long words in the arena, which has room
// for them. Returns how many have a space in them.
std::size_t Words::append_some(const Words& other, const std::uint32_t* fresh, std::size_t n,
                               const std::vector<std::int32_t>& ids, std::atomic<std::size_t>& end) {
  Sought sought[kTogether];
  std::size_t spaced = 0;
  for (std::size_t i = 0; i < n; i += kTogether) {
    const std::size_t few = std::min(kTogether, n - i);
    for (std::size_t k = i + few; k < std::min(i + 2 * kTogether, n); ++k) __builtin_prefetch(&other.entry(fresh[k]));
    std::size_t bytes = 0;
    for (std::size_t k = 0; k < few; ++k) {
      sought[k] = seek(other, fresh[i + k], ids);
      __builtin_prefetch(&slots_[sought[k].key.hash >> shift_], 1);
      if (is_long(sought[k].key.size)) bytes += sought[k].key.size;
    }
    std::size_t start = bytes ? end.fetch_add(bytes) : 0;
    for (std::size_t k = 0; k < few; ++k) {
      const auto& [key, p, possible] = sought[k];
      const auto id = static_cast<std::uint32_t>(ids[fresh[i + k]]);
      write_entry(id, key, start);
      if (is_long(key.size)) std::copy_n(p, key.size, arena_.data() + start), start += key.size;
      if (p && other.spaced_) spaced += has_space(key, p);
      place_beside_others(key.hash, id);
    }
  }
  return spaced;
}

void Words::append_all(const Words& other, const std::vector<std::uint32_t>& fresh, std::vector<std::int32_t>& ids,
                       std::size_t long_bytes, int n_jobs) {
  make_room(fresh.size());
  for (std::size_t k = 0; k < fresh.size(); ++k) ids[fresh[k]] = static_cast<std::int32_t>(size_ + k);
  std::atomic<std::size_t> spaced{0}, end{arena_.size()};
  arena_.resize(arena_.size() + long_bytes);
  for_parts(fresh.size(), n_jobs, [&](std::size_t from, std::size_t to) {
    spaced += append_some(other, fresh.data() + from, to - from, ids, end);
  });
  size_ += fresh.size();
  spaced_ += spaced;
  deepest_ = std::max(deepest_, other.deepest_);
}

std::vector<std::int32_t> Words::intern_written(const Words& other, int n_jobs, Order order) {
  std::vector<std::uint32_t> all(other.size());
  std::iota(all.begin(), all.end(), 0u);
  if (order == Order::mark) sort_by_mark(other, all, n_jobs);
  std::vector<std::int32_t> ids(other.size());
  for (const std::uint32_t id : all) ids[id] = intern(other.written(id));
  return ids;
}

std::vector<std::int32_t> Words::intern_all(const Words& other, int n_jobs, Order order) {
  if ((deepest_ > 1 || other.deepest_ > 1) && !(composes() && other.composes()))
    return intern_written(other, n_jobs, order);
  std::vector<std::int32_t> ids(other.size(), -1);
  for (std::uint32_t words = 1; words <= other.deepest_; ++words)  // what an n-gram is made of comes first
    for_parts(ids.size(), n_jobs, [&](std::size_t from, std::size_t to) {
      std::vector<std::uint32_t> some;
      some.reserve(to - from);
      for (std::size_t id = from; id < to; ++id)
        if (other.deepest_ == 1 || other.entry(static_cast<std::uint32_t>(id)).words() == words)
          some.push_back(static_cast<std::uint32_t>(id));
      find_some(other, some, ids);
    });
  std::vector<std::uint32_t> fresh;
  fresh.reserve(ids.size());
  std::size_t long_bytes = 0;
  for (std::uint32_t id = 0; id < ids.size(); ++id) {
    if (ids[id] >= 0) continue;
    fresh.push_back(id);
    if (const std::uint32_t size = other.entry(id).size; is_long(size)) long_bytes += size;
  }
  if (order == Order::mark) sort_by_mark(other, fresh, n_jobs);
  append_all(other, fresh, ids, long_bytes, n_jobs);
  return ids;
}

void Words::lower_marks(const Words& other, const std::vector<std::int32_t>& ids) {
  for (std::size_t id = 0; id < ids.size(); ++id) {
    std::uint64_t& mark = entry(static_cast<std::uint32_t>(ids[id])).mark;
    mark = std::min(mark, other.entry(static_cast<std::uint32_t>(id)).mark);
  }
}

}  // namespace naively::text
