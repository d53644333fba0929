// Intern all words of one table into another. Threads look them up; then the new ones get their numbers, and threads
// write them.
#include <algorithm>
#include <numeric>

#include "support/compiler.hpp"
#include "support/threads.hpp"
#include "text/radix_sort.hpp"
#include "text/vocabulary.hpp"

namespace naively::text {
namespace {

constexpr std::size_t kPartWords = 8192;  // that a thread takes at a time
constexpr std::size_t kLookups = 32;      // lookups in flight

template <class Work>
void for_parts(std::size_t n, int n_threads, Work&& work) {
  support::parallel_for(static_cast<std::ptrdiff_t>((n + kPartWords - 1) / kPartWords), n_threads,
                        [&](std::ptrdiff_t part) {
                          const std::size_t from = static_cast<std::size_t>(part) * kPartWords;
                          work(from, std::min(from + kPartWords, n));
                        });
}

// A word with the half of its mark that it is sorted by.
struct Marked {
  std::uint32_t id, other_half, number;
};

// Sorts words by their marks: by the lower half, then, stably, by the upper half.
void sort_by_mark(const Words& words, std::vector<std::uint32_t>& numbers) {
  std::vector<Marked> marked(numbers.size()), spare;
  std::uint32_t smallest = UINT32_MAX;
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    const std::uint64_t mark = words.entry(numbers[k]).mark;
    marked[k] = {static_cast<std::uint32_t>(mark), static_cast<std::uint32_t>(mark >> 32), numbers[k]};
    smallest = std::min(smallest, marked[k].other_half);
  }
  sort_by_id(marked.data(), marked.size(), spare);
  for (Marked& word : marked) word.id = word.other_half - smallest;
  sort_by_id(marked.data(), marked.size(), spare);
  for (std::size_t k = 0; k < numbers.size(); ++k) numbers[k] = marked[k].number;
}

}  // namespace

// A word of another table as it is looked up here. A pair whose parts have no numbers here yet is not here.
struct Words::Sought {
  Key key{0, 0, 0, 0};
  const std::uint8_t* start = nullptr;  // of a word that is not a pair
  bool possible = true;
};

Words::Sought Words::seek(const Words& other, std::uint32_t id, const std::vector<std::int32_t>& ids) const {
  const Entry& entry = other.entry(id);
  if (!entry.is_pair()) {
    const std::string_view word = other.word(id);  // a short one is padded with zeros
    const auto* start = reinterpret_cast<const std::uint8_t*>(word.data());
    return {key(start, entry.size), start, true};
  }
  const std::int32_t first = ids[entry.first()], last = ids[entry.last()];
  if (first < 0 || last < 0) return {{0, 0, 0, 0}, nullptr, false};
  return {key(static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(last), entry.words()), nullptr, true};
}

void Words::find_batch(const Words& other, const std::vector<std::uint32_t>& numbers,
                       std::vector<std::int32_t>& ids) const {
  Sought sought[kLookups];
  Entry* guessed[kLookups];
  for (std::size_t i = 0; i < numbers.size(); i += kLookups) {
    const std::size_t size = std::min(kLookups, numbers.size() - i);
    for (std::size_t k = 0; k < size; ++k) {
      sought[k] = seek(other, numbers[i + k], ids);
      prefetch(sought[k].key);
    }
    for (std::size_t k = 0; k < size; ++k) guessed[k] = sought[k].possible ? guess(sought[k].key) : nullptr;
    for (std::size_t k = 0; k < size; ++k)
      if (guessed[k])
        if (const Entry* entry = find(sought[k].key, sought[k].start, guessed[k]))
          ids[numbers[i + k]] = static_cast<std::int32_t>(entry->id);
  }
}

