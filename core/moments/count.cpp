// count_moments cuts the table into chunks of rows and blocks of columns, sorts tiles of them by class in the cache,
// and counts the tiles. The cuts depend on the shape only and the parts are merged in order, so that the result does
// not depend on the number of threads.
#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "moments/cell_block.hpp"
#include "support/inputs.hpp"
#include "support/threads.hpp"

namespace naively::moments {
namespace {

using support::FloatTable;
using support::LargeArray;

struct Cut {
  std::ptrdiff_t rows, columns, tile_rows, width, blocks, chunks;

  Cut(const FloatTable& x, std::ptrdiff_t classes) : rows(x.rows), columns(x.columns) {
    // Runs of at least about 16 rows of a class spread the work per run; they have some 50 while the tile has 90 to
    // 180 KB, so that the tile in use and the one prefetched stay in a small L2. Measured with 50 columns.
    const std::ptrdiff_t min_rows = x.single ? std::clamp<std::ptrdiff_t>(64 * classes, 320, 512)
                                             : std::clamp<std::ptrdiff_t>(48 * classes, 256, 448);
    tile_rows = std::min(std::max<std::ptrdiff_t>(rows, 1), std::clamp<std::ptrdiff_t>(16 * classes, min_rows, 16384));
    width = std::max(kLanes,
                     std::min(pad_to_lanes(columns), std::max<std::ptrdiff_t>(64, pad_to_lanes(32768 / tile_rows))));
    blocks = (columns + width - 1) / width;
    // Up to 16 chunks of rows, while their cells (at most 32 MB) cost less than counting the rows.
    const std::ptrdiff_t cells = std::max<std::ptrdiff_t>(1, classes * columns);
    const std::ptrdiff_t room = (std::ptrdiff_t{32} << 20) / (200 * cells);
    chunks = std::clamp<std::ptrdiff_t>(std::min(room, rows / std::max(4 * tile_rows, 64 * classes)), 1, 16);
  }
  std::ptrdiff_t chunk_begin(std::ptrdiff_t k) const { return rows / chunks * k + std::min(k, rows % chunks); }
};

constexpr std::ptrdiff_t kParts = 4;  // of the rows of a tile, for sorting

// Sorts rows [begin, end) by class. A table stored by row is read in place if there are no weights; others are copied.
class Sorter {
 public:
  Sorter(const FloatTable& x, const std::int32_t* label, const double* weight, std::ptrdiff_t classes, const Cut& cut)
      : table_(x),
        label_(label),
        weight_(weight),
        classes_(classes),
        in_place_(x.column_stride == 1 && !weight),
        copy_(cut.tile_rows * (in_place_ ? kLanes : cut.width)),
        sorted_weight_(weight ? cut.tile_rows : 0),
        rank_(cut.tile_rows),
        first_(classes + 1),
        cursor_(kParts * classes),
        place_(cut.tile_rows) {}

  Tile operator()(std::ptrdiff_t begin, std::ptrdiff_t end, std::ptrdiff_t column, std::ptrdiff_t columns) {
    const ColumnGroups groups{columns};
    const bool direct = in_place_ && columns >= kLanes;
    Tile tile{groups,
              nullptr,
              table_.single,
              table_.row_stride,
              0,
              0,
              place_.data(),
              copy_.data(),
              weight_ ? sorted_weight_.data() : nullptr,
              first_.data()};
    for (std::ptrdiff_t i = end; i < 2 * end - begin; i += 16)  // the labels of the next tile
      prefetch_address(reinterpret_cast<std::uintptr_t>(label_) + 4 * i);
    direct ? place(begin, end) : rank(begin, end);
    if (weight_)
      for (std::ptrdiff_t i = begin; i < end; ++i) sorted_weight_[rank_[i - begin]] = weight_[i];
    with_elements(table_, [&](auto* x) {
      x += begin * table_.row_stride + column * table_.column_stride;
      if (direct) {
        const std::ptrdiff_t bytes = table_.row_stride * static_cast<std::ptrdiff_t>(sizeof *x);
        tile.direct = x;
        tile.next = reinterpret_cast<std::uintptr_t>(x) + bytes * (end - begin);
        tile.next_step = bytes / groups.count() + 1;
      } else if (table_.column_stride == 1) {
        copy_rows(x, end - begin, groups);
      } else {
        copy_columns(x, end - begin, groups);
      }
    });
    return tile;
  }

 private:
  // Counting sort: the rows of class c become first_[c] .. first_[c + 1] − 1. rank_ is the new position of each row, or
  // place_ is where the values of each sorted row begin.
  void rank(std::ptrdiff_t begin, std::ptrdiff_t end) {
    count_classes(begin, end);
    for_rows(end - begin, [&](std::ptrdiff_t i, std::int32_t* cursor) { rank_[i] = cursor[label_[begin + i]]++; });
  }

  void place(std::ptrdiff_t begin, std::ptrdiff_t end) {
    if (classes_ == 2) return place_two(begin, end);
    count_classes(begin, end);
    for_rows(end - begin, [&](std::ptrdiff_t i, std::int32_t* cursor) {
      place_[cursor[label_[begin + i]]++] = i * table_.row_stride;
    });
  }

