// Each worker counts a run of neighbouring chunks into a table of words and a tally of its own; the first one's table is the
// vocabulary itself. Then neighbours are joined, the later one's words appended to the earlier one's: the order of the words is
// that in which one thread would have met them. Counts are whole numbers, the same in any order. Sums of weights are
// rounded, so they are taken within strands of chunks that depend on the documents alone, and then from strand to strand.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

#include "text.hpp"
#include "threads.hpp"
#include "word_counter.hpp"

namespace naively::text {
namespace {

constexpr std::size_t kStrandChunks = 4, kMostStrands = 64;

struct Counting {
  const Documents& documents;
  const std::int32_t* label;
  const double* weight;
  std::size_t n_classes;
  Vocabulary* vocabulary;
  const Options& options;
  const Poll& poll;
  std::vector<std::int32_t> lengths;  // −1: not there

  bool there(std::size_t i) const { return weight_of(i) != 0 && !documents.missing(i); }
  double weight_of(std::size_t i) const { return weight ? weight[i] : 1.0; }

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
};

// One thread's part of the work.
template <class Cell>
class Worker {
 public:
  Worker(Counting& job, std::size_t tokens, bool first)
      : job_(job), first_(first), words_(job.options), hashes_(job.options), tally_(job.n_classes, tokens) {}

  // The documents of a chunk. The table will have the words of so many.
  void count_chunk(std::size_t from, std::size_t to, std::size_t n_chunks) {
    std::unique_lock<std::shared_mutex> lock;
    if (first_ && job_.vocabulary) lock = std::unique_lock(job_.vocabulary->lock);
    const std::size_t had = job_.vocabulary ? table().size() : 0;
    for (std::size_t i = from; i < to; ++i) {
      job_.check(i);
      job_.documents.prefetch(i + 1);
      if (!job_.there(i)) continue;
      if (job_.vocabulary) {
        job_.set_length(i, words_.read(job_.documents, i, table()));
        tally_.reach(table().size());
        add_up(i, words_.begin(), words_.end());
      } else {
        job_.set_length(i, hashes_.count(job_.documents, i));
        add_up(i, hashes_.begin(), hashes_.end());
      }
    }
    if (job_.vocabulary && !started_) table().expect(had + all_of(table().size() - had, n_chunks));
    started_ = true;
  }

  void end_strand() { tally_.end_strand(places_, first_); }

  // Takes over what a worker counted of later documents.
  void join(Worker& later, int n_jobs) {
    std::vector<std::int32_t> ids;
    if (job_.vocabulary) {
      std::unique_lock<std::shared_mutex> lock;
      if (first_) lock = std::unique_lock(job_.vocabulary->lock);
      ids = table().intern_all(later.own_, n_jobs);
      later.own_ = Words();
      tally_.reach(table().size());
    }
    tally_.append(later.tally_, ids, n_jobs);
  }

  Tally<Cell>& tally() { return tally_; }

 private:
  static constexpr std::ptrdiff_t kAhead = 16;  // cells under way at once

  // The different words of so many chunks, judged by the first (Heaps, Information Retrieval, 1978, 7.5).
  static std::size_t all_of(std::size_t words, std::size_t chunks) {
    return static_cast<std::size_t>(static_cast<double>(words) * std::pow(static_cast<double>(chunks), 0.625));
  }

  Words& table() { return first_ ? job_.vocabulary->words : own_; }

  void add_up(std::size_t i, const Distinct::Item* begin, const Distinct::Item* end) {
    const auto c = static_cast<std::size_t>(job_.label[i]);
    const double weight = job_.weight_of(i);
    for (const Distinct::Item* item = begin; item < end; ++item) {
      if (end - item > kAhead) tally_.prefetch(c, item[kAhead].id);
      tally_.add(c, item->id, item->n, weight);
    }
    tally_.settle(c, places_);
  }

  Counting& job_;
  const bool first_;
  bool started_ = false;
  WordCounter words_;
  HashCounter hashes_;
  Words own_;
  Places places_;
  Tally<Cell> tally_;
};

template <class Cell>
class Counter {
 public:
  Counter(Counting job, int n_jobs) : job_(std::move(job)), chunks_(make_chunks(job_.documents)) {
    const std::size_t most = Cell::kExact ? chunks_.size() : n_strands();
    n_workers_ = std::max<std::size_t>(std::min<std::size_t>(static_cast<std::size_t>(std::max(n_jobs, 1)), most), 1);
  }

