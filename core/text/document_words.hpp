// From a document to its distinct tokens and how often each comes, by the numbers of a vocabulary or by feature hashes.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "text/ngrams.hpp"
#include "text/text.hpp"

namespace naively::text {

// Numbers the words of a document by a table and gathers the distinct ones, in order of first appearance.
//
// A word's mark is the stamp of the last document that had it, and its place there. Stamps fall from document to
// document, so the smaller of the mark and what it would be for a new word is the right one: no branch on a coin that
// nobody can foretell.
class WordCounter : public TokenSink {
 public:
  explicit WordCounter(const Options& options)
      : reader_(options), longest_(static_cast<std::uint32_t>(options.longest)) {}

  // Reads a document; returns how many words it has. The stamp is smaller than those of documents that were read
  // before.
  std::size_t read(const Documents& documents, std::size_t i, Words& words, std::uint32_t stamp) {
    words_ = &words;
    base_ = std::uint64_t{stamp} << 32;
    length_ = n_items_ = 0;
    composing_ = reader_.words_alone(documents, &words);
    depth_ = 0, before_ = Ending();
    reader_.read(documents, i, composing_, *this);
    return length_;
  }
  const Distinct::Item* begin() const { return items_.data(); }
  const Distinct::Item* end() const { return items_.data() + n_items_; }

  void take(const std::uint8_t* text, const std::uint32_t* bounds, std::size_t n) final {
    const std::size_t most = n_items_ + n * (composing_ ? longest_ : 1) + 1;
    if (items_.size() < most) items_.resize(std::max(most, 2 * items_.size()));
    for (std::size_t i = 0; i < n; i += kTogether) {
      const std::size_t few = std::min(kTogether, n - i);
      composing_ ? take_ngrams(text, bounds + 2 * i, few) : take_few(text, bounds + 2 * i, few);
    }
  }

 private:
  static constexpr std::size_t kTogether = 64;  // lookups under way at once: about what a core can wait for

  // The first of its kind in the document gets the next place among the items; returns the place after.
  static std::uint64_t count(Entry& entry, Distinct::Item* items, std::uint64_t next) {
    const std::uint64_t mark = std::min(entry.mark, next);
    entry.mark = mark;
    items[static_cast<std::uint32_t>(next)] = {entry.id, 0};
    ++items[static_cast<std::uint32_t>(mark)].n;
    return next + (mark == next);
  }

  // Words, each followed by the n-grams that it ends. Those that are new are numbered in that order.
  void take_ngrams(const std::uint8_t* text, const std::uint32_t* bounds, std::size_t n) {
    Words& words = *words_;
    words.make_room(n * longest_);
    lookup_.find(words, text, bounds, n, longest_, before_);
    Distinct::Item* const items = items_.data();
    std::uint64_t next = base_ + n_items_;
    std::size_t had_before = 0;  // how many words there were before the last one
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t had = words.size();
      Entry* word = lookup_.found(0, i);
      if (!word) word = &words.intern(lookup_.key(i), text + bounds[2 * i]);
      next = count(*word, items, next);
      std::uint32_t shorter = std::exchange(before_.id[0], word->id);
      for (std::uint32_t l = 1; l <= depth_; ++l) {
        Entry* ngram = lookup_.found(l, i);
        if (!ngram) {
          const bool unheard = word->id >= had || (i && shorter >= had_before);
          const bool again = !lookup_.found(0, i) || (i && !lookup_.found(l - 1, i - 1));
          ngram = &intern_ngram(words.key(shorter, word->id, l + 1), unheard, again);
        }
        next = count(*ngram, items, next);
        shorter = std::exchange(before_.id[l], ngram->id);
      }
      had_before = had;
      length_ += depth_ + 1;
      depth_ = std::min(depth_ + 1, longest_ - 1);
    }
    place_all();
    n_items_ = static_cast<std::uint32_t>(next);
  }

  // An n-gram that was not there when its stretch of text was looked up. It is unheard of if one of its two parts got
  // its number where it stands, in this stretch: then its slot, which nobody could prefetch, is filled when the stretch
  // is through, or when such a part comes again.
  Entry& intern_ngram(const Key& key, bool unheard, bool again) {
    if (unheard) {
      Entry& made = words_->append_unplaced(key, nullptr);
      unplaced_.emplace_back(key.hash, made.id);
      return made;
    }
    if (again) place_all();
    return words_->intern(key, nullptr);
  }

  void place_all() {
    for (const auto& [hash, id] : unplaced_) words_->place(hash, id);
    unplaced_.clear();
  }

  void take_few(const std::uint8_t* text, const std::uint32_t* bounds, std::size_t n) {
    Words& words = *words_;
    Key keys[kTogether];
    Entry* guessed[kTogether];
    words.make_room(n);
    length_ += n;
    const Words::Finder finder(words);
    for (std::size_t i = 0; i < n; ++i) {
      keys[i] = finder.key(text + bounds[2 * i], bounds[2 * i + 1] - bounds[2 * i]);
      finder.prefetch(keys[i]);
    }
    for (std::size_t i = 0; i < n; ++i) guessed[i] = finder.guess(keys[i]);
    for (std::size_t i = 0; i < n; ++i) words.prefetch_long(guessed[i], keys[i]);
    Distinct::Item* const items = items_.data();
    std::uint64_t next = base_ + n_items_;
    for (std::size_t i = 0; i < n; ++i)
      next = count(words.intern(keys[i], text + bounds[2 * i], guessed[i]), items, next);
    n_items_ = static_cast<std::uint32_t>(next);
  }

  DocumentReader reader_;
  NgramLookup lookup_;
  Ending before_;
  const std::uint32_t longest_;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> unplaced_;  // hashes and numbers
  std::uint32_t depth_ = 0;  // words before the next one that n-grams can reach back to
  bool composing_ = false;
  Words* words_ = nullptr;
  std::uint64_t base_ = 0;
  std::size_t length_ = 0, n_items_ = 0;
  std::vector<Distinct::Item> items_;
};

// The same without words.
class HashCounter : public Resolver {
 public:
  explicit HashCounter(const Options& options) : Resolver(nullptr, options, std::size_t{1} << options.hash_bits) {}

  std::size_t count(const Documents& documents, std::size_t i) {
    length_ = 0;
    distinct_.begin();
    read(documents, i);
    return length_;
  }
  const Distinct::Item* begin() { return distinct_.items().data(); }
  const Distinct::Item* end() { return begin() + distinct_.items().size(); }

  void known(const std::uint32_t* ids, std::size_t n) final {
    length_ += n;
    distinct_.add(ids, n);
  }

 private:
  Distinct distinct_;
  std::size_t length_ = 0;
};

}  // namespace naively::text
