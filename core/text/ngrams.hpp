// Read documents whose n-grams are pairs (see vocabulary.hpp): the tokeniser yields the words, and the n-grams that end
// with each word are looked up by numbers, without their strings.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "text/documents.hpp"
#include "text/tokenise.hpp"
#include "text/vocabulary.hpp"

namespace naively::text {

// Passes the tokens of a document to a sink, or only its words if the sink can compose n-grams.
class DocumentReader {
 public:
  explicit DocumentReader(const Options& options) : tokeniser_(options) {
    if (options.are_composed()) single_.emplace(options, true);
  }

  // Whether the sink gets only words. Tokens from outside may have spaces in them, and so may a vocabulary.
  bool only_words(const Documents& documents, const Words* words) const {
    return single_ && words && words->all_composed() && !documents.are_tokens();
  }
  void read(const Documents& documents, std::size_t i, bool only_words, TokenSink& sink) {
    documents.read(i, only_words ? *single_ : tokeniser_, sink);
  }

 private:
  Tokeniser tokeniser_;
  std::optional<Tokeniser> single_;
};

// The n-grams that end with a word, by their number of words − 1.
struct LastNgrams {
  static constexpr std::uint32_t kNone = UINT32_MAX;
  std::uint32_t id[kMaxWords];
  LastNgrams() { std::fill_n(id, kMaxWords, kNone); }
};

class NgramLookup {
 public:
  static constexpr std::size_t kBatch = 64;  // words whose lookups are in flight

  // Looks up n words and the n-grams that end with each of them; `before` are those of the word before. One length
  // after the other, as the key of an n-gram consists of the numbers of shorter ones.
  void find(const Words& words, const std::uint8_t* text, const std::uint32_t* bounds, std::size_t n,
            std::uint32_t longest, const LastNgrams& before) {
    find_words(words, text, bounds, n);
    for (std::uint32_t l = 1; l < longest; ++l) {
      Key pairs[kBatch];
      for (std::size_t i = 0; i < n; ++i) {
        const std::uint32_t first = i == 0                   ? before.id[l - 1]
                                    : entries_[l - 1][i - 1] ? entries_[l - 1][i - 1]->id
                                                             : LastNgrams::kNone;
        const Entry* last = entries_[0][i];
        pairs[i].size = 0;
        if (first == LastNgrams::kNone || !last) continue;
        pairs[i] = words.key(first, last->id, l + 1);
        words.prefetch(pairs[i]);
      }
      for (std::size_t i = 0; i < n; ++i) entries_[l][i] = pairs[i].size ? words.guess(pairs[i]) : nullptr;
      for (std::size_t i = 0; i < n; ++i)
        if (entries_[l][i]) entries_[l][i] = words.find(pairs[i], nullptr, entries_[l][i]);
    }
  }

  // The n-gram of l + 1 words that ends with word i; null if it is not in the table.
  Entry* entry(std::uint32_t l, std::size_t i) const { return entries_[l][i]; }
  const Key& key(std::size_t i) const { return keys_[i]; }  // of word i

 private:
  void find_words(const Words& words, const std::uint8_t* text, const std::uint32_t* bounds, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      keys_[i] = words.key(text + bounds[2 * i], bounds[2 * i + 1] - bounds[2 * i]);
      words.prefetch(keys_[i]);
    }
    for (std::size_t i = 0; i < n; ++i) entries_[0][i] = words.guess(keys_[i]);
    for (std::size_t i = 0; i < n; ++i) words.prefetch_long(entries_[0][i], keys_[i]);
    for (std::size_t i = 0; i < n; ++i)
      if (entries_[0][i]) entries_[0][i] = words.find(keys_[i], text + bounds[2 * i], entries_[0][i]);
  }

  Key keys_[kBatch];
  Entry* entries_[kMaxWords][kBatch];
};

}  // namespace naively::text
