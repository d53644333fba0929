// From a document to its distinct tokens and how often each comes, by the numbers of a vocabulary or by feature hashes.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "text.hpp"

namespace naively::text {

// Numbers the words of a document by a table and gathers the distinct ones, in order of first appearance.
//
// A word's mark is the stamp of the last document that had it, and its place there. Stamps fall, so the smaller of the
// mark and what it would be for a new word is the right one: no branch on a coin that nobody can foretell.
class WordCounter : public TokenSink {
 public:
  explicit WordCounter(const Options& options) : tokeniser_(options) {}

  // Reads a document; returns how many words it has.
  std::size_t read(const Documents& documents, std::size_t i, Words& words) {
    words_ = &words;
    base_ = std::uint64_t{words.next_stamp()} << 32;
    length_ = n_items_ = 0;
    documents.read(i, tokeniser_, *this);
    return length_;
  }
  const Distinct::Item* begin() const { return items_.data(); }
  const Distinct::Item* end() const { return items_.data() + n_items_; }

  void take(const std::uint8_t* text, const std::uint32_t* bounds, std::size_t n) final {
    length_ += n;
    if (items_.size() < n_items_ + n + 1) items_.resize(std::max(n_items_ + n + 1, 2 * items_.size()));
    for (std::size_t i = 0; i < n; i += kTogether) take_few(text, bounds + 2 * i, std::min(kTogether, n - i));
  }

 private:
  static constexpr std::size_t kTogether = 64;  // lookups under way at once: about what a core can wait for

  void take_few(const std::uint8_t* text, const std::uint32_t* bounds, std::size_t n) {
    Words& words = *words_;
    Key keys[kTogether];
    Entry* guessed[kTogether];
    words.make_room(n);
    for (std::size_t i = 0; i < n; ++i) {
      keys[i] = words.key(text + bounds[2 * i], bounds[2 * i + 1] - bounds[2 * i]);
      words.prefetch(keys[i]);
    }
    for (std::size_t i = 0; i < n; ++i) guessed[i] = words.guess(keys[i]);
    for (std::size_t i = 0; i < n; ++i) words.prefetch_long(guessed[i], keys[i]);
    Distinct::Item* const items = items_.data();
    std::uint64_t next = base_ + n_items_;
    for (std::size_t i = 0; i < n; ++i) {
      Entry& entry = words.intern(keys[i], text + bounds[2 * i], guessed[i]);
      const std::uint64_t mark = std::min(entry.mark, next);
      entry.mark = mark;
      items[static_cast<std::uint32_t>(next)] = {entry.id, 0};
      ++items[static_cast<std::uint32_t>(mark)].n;
      next += mark == next;
    }
    n_items_ = static_cast<std::uint32_t>(next);
  }

  Tokeniser tokeniser_;
  Words* words_ = nullptr;
  std::uint64_t base_ = 0;
  std::size_t length_ = 0, n_items_ = 0;
  std::vector<Distinct::Item> items_;
};

// The same without words.
class HashCounter : public Resolver {
 public:
  explicit HashCounter(const Options& options)
      : Resolver(nullptr, options.hash_bits, std::size_t{1} << options.hash_bits), tokeniser_(options) {}

  std::size_t read(const Documents& documents, std::size_t i) {
    length_ = 0;
    distinct_.begin();
    documents.read(i, tokeniser_, *this);
    return length_;
  }
  const Distinct::Item* begin() { return distinct_.items().data(); }
  const Distinct::Item* end() { return begin() + distinct_.items().size(); }

  void known(const std::uint32_t* ids, std::size_t n) final {
    length_ += n;
    for (std::size_t i = 0; i < n; ++i) distinct_.add(ids[i]);
  }

 private:
  Tokeniser tokeniser_;
  Distinct distinct_;
  std::size_t length_ = 0;
};

}  // namespace naively::text
