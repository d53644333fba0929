// The smallest of many numbers that change: a tree in which every node is the smaller of its two children.
//
// To change one of n numbers takes log2 n comparisons without branches, and so does to find the smallest. (A heap with
// outdated entries takes five times as long.)
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

namespace naively::histogram {

class Tournament {
 public:
  explicit Tournament(std::int64_t n)
      : leaves_(std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(n, 1)))),
        node_(2 * leaves_, std::numeric_limits<double>::infinity()) {}

  // Numbers are set first; then the tree is built once.
  void set(std::int64_t at, double value) { node_[leaves_ + at] = value; }
  void build() {
    for (std::uint64_t k = leaves_ - 1; k > 0; --k) node_[k] = std::min(node_[2 * k], node_[2 * k + 1]);
  }

  void change(std::int64_t at, double value) {
    std::uint64_t k = leaves_ + at;
    node_[k] = value;
    for (; k > 1; k /= 2) node_[k / 2] = value = std::min(value, node_[k ^ 1]);
  }

  double least() const { return node_[1]; }

  // The index of the smallest, the first of several.
  std::int64_t least_index() const {
    std::uint64_t k = 1;
    while (k < leaves_) k = 2 * k + (node_[2 * k + 1] < node_[2 * k]);
    return static_cast<std::int64_t>(k - leaves_);
  }

 private:
  std::uint64_t leaves_;
  std::vector<double> node_;
};

}  // namespace naively::histogram
