// The distinct tokens of a document and how often each occurs, by the numbers of a vocabulary or by feature hashes.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "text/ngrams.hpp"
#include "text/text.hpp"

namespace naively::text {

// Numbers the words of a document by a table and collects the distinct ones in order of first appearance.
//
// The mark of a word is the stamp of the last document that has it, and its position there. Stamps decrease from
// document to document, so the smaller of the mark and the mark of a new word is the right one: no unpredictable
// branch.
class DocumentWords : public TokenSink {
 public:
  explicit DocumentWords(const Options& options)
      : reader_(options), longest_(static_cast<std::uint32_t>(options.longest)) {}

  // Reads a document and returns its number of words. The stamp is smaller than those of the documents before.
  std::size_t read(const Documents& documents, std::size_t i, Words& words, std::uint32_t stamp) {
    words_ = &words;
    base_ = std::uint64_t{stamp} << 32;
    length_ = n_items_ = 0;
    composing_ = reader_.only_words(documents, &words);
    depth_ = 0, before_ = LastNgrams();
    reader_.read(documents, i, composing_, *this);
    return length_;
  }
  const DistinctTokens::Item* begin() const { return items_.data(); }
  const DistinctTokens::Item* end() const { return items_.data() + n_items_; }

  void take(const std::uint8_t* text, const std::uint32_t* bounds, std::size_t n) final {
    const std::size_t max_items = n_items_ + n * (composing_ ? longest_ : 1) + 1;
    if (items_.size() < max_items) items_.resize(std::max(max_items, 2 * items_.size()));
    for (std::size_t i = 0; i < n; i += kBatch) {
      const std::size_t size = std::min(kBatch, n - i);
      composing_ ? take_ngrams(text, bounds + 2 * i, size) : take_batch(text, bounds + 2 * i, size);
    }
  }

 private:
  static constexpr std::size_t kBatch = 64;  // lookups in flight: about as many as a core can wait for

  // Counts a word; its first occurrence gets the next item. Returns the item after the last.
  static std::uint64_t count(Entry& entry, DistinctTokens::Item* items, std::uint64_t next) {
    const std::uint64_t mark = std::min(entry.mark, next);
    entry.mark = mark;
    items[static_cast<std::uint32_t>(next)] = {entry.id, 0};
    ++items[static_cast<std::uint32_t>(mark)].n;
    return next + (mark == next);
  }

  // Reads words, each followed by the n-grams that it ends. New ones are numbered in this order.
  void take_ngrams(const std::uint8_t* text, const std::uint32_t* bounds, std::size_t n) {
    Words& words = *words_;
    words.make_room(n * longest_);
    lookup_.find(words, text, bounds, n, longest_, before_);
    DistinctTokens::Item* const items = items_.data();
    std::uint64_t next = base_ + n_items_;
    std::size_t size_before = 0;  // of the table, before the last word
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t size = words.size();
      Entry* word = lookup_.entry(0, i);
      if (!word) word = &words.intern(lookup_.key(i), text + bounds[2 * i]);
      next = count(*word, items, next);
      std::uint32_t shorter = std::exchange(before_.id[0], word->id);
      for (std::uint32_t l = 1; l <= depth_; ++l) {
        Entry* ngram = lookup_.entry(l, i);
        if (!ngram) {
          const bool is_new = word->id >= size || (i && shorter >= size_before);
          const bool may_repeat = !lookup_.entry(0, i) || (i && !lookup_.entry(l - 1, i - 1));
          ngram = &intern_ngram(words.key(shorter, word->id, l + 1), is_new, may_repeat);
        }
        next = count(*ngram, items, next);
        shorter = std::exchange(before_.id[l], ngram->id);
      }
      size_before = size;
      length_ += depth_ + 1;
      depth_ = std::min(depth_ + 1, longest_ - 1);
    }
    place_all();
    n_items_ = static_cast<std::uint32_t>(next);
  }

  // Interns an n-gram that was not found when its batch of words was looked up. It is certainly new if one of its two
  // parts got its number in this batch. Its slot could not be prefetched, so it is filled after the batch, or when such
  // a part occurs again.
  Entry& intern_ngram(const Key& key, bool is_new, bool may_repeat) {
    if (is_new) {
      Entry& made = words_->append_unplaced(key, nullptr);
      unplaced_.emplace_back(key.hash, made.id);
      return made;
    }
    if (may_repeat) place_all();
    return words_->intern(key, nullptr);
  }

  void place_all() {
    for (const auto& [hash, id] : unplaced_) words_->place(hash, id);
    unplaced_.clear();
  }

  void take_batch(const std::uint8_t* text, const std::uint32_t* bounds, std::size_t n) {
    Words& words = *words_;
    Key keys[kBatch];
    Entry* guessed[kBatch];
    words.make_room(n);
    length_ += n;
    const Words::Finder finder(words);
    for (std::size_t i = 0; i < n; ++i) {
      keys[i] = finder.key(text + bounds[2 * i], bounds[2 * i + 1] - bounds[2 * i]);
      finder.prefetch(keys[i]);
    }
    for (std::size_t i = 0; i < n; ++i) guessed[i] = finder.guess(keys[i]);
    for (std::size_t i = 0; i < n; ++i) words.prefetch_long(guessed[i], keys[i]);
    DistinctTokens::Item* const items = items_.data();
    std::uint64_t next = base_ + n_items_;
    for (std::size_t i = 0; i < n; ++i)
      next = count(words.intern(keys[i], text + bounds[2 * i], guessed[i]), items, next);
    n_items_ = static_cast<std::uint32_t>(next);
  }

  DocumentReader reader_;
  NgramLookup lookup_;
  LastNgrams before_;
  const std::uint32_t longest_;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> unplaced_;  // hash and number
  std::uint32_t depth_ = 0;  // words before the next one that its n-grams can include
  bool composing_ = false;
  Words* words_ = nullptr;
  std::uint64_t base_ = 0;
  std::size_t length_ = 0, n_items_ = 0;
  std::vector<DistinctTokens::Item> items_;
};

// Does so for feature hashes.
class DocumentHashes : public TokenResolver {
 public:
  explicit DocumentHashes(const Options& options)
      : TokenResolver(nullptr, options, std::size_t{1} << options.hash_bits) {}

  std::size_t count(const Documents& documents, std::size_t i) {
    length_ = 0;
    distinct_.begin();
    read(documents, i);
    return length_;
  }
  const DistinctTokens::Item* begin() { return distinct_.items().data(); }
  const DistinctTokens::Item* end() { return begin() + distinct_.items().size(); }

  void known(const std::uint32_t* ids, std::size_t n) final {
    length_ += n;
    distinct_.add(ids, n);
  }

 private:
  DistinctTokens distinct_;
  std::size_t length_ = 0;
};

}  // namespace naively::text
