// Reading documents whose n-grams are pairs (see vocabulary.hpp): the tokeniser gives the words, and the n-grams that
// end with each are looked up by numbers, without their strings.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "text/documents.hpp"
#include "text/tokenise.hpp"
#include "text/vocabulary.hpp"

namespace naively::text {

// Hands a document's tokens to a sink; or its words alone, where the sink can put them together.
class DocumentReader {
 public:
  explicit DocumentReader(const Options& options) : tokeniser_(options) {
    if (options.are_pairs()) single_.emplace(options, true);
  }

  // Whether the sink gets words. Tokens that others have found may have spaces in them, and so may a vocabulary.
  bool words_alone(const Documents& documents, const Words* words) const {
    return single_ && words && words->composes() && !documents.are_tokens();
  }
  void read(const Documents& documents, std::size_t i, bool words_alone, TokenSink& sink) {
    documents.read(i, words_alone ? *single_ : tokeniser_, sink);
  }

 private:
  Tokeniser tokeniser_;
  std::optional<Tokeniser> single_;
};

// The n-grams that end with a word, by their number of words less one.
struct Ending {
  static constexpr std::uint32_t kNone = UINT32_MAX;
  std::uint32_t id[kMostWords];
  Ending() { std::fill_n(id, kMostWords, kNone); }
};

class NgramLookup {
 public:
  static constexpr std::size_t kTogether = 64;  // words whose lookups are under way at once

  // Looks for n words and what ends with each of them; `before` are those of the word before. One length after the
  // other, as an n-gram's key is made of the numbers of shorter ones.
  void find(const Words& words, const std::uint8_t* text, const std::uint32_t* bounds, std::size_t n,
            std::uint32_t longest, const Ending& before) {
    find_words(words, text, bounds, n);
    for (std::uint32_t l = 1; l < longest; ++l) {
      Key pairs[kTogether];
      for (std::size_t i = 0; i < n; ++i) {
        const std::uint32_t first = i == 0                 ? before.id[l - 1]
                                    : found_[l - 1][i - 1] ? found_[l - 1][i - 1]->id
                                                           : Ending::kNone;
        const Entry* last = found_[0][i];
        pairs[i].size = 0;
        if (first == Ending::kNone || !last) continue;
        pairs[i] = words.key(first, last->id, l + 1);
        words.prefetch(pairs[i]);
      }
      for (std::size_t i = 0; i < n; ++i) found_[l][i] = pairs[i].size ? words.guess(pairs[i]) : nullptr;
      for (std::size_t i = 0; i < n; ++i)
        if (found_[l][i]) found_[l][i] = words.find(pairs[i], nullptr, found_[l][i]);
    }
  }

  // The n-gram of l + 1 words that ends with word i; null if it was not there.
  Entry* found(std::uint32_t l, std::size_t i) const { return found_[l][i]; }
  const Key& key(std::size_t i) const { return keys_[i]; }  // of word i

 private:
  void find_words(const Words& words, const std::uint8_t* text, const std::uint32_t* bounds, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      keys_[i] = words.key(text + bounds[2 * i], bounds[2 * i + 1] - bounds[2 * i]);
      words.prefetch(keys_[i]);
    }
    for (std::size_t i = 0; i < n; ++i) found_[0][i] = words.guess(keys_[i]);
    for (std::size_t i = 0; i < n; ++i) words.prefetch_long(found_[0][i], keys_[i]);
    for (std::size_t i = 0; i < n; ++i)
      if (found_[0][i]) found_[0][i] = words.find(keys_[i], text + bounds[2 * i], found_[0][i]);
  }

  Key keys_[kTogether];
  Entry* found_[kMostWords][kTogether];
};

}  // namespace naively::text
