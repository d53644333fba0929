// Unpacks the texts of unicode_table.hpp; tests/twins/text.py reads the same texts.
#include "text/unicode.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "text/unicode_table.hpp"

namespace naively::text {
namespace {

constexpr std::size_t kPoints = 0x110000;
constexpr char32_t kHangul = 0xAC00, kHangulEnd = 0xD7A4;

// Reads one text: hexadecimal numbers and the signs between them.
struct TableReader {
  const char* at;
  bool more() const { return *at != 0; }
  std::uint32_t number() {  // of any sign; a negative one wraps
    char* end;
    const long value = std::strtol(at, &end, 16);
    at = end;
    return static_cast<std::uint32_t>(value);
  }
  bool take(char sign) { return *at == sign ? (++at, true) : false; }
};

struct PointRange {
  char32_t first, last;
};

PointRange read_range(TableReader& text) {
  const char32_t first = text.number();
  return {first, text.take('-') ? text.number() : first};
}

void mark(std::vector<std::uint8_t>& kind, const char* ranges, std::uint8_t bits) {
  for (TableReader text{ranges}; text.more(); text.take(' ')) {
    const auto [first, last] = read_range(text);
    for (char32_t p = first; p <= last; ++p) kind[p] |= bits;
  }
}

}  // namespace

const Unicode& Unicode::table() {
  static const Unicode once;
  return once;
}

Unicode::Unicode() : kind_(kPoints), case_(kPoints), distance_{0} {
  mark(kind_, tables::kWord, kWord);
  mark(kind_, tables::kMoving, kMoving);
  mark(kind_, tables::kFixed, kFixed);
  kind_[0x27] |= kApostrophe;
  kind_[0x2019] |= kApostrophe;
  for (TableReader text{tables::kReordered}; text.more(); text.take(' ')) {
    const auto [first, last] = read_range(text);
    text.take('=');
    const int order = static_cast<int>(text.number());
    for (char32_t p = first; p <= last; ++p) kind_[p] |= kReordered, order_.emplace_back(p, order);
  }
  for (TableReader text{tables::kLower}; text.more(); text.take(' ')) {
    const auto [first, last] = read_range(text);
    const char32_t step = text.take('/') ? text.number() : 1;
    text.take('=');
    const std::uint32_t distance = text.number();
    auto number = std::find(distance_.begin(), distance_.end(), distance) - distance_.begin();
    if (number == static_cast<std::ptrdiff_t>(distance_.size())) distance_.push_back(distance);
    for (char32_t p = first; p <= last; p += step) {
      kind_[p] |= kCased;
      case_[p] = static_cast<std::uint8_t>(number);
    }
  }
  for (TableReader text{tables::kStripped}; text.more(); text.take(' ')) {
    char32_t point = text.number();
    text.take('=');
    do {
      kind_[point] |= kDecomposes;
      decomposing_.push_back(point++);
      const std::size_t base = parts_.size();
      parts_.resize(base + kMaxPoints);
      if (text.take('-')) continue;
      for (std::size_t i = base; i == base || text.take('+'); ++i) parts_[i] = text.number();
    } while (text.take(','));
  }
  for (char32_t p = kHangul; p < kHangulEnd; ++p) kind_[p] |= kDecomposes;
}

int Unicode::decompose(char32_t point, char32_t* out) const {
  if (point >= kHangul && point < kHangulEnd) {  // Unicode 3.12, "Hangul Syllable Decomposition"
    const char32_t s = point - kHangul;
    out[0] = 0x1100 + s / 588;
    out[1] = 0x1161 + s % 588 / 28;
    out[2] = 0x11A7 + s % 28;
    return s % 28 ? 3 : 2;
  }
  const auto index = std::lower_bound(decomposing_.begin(), decomposing_.end(), point) - decomposing_.begin();
  const char32_t* parts = &parts_[static_cast<std::size_t>(index) * kMaxPoints];
  int n = 0;
  for (; n < kMaxPoints && parts[n]; ++n) out[n] = parts[n];
  return n;
}

int Unicode::combining_class(char32_t point) const {
  for (const auto& [p, order] : order_)
    if (p == point) return order;
  return 0;
}

}  // namespace naively::text
