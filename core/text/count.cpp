// Workers count pieces of the documents, each into a table of words and a tally of its own, which are joined in the
// end. Words have to be numbered as one thread would have met them. The first worker's table is the vocabulary itself:
// it takes pieces from the front. The others take them from the back, and read backwards, until all meet: so none waits
// for one that is slow, and the mark of a word is left by the first document that has it (see word_counter.hpp), which
// says in what order to append the new ones.
//
// Counts are whole numbers, the same in any order. Sums of weights are rounded, so they are taken within strands of
// chunks that depend on the documents alone, and then from strand to strand: each worker has a run of strands, and
// reads forwards.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

#include "support/threads.hpp"
#include "text/document_words.hpp"
#include "text/text.hpp"

namespace naively::text {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 17, kStrandChunks = 4, kMostStrands = 64;

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
  std::size_t words() const {
    if (!vocabulary) return 0;
    const std::shared_lock lock(vocabulary->lock);
    return vocabulary->words.size();
  }

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
      : job_(job),
        first_(first),
        had_(first ? job.words() : 0),
        words_(job.options),
        hashes_(job.options),
        tally_(job.n_classes, tokens) {}

  void count_chunk(std::size_t from, std::size_t to) {
    std::unique_lock<std::shared_mutex> lock;
    if (first_ && job_.vocabulary) lock = std::unique_lock(job_.vocabulary->lock);
    if (backwards())
      for (std::size_t i = to; i-- > from;) count_document(i, i - 1);
    else
      for (std::size_t i = from; i < to; ++i) count_document(i, i + 1);
  }

  // The table will have the words of so many times as much text as was counted by now. The first one's will have all of
  // them.
  void expect(double times) {
    if (!job_.vocabulary) return;
    std::unique_lock<std::shared_mutex> lock;
    if (first_) lock = std::unique_lock(job_.vocabulary->lock);
    table().expect(had_ + all_of(table().size() - had_, times));
  }

  void end_strand() { tally_.end_strand(places_, first_); }

  // Takes over what a worker counted of later documents.
  void join(Worker& later, int n_jobs) {
    std::vector<std::int32_t> ids;
    if (job_.vocabulary) {
      std::unique_lock<std::shared_mutex> lock;
      if (first_) lock = std::unique_lock(job_.vocabulary->lock);
      ids = table().intern_all(later.own_, n_jobs,
                               first_ && later.backwards() ? Words::Order::mark : Words::Order::number);
      if (backwards()) own_.lower_marks(later.own_, ids);
      later.own_ = Words();
    }
    tally_.append(later.tally_, ids, n_jobs);
  }

  Tally<Cell>& tally() { return tally_; }

 private:
  static constexpr std::ptrdiff_t kAhead = 16;  // cells under way at once

  bool backwards() const { return Cell::kExact && !first_; }

  void count_document(std::size_t i, std::size_t next) {
    job_.check(i);
    job_.documents.prefetch(next);
    if (!job_.there(i)) return;
    if (job_.vocabulary) {
      const std::uint32_t stamp = backwards() ? static_cast<std::uint32_t>(i) : table().next_stamp();
      job_.set_length(i, words_.read(job_.documents, i, table(), stamp));
      add_up(i, words_.begin(), words_.end());
    } else {
      job_.set_length(i, hashes_.count(job_.documents, i));
      add_up(i, hashes_.begin(), hashes_.end());
    }
  }

  // The different words of so many times the text that has these (Heaps, Information Retrieval, 1978, 7.5).
  static std::size_t all_of(std::size_t words, double times) {
    return static_cast<std::size_t>(static_cast<double>(words) * std::pow(times, 0.625));
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
  const std::size_t had_;  // words of the table
  WordCounter words_;
  HashCounter hashes_;
  Words own_;
  Places places_;
  Tally<Cell> tally_;
};

// Threads that share out the documents, in units: pieces, or strands of chunks if there are weights.
template <class Cell>
class Counter {
 public:
  Counter(Counting job, int n_jobs) : job_(std::move(job)), chunks_(make_chunks(job_.documents, nullptr, kBytes)) {
    n_units_ = back_ =
        Cell::kExact ? chunks_.size() : std::min((chunks_.size() + kStrandChunks - 1) / kStrandChunks, kMostStrands);
    const bool stamped = job_.documents.size() < UINT32_MAX;  // their numbers can be stamps
    const std::size_t most = stamped ? n_units_ / (Cell::kExact ? kFewest : 1) : 1;
    n_threads_ =
        std::clamp<std::size_t>(static_cast<std::size_t>(std::max(n_jobs, 1)), 1, std::max<std::size_t>(most, 1));
  }

