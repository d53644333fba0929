#include "histogram/histogram.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

#include "histogram/columns.hpp"
#include "histogram/key_table.hpp"
#include "support/threads.hpp"

namespace naively::histogram {
namespace {

constexpr std::int64_t CHUNK = std::int64_t{1} << 17;  // rows of a column counted at once
constexpr std::int64_t TILE = 1024;                    // rows whose slots are found, and then tallied from the cache

// A sum that keeps what rounding takes from it (Neumaier 1974).
struct Sum {
  double value = 0, error = 0;
  void add(double x) {
    const double sum = value + x;
    error += std::abs(value) >= std::abs(x) ? (value - sum) + x : (x - sum) + value;
    value = sum;
  }
};

// Counts one column of one chunk after the other; its memory is reused.
class Counter {
 public:
  Counter(const Labels& labels, std::int64_t cap) : labels_(labels), cap_(cap), table_(cap) {}

  // n numbers, those of the rows from `first` on; all levels below `level` are known not to fit.
  Column count(const double* x, std::int64_t first, std::int64_t n, int level) {
    table_.reset(level);
    const std::int64_t most = cap_ + KeyTable::FIRST;
    if (labels_.weight == nullptr && most * labels_.n_classes <= std::max<std::int64_t>(1 << 12, 4 * n))
      return tally_at_once(x, first, n, most);
    make_room(n);
    table_.find(x, n, slot_.get());
    Column column{table_.level(), {}};
    const auto n_slots = static_cast<std::int64_t>(table_.keys().size()) + KeyTable::FIRST;
    if (n_slots * labels_.n_classes <= std::max<std::int64_t>(1 << 12, 4 * n))
      tally_densely(first, n, n_slots, column.cells);
    else
      tally_sparsely(first, n, n_slots, column.cells);
    return column;
  }

 private:
  void make_room(std::int64_t n) {
    if (n > room_) slot_.resize(room_ = n);
  }

  // A table slot × class with room for `most` slots, tile by tile; its lines join when slots do.
  Column tally_at_once(const double* x, std::int64_t first, std::int64_t n, std::int64_t most) {
    const std::int64_t n_classes = labels_.n_classes;
    make_room(TILE);
    rows_.assign(most * n_classes, 0);
    for (std::int64_t from = 0; from < n; from += TILE) {
      const std::int64_t some = std::min(TILE, n - from);
      table_.find(x + from, some, slot_.get());
      if (const std::vector<std::int32_t> moved = table_.moved(); !moved.empty()) {
        const std::vector<std::int32_t> old = rows_;
        rows_.assign(most * n_classes, 0);
        for (std::size_t s = 0; s < moved.size(); ++s)
          for (std::int64_t c = 0; c < n_classes; ++c) rows_[moved[s] * n_classes + c] += old[s * n_classes + c];
      }
      const std::int32_t* label = labels_.label + first + from;
      for (std::int64_t i = 0; i < some; ++i) ++rows_[slot_[i] * n_classes + label[i]];
    }
    Column column{table_.level(), {}};
    for (const std::int32_t slot : slots_in_order(table_.keys()))
      for (std::int64_t c = 0; c < n_classes; ++c) collect(slot, c, slot * n_classes + c, column.cells);
    return column;
  }

  // A table slot × class.
  void tally_densely(std::int64_t first, std::int64_t n, std::int64_t n_slots, std::vector<Cell>& cells) {
    const std::int32_t* label = labels_.label + first;
    const std::int64_t n_classes = labels_.n_classes;
    rows_.assign(n_slots * n_classes, 0);
    for (std::int64_t i = 0; i < n; ++i) ++rows_[slot_[i] * n_classes + label[i]];
    if (labels_.weight != nullptr) {
      sums_.assign(n_slots * n_classes, Sum{});
      for (std::int64_t i = 0; i < n; ++i) sums_[slot_[i] * n_classes + label[i]].add(labels_.weight[first + i]);
    }
    for (const std::int32_t slot : slots_in_order(table_.keys()))
      for (std::int64_t c = 0; c < n_classes; ++c) collect(slot, c, slot * n_classes + c, cells);
  }

