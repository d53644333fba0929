// The cells of a panel of columns while they are being counted.
//
// Rows arrive in tiles, sorted by class. Each cell has a frame (see strip.hpp) chosen from the first values it meets
// and chosen anew when the values no longer suit it. The sums of a strip are folded into Triples every 1024 rows of
// a class, and when the frame changes; values outside the frame go to the Triples one by one.
#pragma once
#include <cstdint>
#include <limits>
#include <vector>

#include "moments.hpp"
#include "strip.hpp"

namespace naively::dense {

// A tile of rows sorted by class: those of class c are first[c] .. first[c + 1] − 1 of the sorted rows. The columns
// below `direct_columns` are read where they are, through the index of the sorted rows; the others from a copy.
struct Tile {
  const double* direct;
  std::ptrdiff_t direct_stride, direct_columns, ahead;  // `ahead`: doubles to the next tile
  const std::int32_t* index;
  const double* copy;
  std::ptrdiff_t copy_stride;
  const double* weight;  // of the sorted rows, or null
  const std::int32_t* first;

  Rows rows(std::ptrdiff_t column, int begin, int count) const {
    const double* const w = weight ? weight + begin : nullptr;
    if (column < direct_columns) return {direct + column, direct_stride, index + begin, w, count};
    return {copy + begin * copy_stride + (column - direct_columns), copy_stride, nullptr, w, count};
  }
};

class Panel {
 public:
  Panel(std::ptrdiff_t classes, std::ptrdiff_t width);
  void adopt_frames(const Panel& other);
  void choose_frames(const Tile& tile);
  void count(const Tile& tile);
  void fold();
  void merge(const Panel& other);  // both folded
  void write(Cells out, double* largest, std::ptrdiff_t first_column, std::ptrdiff_t columns) const;  // folded


 private:
  struct Total {
    Triple s1, s2;
    double least = std::numeric_limits<double>::infinity(), greatest = -least;
    std::int64_t missing = 0;
    Double2 missing_weight = {0, 0};
    double centre = 0;  // a median of some values
  };
  double& shift(std::ptrdiff_t c, std::ptrdiff_t j) { return strip(c, j).shift[j % lanes]; }
  double& bound(std::ptrdiff_t c, std::ptrdiff_t j) { return strip(c, j).bound[j % lanes]; }
  Strip& strip(std::ptrdiff_t c, std::ptrdiff_t j) { return strips_[(c * width_ + j) / lanes]; }
  const Strip& strip(std::ptrdiff_t c, std::ptrdiff_t j) const { return strips_[(c * width_ + j) / lanes]; }
  Cell cell(std::ptrdiff_t c, std::ptrdiff_t j) const;
  Triple weight_of(std::ptrdiff_t c, const Total& total) const;
  void count_run(std::ptrdiff_t c, const Tile& tile, int begin, int count);
  void count_by_hand(std::ptrdiff_t c, std::ptrdiff_t j, const Rows& rows, bool all);
  void choose_frame(std::ptrdiff_t c, std::ptrdiff_t j, const Rows& rows);
  void set_frame(std::ptrdiff_t c, std::ptrdiff_t j, double* sample, int n);
  void fold(std::ptrdiff_t c, std::ptrdiff_t j);

  std::ptrdiff_t classes_, width_;
  Aligned<Strip> strips_;             // (class, width / 4)
  std::vector<Total> totals_;         // (class, width)
  std::vector<std::int64_t> rows_;    // of each class, missing values included
  std::vector<Double2> weight_;       // of each class, likewise
  std::vector<int> pending_;          // rows of each class since its last fold
  std::vector<char> careful_;         // strips that met a value outside their frame since their last fold
};

}  // namespace naively::dense
