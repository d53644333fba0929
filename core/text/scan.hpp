// Folds text (UTF-8 repaired, lower case, accents stripped) and finds where its words start and end.
//
// ASCII goes through a classifier of 64 bytes at a time, which yields three masks of 64 bits. Every other code point is
// looked up in the table of unicode.hpp. Words are read off the masks by counting zeros, so that the time depends on
// the words, not on the bytes.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "text/unicode.hpp"

namespace naively::text {

inline constexpr std::size_t kBlock = 64;
// Bytes that may be read after the last byte of a folded text: keys are loaded 16 bytes at a time.
inline constexpr std::size_t kPadding = 16;

// One bit per byte of a block: word characters, apostrophes, bytes that are not ASCII.
struct Block {
  std::uint64_t word, apostrophe, wide;
};

// The starts and ends of words, block by block.
struct Edges {
  std::uint32_t* next = nullptr;  // where the next bound goes; room for one per byte and kSpare more
  std::uint32_t size = 0;         // of the text so far
  bool in_word = false;
  bool apostrophe = false;     // follows the open word: the next character decides whether it belongs to it
  std::uint32_t word_end = 0;  // where that apostrophe is

  static constexpr std::size_t kSpare = 8;

  void bound(std::uint32_t at) { *next++ = at; }
  inline void add(const Block& block, unsigned bytes);
  // The bits of the first `bytes` (1 to 64) of a block, all ASCII, that are the first of a word or the first after one.
  inline std::uint64_t edges_of(const Block& block, unsigned bytes);
};

// Classifies one block and copies it, with `case_bit` (0x20 or 0) added to A–Z.
Block classify(const std::uint8_t* in, std::uint8_t* out, std::uint8_t case_bit);
// Does so for up to n_blocks blocks and finds their words, up to the first block that is not all ASCII. Returns the
// number of blocks done.
std::size_t scan_blocks(const std::uint8_t* in, std::size_t n_blocks, std::uint8_t* out, std::uint8_t case_bit,
                        Edges& edges);

// A text that arrives in pieces. feed() appends complete code points; bounds() holds the start and end of every word so
// far, in order. If a word is still open its start is the last, odd, bound.
class Scanner {
 public:
  Scanner(bool lowercase, bool strip_accents);

  void begin();
  void feed(const std::uint8_t* p, const std::uint8_t* end);
  void finish();
  // Drops the text before `from` and all bounds but that of an open word, which must not start before `from`.
  void keep(std::size_t from);

  const std::uint8_t* text() const { return text_.data(); }
  std::size_t size() const { return edges_.size; }
  const std::uint32_t* bounds() const { return bounds_.data(); }
  std::size_t words() const { return n_bounds() / 2; }
  // Where keep() may cut: the start of an open word, or the end.
  std::size_t settled() const { return edges_.in_word ? edges_.next[-1] : edges_.size; }

 private:
  const std::uint8_t* fold_wide(const std::uint8_t* p, const std::uint8_t* end);
  void strip(char32_t point);
  void put(char32_t point);
  void put_in_order();
  void make_room(std::size_t bytes);
  std::size_t n_bounds() const { return static_cast<std::size_t>(edges_.next - bounds_.data()); }

  const bool lowercase_, strip_accents_;
  std::vector<std::uint8_t> text_;
  std::vector<std::uint32_t> bounds_;
  Edges edges_;
  std::vector<std::pair<int, char32_t>> moving_;  // spacing marks that NFD may still reorder, with their class
};

inline std::uint64_t Edges::edges_of(const Block& block, unsigned bytes) {
  const std::uint64_t live = ~std::uint64_t{0} >> (64 - bytes), last = std::uint64_t{1} << (bytes - 1);
  const std::uint64_t word = block.word & live;
  if (apostrophe) {
    apostrophe = false;
    if (!(word & 1)) bound(word_end), in_word = false;
  }
  const std::uint64_t open = in_word, after_word = word << 1 | open;
  const std::uint64_t hanging = block.apostrophe & after_word & last;
  if (hanging) apostrophe = true, word_end = size + bytes - 1;
  const std::uint64_t inside = word | (block.apostrophe & live & after_word & word >> 1) | hanging;
  in_word = inside & last;
  return (inside ^ (inside << 1 | open)) & live;
}

// Writes bounds eight at a time, as their number is unpredictable.
inline void Edges::add(const Block& block, unsigned bytes) {
  std::uint64_t edges = edges_of(block, bytes);
  std::uint32_t* out = next;
  next += std::popcount(edges);
  while (out < next)
    for (unsigned k = 0; k < 8; ++k, edges &= edges - 1)
      *out++ = size + static_cast<std::uint32_t>(std::countr_zero(edges));
  size += bytes;
}

}  // namespace naively::text
