#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>

#include "support/compiler.hpp"
#include "text/text.hpp"

namespace naively::text {
namespace {

constexpr std::size_t kBatch = 32;          // lookups in flight
constexpr std::size_t kPartialTerms = 512;  // of a partial sum: rounding grows with 512 + n / 512, not with n

// Adds the known rows of the table to `part`; returns their number.
template <std::size_t kClasses>
std::size_t add_rows(const TokenWeights& weights, const std::uint32_t* ids, std::size_t n, double* part) {
  const std::size_t n_classes = kClasses ? kClasses : weights.n_classes;
  double sum[kClasses ? kClasses : 1] = {};
  std::size_t known = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double* row = weights.table + ids[i] * n_classes;
    if (row[0] != row[0]) continue;
    ++known;
    for (std::size_t c = 0; c < n_classes; ++c) (kClasses ? sum : part)[c] += row[c];
  }
  if (kClasses)
    for (std::size_t c = 0; c < kClasses; ++c) part[c] += sum[c];
  return known;
}

class TextScorer : public TokenResolver {
 public:
  TextScorer(const Vocabulary* vocabulary, const Options& options, const TokenWeights& weights)
      : TokenResolver(vocabulary, options, weights.n_tokens),
        weights_(weights),
        part_(weights.n_classes),
        total_(weights.n_classes),
        by_distinct_(weights.binary || !weights.table) {}

  void begin() {
    std::fill(total_.begin(), total_.end(), 0.0);
    common_ = length_ = 0;
    if (by_distinct_) distinct_.begin();
  }

  void known(const std::uint32_t* ids, std::size_t n) final {
    if (by_distinct_)
      distinct_.add(ids, n);
    else
      add_dense(ids, n);
  }

  // Adds the score of the document to out; returns its length.
  double finish(double* out) {
    if (by_distinct_ && weights_.table)
      add_dense_once();
    else if (by_distinct_)
      add_sparse();
    for (std::size_t c = 0; c < weights_.n_classes; ++c)
      out[c] += total_[c] + common_ + length_ * weights_.class_constant[c];
    return length_;
  }

 private:
  void fold() {
    for (std::size_t c = 0; c < part_.size(); ++c) total_[c] += part_[c], part_[c] = 0;
  }

  void add_dense(const std::uint32_t* ids, std::size_t n) {
    const std::size_t row = weights_.n_classes;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t c = 0; c < row; c += 8) support::prefetch(weights_.table + ids[i] * row + c);
    const auto add = row == 2 ? add_rows<2> : row == 3 ? add_rows<3> : row == 4 ? add_rows<4> : add_rows<0>;
    length_ += static_cast<double>(add(weights_, ids, n, part_.data()));
    fold();
  }

  void add_dense_once() {
    std::uint32_t ids[kPartialTerms];
    const auto items = distinct_.items();
    for (std::size_t i = 0; i < items.size(); i += kPartialTerms) {
      const std::size_t n = std::min(kPartialTerms, items.size() - i);
      for (std::size_t k = 0; k < n; ++k) ids[k] = items[i + k].id;
      add_dense(ids, n);
    }
  }

  void add_sparse() {
    std::size_t terms = 0;
    double common_part = 0;
    for (const auto [id, n] : distinct_.items()) {
      const double base = weights_.base[id], x = weights_.binary ? 1.0 : n;
      if (base != base) continue;
      length_ += x;
      common_part += x * base;
      const std::int64_t from = weights_.token_indptr[id], to = weights_.token_indptr[id + 1];
      if (from < 0 || to < from || static_cast<std::size_t>(to) > weights_.n_values)
        throw std::invalid_argument("token_indptr falls, or passes the end, at token " + std::to_string(id));
      for (std::int64_t k = from; k < to; ++k) {
        const auto c = static_cast<std::size_t>(weights_.token_class[k]);
        if (c >= part_.size())
          throw std::invalid_argument("token_class holds the class " + std::to_string(weights_.token_class[k]) +
                                      " of token " + std::to_string(id) + ": classes must be from 0 to " +
                                      std::to_string(part_.size()) + " - 1");
        part_[c] += x * weights_.token_value[k];
      }
      if (++terms % kPartialTerms == 0) fold(), common_ += common_part, common_part = 0;
    }
    fold();
    common_ += common_part;
  }

