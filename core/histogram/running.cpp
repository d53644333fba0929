#include "histogram/running.hpp"

#include <algorithm>

#include "histogram/columns.hpp"
#include "support/threads.hpp"

namespace naively::histogram {
namespace {

constexpr std::int64_t TILE = TilesByClass::TILE;  // rows whose slots are found, and then tallied from the cache
static_assert(TILE <= dense::RunningMoments::most);

}  // namespace

Running::Running(std::int64_t n_columns, std::int64_t n_classes, std::int64_t cap)
    : n_classes_(n_classes), cap_(cap), by_class_(n_classes) {
  counts_.reserve(n_columns);
  for (std::int64_t j = 0; j < n_columns; ++j)
    counts_.push_back({KeyTable(cap), std::vector<std::int64_t>((cap + KeyTable::FIRST) * n_classes), nullptr});
}

std::vector<Column> Running::add(const std::vector<cells::Gapped>& columns, const Labels& labels, int n_jobs) {
  cells::check_labels(labels);
  std::vector<Column> left(n_columns());
  by_class_.begin(labels.label, labels.n);
  support::parallel_for(n_columns(), n_jobs, [&](std::int64_t j) { count(counts_[j], columns[j], labels, left[j]); });
  return left;
}

// Tile by tile, so that all is done from the cache.
void Running::count(Counts& counts, const cells::Gapped& x, const Labels& labels, Column& left) {
  if (!counts.begun && labels.n > 0) begin(counts, x, labels.n);
  double buffer[TILE];
  std::int32_t slot[TILE];
  std::uint32_t cell[TILE];  // of 2^32 at most, as the bindings see to
  for (std::int64_t start = 0; start < labels.n; start += TILE) {
    const std::int64_t some = std::min(TILE, labels.n - start);
    const double* const values = x.numbers(start, some, buffer);
    counts.table.find(values, some, slot);
    if (const std::vector<std::int32_t> moved = counts.table.moved(); !moved.empty()) {
      if (const std::vector<std::int64_t> keys = counts.table.exact_keys(); !keys.empty())
        left = column(0, keys, counts.rows);
      join(counts, moved);
    }
    const std::int32_t* const label = labels.label + start;
    std::int64_t* const rows = counts.rows.data();
    for (std::int64_t i = 0; i < some; ++i) cell[i] = static_cast<std::uint32_t>(slot[i] * n_classes_ + label[i]);
    for (std::int64_t i = 0; i < some; ++i) ++rows[cell[i]];
    if (counts.table.level() == 0) continue;
    if (!counts.moments) counts.moments = std::make_unique<dense::RunningMoments>(n_classes_);
    by_class_.each(
        start, [&](std::int32_t c, const std::uint16_t* place, int n) { counts.moments->add(c, values, place, n); });
  }
}

// At the level that some of the first rows need.
void Running::begin(Counts& counts, const cells::Gapped& x, std::int64_t n) const {
  const std::int64_t step = std::max<std::int64_t>(1, n / SAMPLE);
  std::vector<double> some;
  double value;
  for (std::int64_t i = 0; i < n; i += step) some.push_back(*x.numbers(i, 1, &value));
  std::vector<std::int32_t> slots(some.size());
  counts.table.reset(0);
  counts.table.find(some.data(), static_cast<std::int64_t>(some.size()), slots.data());
  counts.table.reset(counts.table.level());
  counts.begun = true;
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
  for (const Counts& counts : counts_)
    columns.push_back(column(counts.table.level(), counts.table.keys(), counts.rows));
  return columns;
}

void Running::moments(dense::Cells out) {
  for (std::int64_t j = 0; j < n_columns(); ++j) {
    for (std::int64_t c = 0; c < n_classes_; ++c) out.put(c * out.columns + j, {});
    if (counts_[j].moments) counts_[j].moments->write(out, j);
  }
}

}  // namespace naively::histogram
