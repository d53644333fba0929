// Counting and scoring documents. Work is cut into chunks of whole documents, by their sizes alone; threads take
// chunks; what they find is put together in the order of the chunks. So nothing depends on the number of threads.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "text/documents.hpp"
#include "text/ngrams.hpp"
#include "text/tally_to_cells.hpp"
#include "text/tokenise.hpp"
#include "text/vocabulary.hpp"

namespace naively::text {

// Called from the calling thread every few tens of megabytes; throws to stop the work.
using Poll = std::function<void()>;

// Documents [first[k], first[k + 1]) are chunk k. A wave is a run of chunks between two polls.
struct Chunks {
  std::vector<std::size_t> first;
  std::size_t size() const { return first.size() - 1; }
};
inline constexpr std::size_t kChunkBytes = std::size_t{1} << 19, kWaveChunks = 48;
// Documents [first[k], first[k + 1]) of `order`, if there is one; so many bytes at least, but for the last.
Chunks make_chunks(const Documents& documents, const std::int64_t* order = nullptr, std::size_t bytes = kChunkBytes);

// The number of a token by feature hashing.
inline std::uint32_t feature_hash(const Key& key, int bits) {
  return static_cast<std::uint32_t>(key.hash >> (64 - bits));
}

// Distinct numbers of a document and how often each came, in order of first appearance.
class Distinct {
 public:
  struct Item {
    std::uint32_t id, n;
  };
  void begin();
  // Whether a number is new is as good as a coin: it is counted the same way, without a branch on it.
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
      const bool fresh = slots[at].epoch != epoch;
      const std::uint32_t place = fresh ? next : slots[at].place;
      slots[at] = {epoch, id, place};
      items[place] = {id, fresh ? 1 : items[place].n + 1};
      next += fresh;
    }
    n_items_ = next;
  }
  std::span<Item> items() { return {items_.data(), n_items_}; }

 private:
  struct Slot {
    std::uint32_t epoch, id, place;
  };
  static constexpr std::size_t kRoom = 4;  // slots for each item: the first is nearly always right
  static std::size_t first_slot(std::uint32_t id) { return id * 0x9E3779B97F4A7C15 >> 32; }
  void grow();
  std::vector<Slot> slots_ = std::vector<Slot>(kRoom * 64);
  std::vector<Item> items_ = std::vector<Item>(64);
  std::uint32_t epoch_ = 0, n_items_ = 0;
};

// Looks tokens up and gathers the numbers of the known ones.
class Resolver : public TokenSink {
 public:
  Resolver(const Words* words, const Options& options, std::size_t limit)
      : reader_(options),
        words_(words),
        bits_(options.hash_bits),
        longest_(static_cast<std::uint32_t>(options.longest)),
        limit_(limit) {}
  void read(const Documents& documents, std::size_t i) {
    composing_ = reader_.words_alone(documents, words_);
    before_ = Ending();
    reader_.read(documents, i, composing_, *this);
  }
  void take(const std::uint8_t* text, const std::uint32_t* bounds, std::size_t n) final;
  // Numbers below `limit`, at most a few thousand at a time.
  virtual void known(const std::uint32_t* ids, std::size_t n) = 0;

 private:
  void take_ngrams(const std::uint8_t* text, const std::uint32_t* bounds, std::size_t n);

  DocumentReader reader_;
  NgramLookup lookup_;
  Ending before_;
  bool composing_ = false;
  const Words* words_;
  const int bits_;
  const std::uint32_t longest_;
  const std::size_t limit_;
};

struct Counted {
  CellTable cells, lengths;
};

// Labels are in [0, n_classes) or the document is refused; weights are null, or finite and not negative; a document
// of weight 0 is not there. New words are appended to the vocabulary (null with hash_bits) in the order of the
// documents.
Counted count_text(const Documents& documents, const std::int32_t* label, const double* weight, std::size_t n_classes,
                   Vocabulary* vocabulary, const Options& options, int n_jobs, const Poll& poll);

// What the tokens say of the classes: table[k, c] = base[k] + value of (k, c), which is zero unless listed; token k's
// classes are token_class[token_indptr[k], token_indptr[k + 1]). Or dense: `table`, (n_tokens, n_classes).
// NaN in base[k], or in table[k, 0], says that token k is unknown.
struct Evidence {
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
                const Evidence& evidence, double* out, double* length, int n_jobs, const Poll& poll);

// Known tokens per document, with their counts; ascending if `ordered`, else as they first come in the document.
struct TokenRows {
  std::vector<std::int64_t> indptr;
  std::vector<std::int32_t> index, count;
};
TokenRows token_rows(const Documents& documents, const Vocabulary* vocabulary, const Options& options, bool ordered,
                     int n_jobs, const Poll& poll);

// A hash of each document's bytes, the same on every machine and for any container; 0 for one that is missing.
std::vector<std::uint64_t> hash_texts(const Documents& documents, int n_jobs);

}  // namespace naively::text
