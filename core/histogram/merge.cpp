#include <algorithm>
#include <bit>
#include <iterator>

#include "histogram/histogram.hpp"

namespace naively::histogram {
namespace {

// Raises the column to a level; cells of the same key are added up in the order of their old keys.
void raise(HistogramColumn& column, int level) {
  if (level == column.level) return;
  const int by = level - column.level;
  column.level = level;
  for (HistogramCell& cell : column.cells)
    if (!is_infinite(cell.key)) cell.key >>= by;
  std::stable_sort(column.cells.begin(), column.cells.end(), [](const HistogramCell& a, const HistogramCell& b) {
    return a.key != b.key ? a.key < b.key : a.label < b.label;
  });
  std::size_t size = 0;
  for (std::size_t i = 0; i < column.cells.size(); ++i) {
    const HistogramCell& cell = column.cells[i];
    if (size > 0 && column.cells[size - 1].key == cell.key && column.cells[size - 1].label == cell.label) {
      column.cells[size - 1].weight += cell.weight;
      column.cells[size - 1].rows += cell.rows;
    } else {
      column.cells[size++] = cell;
    }
  }
  column.cells.resize(size);
}

std::vector<std::int64_t> finite_keys(const HistogramColumn& column) {
  std::vector<std::int64_t> keys;
  for (const HistogramCell& cell : column.cells)
    if (!is_infinite(cell.key) && (keys.empty() || keys.back() != cell.key)) keys.push_back(cell.key);
  return keys;
}

}  // namespace

int levels_to_fit(const std::vector<std::int64_t>& keys, std::int64_t cap) {
  auto n_keys = static_cast<std::int64_t>(keys.size());
  if (n_keys <= cap) return 0;
  std::int64_t joins[65] = {};  // neighbours that become one key when this many bits are dropped
  for (std::size_t i = 1; i < keys.size(); ++i)
    ++joins[std::bit_width(static_cast<std::uint64_t>(keys[i - 1] ^ keys[i]))];
  int by = 0;
  while (n_keys > cap && by < 63) n_keys -= joins[++by];
  return by;
}

HistogramColumn merge(HistogramColumn a, HistogramColumn b, int sign, std::int64_t cap) {
  const int level = std::max(a.level, b.level);
  raise(a, level);
  raise(b, level);
  if (sign > 0) {
    const auto keys_a = finite_keys(a), keys_b = finite_keys(b);
    std::vector<std::int64_t> all;
    std::set_union(keys_a.begin(), keys_a.end(), keys_b.begin(), keys_b.end(), std::back_inserter(all));
    const int by = levels_to_fit(all, cap);
    raise(a, level + by);
    raise(b, level + by);
  }
  HistogramColumn sum{a.level, {}};
  sum.cells.reserve(a.cells.size() + b.cells.size());
  auto i = a.cells.begin(), j = b.cells.begin();
  while (i != a.cells.end() || j != b.cells.end()) {
    const bool no_a = i == a.cells.end(), no_b = j == b.cells.end();
    const bool only_a = no_b || (!no_a && (i->key != j->key ? i->key < j->key : i->label < j->label));
    const bool both = !no_a && !no_b && i->key == j->key && i->label == j->label;
    if (only_a) {
      sum.cells.push_back(*i++);
      continue;
    }
    HistogramCell cell{j->key, j->label, sign * j->weight, sign * j->rows};
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
