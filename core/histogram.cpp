#include "histogram.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "key_table.hpp"
#include "threads.hpp"

namespace naively::histogram {
namespace {

constexpr std::int64_t CHUNK = std::int64_t{1} << 17;   // rows of a column counted at once
constexpr std::int64_t SAMPLE = std::int64_t{1} << 14;  // rows that are looked at for the level to begin with
constexpr std::int64_t STRIP = 8;                       // columns read together when rows lie in a row: a cache line

// A sum that keeps what rounding takes from it (Neumaier 1974).
struct Sum {
  double value = 0, error = 0;
  void add(double x) {
    const double sum = value + x;
    error += std::abs(value) >= std::abs(x) ? (value - sum) + x : (x - sum) + value;
    value = sum;
  }
};

// Slots in the order of their keys, −infinity first and +infinity last; without the missing.
std::vector<std::int32_t> slots_in_order(const std::vector<std::int64_t>& keys) {
  std::vector<std::pair<std::int64_t, std::int32_t>> order(keys.size());
  for (std::size_t s = 0; s < keys.size(); ++s) order[s] = {keys[s], static_cast<std::int32_t>(s)};
  sort_from_sorted(order);
  std::vector<std::int32_t> slots{KeyTable::BELOW};
  for (const auto& [key, s] : order) slots.push_back(s + KeyTable::FIRST);
  slots.push_back(KeyTable::ABOVE);
  return slots;
}

std::int64_t key_at(const std::vector<std::int64_t>& keys, std::int32_t slot) {
  if (slot >= KeyTable::FIRST) return keys[slot - KeyTable::FIRST];
  return slot == KeyTable::BELOW ? MINUS_INFINITY : PLUS_INFINITY;
}

// Counts one column of one chunk after the other; its memory is reused.
class Counter {
 public:
  Counter(const Labels& labels, std::int64_t cap) : labels_(labels), table_(cap) {}

  int level_of(const double* x, std::int64_t n) {
    table_.reset(0);
    make_room(n);
    table_.find(x, n, slot_.get());
    return table_.level();
  }

  // n numbers, those of the rows from `first` on; all levels below `level` are known not to fit.
  Column count(const double* x, std::int64_t first, std::int64_t n, int level) {
    table_.reset(level);
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

  // A table slot × class.
  void tally_densely(std::int64_t first, std::int64_t n, std::int64_t n_slots, std::vector<Cell>& cells) {
    const std::int32_t* label = labels_.label + first;
    const std::int64_t n_classes = labels_.n_classes;
    rows_.assign(n_slots * n_classes, 0);
    for (std::int64_t i = 0; i < n; ++i) ++rows_[slot_[i] * n_classes + label[i]];
    if (labels_.weight != nullptr) {
      sums_.assign(n_slots * n_classes, Sum{});
      for (std::int64_t i = 0; i < n; ++i)
        sums_[slot_[i] * n_classes + label[i]].add(labels_.weight[first + i]);
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
  KeyTable table_;
  cells::Buffer<std::int32_t> slot_;
  std::int64_t room_ = 0;
  std::vector<std::int32_t> rows_;  // a chunk has fewer than 2^31
  std::vector<Sum> sums_;
};

// Neighbouring columns of one piece, which are read and counted by one task after the other.
struct Strip {
  const Matrix* x;
  std::int64_t first, width, column;  // its first column within the piece, and among all

  // Numbers of `n` rows, from `from` on and `step` apart, of each column; n apart in `buffer` unless read in place.
  const double* read(std::int64_t from, std::int64_t step, std::int64_t n, std::vector<double>& buffer) const {
    const std::int64_t at = from * x->row_step + first * x->column_step, row = step * x->row_step;
    if (width == 1) {
      buffer.resize(n);
      return x->values.read(at, row, n, buffer.data());
    }
    buffer.resize(n * width);
    cells::with_type(x->values.type, [&](auto* kind) {
      const auto* data = static_cast<decltype(kind)>(x->values.data) + at;
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < width; ++j)
          buffer[j * n + i] = static_cast<double>(data[i * row + j * x->column_step]);
    });
    return buffer.data();
  }
};

std::vector<Strip> strips_of(const std::vector<Matrix>& pieces) {
  std::vector<Strip> strips;
  std::int64_t column = 0;
  for (const Matrix& x : pieces) {
    const std::int64_t wide = x.by_columns() || x.p == 1 ? 1 : STRIP;
    for (std::int64_t j = 0; j < x.p; j += wide) {
      const std::int64_t width = std::min(wide, x.p - j);
      strips.push_back({&x, j, width, column});
      column += width;
    }
  }
  return strips;
}

}  // namespace

std::vector<Column> count_histogram(const std::vector<Matrix>& pieces, const Labels& labels, std::int64_t cap,
                                    int n_jobs) {
  cells::check_labels(labels);
  const std::vector<Strip> strips = strips_of(pieces);
  const std::int64_t n = labels.n, chunks = std::max<std::int64_t>(1, (n + CHUNK - 1) / CHUNK);
  const auto n_columns = strips.empty() ? 0 : strips.back().column + strips.back().width;
  // The keys of some rows fit at the level of all rows, so that all chunks may begin there, and seldom have to rise.
  std::vector<int> level(n_columns, 0);
  if (n > SAMPLE)
    parallel_for(static_cast<std::int64_t>(strips.size()), n_jobs, [&](std::int64_t s) {
      std::vector<double> buffer;
      Counter counter(labels, cap);
      const double* x = strips[s].read(0, n / SAMPLE, SAMPLE, buffer);
      for (std::int64_t j = 0; j < strips[s].width; ++j)
        level[strips[s].column + j] = counter.level_of(x + j * SAMPLE, SAMPLE);
    });
  // Some chunks at a time, which bounds the memory, and enough of them that a single column keeps all threads busy.
  const std::int64_t n_strips = std::max<std::int64_t>(1, static_cast<std::int64_t>(strips.size()));
  const std::int64_t at_once = std::max<std::int64_t>(1, 64 / n_strips);
  std::vector<Column> columns(n_columns);
  for (std::int64_t start = 0; start < chunks; start += at_once) {
    const std::int64_t some = std::min(at_once, chunks - start);
    std::vector<std::vector<Column>> parts(some, std::vector<Column>(n_columns));
    parallel_for(static_cast<std::int64_t>(strips.size()) * some, n_jobs, [&](std::int64_t task) {
      const Strip& strip = strips[task / some];
      const std::int64_t from = (start + task % some) * CHUNK, rows = std::min(CHUNK, n - from);
      std::vector<double> buffer;
      Counter counter(labels, cap);
      const double* x = strip.read(from, 1, rows, buffer);
      for (std::int64_t j = 0; j < strip.width; ++j)
        parts[task % some][strip.column + j] = counter.count(x + j * rows, from, rows, level[strip.column + j]);
    });
    parallel_for(n_columns, n_jobs, [&](std::int64_t j) {
      for (auto& part : parts) columns[j] = merge(std::move(columns[j]), std::move(part[j]), 1, cap);
    });
  }
  return columns;
}

void score_bins(const std::vector<Matrix>& pieces, const double* cuts, const std::int64_t* offsets,
                const double* table, std::int64_t n_classes, double* out, int n_jobs) {
  constexpr std::int64_t TILE = 512;
  const std::int64_t n = pieces.empty() ? 0 : pieces[0].n;
  parallel_for((n + TILE - 1) / TILE, n_jobs, [&](std::int64_t tile) {
    const std::int64_t from = tile * TILE, rows = std::min(TILE, n - from);
    double buffer[TILE];
    std::int64_t bin[TILE], column = 0;
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
