#include "scan.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>

namespace naively::text {

Scanner::Scanner(bool lowercase, bool strip_accents)
    : lowercase_(lowercase), strip_accents_(strip_accents), classify_(fastest_classify()) {}

void Scanner::begin() {
  size_ = n_bounds_ = 0;
  in_word_ = apostrophe_ = false;
  moving_.clear();
}

// Room for `bytes` of input, however they fold, and for one bound per byte and one more for an apostrophe refused.
void Scanner::make_room(std::size_t bytes) {
  const std::size_t most = size_ + kGrowth * bytes + 4 * moving_.size() + kBlock + kPadding;
  if (most > UINT32_MAX)
    throw std::length_error("a document has a single word of nearly 4 GB: cut the document up beforehand");
  if (text_.size() < most) text_.resize(std::max(most, text_.size() + text_.size() / 2));
  const std::size_t bounds = n_bounds_ + bytes + moving_.size() + 4;
  if (bounds_.size() < bounds) bounds_.resize(std::max(bounds, 2 * bounds_.size()));
}

void Scanner::feed(const std::uint8_t* p, const std::uint8_t* end) {
  make_room(static_cast<std::size_t>(end - p));
  const std::uint8_t case_bit = lowercase_ ? 0x20 : 0;
  while (p < end) {
    if (!moving_.empty() && *p < 0x80) put_in_order();
    const std::size_t left = static_cast<std::size_t>(end - p);
    Block block;
    if (left >= kBlock) {
      block = classify_(p, text_.data() + size_, case_bit);
    } else {
      alignas(64) std::uint8_t last[kBlock] = {};
      std::memcpy(last, p, left);
      block = classify_(last, text_.data() + size_, case_bit);
    }
    const unsigned whole = static_cast<unsigned>(std::min(left, kBlock));
    const unsigned ascii = std::min(whole, static_cast<unsigned>(std::countr_zero(block.wide)));
    if (ascii) scan_block(block, ascii);
    p += ascii;
    if (ascii < whole) p = fold_wide(p, end);
  }
}

// The first `bytes` (1 to 64) of a block, all ASCII, already copied to the end of the text.
void Scanner::scan_block(const Block& block, unsigned bytes) {
  const std::uint64_t live = ~std::uint64_t{0} >> (64 - bytes), last = std::uint64_t{1} << (bytes - 1);
  const std::uint64_t word = block.word & live;
  if (apostrophe_) {
    apostrophe_ = false;
    if (!(word & 1)) bound(word_end_), in_word_ = false;
  }
  const std::uint64_t open = in_word_, after_word = word << 1 | open;
  const std::uint64_t hanging = block.apostrophe & after_word & last;
  if (hanging) apostrophe_ = true, word_end_ = size_ + bytes - 1;
  const std::uint64_t inside = word | (block.apostrophe & live & after_word & word >> 1) | hanging;
  std::uint32_t* out = bounds_.data() + n_bounds_;
  std::uint64_t edges = (inside ^ (inside << 1 | open)) & live;
  n_bounds_ += static_cast<std::size_t>(std::popcount(edges));
  for (; edges; edges &= edges - 1)
    *out++ = static_cast<std::uint32_t>(size_) + static_cast<std::uint32_t>(std::countr_zero(edges));
  in_word_ = inside & last;
  size_ += bytes;
}

// From a byte that is not ASCII up to the next that is.
const std::uint8_t* Scanner::fold_wide(const std::uint8_t* p, const std::uint8_t* end) {
  const Unicode& table = Unicode::table();
  do {
    char32_t point = decode(p, end);
    if (lowercase_ && table.kind(point) & kCased) point = table.lower(point);
    if (strip_accents_)
      strip(point);
    else
      put(point);
  } while (p < end && *p >= 0x80);
  return p;
}

// NFD without its nonspacing marks. Moving marks are dropped before the canonical ordering rather than after it: the
// ordering is stable, so those that stay keep their order.
void Scanner::strip(char32_t point) {
  const Unicode& table = Unicode::table();
  char32_t made[Unicode::kMost] = {point};
  const int n = table.kind(point) & kDecomposes ? table.decompose(point, made) : 1;
  for (int i = 0; i < n; ++i) {
    const std::uint8_t kind = table.kind(made[i]);
    if (kind & kReordered) {
      moving_.emplace_back(table.combining_class(made[i]), made[i]);
    } else if (!(kind & kMoving)) {
      put_in_order();
      if (!(kind & kFixed)) put(made[i]);
    }
  }
}

void Scanner::put_in_order() {
  if (moving_.empty()) return;
  std::stable_sort(moving_.begin(), moving_.end(), [](auto& a, auto& b) { return a.first < b.first; });
  for (const auto& [order, point] : moving_) put(point);
  moving_.clear();
}

void Scanner::put(char32_t point) {
  const std::size_t start = size_;
  const std::uint8_t kind = Unicode::table().kind(point);
  size_ = static_cast<std::size_t>(encode(point, text_.data() + size_) - text_.data());
  if (kind & kWord) {
    if (!in_word_) bound(start), in_word_ = true;
    apostrophe_ = false;
  } else if (kind & kApostrophe && in_word_ && !apostrophe_) {
    apostrophe_ = true;
    word_end_ = start;
  } else if (in_word_) {
    bound(apostrophe_ ? word_end_ : start);
    in_word_ = apostrophe_ = false;
  }
}

void Scanner::finish() {
  make_room(0);
  put_in_order();
  if (in_word_) bound(apostrophe_ ? word_end_ : size_);
  in_word_ = apostrophe_ = false;
}

void Scanner::keep(std::size_t from) {
  if (in_word_) bounds_[0] = bounds_[n_bounds_ - 1] - static_cast<std::uint32_t>(from);
  n_bounds_ = in_word_;
  if (from == 0) return;
  size_ -= from;
  word_end_ -= from;
  std::memmove(text_.data(), text_.data() + from, size_);
}

}  // namespace naively::text
