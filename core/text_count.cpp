#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>

#include "text.hpp"
#include "threads.hpp"

namespace naively::text {
namespace {

constexpr std::size_t kTogether = 32;  // lookups under way at once: about what a core can wait for
constexpr std::size_t kOwnWords = std::size_t{1} << 18;

// What a worker found in a wave: each document's distinct words, one document after the other. One memory for all its
// chunks, kept from wave to wave: growing and giving back a piece per chunk would have all cores wait for each other.
struct Found {
  std::vector<Distinct::Item> items;
  std::vector<std::size_t> ends;  // of the documents
};

// Where a chunk's words are.
struct ChunkWords {
  std::size_t worker = 0, first_item = 0, first_end = 0;
  std::size_t new_from = 0, new_to = 0;  // the words that the worker's own table met here first
};

// Numbers the words of documents by a table, its own or the shared one, and gathers the distinct ones.
class WordCounter : public TokenSink {
 public:
  explicit WordCounter(const Options& options) : tokeniser(options) {}

  void take(const std::uint8_t* text, const std::uint32_t* bounds, std::size_t n) final {
    length += n;
    for (std::size_t i = 0; i < n; i += kTogether) take_few(text, bounds + 2 * i, std::min(kTogether, n - i));
  }

  // A worker's own table is a cache of the shared one: when it is large it starts afresh, for memory's sake.
  void forget_many() {
    if (own.size() < kOwnWords) return;
    own = Words();
    shared_id.clear();
  }

  Tokeniser tokeniser;
  Words own;
  std::vector<std::int32_t> shared_id;  // of the words of `own`
  Words* words = &own;
  std::vector<Distinct::Item>* items = nullptr;
  std::uint32_t stamp = 0;
  std::size_t length = 0;

 private:
  void take_few(const std::uint8_t* text, const std::uint32_t* bounds, std::size_t n) {
    Key keys[kTogether];
    words->make_room(n);
    for (std::size_t i = 0; i < n; ++i) {
      keys[i] = words->key(text + bounds[2 * i], bounds[2 * i + 1] - bounds[2 * i]);
      words->prefetch(keys[i]);
    }
    for (std::size_t i = 0; i < n; ++i) words->prefetch_long(keys[i]);
    for (std::size_t i = 0; i < n; ++i) {
      Slot& slot = words->intern(keys[i], text + bounds[2 * i]);
      if (slot.stamp == stamp) {
        ++(*items)[slot.place].n;
      } else {
        slot.stamp = stamp;
        slot.place = static_cast<std::uint32_t>(items->size());
        items->push_back({static_cast<std::uint32_t>(slot.id()), 1});
      }
    }
  }
};

// The same without words.
class HashCounter : public Resolver {
 public:
  explicit HashCounter(const Options& options)
      : Resolver(nullptr, options.hash_bits, std::size_t{1} << options.hash_bits), tokeniser(options) {}
  void known(const std::uint32_t* ids, std::size_t n) final {
    length += n;
    for (std::size_t i = 0; i < n; ++i) distinct.add(ids[i]);
  }
  Tokeniser tokeniser;
  Distinct distinct;
  std::size_t length = 0;
};

struct Worker {
  explicit Worker(const Options& options) : words(options), hashes(options) {}
  WordCounter words;
  HashCounter hashes;
  Places places;
  Found found;
};

struct Counting {
  const Documents& documents;
  const std::int32_t* label;
  const double* weight;
  std::size_t n_classes;
  Vocabulary* vocabulary;
  const Options& options;
  std::vector<std::int32_t> lengths;  // −1: not there

  bool there(std::size_t i) const { return (!weight || weight[i] != 0) && !documents.missing(i); }

  void check(std::size_t i) const {
    if (label[i] < 0 || static_cast<std::size_t>(label[i]) >= n_classes)
      throw std::invalid_argument("document " + std::to_string(i) + " has the label " + std::to_string(label[i]) +
                                  ": labels must be from 0 to " + std::to_string(n_classes) + " - 1");
    if (weight && !(weight[i] >= 0 && std::isfinite(weight[i])))
      throw std::invalid_argument("document " + std::to_string(i) + " has the weight " + std::to_string(weight[i]) +
                                  ": weights must be finite and not negative");
  }

  void set_length(std::size_t i, std::size_t length) {
    if (length > INT32_MAX)
      throw std::length_error("document " + std::to_string(i) + " has " + std::to_string(length) +
                              " tokens: cut it up beforehand, 2,147,483,647 is the most");
    lengths[i] = static_cast<std::int32_t>(length);
  }

  void count_words(std::size_t from, std::size_t to, WordCounter& counter, Found& found, ChunkWords& chunk) {
    counter.items = &found.items;
    chunk.new_from = counter.words->size();
    for (std::size_t i = from; i < to; ++i) {
      check(i);
      if (there(i)) {
        counter.length = 0;
        counter.stamp = counter.words->next_stamp();
        documents.read(i, counter.tokeniser, counter);
        set_length(i, counter.length);
      }
      found.ends.push_back(found.items.size());
    }
    chunk.new_to = counter.words->size();
  }