  // Two classes need not be counted before: one is laid out from the beginning, the other from the end. Labels are
  // checked afterwards: any label leads to a position in the tile by its last bit.
  void place_two(std::ptrdiff_t begin, std::ptrdiff_t end) {
    const std::int32_t* const label = label_ + begin;
    const std::ptrdiff_t n = end - begin, stride = table_.row_stride;
    std::ptrdiff_t* const place = place_.data();
    std::ptrdiff_t front = 0, at = 0;
    std::uint32_t all = 0;
    for (std::ptrdiff_t i = 0; i < n; ++i, at += stride) {
      place[front] = place[n - 1 - i + front] = at;  // the position that does not move is written again
      const auto code = static_cast<std::uint32_t>(label[i]);
      all |= code;
      front += ~code & 1;
    }
    if (all > 1) check(begin, end);
    first_[0] = 0, first_[1] = static_cast<std::int32_t>(front), first_[2] = static_cast<std::int32_t>(n);
  }

  void count_classes(std::ptrdiff_t begin, std::ptrdiff_t end) {
    check(begin, end);
    std::fill(cursor_.begin(), cursor_.end(), 0);
    for_rows(end - begin, [&](std::ptrdiff_t i, std::int32_t* cursor) { ++cursor[label_[begin + i]]; });
    std::int32_t sum = 0;
    for (std::ptrdiff_t c = 0; c < classes_; ++c) {
      first_[c] = sum;
      for (std::ptrdiff_t k = 0; k < kParts; ++k) sum += std::exchange(cursor_[k * classes_ + c], sum);
    }
    first_[classes_] = sum;
  }

  void check(std::ptrdiff_t begin, std::ptrdiff_t end) const {
    support::check_labels(label_ + begin, end - begin, classes_, begin);
  }

  // Calls f(row, cursors of its part) for the parts in turn, so that no cursor is read just after it was stored.
  template <class F>
  void for_rows(std::ptrdiff_t n, F&& f) {
    const std::ptrdiff_t part = n / kParts;
    std::int32_t* const cursor = cursor_.data();
    for (std::ptrdiff_t i = 0; i < part; ++i)
      for (std::ptrdiff_t k = 0; k < kParts; ++k) f(k * part + i, cursor + k * classes_);
    for (std::ptrdiff_t i = kParts * part; i < n; ++i) f(i, cursor + (kParts - 1) * classes_);
  }

  template <class Real>
  void copy_rows(const Real* x, std::ptrdiff_t rows, const ColumnGroups& groups) {
    for (std::ptrdiff_t i = 0; i < rows; ++i, x += table_.row_stride) {
      double* to = copy_.data() + rank_[i] * groups.count() * kLanes;
      for (std::ptrdiff_t group = 0; group < groups.count(); ++group, to += kLanes)
        for (std::ptrdiff_t k = 0, first = groups.first(group); k < std::min(kLanes, groups.columns); ++k)
          to[k] = x[first + k];
    }
  }

  // Group by group, so that each column is read in the order of memory if the table is stored by column.
  template <class Real>
  void copy_columns(const Real* x, std::ptrdiff_t rows, const ColumnGroups& groups) {
    for (std::ptrdiff_t group = 0; group < groups.count(); ++group) {
      const Real* from = x + groups.first(group) * table_.column_stride;
      for (std::ptrdiff_t i = 0; i < rows; ++i, from += table_.row_stride) {
        double* const to = copy_.data() + (rank_[i] * groups.count() + group) * kLanes;
        for (std::ptrdiff_t k = 0; k < std::min(kLanes, groups.columns); ++k) to[k] = from[k * table_.column_stride];
      }
    }
  }

  const FloatTable& table_;
  const std::int32_t* label_;
  const double* weight_;
  std::ptrdiff_t classes_;
  bool in_place_;
  LargeArray<double> copy_;
  std::vector<double> sorted_weight_;
  std::vector<std::int32_t> rank_, first_, cursor_;  // cursors: (part, class)
  std::vector<std::ptrdiff_t> place_;
};

}  // namespace

void count_moments(const FloatTable& x, const std::int32_t* label, const double* weight, MomentCells out,
                   double* largest, int n_threads) {
  const Cut cut(x, out.classes);
  auto columns_of = [&](std::ptrdiff_t block) { return std::min(cut.width, cut.columns - block * cut.width); };
  auto sorter = [&] { return Sorter(x, label, weight, out.classes, cut); };

  // With several chunks the frames come from the first tile, so that all chunks share their shifts.
  std::vector<std::optional<CellBlock>> start(cut.blocks);
  support::parallel_for(cut.chunks > 1 ? cut.blocks : 0, n_threads, [&](std::ptrdiff_t block) {
    start[block].emplace(out.classes, columns_of(block));
    start[block]->choose_frames(sorter()(0, std::min(cut.rows, cut.tile_rows), block * cut.width, columns_of(block)));
  });

  std::vector<std::optional<CellBlock>> part(cut.blocks * cut.chunks);
  support::parallel_for(cut.blocks * cut.chunks, n_threads, [&](std::ptrdiff_t item) {
    const std::ptrdiff_t chunk = item / cut.blocks, block = item % cut.blocks;
    CellBlock& cells = part[item].emplace(out.classes, columns_of(block));
    if (start[block]) cells.adopt_frames(*start[block]);
    Sorter sorted = sorter();
    for (std::ptrdiff_t begin = cut.chunk_begin(chunk), end = cut.chunk_begin(chunk + 1); begin < end;
         begin += cut.tile_rows)
      cells.count(sorted(begin, std::min(end, begin + cut.tile_rows), block * cut.width, columns_of(block)));
    cells.fold();
  });

  support::parallel_for(cut.blocks, n_threads, [&](std::ptrdiff_t block) {
    CellBlock& total = *part[block];
    for (std::ptrdiff_t chunk = 1; chunk < cut.chunks; ++chunk) total.merge(*part[chunk * cut.blocks + block]);
    total.write(out, largest, block * cut.width);
  });
}

}  // namespace naively::moments
