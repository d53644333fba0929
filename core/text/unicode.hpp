// Unicode: UTF-8 as Python reads it, and the properties of unicode_table.hpp.
//
// The texts of the table are unpacked once, at the first byte that is not ASCII, into arrays over all code points: 2.2
// MB, of which a language touches a few cache lines. One load then classifies a code point.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace naively::text {

// Kinds of a code point, as bits.
inline constexpr std::uint8_t kWord = 1, kApostrophe = 2, kMoving = 4, kFixed = 8, kReordered = 16, kCased = 32,
                              kDecomposes = 64;
inline constexpr char32_t kReplacement = 0xFFFD;
// The most that folding (replacement, lower case, stripping) lengthens a text; the generator of the table checks it.
inline constexpr std::size_t kGrowth = 3;

class Unicode {
 public:
  static const Unicode& table();

  std::uint8_t kind(char32_t point) const { return kind_[point]; }
  char32_t lower(char32_t point) const { return point + distance_[case_[point]]; }
  // Writes the canonical decomposition without moving marks, at most kMaxPoints points; returns their number.
  static constexpr int kMaxPoints = 4;
  int decompose(char32_t point, char32_t* out) const;
  int combining_class(char32_t point) const;

 private:
  Unicode();
  std::vector<std::uint8_t> kind_, case_;
  std::vector<std::uint32_t> distance_;        // by number of case; unsigned, so that adding a negative one wraps
  std::vector<char32_t> decomposing_, parts_;  // sorted points; kMaxPoints points each, padded with 0
  std::vector<std::pair<char32_t, int>> order_;
};

// Reads one code point of [p, end), p < end, and moves p past it. Bytes that are not UTF-8 give U+FFFD, one per maximal
// subpart, like bytes.decode("utf-8", errors="replace") (Unicode 3.9, table 3-7; W3C "Encoding").
inline char32_t decode(const std::uint8_t*& p, const std::uint8_t* end) {
  const std::uint8_t lead = *p++;
  if (lead < 0x80) return lead;
  if (lead < 0xC2 || lead > 0xF4) return kReplacement;
  const int more = lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
  std::uint8_t low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;   // no overlong forms
  std::uint8_t high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;  // no surrogates, nothing past U+10FFFF
  char32_t point = lead & (0x3F >> more);
  for (int i = 0; i < more; ++i) {
    if (p == end || *p < low || *p > high) return kReplacement;
    point = point << 6 | (*p++ & 0x3F);
    low = 0x80, high = 0xBF;
  }
  return point;
}

// Writes at most 4 bytes and returns the end of them.
inline std::uint8_t* encode(char32_t point, std::uint8_t* out) {
  if (point < 0x80) {
    *out++ = static_cast<std::uint8_t>(point);
  } else if (point < 0x800) {
    *out++ = static_cast<std::uint8_t>(0xC0 | point >> 6);
    *out++ = static_cast<std::uint8_t>(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    *out++ = static_cast<std::uint8_t>(0xE0 | point >> 12);
    *out++ = static_cast<std::uint8_t>(0x80 | (point >> 6 & 0x3F));
    *out++ = static_cast<std::uint8_t>(0x80 | (point & 0x3F));
  } else {
    *out++ = static_cast<std::uint8_t>(0xF0 | point >> 18);
    *out++ = static_cast<std::uint8_t>(0x80 | (point >> 12 & 0x3F));
    *out++ = static_cast<std::uint8_t>(0x80 | (point >> 6 & 0x3F));
    *out++ = static_cast<std::uint8_t>(0x80 | (point & 0x3F));
  }
  return out;
}

}  // namespace naively::text
