// Count and score documents. Work is cut into chunks of documents by their sizes alone. Threads take chunks, and their
// results are joined in the order of the chunks. So no result depends on the number of threads.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <vector>

#include "support/threads.hpp"
#include "text/documents.hpp"
#include "text/ngrams.hpp"
#include "text/tally_to_cells.hpp"
#include "text/tokenise.hpp"
#include "text/vocabulary.hpp"

namespace naively::text {

// Called from the calling thread every few tens of megabytes; it throws to stop the work.
using Poll = std::function<void()>;

// Documents [first[k], first[k + 1]) are chunk k. A wave is a run of chunks between two polls.
struct Chunks {
  std::vector<std::size_t> first;
  std::size_t size() const { return first.size() - 1; }
};
inline constexpr std::size_t kChunkBytes = std::size_t{1} << 19, kWaveChunks = 48;
// Cuts documents, in the given order if there is one, into chunks of at least `bytes` bytes, except the last.
Chunks make_chunks(const Documents& documents, const std::int64_t* order = nullptr, std::size_t bytes = kChunkBytes);

// Calls work(chunk) for every chunk; meanwhile the vocabulary is locked for reading.
template <class Work>
void for_chunks(const Chunks& chunks, const Vocabulary* vocabulary, int n_threads, const Poll& poll, Work&& work) {
  for (std::size_t first = 0; first < chunks.size(); first += kWaveChunks) {
    poll();
    const std::size_t n = std::min(kWaveChunks, chunks.size() - first);
    support::parallel_for(static_cast<std::ptrdiff_t>(n), n_threads, [&](std::ptrdiff_t chunk) {
      std::shared_lock<std::shared_mutex> lock;
      if (vocabulary) lock = std::shared_lock(vocabulary->lock);
      work(first + static_cast<std::size_t>(chunk));
    });
  }
}

// The distinct token numbers of a document and their counts, in order of first appearance.
class DistinctTokens {
 public:
  struct Item {
    std::uint32_t id, n;
  };
  void begin();
  // New and repeated numbers are counted in the same way, because a branch would be unpredictable.
  void add(const std::uint32_t* ids, std::size_t n) {
    while (n_items_ + n > items_.size()) grow();
    Slot* const slots = slots_.data();
    Item* const items = items_.data();
    const std::size_t mask = slots_.size() - 1;
    const std::uint32_t epoch = epoch_;
    std::uint32_t next = n_items_;
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint32_t id = ids[i];
      std::size_t at = first_slot(id) & mask;
      while (slots[at].epoch == epoch && slots[at].id != id) at = (at + 1) & mask;
      const bool is_new = slots[at].epoch != epoch;
      const std::uint32_t item = is_new ? next : slots[at].item;
      slots[at] = {epoch, id, item};
      items[item] = {id, is_new ? 1 : items[item].n + 1};
      next += is_new;
    }
    n_items_ = next;
  }
  std::span<Item> items() { return {items_.data(), n_items_}; }

 private:
  struct Slot {
    std::uint32_t epoch, id, item;
  };
  static constexpr std::size_t kSlotsPerItem = 4;  // so that the first slot is nearly always right
  static std::size_t first_slot(std::uint32_t id) { return id * 0x9E3779B97F4A7C15 >> 32; }
  void grow();
  std::vector<Slot> slots_ = std::vector<Slot>(kSlotsPerItem * 64);
  std::vector<Item> items_ = std::vector<Item>(64);
  std::uint32_t epoch_ = 0, n_items_ = 0;
};

// Looks up tokens and passes on the numbers of the known ones. Without a vocabulary, the number is the feature hash.
class TokenResolver : public TokenSink {
 public:
  TokenResolver(const Vocabulary* vocabulary, const Options& options, std::size_t limit)
      : reader_(options),
        words_(vocabulary && !vocabulary->hashes ? &vocabulary->words : nullptr),
        hashes_(vocabulary && vocabulary->hashes ? &*vocabulary->hashes : nullptr),
        bits_(options.hash_bits),
        longest_(static_cast<std::uint32_t>(options.longest)),
        limit_(limit) {}
  void read(const Documents& documents, std::size_t i) {
    composing_ = reader_.only_words(documents, words_);
    before_ = LastNgrams();
    reader_.read(documents, i, composing_, *this);
  }
  void take(const std::uint8_t* text, const std::uint32_t* bounds, std::size_t n) final;
  // Takes numbers below `limit`, at most a few thousand at a time.
  virtual void known(const std::uint32_t* ids, std::size_t n) = 0;

 private:
  void take_ngrams(const std::uint8_t* text, const std::uint32_t* bounds, std::size_t n);
  void take_hashes(const std::uint8_t* text, const std::uint32_t* bounds, std::size_t n);

  DocumentReader reader_;
  NgramLookup lookup_;
  LastNgrams before_;
  bool composing_ = false;
  const Words* words_;
  const HashIndex* hashes_;
  const int bits_;
  const std::uint32_t longest_;
  const std::size_t limit_;
};

struct CountedText {
  CellTable cells, lengths;
};

// Labels must be in [0, n_classes). Weights are null, or finite and not negative; a document of weight 0 is skipped.
// New words are appended to the vocabulary (null with hash_bits: the index of a cell is then the hash) in the order of
// the documents.
CountedText count_text(const Documents& documents, const std::int32_t* label, const double* weight,
                       std::size_t n_classes, Vocabulary* vocabulary, const Options& options, int n_threads,
                       const Poll& poll);

// The weights of tokens: table[k, c] = base[k] + value of (k, c), which is zero unless listed; the classes of token k
// are token_class[token_indptr[k], token_indptr[k + 1]). Or dense: `table`, (n_tokens, n_classes). Token k is unknown
// if base[k] or table[k, 0] is NaN.
struct TokenWeights {
  std::size_t n_tokens, n_classes, n_values;
  const double* table;  // null: sparse
  const double* base;
  const std::int64_t* token_indptr;
  const std::int32_t* token_class;
  const double* token_value;
  const double* class_constant;
  bool binary;
};

// out (documents, n_classes) += Σ_k x_k · table[k, c] + L · class_constant[c], and length (documents,) += L unless it
// is null, L = Σ_k x_k over known tokens.
void score_text(const Documents& documents, const Vocabulary* vocabulary, const Options& options,
                const TokenWeights& weights, double* out, double* length, int n_threads, const Poll& poll);

// The known tokens of each document and their counts; ascending if `ordered`, else in order of first appearance.
struct TokenRows {
  std::vector<std::int64_t> indptr;
  std::vector<std::int32_t> index, count;
};
TokenRows token_rows(const Documents& documents, const Vocabulary* vocabulary, const Options& options, bool ordered,
                     int n_threads, const Poll& poll);

// Returns a hash of the bytes of each document, the same on every machine; 0 if it is missing.
std::vector<std::uint64_t> hash_texts(const Documents& documents, int n_threads);

}  // namespace naively::text
