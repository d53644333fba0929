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
  const void* direct;
  bool single;  // whether `direct` are float32
  std::ptrdiff_t direct_stride, direct_columns, size;  // size: the number of rows
  const std::int32_t* index;
  const double* copy;
  std::ptrdiff_t copy_stride;
  const double* weight;  // of the sorted rows, or null
  const std::int32_t* first;

  Rows rows(std::ptrdiff_t column, int begin, int count) const {
    const double* const w = weight ? weight + begin : nullptr;
    if (column >= direct_columns)
      return {copy + begin * copy_stride + (column - direct_columns), nullptr, copy_stride, nullptr, w, count, 0, 0};
    // While this tile is read in the order of classes, the next one is asked for in the order of memory, evenly.
    const std::ptrdiff_t bytes = direct_stride * (single ? 4 : 8), done = column / lanes * size + begin;
    const std::ptrdiff_t step = bytes * lanes / direct_columns + 1;
    const auto next = reinterpret_cast<std::uintptr_t>(direct) + bytes * size;
    return {single ? nullptr : static_cast<const double*>(direct) + column,
            single ? static_cast<const float*>(direct) + column : nullptr,
            direct_stride, index + begin, w, count, next + done * step, step};
  }
};

class Panel {
 public:
  Panel(std::ptrdiff_t classes, std::ptrdiff_t width);
  void adopt_frames(const Panel& other);
  void choose_frames(const Tile& tile);
  void count(const Tile& tile);
  void fold();  // before merge and write
  void merge(const Panel& other);
  void write(Cells out, double* largest, std::ptrdiff_t first_column, std::ptrdiff_t columns) const;


 private:
  // One column of a strip of one class.
  struct Place {
    std::ptrdiff_t c, strip;
    int lane;
  };
  Place place(std::ptrdiff_t c, std::ptrdiff_t j) const {
    return {c, (c * width_ + j) / lanes, static_cast<int>(j % lanes)};
  }
  Cell cell(Place at) const;
  Triple weight_at(Place at) const;
  bool empty(Place at) const { return totals_[at.strip].missing[at.lane] == rows_[at.c]; }
  void count_run(std::ptrdiff_t c, const Tile& tile, int begin, int count);
  void count_by_hand(Place at, const Rows& rows, bool all);
  void choose_frame(Place at, const Rows& rows);
  void set_frame(Place at, double* sample, int n);
  void move(Place at, double shift);
  void merge(Place at, const Panel& other);
  void fold(std::ptrdiff_t strip);

  std::ptrdiff_t classes_, width_;
  Aligned<Strip> strips_;           // (class, width / 4)
  Aligned<Totals> totals_;          // likewise
  std::vector<std::int64_t> rows_;  // of each class, missing values included
  std::vector<Double2> weight_;     // of each class, likewise
  std::vector<int> pending_;        // rows of each class since its last fold
  std::vector<char> careful_;       // strips that met a value outside their frame since their last fold
};

}  // namespace naively::dense
