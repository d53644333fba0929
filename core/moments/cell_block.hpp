// The cells of a panel of columns while they are being counted.
//
// Rows arrive in tiles, sorted by class. Each cell has a frame (see strip.hpp) chosen from the first values it meets
// and chosen anew when the values no longer suit it. The sums of a strip are folded into Triples every 1024 rows of
// a class, and when the frame changes; values outside the frame go to the Triples one by one.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "moments/fast_run.hpp"
#include "moments/moments.hpp"

namespace naively::dense {

// Columns in strips of four. A last strip that would not be full begins earlier, and has some columns again; so only a
// panel of less than four columns has lanes that are no columns.
struct Strips {
  std::ptrdiff_t columns;
  std::ptrdiff_t count() const { return padded(columns) / lanes; }
  std::ptrdiff_t first(std::ptrdiff_t strip) const {
    return std::max<std::ptrdiff_t>(0, std::min(strip * lanes, columns - lanes));
  }
  bool side_by_side(std::ptrdiff_t strip) const { return first(strip + 1) == first(strip) + lanes; }
  int lane(std::ptrdiff_t column) const { return static_cast<int>(column - first(column / lanes)); }
};

// A tile of rows sorted by class: those of class c are first[c] .. first[c + 1] − 1 of the sorted rows. They are read
// where they are, through the places of the sorted rows, or from a copy, where the strips lie side by side.
struct Tile {
  Strips strips;
  const void* direct;  // or null
  bool single;         // whether `direct` are float32
  std::ptrdiff_t direct_stride;
  // While this tile is read in the order of classes, the next one is asked for in the order of memory, evenly.
  std::uintptr_t next;
  std::ptrdiff_t next_step;
  const std::ptrdiff_t* place;
  const double* copy;
  const double* weight;  // of the sorted rows, or null
  const std::int32_t* first;

  NAIVELY_INLINE Rows rows(std::ptrdiff_t strip, int begin, int count) const {
    const double* const w = weight ? weight + begin : nullptr;
    const std::ptrdiff_t copy_stride = strips.count() * lanes, column = strips.first(strip);
    if (!direct) return {copy + begin * copy_stride + strip * lanes, nullptr, copy_stride, nullptr, w, count, 0, 0};
    const std::ptrdiff_t done = begin * strips.count() + strip * count;  // of the tile, run by run
    return {single ? nullptr : static_cast<const double*>(direct) + column,
            single ? static_cast<const float*>(direct) + column : nullptr,
            direct_stride,
            place + begin,
            w,
            count,
            next + done * next_step,
            next_step};
  }
};

// For how many runs a strip is not to be tried as near; after each failure in a row for twice as many.
struct Doubt {
  std::int8_t wait = 0, longer = 0;
};

class Panel {
 public:
  Panel(std::ptrdiff_t classes, std::ptrdiff_t columns);
  void adopt_frames(const Panel& other);
  void choose_frames(const Tile& tile);
  void count(const Tile& tile);
  void count(std::ptrdiff_t c, const Tile& tile, int begin, int end);  // some of the sorted rows, all of class c
  void fold();                                                         // before merge and write
  void merge(const Panel& other);
  void write(Cells out, double* largest, std::ptrdiff_t first_column) const;

 private:
  // One column of a strip of one class.
  struct Place {
    std::ptrdiff_t c, strip;
    int lane;
  };
  Place place(std::ptrdiff_t c, std::ptrdiff_t column) const {
    return {c, c * width_ + column / lanes, layout_.lane(column)};
  }
  Cell cell(Place at) const;
  Triple weight_at(Place at) const;
  bool empty(Place at) const { return totals_[at.strip].missing[at.lane] == rows_[at.c]; }
  void count_run(std::ptrdiff_t c, const Tile& tile, int begin, int count);
  void count_carefully(std::ptrdiff_t c, std::ptrdiff_t strip, const Rows& rows);
  void count_by_hand(Place at, const Rows& rows, bool all);
  void choose_frame(Place at, const Rows& rows);
  void set_frame(Place at, double* sample, int n);
  void move(Place at, double shift);
  void merge(Place at, const Panel& other);
  void fold(std::ptrdiff_t strip);

  Strips layout_;
  std::ptrdiff_t classes_, width_;  // width: strips of a class
  Aligned<Strip> strips_;           // (class, width)
  Aligned<Totals> totals_;          // likewise
  std::vector<std::int64_t> rows_;  // of each class, missing values included
  std::vector<Double2> weight_;     // of each class, likewise
  std::vector<int> pending_;        // rows of each class since its last fold
  std::vector<Doubt> doubt_;        // of each strip
};

}  // namespace naively::dense
