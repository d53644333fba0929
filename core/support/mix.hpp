// A one-to-one map of 64 bits in which every bit depends on every other: the finaliser of SplitMix64.
#pragma once
#include <cstdint>

namespace naively::support {

inline std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

}  // namespace naively::support