  // Rows sorted by slot, and a line of classes for each slot in turn: for many classes.
  void tally_sparsely(std::int64_t first, std::int64_t n, std::int64_t n_slots, std::vector<Cell>& cells) {
    std::vector<std::int64_t> start(n_slots + 1, 0), next;
    for (std::int64_t i = 0; i < n; ++i) ++start[slot_[i] + 1];
    for (std::int64_t s = 0; s < n_slots; ++s) start[s + 1] += start[s];
    next = start;
    std::vector<std::int64_t> order(n);
    for (std::int64_t i = 0; i < n; ++i) order[next[slot_[i]]++] = first + i;
    rows_.assign(labels_.n_classes, 0);
    sums_.assign(labels_.weight != nullptr ? labels_.n_classes : 0, Sum{});
    std::vector<std::int32_t> seen;
    for (const std::int32_t slot : slots_in_order(table_.keys())) {
      seen.clear();
      for (std::int64_t k = start[slot]; k < start[slot + 1]; ++k) {
        const std::int32_t c = labels_.label[order[k]];
        if (rows_[c]++ == 0) seen.push_back(c);
        if (labels_.weight != nullptr) sums_[c].add(labels_.weight[order[k]]);
      }
      std::sort(seen.begin(), seen.end());
      for (const std::int32_t c : seen) {
        collect(slot, c, c, cells);
        rows_[c] = 0;
        if (labels_.weight != nullptr) sums_[c] = {};
      }
    }
  }

  void collect(std::int32_t slot, std::int64_t c, std::int64_t at, std::vector<Cell>& cells) const {
    if (rows_[at] == 0) return;
    const double weight = labels_.weight != nullptr ? sums_[at].value + sums_[at].error : rows_[at];
    cells.push_back({key_at(table_.keys(), slot), static_cast<std::int32_t>(c), weight, rows_[at]});
  }

