#include "leave_one_out/values.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "leave_one_out/log_table.hpp"
#include "support/threads.hpp"

namespace naively::leave_one_out {
namespace {

constexpr std::int64_t kValueRows = 64;

class ValueScorer {
 public:
  ValueScorer(const ValueRows& rows, const ValueCells& cells)
      : rows_(rows),
        cells_(cells),
        total_(cells.n_columns * cells.n_classes),
        row_total_(total_.size()),
        log_total_(total_.size()),
        has_empty_class_(cells.n_columns) {
    for (std::int64_t j = 0; j < cells.n_columns; ++j) sum_column(j);
    // Few rows do not need the logarithms of many values.
    if (cells.n_values <= rows.n * cells.n_columns) {
      log_count_.resize(cells.n_values * cells.n_classes);
      for (std::size_t at = 0; at < log_count_.size(); ++at)
        log_count_[at] = log_of(cells.weight[at] + cells.alpha[at]);
    }
    if (cells.n_values * cells.n_classes <= rows.n * cells.n_columns && leave_one_by_one()) score_cells();
  }

  // Row by row.
  UncountedValue first_uncounted() const {
    for (std::int64_t i = 0; i < rows_.n; ++i)
      for (std::int64_t j = 0; j < cells_.n_columns; ++j) {
        const std::int64_t k = value(i, j);
        if (k < 0) continue;
        const std::int64_t rows = cells_.rows[own_cell(i, k)] - rows_.rows[i];
        const double weight = cells_.weight[own_cell(i, k)] - rows_.weight[i];
        if (rows < 0 || weight < -1e-9 * (1.0 + rows_.weight[i])) return {i, j, rows, weight};
      }
    return {};
  }

  void add(std::int64_t i, std::int64_t j, double* out) const {
    const std::int64_t k = value(i, j);
    if (k >= 0 && cells_.rows_until_unknown[k] - rows_.rows[i] > 0) add(i, j, k, out);
  }

 private:
  // N_jc, and whether a class has no counts in the column.
  void sum_column(std::int64_t j) {
    const std::int64_t n = cells_.n_classes, last = j + 1 < cells_.n_columns ? cells_.start[j + 1] : cells_.n_values;
    double* const total = &total_[j * n];
    for (std::int64_t k = cells_.start[j]; k < last; ++k)
      for (std::int64_t c = 0; c < n; ++c)
        total[c] += cells_.weight[k * n + c], row_total_[j * n + c] += cells_.rows[k * n + c];
    for (std::int64_t c = 0; c < n; ++c) {
      log_total_[j * n + c] = log_of_total(total[c] + cells_.total_alpha[j * n + c]);
      has_empty_class_[j] |= !(total[c] > 0);
    }
  }

  // What is left of a cell, and of its class in the column, when rows of a weight leave.
  struct Rest {
    double count, total;
    bool empty;
  };
  Rest rest_of(std::int64_t column, std::int64_t cell, std::int64_t rows, double weight) const {
    const double had = cells_.weight[cell];
    const double left = cells_.rows[cell] > rows ? std::max(had - weight, 0.0) : 0.0;
    const double left_total = total_[column] - had + left;
    return {left, left_total, row_total_[column] - rows <= 0 || left_total <= 0};
  }

  double score(std::int64_t column, std::int64_t cell, double count, double total) const {
    return log_of(count + cells_.alpha[cell]) - log_of_total(total + cells_.total_alpha[column]);
  }

  // Whether every row leaves as one row of weight 1, as it does in most tables.
  bool leave_one_by_one() const {
    for (std::int64_t i = 0; i < rows_.n; ++i)
      if (rows_.rows[i] != 1 || rows_.weight[i] != 1.0) return false;
    return true;
  }

  // The score of each cell without one row of its own; not a number where the class is then empty.
  void score_cells() {
    const std::int64_t n = cells_.n_classes;
    own_score_.resize(cells_.n_values * n);
    for (std::int64_t j = 0; j < cells_.n_columns; ++j) {
      const std::int64_t last = j + 1 < cells_.n_columns ? cells_.start[j + 1] : cells_.n_values;
      for (std::int64_t at = cells_.start[j] * n; at < last * n; ++at) {
        const Rest rest = rest_of(j * n + at % n, at, 1, 1.0);
        own_score_[at] = rest.empty ? NAN : score(j * n + at % n, at, rest.count, rest.total);
      }
    }
  }

  void add(std::int64_t i, std::int64_t j, std::int64_t k, double* out) const {
    const std::int64_t n = cells_.n_classes, column = j * n, cell = k * n, y = rows_.label[i];
    if (!has_empty_class_[j] && !own_score_.empty() && !std::isnan(own_score_[cell + y])) {
      for (std::int64_t c = 0; c < n; ++c)
        out[c] += c == y ? own_score_[cell + c] : log_count(cell + c) - log_total_[column + c];
      return;
    }
    const auto [left, left_total, empty] = rest_of(column + y, cell + y, rows_.rows[i], rows_.weight[i]);
    double pooled = left, pooled_total = left_total;
    if (empty || has_empty_class_[j])  // sums over all other classes; differences would cancel
      for (std::int64_t c = 0; c < n; ++c)
        if (c != y) pooled += cells_.weight[cell + c], pooled_total += total_[column + c];
    for (std::int64_t c = 0; c < n; ++c) {
      if (c == y)
        out[c] +=
            empty ? score(column + c, cell + c, pooled, pooled_total) : score(column + c, cell + c, left, left_total);
      else if (!(total_[column + c] > 0))
        out[c] += score(column + c, cell + c, pooled, pooled_total);
      else
        out[c] += log_count(cell + c) - log_total_[column + c];
    }
  }

  double log_count(std::int64_t at) const {
    return log_count_.empty() ? log_of(cells_.weight[at] + cells_.alpha[at]) : log_count_[at];
  }
  std::int64_t value(std::int64_t i, std::int64_t j) const { return rows_.value[i * cells_.n_columns + j]; }
  std::int64_t own_cell(std::int64_t i, std::int64_t k) const { return k * cells_.n_classes + rows_.label[i]; }

  const ValueRows& rows_;
  const ValueCells& cells_;
  std::vector<double> total_;
  std::vector<std::int64_t> row_total_;
  std::vector<double> log_total_;
  std::vector<char> has_empty_class_;
  std::vector<double> log_count_, own_score_;  // empty: computed when needed
};

}  // namespace

UncountedValue leave_values_out(const ValueRows& rows, const ValueCells& cells, const ScoreTable& out, int n_threads) {
  const ValueScorer scorer(rows, cells);
  const UncountedValue uncounted = scorer.first_uncounted();
  if (uncounted.row >= 0) return uncounted;
  support::parallel_for((rows.n + kValueRows - 1) / kValueRows, n_threads, [&](std::ptrdiff_t chunk) {
    const std::int64_t end = std::min<std::int64_t>((chunk + 1) * kValueRows, rows.n);
    for (std::int64_t j = 0; j < cells.n_columns; ++j)
      for (std::int64_t i = chunk * kValueRows; i < end; ++i) scorer.add(i, j, out.at(i, j));
  });
  return {};
}

}  // namespace naively::leave_one_out
