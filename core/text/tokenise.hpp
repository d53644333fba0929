// The tokens of a document: words, characters, or characters inside words, and n-grams of them.
//
// docs/words.md defines them; tests/twins/words.py is that definition as a program. N-grams come in the order of their
// last word (or character), the shortest first; inside words, by length and then by position. Pairs of words in a
// window come in the order of their last word, the nearest first.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "text/scan.hpp"
#include "text/vocabulary.hpp"

namespace naively::text {

enum class Cut { kWords, kChars, kCharsInWords };

struct Options {
  Cut cut = Cut::kWords;
  bool lowercase = true, strip_accents = false;
  int shortest = 1, longest = 1;  // n-grams
  int window = 0;                 // pairs are of words this many words apart, less one; 0: of neighbours
  int hash_bits = 0;              // 0: use a vocabulary
  Words stop_words{};             // folded like the text

  // Whether n-grams can be pairs of a shorter one and a word; see vocabulary.hpp.
  bool are_composed() const {
    return cut == Cut::kWords && !window && shortest == 1 && longest > 1 &&
           static_cast<std::uint32_t>(longest) <= kMaxWords;
  }
};

// Receives tokens: token i is text[bounds[2i], bounds[2i + 1]), valid during the call only, with kPadding readable
// bytes after it.
struct TokenSink {
  virtual void take(const std::uint8_t* text, const std::uint32_t* bounds, std::size_t n) = 0;
  virtual ~TokenSink() = default;
};

// Reuses its buffers; one per thread. Needs memory for the longest word, not for the document.
class Tokeniser {
 public:
  // `single`: words without n-grams, for any options.
  explicit Tokeniser(const Options& options, bool single = false);
  void read(std::string_view document, TokenSink& sink);
  // Reads a document that is a list of words: nothing is folded, n-grams and stop words apply.
  void read(const std::string_view* words, std::size_t n, TokenSink& sink);

 private:
  void pass_on(TokenSink& sink, bool last);
  void add_words(const std::uint8_t* text, const std::uint32_t* bounds, std::size_t n, TokenSink& sink);
  // padded: kPadding bytes can be read from the start of the word on, for any size.
  void add_word(std::string_view word, bool padded, TokenSink& sink);
  void add_ngrams(std::string_view word, bool padded, TokenSink& sink);
  void add_pairs(std::string_view word, bool padded, TokenSink& sink);
  void add_chars_of_word(std::string_view word, TokenSink& sink);
  void add_chars(TokenSink& sink, bool last);
  void make_room_in_line(std::size_t bytes, TokenSink& sink);
  std::size_t append_to_line(std::string_view word, bool padded, TokenSink& sink);
  void emit(std::size_t start, std::size_t end, TokenSink& sink);
  void flush(TokenSink& sink);
  void begin();

  const Options& options_;
  const int longest_;      // words of an n-gram
  const bool are_tokens_;  // the words of the scanner are the tokens
  Scanner scanner_;
  struct Span {
    std::size_t start, size;
  };
  std::vector<std::uint8_t> line_;     // words separated by one space, and the pairs of a window
  std::vector<std::uint32_t> starts_;  // of the words in line_, or of the characters of a segment
  std::vector<Span> in_window_;        // the words in line_ that the next one forms pairs with
  std::size_t line_size_ = 0;
  const std::uint8_t* source_ = nullptr;  // the memory of bounds_
  std::vector<std::uint32_t> bounds_;     // of tokens that are not passed on yet
  std::size_t n_bounds_ = 0;
  std::size_t chars_done_ = 0;  // characters of the text whose n-grams are passed on
};

// Returns the folded form of a text.
std::vector<std::uint8_t> folded(std::string_view text, bool lowercase, bool strip_accents);

}  // namespace naively::text
