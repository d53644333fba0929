// Workers count pieces of the documents, each into its own table of words and tally, which are joined in the end. Words
// must be numbered as one thread would number them. The table of the first worker is the vocabulary itself; it takes
// pieces from the front. The others take pieces from the back and read backwards until all meet, so that none waits for
// a slow one. The mark of a word is that of the first document that has it (see document_words.hpp), which determines
// the order in which new words are appended.
//
// Counts are integers, the same in any order. Sums of weights are rounded, so they are taken within sections of chunks
// that depend on the documents alone, and then from section to section. Each worker has consecutive sections and reads
// forwards.
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

constexpr std::size_t kPieceBytes = std::size_t{1} << 17, kSectionChunks = 4, kMaxSections = 64;
constexpr int kMaxArrayBits = 20;  // of hashes, up to which arrays have an entry for each

struct CountJob {
  const Documents& documents;
  const std::int32_t* label;
  const double* weight;
  std::size_t n_classes;
  Vocabulary* vocabulary;
  const Options& options;
  const Poll& poll;
  std::vector<std::int32_t> lengths;  // −1: not counted

  bool is_counted(std::size_t i) const { return weight_of(i) != 0 && !documents.missing(i); }
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
                              " tokens: split it; the limit is 2,147,483,647");
    lengths[i] = static_cast<std::int32_t>(length);
  }
};

// The part of one thread.
template <class Cell>
class Worker {
 public:
  Worker(CountJob& job, std::size_t tokens, bool first)
      : job_(job),
        first_(first),
        first_size_(first ? job.words() : 0),
        words_(job.options),
        hashes_(job.options),
        combiner_(has_many_hashes()),
        tally_(job.n_classes, has_many_hashes() ? 0 : tokens) {}

  void count_chunk(std::size_t from, std::size_t to) {
    std::unique_lock<std::shared_mutex> lock;
    if (first_ && job_.vocabulary) lock = std::unique_lock(job_.vocabulary->lock);
    if (backwards())
      for (std::size_t i = to; i-- > from;) count_document(i, i - 1);
    else
      for (std::size_t i = from; i < to; ++i) count_document(i, i + 1);
  }

  // Makes room for the words of `times` as much text as was counted so far.
  void expect(double times) {
    if (!job_.vocabulary) return;
    std::unique_lock<std::shared_mutex> lock;
    if (first_) lock = std::unique_lock(job_.vocabulary->lock);
    table().expect(first_size_ + expected_words(table().size() - first_size_, times));
  }

  void end_section() { tally_.end_section(combiner_, first_); }

  // Adds the counts of a worker with later documents.
  void join(Worker& later, int n_threads) {
    std::vector<std::int32_t> ids;
    if (job_.vocabulary) {
      std::unique_lock<std::shared_mutex> lock;
      if (first_) lock = std::unique_lock(job_.vocabulary->lock);
      ids = table().intern_all(later.own_, n_threads,
                               first_ && later.backwards() ? Words::Order::kMark : Words::Order::kNumber);
      if (backwards()) own_.lower_marks(later.own_, ids);
      later.own_ = Words();
    }
    tally_.append(later.tally_, ids, n_threads);
  }

  ClassTally<Cell>& tally() { return tally_; }

 private:
  static constexpr std::ptrdiff_t kPrefetch = 16;  // cells ahead

  bool backwards() const { return Cell::kExact && !first_; }

  // Whether numbers of tokens are spread over so many that no array can have an entry for each.
  bool has_many_hashes() const { return job_.options.hash_bits > kMaxArrayBits; }

  void count_document(std::size_t i, std::size_t next) {
    job_.check(i);
    job_.documents.prefetch(next);
    if (!job_.is_counted(i)) return;
    if (job_.vocabulary) {
      const std::uint32_t stamp = backwards() ? static_cast<std::uint32_t>(i) : table().next_stamp();
      job_.set_length(i, words_.read(job_.documents, i, table(), stamp));
      add_up(i, words_.begin(), words_.end());
    } else {
      job_.set_length(i, hashes_.count(job_.documents, i));
      add_up(i, hashes_.begin(), hashes_.end());
    }
  }

  // Estimates the distinct words of `times` the text that has `words` (Heaps, Information Retrieval, 1978, 7.5).
  static std::size_t expected_words(std::size_t words, double times) {
    return static_cast<std::size_t>(static_cast<double>(words) * std::pow(times, 0.625));
  }

  Words& table() { return first_ ? job_.vocabulary->words : own_; }

  void add_up(std::size_t i, const DistinctTokens::Item* begin, const DistinctTokens::Item* end) {
    const auto c = static_cast<std::size_t>(job_.label[i]);
    const double weight = job_.weight_of(i);
    for (const DistinctTokens::Item* item = begin; item < end; ++item) {
      if (end - item > kPrefetch) tally_.prefetch(c, item[kPrefetch].id);
      tally_.add(c, item->id, item->n, weight);
    }
    tally_.combine_if_grown(c, combiner_);
  }

  CountJob& job_;
  const bool first_;
  const std::size_t first_size_;  // of the table
  DocumentWords words_;
  DocumentHashes hashes_;
  Words own_;
  CellCombiner<Cell> combiner_;
  ClassTally<Cell> tally_;
};

// Threads that share the documents, in units: pieces, or sections of chunks if there are weights.
template <class Cell>
class TextCounter {
 public:
  TextCounter(CountJob job, int n_threads)
      : job_(std::move(job)), chunks_(make_chunks(job_.documents, nullptr, kBytes)) {
    n_units_ = back_ =
        Cell::kExact ? chunks_.size() : std::min((chunks_.size() + kSectionChunks - 1) / kSectionChunks, kMaxSections);
    const bool can_stamp = job_.documents.size() < UINT32_MAX;  // by the indices of documents
    const std::size_t max_threads = can_stamp ? n_units_ / (Cell::kExact ? kUnitsPerThread : 1) : 1;
    n_threads_ = std::clamp<std::size_t>(static_cast<std::size_t>(std::max(n_threads, 1)), 1,
                                         std::max<std::size_t>(max_threads, 1));
  }