  void count_hashes(std::size_t from, std::size_t to, HashCounter& counter, Found& found) {
    for (std::size_t i = from; i < to; ++i) {
      check(i);
      if (there(i)) {
        counter.length = 0;
        counter.distinct.begin();
        documents.read(i, counter.tokeniser, counter);
        set_length(i, counter.length);
        const auto& items = counter.distinct.items();
        found.items.insert(found.items.end(), items.begin(), items.end());
      }
      found.ends.push_back(found.items.size());
    }
  }
};

// Gives the new words of a wave their shared numbers. Each worker's new words of a chunk are in the order of the text, and a
// word is new to some worker in the chunk where it first comes: so chunk by chunk they get the numbers that one thread gives.
void share_words(const ChunkWords* wave, std::size_t n, std::vector<std::unique_ptr<Worker>>& workers,
                 Vocabulary& vocabulary) {
  std::unique_lock lock(vocabulary.lock);
  for (const ChunkWords* chunk = wave; chunk < wave + n; ++chunk) {
    WordCounter& counter = workers[chunk->worker]->words;
    vocabulary.words.intern_all(counter.own, chunk->new_from, chunk->new_to, counter.shared_id);
  }
}

template <class Cell>
class Counter {
 public:
  Counter(Counting job, int n_jobs) : job_(std::move(job)), tally_(job_.n_classes), chunks_(make_chunks(job_.documents)) {
    const std::size_t n = std::min<std::size_t>(static_cast<std::size_t>(std::max(n_jobs, 1)), chunks_.size());
    for (std::size_t w = 0; w < std::max<std::size_t>(n, 1); ++w) workers_.push_back(std::make_unique<Worker>(job_.options));
  }

  // Several threads count a wave and then add it up; one adds up chunk by chunk, while the chunk is in its cache.
  Counted run(const Poll& poll) {
    const std::size_t step = direct() ? 1 : kWaveChunks;
    for (std::size_t chunk = 0; chunk < chunks_.size(); chunk += step) {
      if (chunk % kWaveChunks == 0) poll();
      run_wave(chunk, std::min(chunk + step, chunks_.size()));
    }
    poll();
    wave_.clear();
    workers_.clear();
    Tally<Cell> lengths(job_.n_classes);
    for (std::size_t i = 0; i < job_.documents.size(); ++i)
      if (job_.lengths[i] >= 0)
        lengths.add(static_cast<std::size_t>(job_.label[i]), static_cast<std::uint32_t>(job_.lengths[i]), 1, weight(i));
    return {make_table(tally_, 2), make_table(lengths, 1)};
  }

 private:
  double weight(std::size_t i) const { return job_.weight ? job_.weight[i] : 1.0; }
  bool direct() const { return workers_.size() == 1; }  // one thread counts in the shared table itself

  void run_wave(std::size_t first, std::size_t last) {
    wave_.resize(std::max(wave_.size(), last - first));
    for (auto& worker : workers_) worker->found.items.clear(), worker->found.ends.clear();
    std::atomic<std::size_t> next{first};
    const auto n_jobs = static_cast<std::ptrdiff_t>(workers_.size());
    parallel_for(n_jobs, static_cast<int>(n_jobs), [&](std::ptrdiff_t w) {
      for (std::size_t chunk; (chunk = next.fetch_add(1)) < last;)
        count_chunk(chunk, static_cast<std::size_t>(w), wave_[chunk - first]);
    });
    const bool shared = job_.vocabulary && !direct();
    if (shared) share_words(wave_.data(), last - first, workers_, *job_.vocabulary);
    parallel_for(n_jobs, static_cast<int>(n_jobs), [&](std::ptrdiff_t w) {
      for (std::size_t chunk = first; chunk < last; ++chunk)
        add_up(chunk, static_cast<std::size_t>(w), wave_[chunk - first]);
    });
    if (shared)
      for (auto& worker : workers_) worker->words.forget_many();
  }

  void count_chunk(std::size_t chunk, std::size_t w, ChunkWords& result) {
    const std::size_t from = chunks_.first[chunk], to = chunks_.first[chunk + 1];
    Worker& worker = *workers_[w];
    Found& found = worker.found;
    result = {w, found.items.size(), found.ends.size()};
    if (!job_.vocabulary) return job_.count_hashes(from, to, worker.hashes, found);
    if (!direct()) return job_.count_words(from, to, worker.words, found, result);
    std::unique_lock lock(job_.vocabulary->lock);
    worker.words.words = &job_.vocabulary->words;
    job_.count_words(from, to, worker.words, found, result);
  }

  // Worker w adds up the classes w, w + n, w + 2n, …, each in the order of the documents.
  void add_up(std::size_t chunk, std::size_t w, const ChunkWords& words) {
    const std::size_t n = workers_.size(), from = chunks_.first[chunk], documents = chunks_.first[chunk + 1] - from;
    const bool mapped = job_.vocabulary && !direct();
    const auto& shared_id = workers_[words.worker]->words.shared_id;
    const Found& found = workers_[words.worker]->found;
    for (std::size_t d = 0; d < documents; ++d) {
      const auto c = static_cast<std::size_t>(job_.label[from + d]);
      if (c % n != w) continue;
      const std::size_t end = found.ends[words.first_end + d];
      for (std::size_t k = d ? found.ends[words.first_end + d - 1] : words.first_item; k < end; ++k) {
        const Distinct::Item item = found.items[k];
        const std::uint32_t id = mapped ? static_cast<std::uint32_t>(shared_id[item.id]) : item.id;
        tally_.add(c, id, item.n, weight(from + d));
      }
      tally_.settle(c, workers_[w]->places);
    }
  }

  Counting job_;
  Tally<Cell> tally_;
  Chunks chunks_;
  std::vector<ChunkWords> wave_;  // kept for its memory
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace

Counted count_text(const Documents& documents, const std::int32_t* label, const double* weight, std::size_t n_classes,
                   Vocabulary* vocabulary, const Options& options, int n_jobs, const Poll& poll) {
  Counting job{documents, label, weight, n_classes, vocabulary, options, std::vector<std::int32_t>(documents.size(), -1)};
  if (weight) return Counter<WeightedCount>(std::move(job), n_jobs).run(poll);
  return Counter<Count>(std::move(job), n_jobs).run(poll);
}

}  // namespace naively::text
