// What a cell is while it is being counted, and how a piece of a line is added to a row of such cells.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "counts/cells.hpp"

namespace naively::cells {

// A compensated sum: `high` is the running sum and `low` what its roundings left out (Knuth's two-sum).
// Exact as long as all terms are multiples of one power of two and the sum of their sizes fits 53 bits.
struct Sum {
  double high, low;

  void add(double x) {
    const double sum = high + x, grown = sum - high;
    low += (high - (sum - grown)) + (x - grown);
    high = sum;
  }
  void add(const Sum& other) {
    add(other.high);
    low += other.low;
  }
  double value() const { return high + low; }
};

struct Totals {
  Sum occurrences, documents;
  std::int64_t rows;

  void add(const Totals& other) {
    occurrences.add(other.occurrences);
    documents.add(other.documents);
    rows += other.rows;
  }
};

// The three kinds of cell. All zeros is an empty cell of any kind.
// Without weights, whole numbers up to 65,535, at most 2^24 − 1 rows: occurrences << 24 | rows cannot overflow.
struct Packed {
  static constexpr int ROW_BITS = 24;
  static constexpr std::int64_t MOST_ROWS = (1 << ROW_BITS) - 1;
  static constexpr double LARGEST = 65535;
  std::uint64_t both;

  bool empty() const { return both == 0; }
  Totals totals() const {
    const auto rows = static_cast<std::int64_t>(both & MOST_ROWS);
    return {{static_cast<double>(both >> ROW_BITS), 0}, {static_cast<double>(rows), 0}, rows};
  }
};
// Without weights, any numbers.
struct Plain {
  Sum occurrences;
  std::int64_t rows;

  void add(double x, double) {
    occurrences.add(x);
    ++rows;
  }
  bool empty() const { return rows == 0; }
  Totals totals() const { return {occurrences, {static_cast<double>(rows), 0}, rows}; }
};
struct Weighted {
  Totals sums;

  void add(double x, double w) {
    sums.occurrences.add(w * x);
    sums.documents.add(w);
    ++sums.rows;
  }
  bool empty() const { return sums.rows == 0; }
  Totals totals() const { return sums; }
};

constexpr std::int32_t NOWHERE = std::numeric_limits<std::int32_t>::max();

// What is odd about the values seen: missing entries, and the smallest slots with other oddities.
struct Odd {
  struct Missing {
    std::int32_t slot;
    double weight;
  };
  std::vector<Missing> missing;
  std::int32_t negative = NOWHERE, fractional = NOWHERE;
};

// Adds n entries, entry k of value x[k] and weight w[k * w_step] to cells[slot[k]]. False: the values do not fit
// this kind of cell, and the cells are spoilt.
inline bool add_entries(Packed* cells, const std::int32_t* slot, const double* x, const double*, std::int64_t,
                        std::int64_t n, Odd&) {
  constexpr std::int64_t AT_ONCE = 128;
  constexpr double SHIFT = 0x1p52;  // x + 2^52 has the whole number x in its low bits
  std::uint64_t increment[AT_ONCE];
  for (std::int64_t done = 0; done < n; done += AT_ONCE) {
    const std::int64_t m = n - done < AT_ONCE ? n - done : AT_ONCE;
    std::uint64_t misfits = 0;
    for (std::int64_t k = 0; k < m; ++k) {
      const double value = x[done + k], shifted = value + SHIFT;
      misfits |= static_cast<std::uint64_t>(!((shifted - SHIFT == value) & (value >= 0) & (value <= Packed::LARGEST)));
      increment[k] =
          (std::bit_cast<std::uint64_t>(shifted) << Packed::ROW_BITS) | static_cast<std::uint64_t>(value != 0);
    }
    if (misfits) return false;
    for (std::int64_t k = 0; k < m; ++k) cells[slot[done + k]].both += increment[k];
  }
  return true;
}

// The same for numbers of which those above a threshold count as 1, the others as 0. False: some are not finite.
inline bool add_above(Packed* cells, const std::int32_t* slot, const double* x, double threshold, std::int64_t n) {
  constexpr std::int64_t AT_ONCE = 128;
  constexpr std::uint64_t ONE = (std::uint64_t{1} << Packed::ROW_BITS) | 1;
  std::uint64_t increment[AT_ONCE];
  for (std::int64_t done = 0; done < n; done += AT_ONCE) {
    const std::int64_t m = n - done < AT_ONCE ? n - done : AT_ONCE;
    std::uint64_t odd = 0;
    for (std::int64_t k = 0; k < m; ++k) {
      const double value = x[done + k];
      odd |= static_cast<std::uint64_t>(!(value - value == 0));
      increment[k] = value > threshold ? ONE : 0;
    }
    if (odd) return false;
    for (std::int64_t k = 0; k < m; ++k) cells[slot[done + k]].both += increment[k];
  }
  return true;
}

template <class Cell>
bool add_entries(Cell* cells, const std::int32_t* slot, const double* x, const double* w, std::int64_t w_step,
                 std::int64_t n, Odd& odd) {
  for (std::int64_t k = 0; k < n; ++k) {
    const double value = x[k];
    if (value == 0) continue;
    if (std::isnan(value)) {
      odd.missing.push_back({slot[k], w[k * w_step]});
      continue;
    }
    if ((value < 0) | std::isinf(value)) odd.negative = slot[k] < odd.negative ? slot[k] : odd.negative;
    if (value != std::floor(value)) odd.fractional = slot[k] < odd.fractional ? slot[k] : odd.fractional;
    cells[slot[k]].add(value, w[k * w_step]);
  }
  return true;
}

inline void append(Draft& draft, std::int64_t line, std::int64_t slot, const Totals& totals) {
  if (totals.rows == 0) return;
  const double sums[2] = {totals.occurrences.value(), totals.documents.value()};
  draft.append(line, static_cast<std::int32_t>(slot), sums, totals.rows);
}

// Takes the cell out of the scratch and into the draft.
template <class Cell>
void collect(Cell& cell, Draft& draft, std::int64_t line, std::int64_t slot) {
  if (cell.empty()) return;
  append(draft, line, slot, cell.totals());
  cell = Cell{};
}

// A missing entry: it stands for itself until all are known, since they are few.
struct Hit {
  std::int32_t c, token;
  double weight;
};

// The cells of the missing entries; those that meet are added in the order given.
Cells missing_cells(std::vector<Hit>& hits, std::int64_t n_classes);

}  // namespace naively::cells