  Counted run() {
    const std::size_t tokens = job_.documents.total() / 4 / n_workers_;
    for (std::size_t w = 0; w < n_workers_; ++w)
      workers_.push_back(std::make_unique<Worker<Cell>>(job_, tokens, w == 0));
    in_parallel(n_workers_, [&](std::size_t w) { count_part(w); });
    for (std::size_t step = 1; step < n_workers_; step *= 2) {
      const std::size_t pairs = (n_workers_ + step - 1) / (2 * step);
      in_parallel(pairs, [&](std::size_t pair) {
        std::unique_ptr<Worker<Cell>> later = std::move(workers_[2 * pair * step + step]);
        workers_[2 * pair * step]->join(*later, static_cast<int>(n_workers_ / pairs));
      });
    }
    job_.poll();
    const auto n_jobs = static_cast<int>(n_workers_);
    const std::size_t n_tokens = job_.vocabulary ? job_.vocabulary->words.size() : std::size_t{1} << job_.options.hash_bits;
    return {make_table(workers_[0]->tally(), n_tokens, 2, n_jobs), table_of_lengths()};
  }

 private:
  CellTable table_of_lengths() const {
    Tally<Cell> lengths(job_.n_classes, job_.documents.size());
    std::size_t most = 0;
    for (std::size_t i = 0; i < job_.documents.size(); ++i) {
      if (job_.lengths[i] < 0) continue;
      const auto length = static_cast<std::uint32_t>(job_.lengths[i]);
      lengths.add(static_cast<std::size_t>(job_.label[i]), length, 1, job_.weight_of(i));
      most = std::max<std::size_t>(most, length);
    }
    return make_table(lengths, most + 1, 1, 1);
  }

  std::size_t n_strands() const {
    return std::min((chunks_.size() + kStrandChunks - 1) / kStrandChunks, kMostStrands);
  }
  std::size_t strand_start(std::size_t strand) const { return strand * chunks_.size() / n_strands(); }

  template <class Work>
  void in_parallel(std::size_t n, Work&& work) {
    parallel_for(static_cast<std::ptrdiff_t>(n), static_cast<int>(n), [&](std::ptrdiff_t k) { work(static_cast<std::size_t>(k)); });
  }

  void count_part(std::size_t w) {
    if constexpr (Cell::kExact) {
      count_chunks(w, w * chunks_.size() / n_workers_, (w + 1) * chunks_.size() / n_workers_);
    } else {
      for (std::size_t s = w * n_strands() / n_workers_; s < (w + 1) * n_strands() / n_workers_; ++s) {
        count_chunks(w, strand_start(s), strand_start(s + 1));
        workers_[w]->end_strand();
      }
    }
  }

  // Whoever fails stops the others; the thread that called us looks up every few tens of megabytes.
  void count_chunks(std::size_t w, std::size_t from, std::size_t to) {
    try {
      for (std::size_t chunk = from; chunk < to && !stop_; ++chunk) {
        if (chunk % kWaveChunks == 0 && std::this_thread::get_id() == caller_) job_.poll();
        workers_[w]->count_chunk(chunks_.first[chunk], chunks_.first[chunk + 1], w ? to - from : chunks_.size());
      }
    } catch (...) {
      stop_ = true;
      throw;
    }
  }

  Counting job_;
  const Chunks chunks_;
  std::size_t n_workers_ = 1;
  std::vector<std::unique_ptr<Worker<Cell>>> workers_;
  std::atomic<bool> stop_{false};
  const std::thread::id caller_ = std::this_thread::get_id();
};

}  // namespace

Counted count_text(const Documents& documents, const std::int32_t* label, const double* weight, std::size_t n_classes,
                   Vocabulary* vocabulary, const Options& options, int n_jobs, const Poll& poll) {
  Counting job{documents, label, weight, n_classes, vocabulary, options, poll,
               std::vector<std::int32_t>(documents.size(), -1)};
  if (weight) return Counter<WeightedCount>(std::move(job), n_jobs).run();
  return Counter<Count>(std::move(job), n_jobs).run();
}

}  // namespace naively::text