// Writes words that have their numbers already. `end` is that of the long words in the arena, which has room for them.
// Returns the number of words with a space.
std::size_t Words::append_batch(const Words& other, const std::uint32_t* added, std::size_t n,
                                const std::vector<std::int32_t>& ids, std::atomic<std::size_t>& end) {
  Sought sought[kLookups];
  std::size_t spaced = 0;
  for (std::size_t i = 0; i < n; i += kLookups) {
    const std::size_t size = std::min(kLookups, n - i);
    for (std::size_t k = i + size; k < std::min(i + 2 * kLookups, n); ++k) support::prefetch(&other.entry(added[k]));
    std::size_t bytes = 0;
    for (std::size_t k = 0; k < size; ++k) {
      sought[k] = seek(other, added[i + k], ids);
      support::prefetch_to_write(&slots_[sought[k].key.hash >> shift_]);
      if (is_long(sought[k].key.size)) bytes += sought[k].key.size;
    }
    std::size_t start = bytes ? end.fetch_add(bytes) : 0;
    for (std::size_t k = 0; k < size; ++k) {
      const auto& [key, p, possible] = sought[k];
      const auto id = static_cast<std::uint32_t>(ids[added[i + k]]);
      write_entry(id, key, start);
      if (is_long(key.size)) std::copy_n(p, key.size, arena_.data() + start), start += key.size;
      if (p && other.spaced_) spaced += has_space(key, p);
      place_in_parallel(key.hash, id);
    }
  }
  return spaced;
}

void Words::append_all(const Words& other, const std::vector<std::uint32_t>& added, std::vector<std::int32_t>& ids,
                       std::size_t long_bytes, int n_threads) {
  make_room(added.size());
  for (std::size_t k = 0; k < added.size(); ++k) ids[added[k]] = static_cast<std::int32_t>(size_ + k);
  std::atomic<std::size_t> spaced{0}, end{arena_.size()};
  arena_.resize(arena_.size() + long_bytes);
  for_parts(added.size(), n_threads, [&](std::size_t from, std::size_t to) {
    spaced += append_batch(other, added.data() + from, to - from, ids, end);
  });
  size_ += added.size();
  spaced_ += spaced;
  longest_ = std::max(longest_, other.longest_);
}

std::vector<std::int32_t> Words::intern_as_strings(const Words& other, Order order) {
  std::vector<std::uint32_t> all(other.size());
  std::iota(all.begin(), all.end(), 0u);
  if (order == Order::kMark) sort_by_mark(other, all);
  std::vector<std::int32_t> ids(other.size());
  for (const std::uint32_t id : all) ids[id] = intern(other.as_string(id));
  return ids;
}

std::vector<std::int32_t> Words::intern_all(const Words& other, int n_threads, Order order) {
  if ((longest_ > 1 || other.longest_ > 1) && !(all_composed() && other.all_composed()))
    return intern_as_strings(other, order);
  std::vector<std::int32_t> ids(other.size(), -1);
  for (std::uint32_t words = 1; words <= other.longest_; ++words)  // the parts of an n-gram come first
    for_parts(ids.size(), n_threads, [&](std::size_t from, std::size_t to) {
      std::vector<std::uint32_t> numbers;
      numbers.reserve(to - from);
      for (std::size_t id = from; id < to; ++id)
        if (other.longest_ == 1 || other.entry(static_cast<std::uint32_t>(id)).words() == words)
          numbers.push_back(static_cast<std::uint32_t>(id));
      find_batch(other, numbers, ids);
    });
  std::vector<std::uint32_t> added;
  added.reserve(ids.size());
  std::size_t long_bytes = 0;
  for (std::uint32_t id = 0; id < ids.size(); ++id) {
    if (ids[id] >= 0) continue;
    added.push_back(id);
    if (const std::uint32_t size = other.entry(id).size; is_long(size)) long_bytes += size;
  }
  if (order == Order::kMark) sort_by_mark(other, added);
  append_all(other, added, ids, long_bytes, n_threads);
  return ids;
}

void Words::lower_marks(const Words& other, const std::vector<std::int32_t>& ids) {
  for (std::size_t id = 0; id < ids.size(); ++id) {
    std::uint64_t& mark = entry(static_cast<std::uint32_t>(ids[id])).mark;
    mark = std::min(mark, other.entry(static_cast<std::uint32_t>(id)).mark);
  }
}

}  // namespace naively::text
