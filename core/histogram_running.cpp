#include "histogram_running.hpp"

#include <algorithm>
#include <stdexcept>

#include "column_strips.hpp"
#include "threads.hpp"

namespace naively::histogram {

Running::Running(std::int64_t n_columns, std::int64_t n_classes, std::int64_t cap) : n_classes_(n_classes), cap_(cap) {
  counts_.reserve(n_columns);
  for (std::int64_t j = 0; j < n_columns; ++j)
    counts_.push_back({KeyTable(cap), std::vector<std::int64_t>((cap + KeyTable::FIRST) * n_classes)});
}

Running::Added Running::add(const std::vector<Matrix>& pieces, const Labels& labels, int n_jobs) {
  cells::check_labels(labels);
  const std::vector<Strip> strips = strips_of(pieces);
  Added added{std::vector<std::int64_t>(n_columns()), std::vector<Column>(n_columns())};
  parallel_for(static_cast<std::int64_t>(strips.size()), n_jobs, [&](std::int64_t s) {
    std::vector<double> buffer;
    const double* x = strips[s].read(0, 1, labels.n, buffer);
    for (std::int64_t j = strips[s].column, k = 0; k < strips[s].width; ++j, ++k)
      added.from[j] = count(counts_[j], x + k * labels.n, labels, added.left[j]);
  });
  return added;
}

// Tile by tile, so that slots are tallied from the cache. Returns the row from which on values are not told exactly.
std::int64_t Running::count(Counts& counts, const double* x, const Labels& labels, Column& left) const {
  constexpr std::int64_t TILE = 1024;
  if (!counts.begun && labels.n > 0) {
    std::vector<double> some;
    for (std::int64_t i = 0, step = std::max<std::int64_t>(1, labels.n / SAMPLE); i < labels.n; i += step)
      some.push_back(x[i]);
    counts.table.reset(level_of(some.data(), static_cast<std::int64_t>(some.size()), cap_));
    counts.begun = true;
  }
  std::int64_t from = counts.table.level() == 0 ? labels.n : 0;
  std::int32_t slot[TILE];
  for (std::int64_t start = 0; start < labels.n; start += TILE) {
    const std::int64_t some = std::min(TILE, labels.n - start);
    counts.table.find(x + start, some, slot);
    if (const std::vector<std::int32_t> moved = counts.table.moved(); !moved.empty()) {
      if (const std::vector<std::int64_t> keys = counts.table.exact_keys(); !keys.empty()) {
        left = column(0, keys, counts.rows);
        from = start;
      }
      join(counts, moved);
    }
    const std::int32_t* const label = labels.label + start;
    std::int64_t* const rows = counts.rows.data();
    for (std::int64_t i = 0; i < some; ++i) ++rows[slot[i] * n_classes_ + label[i]];
  }
  return from;
}

// The lines of slots that have become one.
void Running::join(Counts& counts, const std::vector<std::int32_t>& moved) const {
  std::vector<std::int64_t> joined(counts.rows.size());
  for (std::size_t s = 0; s < moved.size(); ++s)
    for (std::int64_t c = 0; c < n_classes_; ++c)
      joined[moved[s] * n_classes_ + c] += counts.rows[static_cast<std::int64_t>(s) * n_classes_ + c];
  counts.rows.swap(joined);
}

Column Running::column(int level, const std::vector<std::int64_t>& keys, const std::vector<std::int64_t>& rows) const {
  Column column{level, {}};
  for (const std::int32_t slot : slots_in_order(keys))
    for (std::int64_t c = 0; c < n_classes_; ++c)
      if (const std::int64_t n = rows[slot * n_classes_ + c]; n != 0)
        column.cells.push_back({key_at(keys, slot), static_cast<std::int32_t>(c), static_cast<double>(n), n});
  return column;
}

std::vector<Column> Running::columns() const {
  std::vector<Column> columns;
  for (const Counts& counts : counts_) columns.push_back(column(counts.table.level(), counts.table.keys(), counts.rows));
  return columns;
}

}  // namespace naively::histogram
