#include "leave_one_out/values.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "leave_one_out/log_table.hpp"
#include "support/threads.hpp"

namespace naively::cells {
namespace {

constexpr std::int64_t kChunk = 64;  // rows

class Values {
 public:
  Values(const LeavingValues& leaving, const ValueSlots& slots)
      : leaving_(leaving),
        slots_(slots),
        total_(slots.n_columns * slots.n_classes),
        row_total_(total_.size()),
        log_total_(total_.size()),
        lends_(slots.n_columns) {
    for (std::int64_t j = 0; j < slots.n_columns; ++j) add_up(j);
    // Where many slots are asked for by few rows most of the logarithms would be for nothing.
    if (slots.n_slots <= leaving.n * slots.n_columns) {
      log_count_.resize(slots.n_slots * slots.n_classes);
      for (std::size_t at = 0; at < log_count_.size(); ++at)
        log_count_[at] = log_of(slots.weight[at] + slots.alpha[at]);
    }
  }

  // Row-major, as one reads.
  ValueNotCounted first_not_counted() const {
    for (std::int64_t i = 0; i < leaving_.n; ++i)
      for (std::int64_t j = 0; j < slots_.n_columns; ++j) {
        const std::int64_t k = slot(i, j);
        if (k < 0) continue;
        const std::int64_t rows = slots_.rows[own(i, k)] - leaving_.rows[i];
        const double weight = slots_.weight[own(i, k)] - leaving_.weight[i];
        if (rows < 0 || weight < -1e-9 * (1.0 + leaving_.weight[i])) return {i, j, rows, weight};
      }
    return {};
  }

  void add(std::int64_t i, double* out) const {
    for (std::int64_t j = 0; j < slots_.n_columns; ++j, out += slots_.n_classes) {
      const std::int64_t k = slot(i, j);
      if (k >= 0 && slots_.lasting[k] - leaving_.rows[i] > 0) add(i, j, k, out);
    }
  }

 private:
  // N_jc, and whether some class has nothing in the column.
  void add_up(std::int64_t j) {
    const std::int64_t n = slots_.n_classes, last = j + 1 < slots_.n_columns ? slots_.start[j + 1] : slots_.n_slots;
    double* const total = &total_[j * n];
    for (std::int64_t k = slots_.start[j]; k < last; ++k)
      for (std::int64_t c = 0; c < n; ++c)
        total[c] += slots_.weight[k * n + c], row_total_[j * n + c] += slots_.rows[k * n + c];
    for (std::int64_t c = 0; c < n; ++c) {
      log_total_[j * n + c] = log_whole(total[c] + slots_.whole_alpha[j * n + c]);
      lends_[j] |= !(total[c] > 0);
    }
  }

  void add(std::int64_t i, std::int64_t j, std::int64_t k, double* out) const {
    const std::int64_t n = slots_.n_classes, of_column = j * n, of_slot = k * n, y = leaving_.label[i];
    const double had = slots_.weight[of_slot + y];
    const double left = slots_.rows[of_slot + y] > leaving_.rows[i] ? std::max(had - leaving_.weight[i], 0.0) : 0.0;
    const double left_total = total_[of_column + y] - had + left;
    const bool empty = row_total_[of_column + y] - leaving_.rows[i] <= 0 || left_total <= 0;
    double pooled = left, pooled_total = left_total;
    if (empty || lends_[j])  // the sums over all other classes, and never as differences, which would cancel
      for (std::int64_t c = 0; c < n; ++c)
        if (c != y) pooled += slots_.weight[of_slot + c], pooled_total += total_[of_column + c];
    const auto score = [&](std::int64_t c, double count, double total) {
      return log_of(count + slots_.alpha[of_slot + c]) - log_whole(total + slots_.whole_alpha[of_column + c]);
    };
    for (std::int64_t c = 0; c < n; ++c) {
      if (c == y)
        out[c] += empty ? score(c, pooled, pooled_total) : score(c, left, left_total);
      else if (!(total_[of_column + c] > 0))
        out[c] += score(c, pooled, pooled_total);
      else
        out[c] += log_count(of_slot + c) - log_total_[of_column + c];
    }
  }

  double log_count(std::int64_t at) const {
    return log_count_.empty() ? log_of(slots_.weight[at] + slots_.alpha[at]) : log_count_[at];
  }
  std::int64_t slot(std::int64_t i, std::int64_t j) const { return leaving_.slot[i * slots_.n_columns + j]; }
  std::int64_t own(std::int64_t i, std::int64_t k) const { return k * slots_.n_classes + leaving_.label[i]; }

  const LeavingValues& leaving_;
  const ValueSlots& slots_;
  std::vector<double> total_;
  std::vector<std::int64_t> row_total_;
  std::vector<double> log_total_;
  std::vector<char> lends_;
  std::vector<double> log_count_;  // empty: they are taken as they are needed
};

}  // namespace

ValueNotCounted leave_values_out(const LeavingValues& leaving, const ValueSlots& slots, double* out, int n_jobs) {
  const Values values(leaving, slots);
  const ValueNotCounted bad = values.first_not_counted();
  if (bad.row >= 0) return bad;
  support::parallel_for((leaving.n + kChunk - 1) / kChunk, n_jobs, [&](std::ptrdiff_t chunk) {
    for (std::int64_t i = chunk * kChunk; i < std::min<std::int64_t>((chunk + 1) * kChunk, leaving.n); ++i)
      values.add(i, out + i * slots.n_columns * slots.n_classes);
  });
  return {};
}

}  // namespace naively::cells
