// Cells while they are counted, and how entries of a line are added to them.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "counts/cells.hpp"
#include "support/exact_sum.hpp"

namespace naively::counts {

using support::CompensatedSum;

struct CellTotals {
  CompensatedSum occurrences, documents;
  std::int64_t rows;

  void add(const CellTotals& other) {
    occurrences.add(other.occurrences);
    documents.add(other.documents);
    rows += other.rows;
  }
};

// There are three kinds of cells. All zero bits are an empty cell of any kind.
// PackedCell: integers up to 65,535 without weights, at most 2^24 − 1 rows. occurrences << 24 | rows cannot overflow.
struct PackedCell {
  static constexpr int kRowBits = 24;
  static constexpr std::int64_t kMaxRows = (1 << kRowBits) - 1;
  static constexpr double kMaxValue = 65535;
  std::uint64_t both;

  bool empty() const { return both == 0; }
  CellTotals totals() const {
    const auto rows = static_cast<std::int64_t>(both & kMaxRows);
    return {{static_cast<double>(both >> kRowBits), 0}, {static_cast<double>(rows), 0}, rows};
  }
};
// PlainCell: any numbers without weights.
struct PlainCell {
  CompensatedSum occurrences;
  std::int64_t rows;

  void add(double x, double) {
    occurrences.add(x);
    ++rows;
  }
  bool empty() const { return rows == 0; }
  CellTotals totals() const { return {occurrences, {static_cast<double>(rows), 0}, rows}; }
};
// WeightedCell: any numbers with weights.
struct WeightedCell {
  CellTotals sums;

  void add(double x, double w) {
    sums.occurrences.add(w * x);
    sums.documents.add(w);
    ++sums.rows;
  }
  bool empty() const { return sums.rows == 0; }
  CellTotals totals() const { return sums; }
};

constexpr std::int32_t kNoSlot = std::numeric_limits<std::int32_t>::max();

// Irregular values: missing entries, and the smallest slots with a negative or infinite and with a fractional value.
struct Irregular {
  struct Missing {
    std::int32_t slot;
    double weight;
  };
  std::vector<Missing> missing;
  std::int32_t negative = kNoSlot, fractional = kNoSlot;
};

// Adds increment_of(k, misfits) to cells[slot[k]] for n entries; returns false if that sets a bit of `misfits`.
// Increments are made some at a time before they are added.
template <class Increment>
bool add_increments(PackedCell* cells, const std::int32_t* slot, std::int64_t n, Increment&& increment_of) {
  constexpr std::int64_t kAtOnce = 128;
  std::uint64_t increment[kAtOnce];
  for (std::int64_t done = 0; done < n; done += kAtOnce) {
    const std::int64_t m = n - done < kAtOnce ? n - done : kAtOnce;
    std::uint64_t misfits = 0;
    for (std::int64_t k = 0; k < m; ++k) increment[k] = increment_of(done + k, misfits);
    if (misfits) return false;
    for (std::int64_t k = 0; k < m; ++k) cells[slot[done + k]].both += increment[k];
  }
  return true;
}

// Adds n entries to cells: entry k of value x[k] and weight w[k * w_step] to cells[slot[k]]. Returns false if the
// values do not fit this kind of cell; the cells are then of no use.
inline bool add_entries(PackedCell* cells, const std::int32_t* slot, const double* x, const double*, std::int64_t,
                        std::int64_t n, Irregular&) {
  constexpr double kShift = 0x1p52;  // x + 2^52 has the integer x in its low bits
  return add_increments(cells, slot, n, [x](std::int64_t k, std::uint64_t& misfits) {
    const double value = x[k], shifted = value + kShift;
    misfits |= !((shifted - kShift == value) & (value >= 0) & (value <= PackedCell::kMaxValue));
    return (std::bit_cast<std::uint64_t>(shifted) << PackedCell::kRowBits) | static_cast<std::uint64_t>(value != 0);
  });
}

// Adds 1 for numbers above a threshold and 0 for others. Returns false if a number is not finite.
inline bool add_above(PackedCell* cells, const std::int32_t* slot, const double* x, double threshold, std::int64_t n) {
  constexpr std::uint64_t kOne = (std::uint64_t{1} << PackedCell::kRowBits) | 1;
  return add_increments(cells, slot, n, [x, threshold](std::int64_t k, std::uint64_t& misfits) {
    misfits |= !(x[k] - x[k] == 0);
    return x[k] > threshold ? kOne : 0;
  });
}

template <class Cell>
bool add_entries(Cell* cells, const std::int32_t* slot, const double* x, const double* w, std::int64_t w_step,
                 std::int64_t n, Irregular& irregular) {
  for (std::int64_t k = 0; k < n; ++k) {
    const double value = x[k];
    if (value == 0) continue;
    if (std::isnan(value)) {
      irregular.missing.push_back({slot[k], w[k * w_step]});
      continue;
    }
    if ((value < 0) | std::isinf(value))
      irregular.negative = slot[k] < irregular.negative ? slot[k] : irregular.negative;
    if (value != std::floor(value))
      irregular.fractional = slot[k] < irregular.fractional ? slot[k] : irregular.fractional;
    cells[slot[k]].add(value, w[k * w_step]);
  }
  return true;
}

inline void append(CellsBuilder& builder, std::int64_t line, std::int64_t slot, const CellTotals& totals) {
  if (totals.rows == 0) return;
  const double sums[2] = {totals.occurrences.total(), totals.documents.total()};
  builder.append(line, static_cast<std::int32_t>(slot), sums, totals.rows);
}

// Moves a cell from the scratch line to the builder.
template <class Cell>
void collect(Cell& cell, CellsBuilder& builder, std::int64_t line, std::int64_t slot) {
  if (cell.empty()) return;
  append(builder, line, slot, cell.totals());
  cell = Cell{};
}

// A missing entry. They are few, so they are listed until all are known.
struct MissingEntry {
  std::int32_t c, token;
  double weight;
};

// Returns the cells of the missing entries; entries of one cell are added in the order given.
inline Cells missing_cells(std::vector<MissingEntry>& entries, std::int64_t n_classes) {
  std::stable_sort(entries.begin(), entries.end(), [](const MissingEntry& a, const MissingEntry& b) {
    return a.c != b.c ? a.c < b.c : a.token < b.token;
  });
  std::vector<std::int64_t> start(n_classes + 1, 0);
  for (const MissingEntry& entry : entries) ++start[entry.c + 1];
  for (std::int64_t c = 0; c < n_classes; ++c) start[c + 1] += start[c];
  CellsBuilder builder(std::move(start), 1);
  for (std::size_t i = 0; i < entries.size();) {
    const MissingEntry& first = entries[i];
    CompensatedSum weight;
    std::int64_t rows = 0;
    for (; i < entries.size() && entries[i].c == first.c && entries[i].token == first.token; ++i, ++rows)
      weight.add(entries[i].weight);
    const double sum = weight.total();
    builder.append(first.c, first.token, &sum, rows);
  }
  return std::move(builder).finish();
}

}  // namespace naively::counts
