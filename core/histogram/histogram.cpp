#include "histogram/histogram.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <iterator>
#include <utility>

#include "histogram/key_table.hpp"
#include "support/exact_sum.hpp"
#include "support/memory.hpp"
#include "support/threads.hpp"

namespace naively::histogram {
namespace {

using support::CompensatedSum;

constexpr std::int64_t kChunkRows = std::int64_t{1} << 17;  // of a column, counted at once
constexpr std::int64_t kTileRows = 1024;                    // whose slots are found, and then counted from the cache
constexpr std::int64_t kGroupColumns = 8;                   // read together if stored by row: a cache line

// Adjacent columns of one piece that a task reads together.
struct ColumnGroup {
  const Matrix* x;
  std::int64_t first, width, column;  // first column in the piece, and among all columns

  // Returns the numbers of n rows, from `from` on and `step` apart, of each column, column after column: in place if
  // the column is contiguous, else in `buffer`.
  const double* read(std::int64_t from, std::int64_t step, std::int64_t n, std::vector<double>& buffer) const {
    const std::int64_t at = from * x->row_step + first * x->column_step, row = step * x->row_step;
    if (width == 1) {
      if (x->values.type != support::NumberType::kF64 || row != 1) buffer.resize(n);
      return x->values.read(at, row, n, buffer.data());
    }
    buffer.resize(n * width);
    support::with_type(x->values.type, [&](auto* pointer) {
      const auto* data = static_cast<decltype(pointer)>(x->values.data) + at;
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < width; ++j)
          buffer[j * n + i] = static_cast<double>(data[i * row + j * x->column_step]);
    });
    return buffer.data();
  }
};

std::vector<ColumnGroup> group_columns(const std::vector<Matrix>& pieces) {
  std::vector<ColumnGroup> groups;
  std::int64_t column = 0;
  for (const Matrix& x : pieces) {
    const std::int64_t max_width = x.by_columns() || x.p == 1 ? 1 : kGroupColumns;
    for (std::int64_t j = 0; j < x.p; j += max_width) {
      const std::int64_t width = std::min(max_width, x.p - j);
      groups.push_back({&x, j, width, column});
      column += width;
    }
  }
  return groups;
}

// Counts chunks of columns one after the other and reuses its memory.
class ColumnCounter {
 public:
  ColumnCounter(const Labels& labels, std::int64_t cap) : labels_(labels), cap_(cap), table_(cap) {}

  // Counts n numbers, of the rows from `first` on. All levels below `level` are known not to fit.
  HistogramColumn count(const double* x, std::int64_t first, std::int64_t n, int level) {
    table_.reset(level);
    const std::int64_t max_slots = KeyTable::max_keys(cap_) + KeyTable::kFirst;
    if (labels_.weight == nullptr && max_slots * labels_.n_classes <= std::max<std::int64_t>(1 << 12, 4 * n))
      return count_by_tiles(x, first, n, max_slots);
    reserve_slots(n);
    table_.find(x, n, slot_.get());
    table_.fit(slot_.get(), n);
    HistogramColumn column{table_.level(), {}};
    const auto n_slots = static_cast<std::int64_t>(table_.keys().size()) + KeyTable::kFirst;
    if (n_slots * labels_.n_classes <= std::max<std::int64_t>(1 << 12, 4 * n))
      count_dense(first, n, n_slots, column.cells);
    else
      count_sparse(first, n, n_slots, column.cells);
    return column;
  }

 private:
  void reserve_slots(std::int64_t n) {
    if (n > n_reserved_) slot_.resize(n_reserved_ = n);
  }