  const TokenWeights& weights_;
  std::vector<double> part_, total_;
  const bool by_distinct_;  // distinct tokens are added after the document is read
  double common_ = 0, length_ = 0;
  DistinctTokens distinct_;
};

class RowCollector : public TokenResolver {
 public:
  RowCollector(const Vocabulary* vocabulary, const Options& options) : TokenResolver(vocabulary, options, SIZE_MAX) {}
  void known(const std::uint32_t* ids, std::size_t n) final { distinct.add(ids, n); }
  DistinctTokens distinct;
};

// Mixes in the length, which the hash of a short key does not depend on. 0 means a missing text.
std::uint64_t mix_length(std::uint64_t hash, std::size_t size) {
  const std::uint64_t mixed = fold_product(hash ^ size, 0x9E3779B97F4A7C15);  // 2^64 / the golden ratio
  return mixed ? mixed : 1;
}

std::uint64_t hash_short(std::string_view text) {
  alignas(16) std::uint8_t padded[kShortBytes] = {};
  if (!text.empty()) std::memcpy(padded, text.data(), text.size());
  return make_key(padded, static_cast<std::uint32_t>(text.size()), kFeatureSeeds).hash;
}

// Hashes four long texts at a time: of one alone, each product waits for the one before it.
class TextHasher {
 public:
  TextHasher(const Documents& documents, std::size_t begin, std::size_t end, std::uint64_t* hashes)
      : documents_(documents), next_(begin), end_(end), hashes_(hashes) {}

  void run() {
    std::size_t n = 0;
    while (n < kTogether && start(texts_[n])) ++n;
    while (n == kTogether) {
      step_together();
      for (std::size_t k = 0; k < n;) {
        if (texts_[k].steps > 0 || (finish(texts_[k]), start(texts_[k])))
          ++k;
        else
          texts_[k] = texts_[--n];
      }
    }
    for (std::size_t k = 0; k < n; ++k) finish(texts_[k]);
  }

 private:
  static constexpr std::size_t kTogether = 4;
  struct LongText {
    LongHash hash;
    std::size_t steps, document;
  };

  // Starts the next long text; hashes the short ones before it. Returns false if there is none.
  bool start(LongText& to) {
    for (; next_ < end_; ++next_) {
      if (documents_.missing(next_)) continue;
      const std::string_view text = documents_.text(next_);
      if (text.size() > kShortBytes) {
        const LongHash hash(reinterpret_cast<const std::uint8_t*>(text.data()), text.size(), kFeatureSeeds);
        to = {hash, hash.steps(), next_++};
        documents_.prefetch(next_);
        return true;
      }
      hashes_[next_] = mix_length(hash_short(text), text.size());
    }
    return false;
  }

  void step_together() {
    const std::size_t steps = std::min({texts_[0].steps, texts_[1].steps, texts_[2].steps, texts_[3].steps});
    LongHash a = texts_[0].hash, b = texts_[1].hash, c = texts_[2].hash, d = texts_[3].hash;
    for (std::size_t i = 0; i < steps; ++i)
      a.step(kFeatureSeeds), b.step(kFeatureSeeds), c.step(kFeatureSeeds), d.step(kFeatureSeeds);
    texts_[0].hash = a, texts_[1].hash = b, texts_[2].hash = c, texts_[3].hash = d;
    for (LongText& text : texts_) text.steps -= steps;
  }

  void finish(LongText& text) {
    for (; text.steps > 0; --text.steps) text.hash.step(kFeatureSeeds);
    hashes_[text.document] = mix_length(text.hash.finish(kFeatureSeeds), documents_.text(text.document).size());
  }

