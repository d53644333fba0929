#include "text/scan.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>

namespace naively::text {

Scanner::Scanner(bool lowercase, bool strip_accents) : lowercase_(lowercase), strip_accents_(strip_accents) {}

void Scanner::begin() {
  edges_ = Edges{bounds_.data()};
  moving_.clear();
}

// Makes room for `bytes` of input in any folded form, for one bound per byte, and for one more for an apostrophe that
// ends a word.
void Scanner::make_room(std::size_t bytes) {
  const std::size_t max_size = edges_.size + kGrowth * bytes + 4 * moving_.size() + kBlock + kPadding;
  if (max_size > UINT32_MAX)
    throw std::length_error("a document has a single word of nearly 4 GB: cut the document up beforehand");
  if (text_.size() < max_size) text_.resize(std::max(max_size, text_.size() + text_.size() / 2));
  const std::size_t had = n_bounds(), bounds = had + bytes + moving_.size() + 4 + Edges::kSpare;
  if (bounds_.size() < bounds) {
    bounds_.resize(std::max(bounds, 2 * bounds_.size()));
    edges_.next = bounds_.data() + had;
  }
}

void Scanner::feed(const std::uint8_t* p, const std::uint8_t* end) {
  make_room(static_cast<std::size_t>(end - p));
  const std::uint8_t case_bit = lowercase_ ? 0x20 : 0;
  while (p < end) {
    if (!moving_.empty() && *p < 0x80) put_in_order();
    const std::size_t blocks = static_cast<std::size_t>(end - p) / kBlock;
    if (blocks) p += kBlock * scan_blocks(p, blocks, text_.data() + edges_.size, case_bit, edges_);
    const auto left = static_cast<unsigned>(std::min(static_cast<std::size_t>(end - p), kBlock));
    if (!left) return;
    alignas(64) std::uint8_t last[kBlock] = {};
    if (left < kBlock) std::memcpy(last, p, left);
    const Block block = classify(left < kBlock ? last : p, text_.data() + edges_.size, case_bit);
    const unsigned ascii = std::min(left, static_cast<unsigned>(std::countr_zero(block.wide)));
    if (ascii) edges_.add(block, ascii);
    p += ascii;
    if (ascii < left) p = fold_wide(p, end);
  }
}

// Folds from a byte that is not ASCII up to the next that is.
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

// Appends NFD without its nonspacing marks. Moving marks are dropped before the canonical ordering rather than after
// it. The ordering is stable, so the remaining marks keep their order.
void Scanner::strip(char32_t point) {
  const Unicode& table = Unicode::table();
  char32_t made[Unicode::kMaxPoints] = {point};
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
  const std::uint32_t start = edges_.size;
  const std::uint8_t kind = Unicode::table().kind(point);
  edges_.size = static_cast<std::uint32_t>(encode(point, text_.data() + start) - text_.data());
  if (kind & kWord) {
    if (!edges_.in_word) edges_.bound(start), edges_.in_word = true;
    edges_.apostrophe = false;
  } else if (kind & kApostrophe && edges_.in_word && !edges_.apostrophe) {
    edges_.apostrophe = true;
    edges_.word_end = start;
  } else if (edges_.in_word) {
    edges_.bound(edges_.apostrophe ? edges_.word_end : start);
    edges_.in_word = edges_.apostrophe = false;
  }
}

void Scanner::finish() {
  make_room(0);
  put_in_order();
  if (edges_.in_word) edges_.bound(edges_.apostrophe ? edges_.word_end : edges_.size);
  edges_.in_word = edges_.apostrophe = false;
}

void Scanner::keep(std::size_t from) {
  const auto cut = static_cast<std::uint32_t>(from);
  if (edges_.in_word) bounds_[0] = edges_.next[-1] - cut;
  edges_.next = bounds_.data() + edges_.in_word;
  if (cut == 0) return;
  edges_.size -= cut;
  edges_.word_end -= cut;
  std::memmove(text_.data(), text_.data() + cut, edges_.size);
}

}  // namespace naively::text
