// The cells of a block of columns while they are counted.
//
// Rows arrive in tiles, sorted by class. Each cell has a frame (see lane_sums.hpp), chosen from the first values it
// meets and again when values no longer suit it. The sums of a group are folded into Triples every 1024 rows of a class
// and when the frame changes; values outside the frame go to the Triples one by one.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "moments/fast_run.hpp"
#include "moments/moments.hpp"
#include "support/memory.hpp"

namespace naively::moments {

// Columns in groups of four. A last group that would not be full begins earlier and repeats some columns, so that only
// a block of less than four columns has unused lanes.
struct ColumnGroups {
  std::ptrdiff_t columns;
  std::ptrdiff_t count() const { return pad_to_lanes(columns) / kLanes; }
  std::ptrdiff_t first(std::ptrdiff_t group) const {
    return std::max<std::ptrdiff_t>(0, std::min(group * kLanes, columns - kLanes));
  }
  bool are_adjacent(std::ptrdiff_t group) const { return first(group + 1) == first(group) + kLanes; }
  int lane(std::ptrdiff_t column) const { return static_cast<int>(column - first(column / kLanes)); }
};

// A tile of rows sorted by class: those of class c are first[c] .. first[c + 1] − 1 of the sorted rows. They are read
// in place, through the positions of the sorted rows, or from a copy in which the groups follow each other.
struct Tile {
  ColumnGroups groups;
  const void* direct;  // or null
  bool single;         // whether `direct` are float32
  std::ptrdiff_t direct_stride;
  // While this tile is read in the order of classes, the next one is prefetched in the order of memory.
  std::uintptr_t next;
  std::ptrdiff_t next_step;
  const std::ptrdiff_t* place;
  const double* copy;
  const double* weight;  // of the sorted rows, or null
  const std::int32_t* first;

  NAIVELY_INLINE RunRows rows(std::ptrdiff_t group, int begin, int count) const {
    const double* const w = weight ? weight + begin : nullptr;
    const std::ptrdiff_t copy_stride = groups.count() * kLanes, column = groups.first(group);
    if (!direct) return {copy + begin * copy_stride + group * kLanes, nullptr, copy_stride, nullptr, w, count, 0, 0};
    const std::ptrdiff_t done = begin * groups.count() + group * count;  // groups of the tile, run by run
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

// The number of runs for which a group does not try fast runs; it doubles with each failure in a row.
struct Backoff {
  std::int8_t wait = 0, next_wait = 0;
};

class CellBlock {
 public:
  CellBlock(std::ptrdiff_t classes, std::ptrdiff_t columns);
  void adopt_frames(const CellBlock& other);
  void choose_frames(const Tile& tile);
  void count(const Tile& tile);
  void count(std::ptrdiff_t c, const Tile& tile, int begin, int end);  // some of the sorted rows, all of class c
  void fold();                                                         // before merge and write
  void merge(const CellBlock& other);
  void write(MomentCells out, double* largest, std::ptrdiff_t first_column) const;

 private:
  // One column of a group of one class.
  struct Position {
    std::ptrdiff_t c, group;
    int lane;
  };
  Position position(std::ptrdiff_t c, std::ptrdiff_t column) const {
    return {c, c * width_ + column / kLanes, layout_.lane(column)};
  }
  MomentCell cell(Position at) const;
  Triple weight_at(Position at) const;
  bool is_empty(Position at) const { return totals_[at.group].missing[at.lane] == rows_[at.c]; }
  void count_run(std::ptrdiff_t c, const Tile& tile, int begin, int count);
  void count_carefully(std::ptrdiff_t c, std::ptrdiff_t group, const RunRows& rows);
  void count_one_by_one(Position at, const RunRows& rows, bool all);
  void choose_frame(Position at, const RunRows& rows);
  void set_frame(Position at, double* sample, int n);
  void move(Position at, double shift);
  void merge(Position at, const CellBlock& other);
  void fold(std::ptrdiff_t group);

  ColumnGroups layout_;
  std::ptrdiff_t classes_, width_;          // width: groups of a class
  support::LargeArray<LaneSums> sums_;      // (class, width)
  support::LargeArray<LaneTotals> totals_;  // likewise
  std::vector<std::int64_t> rows_;          // of each class, with missing values
  std::vector<Triple> weight_;              // of each class, likewise
  bool is_weighted_ = false;                // whether rows have weights
  std::vector<int> pending_;                // rows of each class since its last fold
  std::vector<Backoff> backoff_;            // of each group
};

}  // namespace naively::moments
