// Keys of the vocabulary: the bytes of a short word as two numbers, and a hash.
//
// The hash multiplies two 64-bit halves and folds the 128-bit product (Wang Yi, "wyhash", 2019). Tables draw their
// seeds at random, so that words cannot be chosen to collide; no result depends on them. Feature hashing
// (`hash_bits`) uses fixed seeds, which are part of the meaning of a model.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "support/compiler.hpp"

namespace naively::text {

inline constexpr std::uint32_t kShortBytes = 16;  // of the longest short word

struct Seeds {
  std::uint64_t first, second;
};
inline constexpr Seeds kFeatureSeeds{0x243F6A8885A308D3, 0x13198A2E03707344};  // the fraction of π
Seeds random_seeds();

using support::fold_product;

// Little-endian on every machine, so that feature hashes are the same everywhere.
inline std::uint64_t little_endian(std::uint64_t value) {
  if constexpr (std::endian::native == std::endian::big) {
    std::uint64_t swapped = 0;
    for (int k = 0; k < 8; ++k) swapped = swapped << 8 | (value >> 8 * k & 0xFF);
    return swapped;
  }
  return value;
}

inline std::uint64_t load8(const std::uint8_t* p) {
  std::uint64_t value;
  std::memcpy(&value, p, 8);
  return little_endian(value);
}

inline void store8(std::uint8_t* p, std::uint64_t value) {
  value = little_endian(value);
  std::memcpy(p, &value, 8);
}

// Short word: low and high are its bytes, padded with zeros. Long word: low is the hash, high belongs to the table.
// Pair: low holds the numbers of its two tokens, high its number of words.
struct Key {
  std::uint64_t low, high, hash;
  std::uint32_t size;
};
inline constexpr std::uint32_t kPair = UINT32_MAX;  // in place of the size

// The hash of [p, p + size), size > 16: a chain of products, one for each 16 bytes.
class LongHash {
 public:
  LongHash() = default;
  LongHash(const std::uint8_t* p, std::size_t size, Seeds seeds)
      : p_(p), last_(p + size - 16), hash_(fold_product(size ^ seeds.first, seeds.second)) {}
  // The number of products before the last one.
  std::size_t steps() const { return static_cast<std::size_t>(last_ - p_ + 15) / 16; }
  void step(Seeds seeds) {
    support::prefetch(p_ + kPrefetchBytes);  // processors do not read ahead into the next page
    hash_ = product(p_, seeds), p_ += 16;
  }
  std::uint64_t finish(Seeds seeds) const { return product(last_, seeds); }

 private:
  static constexpr std::size_t kPrefetchBytes = 1024;

  std::uint64_t product(const std::uint8_t* p, Seeds seeds) const {
    return fold_product(load8(p) ^ seeds.first, load8(p + 8) ^ seeds.second ^ hash_);
  }

  const std::uint8_t *p_ = nullptr, *last_ = nullptr;
  std::uint64_t hash_ = 0;
};

std::uint64_t hash_long(const std::uint8_t* p, std::size_t size, Seeds seeds);

// The key of [p, p + size); 16 bytes from p on are readable, for any size.
inline Key make_key(const std::uint8_t* p, std::uint32_t size, Seeds seeds) {
  alignas(16) static constexpr std::uint8_t kKeep[32] = {255, 255, 255, 255, 255, 255, 255, 255,
                                                         255, 255, 255, 255, 255, 255, 255, 255};
  if (size > kShortBytes) {
    const std::uint64_t hash = hash_long(p, size, seeds);
    return {hash, 0, hash, size};
  }
  std::uint64_t low = load8(p) & load8(kKeep + (16 - size));
  support::keep_apart(low);  // else both halves go through a vector register, which is slower
  const std::uint64_t high = load8(p + 8) & load8(kKeep + (24 - size));
  return {low, high, fold_product(low ^ seeds.first, high ^ seeds.second), size};
}

// The key of a token followed by a space and a word, by their numbers.
inline Key pair_key(std::uint32_t first, std::uint32_t last, std::uint32_t words, Seeds seeds) {
  const std::uint64_t low = first | std::uint64_t{last} << 32;
  return {low, words, fold_product(low ^ seeds.first, seeds.second), kPair};
}

}  // namespace naively::text
