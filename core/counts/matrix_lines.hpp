// The lines of a matrix (rows of CSR or of a dense array; columns of CSC or of a dense array), one at a time,
// with their indices checked as they are read.
#pragma once
#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/compiler.hpp"
#include "support/inputs.hpp"

namespace naively::counts {

constexpr std::int64_t kPieceEntries = 512;  // handled at a time: buffers of doubles stay in the L1 cache

using support::Matrix;
using support::NumberArray;
using support::NumberType;

// One line: entry k has index[k], and its value is element first + k * step of the values.
struct Line {
  const std::int32_t* index;
  std::int64_t size, first, step;
};

struct MatrixLines {
  NumberArray values;
  std::int64_t n_lines, width;           // a line's indices lie in [0, width), width < 2^31
  const std::int64_t* indptr = nullptr;  // sparse; checked beforehand
  const void* indices = nullptr;         // int32, or int64 if wide
  bool wide = false;
  std::int64_t line_step = 0, entry_step = 1;  // dense

  std::int64_t size(std::int64_t line) const { return indptr ? indptr[line + 1] - indptr[line] : width; }
  std::int64_t total() const { return indptr ? indptr[n_lines] : n_lines * width; }
};

inline MatrixLines rows_of(const Matrix& x) {
  return {.values = x.values, .n_lines = x.n, .width = x.p, .line_step = x.row_step, .entry_step = x.column_step};
}
inline MatrixLines columns_of(const Matrix& x) {
  return {.values = x.values, .n_lines = x.p, .width = x.n, .line_step = x.column_step, .entry_step = x.row_step};
}

// Reads lines, and holds the indices that must be copied. One per thread.
class LineReader {
 public:
  // `unique` also refuses an index that a line has twice.
  LineReader(const MatrixLines& lines, bool unique) : lines_(lines), unique_(unique) {
    if (lines.indptr == nullptr) {
      copy_.resize(lines.width);
      for (std::int64_t k = 0; k < lines.width; ++k) copy_[k] = static_cast<std::int32_t>(k);
    }
  }

  Line read(std::int64_t line) {
    if (lines_.indptr == nullptr) return {copy_.data(), lines_.width, line * lines_.line_step, lines_.entry_step};
    const std::int64_t first = lines_.indptr[line], size = lines_.indptr[line + 1] - first;
    const std::int32_t* index =
        lines_.wide ? narrow(first, size) : static_cast<const std::int32_t*>(lines_.indices) + first;
    if (!(unique_ ? ascending(index, size) : in_range(index, size))) check(index, size, line);
    return {index, size, first, 1};
  }

  // Prefetches a line that is read soon: lines in order of class do not follow each other in memory.
  void prefetch(std::int64_t line) const {
    if (lines_.indptr == nullptr) return;
    const std::int64_t first = lines_.indptr[line], size = std::min<std::int64_t>(lines_.indptr[line + 1] - first, 128);
    const auto* indices = static_cast<const char*>(lines_.indices) + first * (lines_.wide ? 8 : 4);
    for (std::int64_t k = 0; k < size * (lines_.wide ? 8 : 4); k += 64) support::prefetch(indices + k);
    if (lines_.values.type != NumberType::kF64) return;
    const auto* values = static_cast<const double*>(lines_.values.data) + first;
    for (std::int64_t k = 0; k < size; k += 8) support::prefetch(values + k);
  }

 private:
  // Copies int64 indices as int32; one that does not fit becomes −1, which is out of range.
  const std::int32_t* narrow(std::int64_t first, std::int64_t size) {
    copy_.resize(std::max<std::size_t>(copy_.size(), size));
    const auto* from = static_cast<const std::int64_t*>(lines_.indices) + first;
    for (std::int64_t k = 0; k < size; ++k)
      copy_[k] = from[k] >= 0 && from[k] < lines_.width ? static_cast<std::int32_t>(from[k]) : -1;
    return copy_.data();
  }

  // Strictly ascending indices whose ends are in range are all in range and unique. One cheap pass.
  bool ascending(const std::int32_t* index, std::int64_t size) const {
    if (size == 0) return true;
    int falls = 0;
    for (std::int64_t k = 1; k < size; ++k) falls |= index[k] <= index[k - 1];
    return !falls && index[0] >= 0 && index[size - 1] < lines_.width;
  }

  bool in_range(const std::int32_t* index, std::int64_t size) const {
    std::uint32_t largest = 0;
    for (std::int64_t k = 0; k < size; ++k) largest = std::max(largest, static_cast<std::uint32_t>(index[k]));
    return size == 0 || largest < static_cast<std::uint32_t>(lines_.width);
  }

  void check(const std::int32_t* index, std::int64_t size, std::int64_t line) {
    sorted_.assign(index, index + size);
    std::sort(sorted_.begin(), sorted_.end());
    if (sorted_.front() < 0 || sorted_.back() >= lines_.width)
      throw std::invalid_argument("line " + std::to_string(line) + " of the sparse matrix has an index outside [0, " +
                                  std::to_string(lines_.width) + "); the matrix is not valid");
    const auto twice = std::adjacent_find(sorted_.begin(), sorted_.end());
    if (unique_ && twice != sorted_.end())
      throw std::invalid_argument("line " + std::to_string(line) + " of the sparse matrix has index " +
                                  std::to_string(*twice) + " twice; call its sum_duplicates() first");
  }

  const MatrixLines& lines_;
  bool unique_;
  std::vector<std::int32_t> copy_, sorted_;
};

}  // namespace naively::counts