  // A table slot × class with room for max_slots slots, tile by tile; its lines join when slots do.
  HistogramColumn count_by_tiles(const double* x, std::int64_t first, std::int64_t n, std::int64_t max_slots) {
    const std::int64_t n_classes = labels_.n_classes;
    reserve_slots(kTileRows);
    rows_.assign(max_slots * n_classes, 0);
    for (std::int64_t from = 0; from < n; from += kTileRows) {
      const std::int64_t rows = std::min(kTileRows, n - from);
      table_.find(x + from, rows, slot_.get());
      join_slots(table_.moved(), max_slots);
      const std::int32_t* label = labels_.label + first + from;
      for (std::int64_t i = 0; i < rows; ++i) ++rows_[slot_[i] * n_classes + label[i]];
    }
    // Keys that become one at the final level are neighbours; the first of them gets the rows of the others.
    std::vector<KeySlot> keys = table_.in_order();
    const int by = levels_to_fit(keys_of(keys), cap_);
    std::size_t size = 0;
    for (const auto [key, slot] : keys) {
      if (size > 0 && keys[size - 1].key == key >> by) {
        for (std::int64_t c = 0; c < n_classes; ++c)
          rows_[keys[size - 1].slot * n_classes + c] += rows_[slot * n_classes + c];
      } else {
        keys[size++] = {key >> by, slot};
      }
    }
    keys.resize(size);
    HistogramColumn column{table_.level() + by, {}};
    collect_dense(keys, column.cells);
    return column;
  }

  void join_slots(const std::vector<std::int32_t>& moved, std::int64_t max_slots) {
    if (moved.empty()) return;
    const std::int64_t n_classes = labels_.n_classes;
    const std::vector<std::int32_t> old = std::exchange(rows_, std::vector<std::int32_t>(max_slots * n_classes, 0));
    for (std::size_t s = 0; s < moved.size(); ++s)
      for (std::int64_t c = 0; c < n_classes; ++c) rows_[moved[s] * n_classes + c] += old[s * n_classes + c];
  }

  // Counts in a table slot × class after all slots are known.
  void count_dense(std::int64_t first, std::int64_t n, std::int64_t n_slots, std::vector<HistogramCell>& cells) {
    const std::int32_t* label = labels_.label + first;
    const std::int64_t n_classes = labels_.n_classes;
    rows_.assign(n_slots * n_classes, 0);
    for (std::int64_t i = 0; i < n; ++i) ++rows_[slot_[i] * n_classes + label[i]];
    if (labels_.weight != nullptr) {
      sums_.assign(n_slots * n_classes, CompensatedSum{});
      for (std::int64_t i = 0; i < n; ++i) sums_[slot_[i] * n_classes + label[i]].add(labels_.weight[first + i]);
    }
    collect_dense(table_.in_order(), cells);
  }

  // Sorts rows by slot and counts the classes of each slot in turn: for many classes.
  void count_sparse(std::int64_t first, std::int64_t n, std::int64_t n_slots, std::vector<HistogramCell>& cells) {
    std::vector<std::int64_t> start(n_slots + 1, 0), next;
    for (std::int64_t i = 0; i < n; ++i) ++start[slot_[i] + 1];
    for (std::int64_t s = 0; s < n_slots; ++s) start[s + 1] += start[s];
    next = start;
    std::vector<std::int64_t> order(n);
    for (std::int64_t i = 0; i < n; ++i) order[next[slot_[i]]++] = first + i;
    rows_.assign(labels_.n_classes, 0);
    sums_.assign(labels_.weight != nullptr ? labels_.n_classes : 0, CompensatedSum{});
    std::vector<std::int32_t> classes;
    for (const auto [key, slot] : with_infinities(table_.in_order())) {
      classes.clear();
      for (std::int64_t k = start[slot]; k < start[slot + 1]; ++k) {
        const std::int32_t c = labels_.label[order[k]];
        if (rows_[c]++ == 0) classes.push_back(c);
        if (labels_.weight != nullptr) sums_[c].add(labels_.weight[order[k]]);
      }
      std::sort(classes.begin(), classes.end());
      for (const std::int32_t c : classes) {
        collect(key, c, c, cells);
        rows_[c] = 0;
        if (labels_.weight != nullptr) sums_[c] = {};
      }
    }
  }

  static std::vector<KeySlot> with_infinities(std::vector<KeySlot> keys) {
    keys.insert(keys.begin(), {kMinusInfinity, KeyTable::kBelow});
    keys.push_back({kPlusInfinity, KeyTable::kAbove});
    return keys;
  }

  void collect_dense(const std::vector<KeySlot>& keys, std::vector<HistogramCell>& cells) const {
    const std::int64_t n_classes = labels_.n_classes;
    cells.reserve(keys.size());
    for (const auto [key, slot] : with_infinities(keys))
      for (std::int64_t c = 0; c < n_classes; ++c) collect(key, c, slot * n_classes + c, cells);
  }

