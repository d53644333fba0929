// Labels as numbers of classes, and how many rows of each class there are.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace naively::dense {

// The same for so few classes that comparing every label with each of them, several at a time, is the fastest.
inline std::ptrdiff_t count_few(const std::int32_t* label, std::ptrdiff_t n, std::ptrdiff_t classes,
                                std::int64_t* rows) {
  constexpr std::ptrdiff_t piece = 1 << 12;  // stays in the cache
  for (std::ptrdiff_t from = 0; from < n; from += piece) {
    const std::ptrdiff_t to = n - from < piece ? n : from + piece;
    std::ptrdiff_t known = 0;
    for (std::int32_t c = 0; c < classes; ++c) {
      std::int32_t count = 0;
      for (std::ptrdiff_t i = from; i < to; ++i) count += label[i] == c;
      rows[c] += count, known += count;
    }
    if (known == to - from) continue;
    for (std::ptrdiff_t i = from;; ++i)
      if (static_cast<std::uint32_t>(label[i]) >= static_cast<std::uint32_t>(classes)) return i;
  }
  return -1;
}

// Adds to rows[c] the number of labels that are c; returns the place of the first label outside [0, classes), or −1.
// Neighbouring rows are counted apart: adding to a number that was stored a moment ago would wait for it.
inline std::ptrdiff_t count_labels(const std::int32_t* label, std::ptrdiff_t n, std::ptrdiff_t classes,
                                   std::int64_t* rows) {
  if (classes <= 4) return count_few(label, n, classes, rows);
  constexpr std::ptrdiff_t apart = 4;
  std::vector<std::int64_t> count(n < 64 ? 0 : apart * classes);
  const auto limit = static_cast<std::uint32_t>(classes);
  std::ptrdiff_t i = 0;
  if (!count.empty())
    for (; i + apart <= n; i += apart) {
      bool outside = false;
      for (std::ptrdiff_t k = 0; k < apart; ++k) outside |= static_cast<std::uint32_t>(label[i + k]) >= limit;
      if (outside) break;
      for (std::ptrdiff_t k = 0; k < apart; ++k) ++count[k * classes + label[i + k]];
    }
  for (; i < n; ++i) {
    if (static_cast<std::uint32_t>(label[i]) >= limit) return i;
    ++rows[label[i]];
  }
  for (std::size_t k = 0; k < count.size(); ++k) rows[k % classes] += count[k];
  return -1;
}

// code[i] = label[i] − low; returns the largest of them, or −1 if one is not in 0 .. 2^31 − 1.
inline std::int64_t narrow_labels(const std::int64_t* label, std::ptrdiff_t n, std::int64_t low, std::int32_t* code) {
  constexpr std::ptrdiff_t piece = 1 << 12;
  std::int32_t largest = 0;
  for (std::ptrdiff_t from = 0; from < n; from += piece) {
    const std::ptrdiff_t to = std::min(n, from + piece);
    std::uint64_t all = 0;
    for (std::ptrdiff_t i = from; i < to; ++i) {
      const std::uint64_t above = static_cast<std::uint64_t>(label[i]) - static_cast<std::uint64_t>(low);
      all |= above;
      code[i] = static_cast<std::int32_t>(above);
    }
    if (all >> 31 != 0) return -1;
    for (std::ptrdiff_t i = from; i < to; ++i) largest = std::max(largest, code[i]);
  }
  return largest;
}

}  // namespace naively::dense