  const Labels& labels_;
  std::int64_t cap_;
  KeyTable table_;
  cells::Buffer<std::int32_t> slot_;
  std::int64_t room_ = 0;
  std::vector<std::int32_t> rows_;  // a chunk has fewer than 2^31
  std::vector<Sum> sums_;
};

// Calls f(counter, task) for all tasks, with a counter for each thread: its tables are made once.
template <class F>
void parallel_with_counters(std::int64_t tasks, const Labels& labels, std::int64_t cap, int n_jobs, F&& f) {
  std::atomic<std::int64_t> next{0};
  support::parallel_for(std::min<std::int64_t>(std::max(n_jobs, 1), tasks), n_jobs, [&](std::int64_t) {
    Counter counter(labels, cap);
    for (std::int64_t task; (task = next.fetch_add(1)) < tasks;) f(counter, task);
  });
}

}  // namespace

std::vector<Column> count_histogram(const std::vector<Matrix>& pieces, const Labels& labels, std::int64_t cap,
                                    const std::int64_t* at_least, int n_jobs) {
  cells::check_labels(labels);
  const std::vector<Strip> strips = strips_of(pieces);
  const auto n_strips = static_cast<std::int64_t>(strips.size());
  const std::int64_t n = labels.n, chunks = std::max<std::int64_t>(1, (n + CHUNK - 1) / CHUNK);
  const auto n_columns = strips.empty() ? 0 : strips.back().column + strips.back().width;
  std::vector<int> level(n_columns, 0);
  if (at_least != nullptr)
    for (std::int64_t j = 0; j < n_columns; ++j) level[j] = static_cast<int>(at_least[j]);
  else if (n > SAMPLE)
    support::parallel_for(n_strips, n_jobs, [&](std::int64_t s) {
      std::vector<double> buffer;
      const double* x = strips[s].read(0, n / SAMPLE, SAMPLE, buffer);
      for (std::int64_t j = 0; j < strips[s].width; ++j)
        level[strips[s].column + j] = level_of(x + j * SAMPLE, SAMPLE, cap);
    });
  // The first chunk alone, because others may begin at its level; then some at a time, which bounds the memory, and
  // enough of them that a single column keeps all threads busy.
  const std::int64_t at_once = std::max<std::int64_t>(1, 64 / std::max<std::int64_t>(1, n_strips));
  std::vector<Column> columns(n_columns);
  for (std::int64_t start = 0, some = 1; start < chunks; start += some, some = std::min(at_once, chunks - start)) {
    std::vector<std::vector<Column>> parts(some, std::vector<Column>(n_columns));
    parallel_with_counters(n_strips * some, labels, cap, n_jobs, [&](Counter& counter, std::int64_t task) {
      const Strip& strip = strips[task / some];
      const std::int64_t from = (start + task % some) * CHUNK, rows = std::min(CHUNK, n - from);
      std::vector<double> buffer;
      const double* x = strip.read(from, 1, rows, buffer);
      for (std::int64_t j = 0; j < strip.width; ++j)
        parts[task % some][strip.column + j] = counter.count(x + j * rows, from, rows, level[strip.column + j]);
    });
    support::parallel_for(n_columns, n_jobs, [&](std::int64_t j) {
      for (auto& part : parts) columns[j] = merge(std::move(columns[j]), std::move(part[j]), 1, cap);
      level[j] = columns[j].level;
    });
  }
  return columns;
}

void find_bins(const double* values, const std::int64_t* ends, std::int64_t n_columns, const double* cuts,
               const std::int64_t* offsets, std::int64_t* out, int n_jobs) {
  constexpr std::int64_t TOGETHER = 64;  // columns of a task: they may be short
  support::parallel_for((n_columns + TOGETHER - 1) / TOGETHER, n_jobs, [&](std::int64_t task) {
    for (std::int64_t j = task * TOGETHER; j < std::min(n_columns, (task + 1) * TOGETHER); ++j) {
      const double *first = cuts + offsets[j], *last = cuts + offsets[j + 1];
      for (std::int64_t i = ends[j]; i < ends[j + 1]; ++i)
        out[i] = values[i] != values[i] ? -1 : offsets[j] + j + (std::upper_bound(first, last, values[i]) - first);
    }
  });
}

void score_bins(const std::vector<Matrix>& pieces, const double* cuts, const std::int64_t* offsets, const double* table,
                std::int64_t n_classes, double* out, int n_jobs) {
  constexpr std::int64_t ROWS = 512;
  const std::int64_t n = pieces.empty() ? 0 : pieces[0].n;
  support::parallel_for((n + ROWS - 1) / ROWS, n_jobs, [&](std::int64_t tile) {
    const std::int64_t from = tile * ROWS, rows = std::min(ROWS, n - from);
    double buffer[ROWS];
    std::int64_t bin[ROWS], column = 0;
    for (const Matrix& x : pieces)
      for (std::int64_t j = 0; j < x.p; ++j, ++column) {
        const double* cut = cuts + offsets[column];
        const std::int64_t n_cuts = offsets[column + 1] - offsets[column];
        const double* bins = table + (offsets[column] + column) * n_classes;
        const double* values = x.values.read(from * x.row_step + j * x.column_step, x.row_step, rows, buffer);
        // Halve the cuts for all rows of the tile at once: no branch depends on a value, and rows do not wait.
        std::fill_n(bin, rows, 0);
        for (std::int64_t left = n_cuts; left > 0;) {
          const std::int64_t half = (left + 1) / 2;
          for (std::int64_t i = 0; i < rows; ++i)
            bin[i] += half & -static_cast<std::int64_t>(cut[bin[i] + half - 1] <= values[i]);
          left -= half;
        }
        for (std::int64_t i = 0; i < rows; ++i) {
          if (values[i] != values[i]) continue;
          const double* term = bins + bin[i] * n_classes;
          for (std::int64_t c = 0; c < n_classes; ++c) out[(from + i) * n_classes + c] += term[c];
        }
      }
  });
}

}  // namespace naively::histogram
