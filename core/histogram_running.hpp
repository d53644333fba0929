// Histograms of columns whose rows come in batches: what `count_histogram` finds in all rows at once, without a
// histogram for each batch. Each column keeps its table of keys, and its counts by slot and class, from batch to batch.
#pragma once
#include <cstdint>
#include <vector>

#include "histogram.hpp"
#include "key_table.hpp"

namespace naively::histogram {

class Running {
 public:
  Running(std::int64_t n_columns, std::int64_t n_classes, std::int64_t cap);
  Running(const Running&) = delete;

  // What one batch did: `from` is, for each column, the first of its rows whose values are no longer told exactly, and
  // `left` what the column had counted exactly until then, if it left level 0 in this batch.
  struct Added {
    std::vector<std::int64_t> from;
    std::vector<Column> left;
  };

  // Rows without weights.
  Added add(const std::vector<Matrix>& pieces, const Labels& labels, int n_jobs);
  std::vector<Column> columns() const;
  std::int64_t n_columns() const { return static_cast<std::int64_t>(counts_.size()); }
  std::int64_t n_classes() const { return n_classes_; }

 private:
  struct Counts {
    KeyTable table;
    std::vector<std::int64_t> rows;  // (slot, class)
    bool begun = false;
  };

  std::int64_t count(Counts& counts, const double* x, const Labels& labels, Column& left) const;
  void join(Counts& counts, const std::vector<std::int32_t>& moved) const;
  Column column(int level, const std::vector<std::int64_t>& keys, const std::vector<std::int64_t>& rows) const;

  std::int64_t n_classes_, cap_;
  std::vector<Counts> counts_;
};

}  // namespace naively::histogram