  const Documents& documents_;
  std::size_t next_, end_;
  std::uint64_t* hashes_;
  LongText texts_[kTogether];
};

}  // namespace

Chunks make_chunks(const Documents& documents, const std::int64_t* order, std::size_t bytes) {
  Chunks chunks{{0}};
  std::size_t sum = 0;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    sum +=
        documents.work(order ? static_cast<std::size_t>(order[i]) : i) + 64;  // an empty document costs something, too
    if (sum >= bytes || i + 1 == documents.size()) chunks.first.push_back(i + 1), sum = 0;
  }
  return chunks;
}

void DistinctTokens::begin() {
  n_items_ = 0;
  if (++epoch_ == 0) std::fill(slots_.begin(), slots_.end(), Slot{}), epoch_ = 1;
}

void DistinctTokens::grow() {
  items_.resize(2 * items_.size());
  slots_.assign(kSlotsPerItem * items_.size(), Slot{});
  epoch_ = 1;
  const std::size_t mask = slots_.size() - 1;
  for (std::uint32_t k = 0; k < n_items_; ++k) {
    std::size_t i = first_slot(items_[k].id) & mask;
    while (slots_[i].epoch) i = (i + 1) & mask;
    slots_[i] = {1, items_[k].id, k};
  }
}

void TokenResolver::take_ngrams(const std::uint8_t* text, const std::uint32_t* bounds, std::size_t n) {
  static_assert(NgramLookup::kBatch * kMaxWords <= kPartialTerms);
  std::uint32_t ids[kPartialTerms];
  for (std::size_t i = 0; i < n; i += NgramLookup::kBatch) {
    const std::size_t size = std::min(NgramLookup::kBatch, n - i);
    lookup_.find(*words_, text, bounds + 2 * i, size, longest_, before_);
    std::size_t n_known = 0;
    for (std::size_t k = 0; k < size; ++k)
      for (std::uint32_t l = 0; l < longest_; ++l)
        if (const Entry* entry = lookup_.entry(l, k); entry && entry->id < limit_) ids[n_known++] = entry->id;
    for (std::uint32_t l = 0; l < longest_; ++l)
      before_.id[l] = lookup_.entry(l, size - 1) ? lookup_.entry(l, size - 1)->id : LastNgrams::kNone;
    if (n_known) known(ids, n_known);
  }
}

// A feature hash is the number of a token, or is looked up among those that have one.
void TokenResolver::take_hashes(const std::uint8_t* text, const std::uint32_t* bounds, std::size_t n) {
  std::uint32_t ids[kBatch];
  for (std::size_t i = 0; i < n; i += kBatch) {
    const std::size_t size = std::min(kBatch, n - i);
    for (std::size_t k = 0; k < size; ++k) {
      const std::uint32_t start = bounds[2 * (i + k)], bytes = bounds[2 * (i + k) + 1] - start;
      ids[k] = feature_hash(make_key(text + start, bytes, kFeatureSeeds), bits_);
      if (hashes_) hashes_->prefetch(ids[k]);
    }
    if (hashes_) {
      for (std::size_t k = 0; k < size; ++k) hashes_->prefetch_bucket(ids[k]);
      for (std::size_t k = 0; k < size; ++k) ids[k] = hashes_->find(ids[k]);
    }
    const auto is_unknown = [&](std::uint32_t id) { return id >= limit_ || (hashes_ && id == HashIndex::kNone); };
    const auto n_known = static_cast<std::size_t>(std::remove_if(ids, ids + size, is_unknown) - ids);
    if (n_known) known(ids, n_known);
  }
}

