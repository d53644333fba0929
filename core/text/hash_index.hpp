// Numbers for the feature hashes that a model has counted: the position of each among them, in ascending order. So a
// model has as many weights as there are tokens, whatever the number of bits of a hash.
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "support/compiler.hpp"
#include "text/keys.hpp"

namespace naively::text {

// Returns the number of a token by feature hashing.
inline std::uint32_t feature_hash(const Key& key, int bits) {
  return static_cast<std::uint32_t>(key.hash >> (64 - bits));
}

// Hashes by their upper bits: bucket b has the hashes [start_[b], start_[b + 1]), about one.
class HashIndex {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  HashIndex() = default;
  // The hashes are below 2^bits and ascend.
  HashIndex(std::vector<std::uint32_t> hashes, int bits) : hashes_(std::move(hashes)), bits_(bits) {
    const auto is_after = [](std::uint32_t a, std::uint32_t b) { return a >= b; };
    if (std::adjacent_find(hashes_.begin(), hashes_.end(), is_after) != hashes_.end())
      throw std::invalid_argument("hashes must ascend, each once");
    if (!hashes_.empty() && hashes_.back() >> bits)
      throw std::invalid_argument("a hash has more than " + std::to_string(bits) + " bits");
    const int bucket_bits = std::clamp(static_cast<int>(std::bit_width(hashes_.size())), 1, bits);
    shift_ = bits - bucket_bits;
    start_.assign((std::size_t{1} << bucket_bits) + 1, 0);
    for (const std::uint32_t hash : hashes_) ++start_[(hash >> shift_) + 1];
    for (std::size_t b = 0; b + 1 < start_.size(); ++b) start_[b + 1] += start_[b];
  }

  int bits() const { return bits_; }
  std::size_t size() const { return hashes_.size(); }
  std::uint32_t hash(std::size_t number) const { return hashes_[number]; }

  // Returns the position of a hash, or kNone. Before it, prefetch() and then prefetch_bucket() wait for memory together
  // with those of other hashes.
  std::uint32_t find(std::uint32_t hash) const {
    const std::uint32_t end = start_[(hash >> shift_) + 1];
    for (std::uint32_t i = start_[hash >> shift_]; i < end; ++i)
      if (hashes_[i] == hash) return i;
    return kNone;
  }
  void prefetch(std::uint32_t hash) const { support::prefetch(&start_[hash >> shift_]); }
  void prefetch_bucket(std::uint32_t hash) const { support::prefetch(hashes_.data() + start_[hash >> shift_]); }

 private:
  std::vector<std::uint32_t> hashes_, start_{0, 0};
  int bits_ = 1, shift_ = 0;
};

}  // namespace naively::text
