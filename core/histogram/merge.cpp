#include <algorithm>
#include <bit>
#include <iterator>

#include "histogram/histogram.hpp"

namespace naively::histogram {
namespace {

// Joins keys until the column is at `level`; cells that meet add up, in the order of their old keys.
void rise(Column& column, int level) {
  if (level == column.level) return;
  const int by = level - column.level;
  column.level = level;
  for (Cell& cell : column.cells)
    if (!infinite(cell.key)) cell.key >>= by;
  std::stable_sort(column.cells.begin(), column.cells.end(),
                   [](const Cell& a, const Cell& b) { return a.key != b.key ? a.key < b.key : a.label < b.label; });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < column.cells.size(); ++i) {
    const Cell& cell = column.cells[i];
    if (kept > 0 && column.cells[kept - 1].key == cell.key && column.cells[kept - 1].label == cell.label) {
      column.cells[kept - 1].weight += cell.weight;
      column.cells[kept - 1].rows += cell.rows;
    } else {
      column.cells[kept++] = cell;
    }
  }
  column.cells.resize(kept);
}

std::vector<std::int64_t> finite_keys(const Column& column) {
  std::vector<std::int64_t> keys;
  for (const Cell& cell : column.cells)
    if (!infinite(cell.key) && (keys.empty() || keys.back() != cell.key)) keys.push_back(cell.key);
  return keys;
}

}  // namespace

int levels_to_fit(const std::vector<std::int64_t>& keys, std::int64_t cap) {
  auto left = static_cast<std::int64_t>(keys.size());
  if (left <= cap) return 0;
  std::int64_t joins[65] = {};  // neighbours that become one key when that many bits are dropped
  for (std::size_t i = 1; i < keys.size(); ++i)
    ++joins[std::bit_width(static_cast<std::uint64_t>(keys[i - 1] ^ keys[i]))];
  int by = 0;
  while (left > cap && by < 63) left -= joins[++by];
  return by;
}

Column merge(Column a, Column b, int sign, std::int64_t cap) {
  const int level = std::max(a.level, b.level);
  rise(a, level);
  rise(b, level);
  if (sign > 0) {
    const auto mine = finite_keys(a), theirs = finite_keys(b);
    std::vector<std::int64_t> all;
    std::set_union(mine.begin(), mine.end(), theirs.begin(), theirs.end(), std::back_inserter(all));
    const int by = levels_to_fit(all, cap);
    rise(a, level + by);
    rise(b, level + by);
  }
  Column sum{a.level, {}};
  sum.cells.reserve(a.cells.size() + b.cells.size());
  auto i = a.cells.begin(), j = b.cells.begin();
  while (i != a.cells.end() || j != b.cells.end()) {
    const bool no_a = i == a.cells.end(), no_b = j == b.cells.end();
    const bool first = no_b || (!no_a && (i->key != j->key ? i->key < j->key : i->label < j->label));
    const bool both = !no_a && !no_b && i->key == j->key && i->label == j->label;
    if (first) {
      sum.cells.push_back(*i++);
      continue;
    }
    Cell cell{j->key, j->label, sign * j->weight, sign * j->rows};
    ++j;
    if (both) {
      cell.weight += i->weight;
      cell.rows += i->rows;
      ++i;
    }
    if (cell.rows != 0) sum.cells.push_back(cell);
  }
  return sum;
}

}  // namespace naively::histogram