  void collect(std::int64_t key, std::int64_t c, std::int64_t at, std::vector<HistogramCell>& cells) const {
    if (rows_[at] == 0) return;
    const double weight = labels_.weight != nullptr ? sums_[at].total() : rows_[at];
    cells.push_back({key, static_cast<std::int32_t>(c), weight, rows_[at]});
  }

  const Labels& labels_;
  std::int64_t cap_;
  KeyTable table_;
  support::Buffer<std::int32_t> slot_;
  std::int64_t n_reserved_ = 0;
  std::vector<std::int32_t> rows_;  // a chunk has fewer than 2^31
  std::vector<CompensatedSum> sums_;
};

// Calls f(counter, task) for all tasks with one counter for each thread, whose tables are allocated once.
template <class F>
void parallel_with_counters(std::int64_t tasks, const Labels& labels, std::int64_t cap, int n_threads, F&& f) {
  std::atomic<std::int64_t> next{0};
  support::parallel_for(std::min<std::int64_t>(std::max(n_threads, 1), tasks), n_threads, [&](std::int64_t) {
    ColumnCounter counter(labels, cap);
    for (std::int64_t task; (task = next.fetch_add(1)) < tasks;) f(counter, task);
  });
}

// Raises the column to a level; cells of the same key are added up in the order of their old keys.
void raise(HistogramColumn& column, int level) {
  if (level == column.level) return;
  const int by = level - column.level;
  column.level = level;
  for (HistogramCell& cell : column.cells)
    if (!is_infinite(cell.key)) cell.key >>= by;
  for (auto first = column.cells.begin(); first != column.cells.end();) {  // the keys are still in order
    const auto last = std::find_if(first, column.cells.end(), [&](const auto& cell) { return cell.key != first->key; });
    std::stable_sort(first, last, [](const HistogramCell& a, const HistogramCell& b) { return a.label < b.label; });
    first = last;
  }
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

std::vector<HistogramColumn> count_histogram(const std::vector<Matrix>& pieces, const Labels& labels, std::int64_t cap,
                                             const std::int64_t* min_level, int n_threads) {
  support::check_labels(labels);
  const std::vector<ColumnGroup> groups = group_columns(pieces);
  const auto n_groups = static_cast<std::int64_t>(groups.size());
  const std::int64_t n = labels.n, chunks = std::max<std::int64_t>(1, (n + kChunkRows - 1) / kChunkRows);
  const auto n_columns = groups.empty() ? 0 : groups.back().column + groups.back().width;
  std::vector<int> level(n_columns, 0);
  if (min_level != nullptr)
    for (std::int64_t j = 0; j < n_columns; ++j) level[j] = static_cast<int>(min_level[j]);
  // The first chunk is counted alone, because others begin at its level. The others follow some at a time, which bounds
  // the memory; these are enough to keep all threads busy with a single column.
  const std::int64_t at_once = std::max<std::int64_t>(1, 64 / std::max<std::int64_t>(1, n_groups));
  std::vector<HistogramColumn> columns(n_columns);
  for (std::int64_t start = 0, n_now = 1; start < chunks; start += n_now, n_now = std::min(at_once, chunks - start)) {
    std::vector<std::vector<HistogramColumn>> parts(n_now, std::vector<HistogramColumn>(n_columns));
    parallel_with_counters(n_groups * n_now, labels, cap, n_threads, [&](ColumnCounter& counter, std::int64_t task) {
      const ColumnGroup& group = groups[task / n_now];
      const std::int64_t from = (start + task % n_now) * kChunkRows, rows = std::min(kChunkRows, n - from);
      std::vector<double> buffer;
      const double* x = group.read(from, 1, rows, buffer);
      for (std::int64_t j = 0; j < group.width; ++j)
        parts[task % n_now][group.column + j] = counter.count(x + j * rows, from, rows, level[group.column + j]);
    });
    support::parallel_for(n_columns, n_threads, [&](std::int64_t j) {
      for (auto& part : parts)
        columns[j] = start == 0 ? std::move(part[j]) : merge(std::move(columns[j]), std::move(part[j]), 1, cap);
      level[j] = columns[j].level;
    });
  }
  return columns;
}

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
