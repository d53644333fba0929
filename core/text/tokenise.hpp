// From a document to its tokens: words, characters, or characters inside words, and runs (n-grams) of them.
//
// docs/words.md defines them; src/naively/kernels/twins/text.py is that definition as a program. N-grams come in the
// order of their last word (or character), the shortest first; inside words, by length and then by place.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "text/scan.hpp"
#include "text/vocabulary.hpp"

namespace naively::text {

enum class Cut { words, chars, chars_in_words };

struct Options {
  Cut cut = Cut::words;
  bool lowercase = true, strip_accents = false;
  int shortest = 1, longest = 1;  // n-grams
  int hash_bits = 0;              // 0: a vocabulary instead
  Words stop_words{};             // folded like the text

  // Whether n-grams can be pairs of a shorter one and a word; see vocabulary.hpp.
  bool are_pairs() const {
    return cut == Cut::words && shortest == 1 && longest > 1 && static_cast<std::uint32_t>(longest) <= kMostWords;
  }
};

// Takes tokens as they are found: token i is text[bounds[2i], bounds[2i + 1]), valid during the call only, with
// kPadding readable bytes behind it.
struct TokenSink {
  virtual void take(const std::uint8_t* text, const std::uint32_t* bounds, std::size_t n) = 0;
  virtual ~TokenSink() = default;
};

// Keeps its buffers from document to document; one per thread. Needs memory for the longest word, not the document.
class Tokeniser {
 public:
  // `single`: words and no n-grams of them, whatever the options say.
  explicit Tokeniser(const Options& options, bool single = false);
  void read(std::string_view document, TokenSink& sink);
  // A document that has already been cut into words: nothing is folded, n-grams and stop words apply.
  void read(const std::string_view* words, std::size_t n, TokenSink& sink);

 private:
  void pass_on(TokenSink& sink, bool last);
  void add_words(const std::uint8_t* text, const std::uint32_t* bounds, std::size_t n, TokenSink& sink);
  // padded: kPadding bytes can be read from the word's start on, however short it is.
  void add_word(std::string_view word, bool padded, TokenSink& sink);
  void add_chars_of_word(std::string_view word, TokenSink& sink);
  void add_chars(TokenSink& sink, bool last);
  std::size_t append_to_line(std::string_view word, bool padded, TokenSink& sink);
  void emit(std::size_t start, std::size_t end, TokenSink& sink);
  void flush(TokenSink& sink);
  void begin();

  const Options& options_;
  const int longest_;    // words of an n-gram
  const bool as_found_;  // the scanner's words are the tokens
  Scanner scanner_;
  std::vector<std::uint8_t> line_;     // words with one space between
  std::vector<std::uint32_t> starts_;  // of the words in line_, or of the characters of a segment
  std::size_t line_size_ = 0;
  const std::uint8_t* source_ = nullptr;  // what bounds_ are relative to
  std::vector<std::uint32_t> bounds_;     // tokens not yet handed on
  std::size_t n_bounds_ = 0;
  std::size_t chars_done_ = 0;  // characters of the scanner's text that have ended their n-grams
};

// The folded form of a text, uncut.
std::vector<std::uint8_t> folded(std::string_view text, bool lowercase, bool strip_accents);

}  // namespace naively::text