  Counted run() {
    const std::size_t n_tokens = job_.documents.total() / 4 / n_threads_;  // that a worker may meet, about
    for (std::size_t t = 0; t < n_threads_; ++t)
      workers_.push_back(std::make_unique<Worker<Cell>>(job_, n_tokens, t == 0));
    in_parallel(n_threads_, [&](std::size_t t) { count(t); });
    if (Cell::kExact) join_from(1);  // what they have is mixed
    join_from(0);
    job_.poll();
    const std::size_t n_words = job_.vocabulary ? job_.words() : std::size_t{1} << job_.options.hash_bits;
    return {make_table(workers_.front()->tally(), n_words, 2, static_cast<int>(n_threads_)), table_of_lengths()};
  }

 private:
  static constexpr std::size_t kBytes = Cell::kExact ? kPieceBytes : kChunkBytes,
                               kWave = kWaveChunks * kChunkBytes / kBytes;
  static constexpr std::size_t kFewest = kChunkBytes / kPieceBytes;  // pieces that are worth a thread
  static constexpr std::size_t kLook = Cell::kExact ? kFewest : 1;  // units by which the words to come are judged first

  // The next unit of a thread that has counted so many, or n_units_.
  std::size_t take(std::size_t t, std::size_t done) {
    if (stop_) return n_units_;
    if (!Cell::kExact) {
      const std::size_t next = t * n_units_ / n_threads_ + done;
      return next < (t + 1) * n_units_ / n_threads_ ? next : n_units_;
    }
    std::lock_guard lock(guard_);
    return front_ == back_ ? n_units_ : t == 0 ? front_++ : --back_;
  }

  // Whoever fails stops the others; the thread that called us looks up every few tens of megabytes.
  void count(std::size_t t) {
    Worker<Cell>& worker = *workers_[t];
    const bool calling = std::this_thread::get_id() == caller_;
    std::size_t n_chunks = 0, look = kLook;
    try {
      for (std::size_t done = 0, unit; (unit = take(t, done)) < n_units_;) {
        for (std::size_t chunk = start_of(unit); chunk < start_of(unit + 1) && !stop_; ++chunk) {
          if (calling && ++n_chunks % kWave == 0) job_.poll();
          worker.count_chunk(chunks_.first[chunk], chunks_.first[chunk + 1]);
        }
        if (!Cell::kExact) worker.end_strand();
        if (++done == look) {
          worker.expect(static_cast<double>(n_units_) / static_cast<double>(look * (t ? n_threads_ : 1)));
          look *= 4;
        }
      }
    } catch (...) {
      stop_ = true;
      throw;
    }
  }

  // This worker takes over what those behind it have: neighbours first, then pairs of them, and so on.
  void join_from(std::size_t first) {
    const std::size_t n = workers_.size();
    for (std::size_t step = 1; first + step < n; step *= 2) {
      const std::size_t pairs = (n - first + step - 1) / (2 * step),
                        n_jobs = std::max<std::size_t>(n_threads_ / pairs, 1);
      in_parallel(pairs, [&](std::size_t pair) {
        const std::size_t at = first + 2 * pair * step;
        const std::unique_ptr<Worker<Cell>> later = std::move(workers_[at + step]);
        workers_[at]->join(*later, static_cast<int>(n_jobs));
      });
    }
    workers_.resize(std::min(n, first + 1));
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
    support::parallel_for(static_cast<std::ptrdiff_t>(n), static_cast<int>(std::min(n, n_threads_)),
                          [&](std::ptrdiff_t k) { work(static_cast<std::size_t>(k)); });
  }

  Counting job_;
  const Chunks chunks_;
  std::size_t n_units_ = 0, n_threads_ = 1;
  std::vector<std::unique_ptr<Worker<Cell>>> workers_;
  std::mutex guard_;
  std::size_t front_ = 0, back_ = 0;  // the units between them are left
  std::atomic<bool> stop_{false};
  const std::thread::id caller_ = std::this_thread::get_id();
};

}  // namespace

Counted count_text(const Documents& documents, const std::int32_t* label, const double* weight, std::size_t n_classes,
                   Vocabulary* vocabulary, const Options& options, int n_jobs, const Poll& poll) {
  Counting job{documents,  label,   weight, n_classes,
               vocabulary, options, poll,   std::vector<std::int32_t>(documents.size(), -1)};
  if (weight) return Counter<WeightedCount>(std::move(job), n_jobs).run();
  return Counter<Count>(std::move(job), n_jobs).run();
}

}  // namespace naively::text
