// Each worker counts a run of neighbouring chunks into a table of words and a tally of its own; the first one's table is the
// vocabulary itself. Then neighbours are joined, the later one's words appended to the earlier one's: the order of the words is
// that in which one thread would have met them. Counts are whole numbers, the same in any order. Sums of weights are
// rounded, so they are taken within strands of chunks that depend on the documents alone, and then from strand to strand.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <iterator>
#include <list>
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

// Threads that share out the documents. Each starts on a run of its own; whoever is through takes over the later half of the
// longest run that is left, with a new worker, so that none waits for one that is slow. A run is cut between units: chunks,
// or strands if there are weights.
template <class Cell>
class Counter {
 public:
  Counter(Counting job, int n_jobs) : job_(std::move(job)), chunks_(make_chunks(job_.documents)) {
    n_units_ = Cell::kExact ? chunks_.size() : std::min((chunks_.size() + kStrandChunks - 1) / kStrandChunks, kMostStrands);
    n_threads_ = std::max<std::size_t>(std::min<std::size_t>(static_cast<std::size_t>(std::max(n_jobs, 1)), n_units_), 1);
    n_tokens_ = job_.documents.total() / 4 / n_threads_;
  }

  Counted run() {
    for (std::size_t t = 0; t < n_threads_; ++t)
      add_run(runs_.end(), t * n_units_ / n_threads_, (t + 1) * n_units_ / n_threads_);
    std::vector<Run*> own;
    for (Run& run : runs_) own.push_back(&run);
    in_parallel(n_threads_, [&](std::size_t t) {
      for (Run* run = own[t]; run; run = take_over()) count(*run);
    });
    join_all();
    job_.poll();
    const std::size_t n_tokens = job_.vocabulary ? job_.vocabulary->words.size() : std::size_t{1} << job_.options.hash_bits;
    return {make_table(runs_.front().worker->tally(), n_tokens, 2, static_cast<int>(n_threads_)), table_of_lengths()};
  }

 private:
  struct Run {
    std::unique_ptr<Worker<Cell>> worker;
    std::size_t next, end;  // the units that nobody has begun
  };
  using Runs = std::list<Run>;  // in the order of the documents; they stay where they are
  static constexpr std::size_t kFewestLeft = Cell::kExact ? 6 : 2;  // units of a run that is worth being cut

  Run* add_run(typename Runs::iterator before, std::size_t from, std::size_t to) {
    return &*runs_.insert(before, {std::make_unique<Worker<Cell>>(job_, n_tokens_, runs_.empty()), from, to});
  }

  Run* take_over() {
    std::lock_guard lock(guard_);
    const auto left = [](const Run& run) { return run.end - run.next; };
    const auto longest = std::max_element(runs_.begin(), runs_.end(), [&](auto& a, auto& b) { return left(a) < left(b); });
    if (stop_ || left(*longest) < kFewestLeft) return nullptr;
    const std::size_t end = longest->end, middle = longest->next + (left(*longest) + 1) / 2;
    longest->end = middle;
    return add_run(std::next(longest), middle, end);
  }

  // Whoever fails stops the others; the thread that called us looks up every few tens of megabytes.
  void count(Run& run) {
    try {
      while (!stop_) {
        std::unique_lock lock(guard_);
        if (run.next == run.end) return;
        const std::size_t n_units = &run == &runs_.front() ? n_units_ : run.end - run.next;  // whose words its table will have
        const std::size_t unit = run.next++;
        lock.unlock();
        for (std::size_t chunk = start_of(unit); chunk < start_of(unit + 1) && !stop_; ++chunk) {
          if (chunk % kWaveChunks == 0 && std::this_thread::get_id() == caller_) job_.poll();
          run.worker->count_chunk(chunks_.first[chunk], chunks_.first[chunk + 1], start_of(n_units));
        }
        if (!Cell::kExact) run.worker->end_strand();
      }
    } catch (...) {
      stop_ = true;
      throw;
    }
  }

  // Neighbours first, then pairs of them, and so on.
  void join_all() {
    std::vector<std::unique_ptr<Worker<Cell>>*> workers;
    for (Run& run : runs_) workers.push_back(&run.worker);
    for (std::size_t step = 1; step < workers.size(); step *= 2) {
      const std::size_t pairs = (workers.size() + step - 1) / (2 * step), n_jobs = std::max<std::size_t>(n_threads_ / pairs, 1);
      in_parallel(pairs, [&](std::size_t pair) {
        const std::unique_ptr<Worker<Cell>> later = std::move(*workers[2 * pair * step + step]);
        (*workers[2 * pair * step])->join(*later, static_cast<int>(n_jobs));
      });
    }
  }

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

  // The first chunk of a unit.
  std::size_t start_of(std::size_t unit) const { return unit * chunks_.size() / n_units_; }

  template <class Work>
  void in_parallel(std::size_t n, Work&& work) {
    parallel_for(static_cast<std::ptrdiff_t>(n), static_cast<int>(std::min(n, n_threads_)),
                 [&](std::ptrdiff_t k) { work(static_cast<std::size_t>(k)); });
  }

  Counting job_;
  const Chunks chunks_;
  std::size_t n_units_ = 0, n_threads_ = 1;
  std::size_t n_tokens_ = 0;  // that a worker may meet, about
  Runs runs_;
  std::mutex guard_;  // of runs_ and what is left of each
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
