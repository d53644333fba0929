// Folds text (UTF-8 repaired, lower case, accents stripped) and finds where its words start and end.
//
// ASCII goes through a classifier of 64 bytes at a time, whose answer is three masks of 64 bits; every other
// code point is looked up in the table of core/unicode.hpp. The words of the masks are read off by counting zeros,
// so the time follows the words, not the bytes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "unicode.hpp"

namespace naively::text {

inline constexpr std::size_t kBlock = 64;
// Bytes that may be read behind the last byte of a folded text: keys are loaded 16 bytes at a time.
inline constexpr std::size_t kPadding = 16;

// One bit per byte of a block: word characters, apostrophes, bytes that are not ASCII.
struct Block {
  std::uint64_t word, apostrophe, wide;
};

// Classifies 64 bytes and copies them, with `case_bit` (0x20 or 0) added to A–Z.
using Classify = Block (*)(const std::uint8_t* in, std::uint8_t* out, std::uint8_t case_bit);
Classify fastest_classify();

// A text under way. feed() appends whole code points; bounds() holds, in order, the start and end of every word
// so far. When a word is still open its start is the last, odd, bound.
class Scanner {
 public:
  Scanner(bool lowercase, bool strip_accents);

  void begin();
  void feed(const std::uint8_t* p, const std::uint8_t* end);
  void finish();
  // Forgets the text before `from` and all bounds but that of an open word, which must not start before `from`.
  void keep(std::size_t from);

  const std::uint8_t* text() const { return text_.data(); }
  std::size_t size() const { return size_; }
  const std::uint32_t* bounds() const { return bounds_.data(); }
  std::size_t words() const { return n_bounds_ / 2; }
  // Where keep() may start: an open word, or the end.
  std::size_t settled() const { return in_word_ ? bounds_[n_bounds_ - 1] : size_; }

 private:
  void scan_block(const Block& block, unsigned bytes);
  const std::uint8_t* fold_wide(const std::uint8_t* p, const std::uint8_t* end);
  void strip(char32_t point);
  void put(char32_t point);
  void put_in_order();
  void make_room(std::size_t bytes);
  void bound(std::size_t at) { bounds_[n_bounds_++] = static_cast<std::uint32_t>(at); }

  const bool lowercase_, strip_accents_;
  const Classify classify_;
  std::vector<std::uint8_t> text_;
  std::vector<std::uint32_t> bounds_;
  std::size_t size_ = 0, n_bounds_ = 0;
  bool in_word_ = false;
  bool apostrophe_ = false;         // the open word is followed by an apostrophe: its fate is the next character's
  std::size_t word_end_ = 0;        // where that apostrophe stands
  std::vector<std::pair<int, char32_t>> moving_;  // spacing marks that NFD may yet reorder, with their class
};

}  // namespace naively::text
