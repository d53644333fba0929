// Histograms and moments of columns whose rows come in batches: what `count_histogram` finds in all rows at once,
// without a histogram for each batch. Each column keeps its table of keys, and its counts by slot and class, from batch
// to batch.
//
// A column at level 0 tells its values, so its moments are those of its cells, which the caller takes when it leaves
// that level or in the end; only from then on are rows added up, tile by tile, while they are in the cache.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "counts/arrow_columns.hpp"
#include "histogram/histogram.hpp"
#include "histogram/key_table.hpp"
#include "histogram/tiles_by_class.hpp"
#include "moments/running.hpp"

namespace naively::histogram {

class Running {
 public:
  Running(std::int64_t n_columns, std::int64_t n_classes, std::int64_t cap);
  Running(const Running&) = delete;

  // Rows without weights. For each column that left level 0 in this batch what it had counted exactly until then.
  std::vector<Column> add(const std::vector<cells::Gapped>& columns, const Labels& labels, int n_jobs);
  std::vector<Column> columns() const;
  void moments(dense::Cells out);  // of the rows that came after their column had left level 0
  std::int64_t n_columns() const { return static_cast<std::int64_t>(counts_.size()); }
  std::int64_t n_classes() const { return n_classes_; }

 private:
  struct Counts {
    KeyTable table;
    std::vector<std::int64_t> rows;  // (slot, class)
    std::unique_ptr<dense::RunningMoments> moments;
    bool begun = false;
  };

  void count(Counts& counts, const cells::Gapped& x, const Labels& labels, Column& left);
  void begin(Counts& counts, const cells::Gapped& x, std::int64_t n) const;
  void join(Counts& counts, const std::vector<std::int32_t>& moved) const;
  Column column(int level, const std::vector<std::int64_t>& keys, const std::vector<std::int64_t>& rows) const;

  std::int64_t n_classes_, cap_;
  std::vector<Counts> counts_;
  TilesByClass by_class_;
};

}  // namespace naively::histogram