void TokenResolver::take(const std::uint8_t* text, const std::uint32_t* bounds, std::size_t n) {
  if (composing_) return take_ngrams(text, bounds, n);
  if (!words_) return take_hashes(text, bounds, n);
  std::uint32_t ids[kPartialTerms];
  std::size_t n_known = 0;
  Key keys[kBatch];
  Entry* guessed[kBatch];
  for (std::size_t i = 0; i < n; i += kBatch) {
    const std::size_t size = std::min(kBatch, n - i);
    for (std::size_t k = 0; k < size; ++k) {
      const std::uint32_t start = bounds[2 * (i + k)], size = bounds[2 * (i + k) + 1] - start;
      keys[k] = words_->key(text + start, size);
      words_->prefetch(keys[k]);
    }
    for (std::size_t k = 0; k < size; ++k) guessed[k] = words_->guess(keys[k]);
    for (std::size_t k = 0; k < size; ++k) words_->prefetch_long(guessed[k], keys[k]);
    for (std::size_t k = 0; k < size; ++k) {
      const Entry* entry = words_->find(keys[k], text + bounds[2 * (i + k)], guessed[k]);
      if (!entry) continue;
      ids[n_known] = entry->id;
      n_known += entry->id < limit_;
    }
    if (n_known + kBatch > kPartialTerms || i + size == n) {
      if (n_known) known(ids, n_known);
      n_known = 0;
    }
  }
}

void score_text(const Documents& documents, const Vocabulary* vocabulary, const Options& options,
                const TokenWeights& weights, double* out, double* length, int n_threads, const Poll& poll) {
  const Chunks chunks = make_chunks(documents);
  for_chunks(chunks, vocabulary, n_threads, poll, [&](std::size_t chunk) {
    TextScorer scorer(vocabulary, options, weights);
    for (std::size_t i = chunks.first[chunk]; i < chunks.first[chunk + 1]; ++i) {
      if (documents.missing(i)) continue;
      scorer.begin();
      scorer.read(documents, i);
      const double known = scorer.finish(out + i * weights.n_classes);
      if (length) length[i] += known;
    }
  });
}

TokenRows token_rows(const Documents& documents, const Vocabulary* vocabulary, const Options& options, bool ordered,
                     int n_threads, const Poll& poll) {
  const Chunks chunks = make_chunks(documents);
  std::vector<std::vector<DistinctTokens::Item>> items_of(chunks.size());
  TokenRows rows;
  rows.indptr.assign(documents.size() + 1, 0);
  for_chunks(chunks, vocabulary, n_threads, poll, [&](std::size_t chunk) {
    RowCollector collector(vocabulary, options);
    for (std::size_t i = chunks.first[chunk]; i < chunks.first[chunk + 1]; ++i) {
      if (documents.missing(i)) continue;
      collector.distinct.begin();
      collector.read(documents, i);
      const auto items = collector.distinct.items();
      if (ordered) std::sort(items.begin(), items.end(), [](auto& a, auto& b) { return a.id < b.id; });
      rows.indptr[i + 1] = static_cast<std::int64_t>(items.size());
      items_of[chunk].insert(items_of[chunk].end(), items.begin(), items.end());
    }
  });
  for (std::size_t i = 0; i < documents.size(); ++i) rows.indptr[i + 1] += rows.indptr[i];
  rows.index.reserve(static_cast<std::size_t>(rows.indptr.back()));
  rows.count.reserve(static_cast<std::size_t>(rows.indptr.back()));
  for (auto& items : items_of) {
    for (const auto [id, n] : items)
      rows.index.push_back(static_cast<std::int32_t>(id)), rows.count.push_back(static_cast<std::int32_t>(n));
    items = {};
  }
  return rows;
}

std::vector<std::uint64_t> hash_texts(const Documents& documents, int n_threads) {
  if (documents.are_tokens()) throw std::invalid_argument("lists of tokens have no text to hash");
  std::vector<std::uint64_t> hashes(documents.size());
  const Chunks chunks = make_chunks(documents);
  support::parallel_for(static_cast<std::ptrdiff_t>(chunks.size()), n_threads, [&](std::ptrdiff_t k) {
    const auto chunk = static_cast<std::size_t>(k);
    TextHasher(documents, chunks.first[chunk], chunks.first[chunk + 1], hashes.data()).run();
  });
  return hashes;
}

}  // namespace naively::text