  CountedText run() {
    const std::size_t n_tokens = job_.documents.total_work() / 4 / n_threads_;  // of a worker, about
    for (std::size_t t = 0; t < n_threads_; ++t)
      workers_.push_back(std::make_unique<Worker<Cell>>(job_, n_tokens, t == 0));
    in_parallel(n_threads_, [&](std::size_t t) { count(t); });
    if (Cell::kExact) join_from(1);  // their documents are mixed
    join_from(0);
    job_.poll();
    const std::size_t n_words = job_.vocabulary ? job_.words() : std::size_t{1} << job_.options.hash_bits;
    return {make_table(workers_.front()->tally(), n_words, 2, static_cast<int>(n_threads_)), table_of_lengths()};
  }

 private:
  static constexpr std::size_t kBytes = Cell::kExact ? kPieceBytes : kChunkBytes,
                               kWave = kWaveChunks * kChunkBytes / kBytes;
  static constexpr std::size_t kUnitsPerThread = kChunkBytes / kPieceBytes;          // at least
  static constexpr std::size_t kFirstEstimate = Cell::kExact ? kUnitsPerThread : 1;  // units before the first

  // Returns the next unit of a thread that has counted `done` units, or n_units_.
  std::size_t take(std::size_t t, std::size_t done) {
    if (stop_) return n_units_;
    if (!Cell::kExact) {
      const std::size_t next = t * n_units_ / n_threads_ + done;
      return next < (t + 1) * n_units_ / n_threads_ ? next : n_units_;
    }
    std::lock_guard lock(guard_);
    return front_ == back_ ? n_units_ : t == 0 ? front_++ : --back_;
  }

  // A worker that fails stops the others; the calling thread polls every few tens of megabytes.
  void count(std::size_t t) {
    Worker<Cell>& worker = *workers_[t];
    const bool is_caller = std::this_thread::get_id() == caller_;
    std::size_t n_chunks = 0, next_estimate = kFirstEstimate;
    try {
      for (std::size_t done = 0, unit; (unit = take(t, done)) < n_units_;) {
        for (std::size_t chunk = start_of(unit); chunk < start_of(unit + 1) && !stop_; ++chunk) {
          if (is_caller && ++n_chunks % kWave == 0) job_.poll();
          worker.count_chunk(chunks_.first[chunk], chunks_.first[chunk + 1]);
        }
        if (!Cell::kExact) worker.end_section();
        if (++done == next_estimate) {
          worker.expect(static_cast<double>(n_units_) / static_cast<double>(next_estimate * (t ? n_threads_ : 1)));
          next_estimate *= 4;
        }
      }
    } catch (...) {
      stop_ = true;
      throw;
    }
  }

  // Joins the workers from `first` on into that one: neighbours first, then pairs of them, and so on.
  void join_from(std::size_t first) {
    const std::size_t n = workers_.size();
    for (std::size_t step = 1; first + step < n; step *= 2) {
      const std::size_t pairs = (n - first + step - 1) / (2 * step),
                        n_threads = std::max<std::size_t>(n_threads_ / pairs, 1);
      in_parallel(pairs, [&](std::size_t pair) {
        const std::size_t at = first + 2 * pair * step;
        const std::unique_ptr<Worker<Cell>> later = std::move(workers_[at + step]);
        workers_[at]->join(*later, static_cast<int>(n_threads));
      });
    }
    workers_.resize(std::min(n, first + 1));
  }

  CellTable table_of_lengths() const {
    ClassTally<Cell> lengths(job_.n_classes, job_.documents.size());
    std::size_t longest = 0;
    for (std::size_t i = 0; i < job_.documents.size(); ++i) {
      if (job_.lengths[i] < 0) continue;
      const auto length = static_cast<std::uint32_t>(job_.lengths[i]);
      lengths.add(static_cast<std::size_t>(job_.label[i]), length, 1, job_.weight_of(i));
      longest = std::max<std::size_t>(longest, length);
    }
    return make_table(lengths, longest + 1, 1, 1);
  }

  // The first chunk of a unit.
  std::size_t start_of(std::size_t unit) const { return unit * chunks_.size() / n_units_; }

  template <class Work>
  void in_parallel(std::size_t n, Work&& work) {
    support::parallel_for(static_cast<std::ptrdiff_t>(n), static_cast<int>(std::min(n, n_threads_)),
                          [&](std::ptrdiff_t k) { work(static_cast<std::size_t>(k)); });
  }

  CountJob job_;
  const Chunks chunks_;
  std::size_t n_units_ = 0, n_threads_ = 1;
  std::vector<std::unique_ptr<Worker<Cell>>> workers_;
  std::mutex guard_;
  std::size_t front_ = 0, back_ = 0;  // the units between them remain
  std::atomic<bool> stop_{false};
  const std::thread::id caller_ = std::this_thread::get_id();
};

}  // namespace

CountedText count_text(const Documents& documents, const std::int32_t* label, const double* weight,
                       std::size_t n_classes, Vocabulary* vocabulary, const Options& options, int n_threads,
                       const Poll& poll) {
  CountJob job{documents,  label,   weight, n_classes,
               vocabulary, options, poll,   std::vector<std::int32_t>(documents.size(), -1)};
  if (weight) return TextCounter<WeightedWordCount>(std::move(job), n_threads).run();
  return TextCounter<WordCount>(std::move(job), n_threads).run();
}

}  // namespace naively::text
