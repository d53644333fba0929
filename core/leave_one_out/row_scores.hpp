// How a row of tokens leaves the counts, and what is then said of it; see left_out.hpp.
#pragma once
#include <algorithm>
#include <vector>

#include "leave_one_out/own_row.hpp"
#include "leave_one_out/whole_scores.hpp"
#include "support/simd.hpp"

namespace naively::cells {

// Row number `row` with n tokens, `count` times each, which was `rows` rows of a cell for each of `times` (null: 1).
struct LeavingRow {
  std::int64_t row, n;
  const std::int32_t* index;
  const double* count;
  const std::int64_t* times;
  std::int32_t label;
  double weight;
  std::int64_t rows;
};

inline constexpr std::int64_t kAhead = 16;  // tokens asked for before the first is needed

class Reader {
 public:
  Reader(const TokenCells& cells, const Whole& whole) : cells_(cells), whole_(whole) {}

  // Looks up a row's cells, and appends what is left to the entries; false if one was never counted.
  bool read(const LeavingRow& leaves, OwnCells& own_cells, LeftRow& row, std::vector<LeftEntry>& entries,
            NotCounted& bad) const {
    row = {};
    row.label = leaves.label;
    row.weight = leaves.weight;
    own_cells.hold(leaves.label);
    for (std::int64_t e = 0; e < leaves.n; ++e) whole_.prefetch_place(leaves.index[e]);
    for (std::int64_t e = 0; e < std::min(kAhead, leaves.n); ++e) ask_for(leaves, own_cells, e);
    const std::size_t before = entries.size();
    for (std::int64_t e = 0; e < leaves.n; ++e) {
      if (e + kAhead < leaves.n) ask_for(leaves, own_cells, e + kAhead);
      const std::int64_t k = leaves.index[e];
      const Whole::Place place = whole_.place(k);
      if (!place.known()) continue;
      const Head& token = whole_.head(place);
      const auto [own, own_rows] = own_cells.of(k);
      const double x = leaves.count[e], taken = leaves.weight * x;
      const std::int64_t leaving = leaves.rows * (leaves.times ? leaves.times[e] : 1), left_rows = own_rows - leaving;
      if (left_rows < 0 || own - taken < -1e-9 * (1.0 + taken)) {
        bad = {leaves.row, k, left_rows, own - taken};
        return false;
      }
      const double left = left_rows > 0 ? std::max(own - taken, 0.0) : 0.0;
      row.removed += own - left;
      row.emptied += own_rows > 0 && left_rows == 0;
      if (token.rows - leaving <= 0) {
        if (cells_.shrinks) row.lost += cells_.alpha[k];
        continue;
      }
      const bool once = taken == 1 && own - left == 1;
      entries.push_back({place.at, place.size, static_cast<std::int32_t>(k), once, x, left, token.sum - own + left});
      row.length += x;
    }
    row.size = static_cast<std::int64_t>(entries.size() - before);
    return true;
  }

 private:
  void ask_for(const LeavingRow& leaves, const OwnCells& own, std::int64_t e) const {
    const Whole::Place place = whole_.place(leaves.index[e]);
    if (!place.known()) return;
    whole_.prefetch_head(place);
    own.prefetch(leaves.index[e]);
  }

  const TokenCells& cells_;
  const Whole& whole_;
};

struct Weighted {  // x times as much as `values` say
  const double* values;
  double x;
};

// Four at a time: the sums are then read and written a quarter as often.
template <bool fused>
NAIVELY_INLINE void add_four_as(const Weighted* four, double* __restrict part, std::size_t n) {
  const auto [a, x] = four[0];
  const auto [b, y] = four[1];
  const auto [c, z] = four[2];
  const auto [d, w] = four[3];
  for (std::size_t k = 0; k < n; ++k) part[k] += (x * a[k] + y * b[k]) + (z * c[k] + w * d[k]);
}
NAIVELY_DISPATCH(void, add_four, add_four_as, (const Weighted* four, double* part, std::size_t n), (four, part, n))

class Scorer {
 public:
  Scorer(const TokenCells& cells, const Whole& whole, double scale)
      : cells_(cells), whole_(whole), scale_(scale), part_(cells.n_classes) {}

  // Equation (3).
  void coins(const LeftRow& row, const LeftEntry* entries, const double* tossed, double* out) {
    std::fill(part_.begin(), part_.end(), 0.0);
    double own = 0, alpha = 0;
    for (std::int64_t e = 0; e < row.size; ++e) {
      ask_for(entries, e, row.size);
      const LeftEntry& entry = entries[e];
      alpha = whole_.head(place_of(entry)).alpha;  // one for all
      const double without = tossed[row.label] - 2 * row.weight - entry.left + alpha;
      own += entry.x * (whole_.logs.plus(entry.left, alpha) - (without > alpha / 2 ? std::log(without) : 0.0));
      add(entry);
    }
    add_waiting();
    for (std::int64_t c = 0; c < cells_.n_classes; ++c) {
      if (c == row.label)
        out[c] += own;
      else if (row.size)
        out[c] += part_[c] + row.length * (std::log(alpha) - std::log(tossed[c] + alpha));
    }
  }

  void score(const LeftRow& row, const LeftEntry* entries, bool others, double* out) {
    others ? complement(row, entries, out) : multinomial(row, entries, out);
  }

 private:
  // Equation (1).
  void multinomial(const LeftRow& row, const LeftEntry* entries, double* out) {
    const bool empty = whole_.n_cells[row.label] - row.emptied <= 0, pool = empty || whole_.lends;
    std::fill(part_.begin(), part_.end(), 0.0);
    double common = 0, own = 0, pooled = 0;
    for (std::int64_t e = 0; e < row.size; ++e) {
      ask_for(entries, e, row.size);
      const LeftEntry& entry = entries[e];
      const Head& token = whole_.head(place_of(entry));
      common += entry.x * token.base;
      own += entry.x * whole_.logs.plus(entry.left, token.alpha);
      if (pool) pooled += entry.x * whole_.logs.plus(entry.pooled, token.alpha);
      add(entry);
    }
    add_waiting();
    const double alpha = whole_.alpha - scale_ * row.lost;
    if (pool) pooled -= row.length * log_whole(whole_.sum - row.removed + alpha);
    for (std::int64_t c = 0; c < cells_.n_classes; ++c) {
      if (c == row.label)
        out[c] += empty ? pooled : own - row.length * log_whole(whole_.total[c] - row.removed + alpha);
      else if (whole_.n_cells[c] == 0)
        out[c] += pooled;
      else
        out[c] += common + part_[c] - row.length * log_whole(whole_.total[c] + alpha);
    }
  }

  // Equation (2).
  void complement(const LeftRow& row, const LeftEntry* entries, double* out) {
    std::fill(part_.begin(), part_.end(), 0.0);
    double common = 0;
    for (std::int64_t e = 0; e < row.size; ++e) {
      ask_for(entries, e, row.size);
      const LeftEntry& entry = entries[e];
      const double alpha = whole_.head(place_of(entry)).alpha, log_all = whole_.logs.plus(entry.pooled, alpha);
      const double of_own = log_all - whole_.logs.plus(entry.pooled - entry.left, alpha);
      common -= entry.x * log_all;
      if (entry.once) {
        add(entry);
        part_[row.label] += entry.x * (of_own - value_of(place_of(entry), row.label));
        continue;
      }
      for (std::int64_t j = cells_.start[entry.token]; j < cells_.start[entry.token + 1]; ++j) {
        const double value =
            cells_.owner[j] == row.label ? of_own : log_all - whole_.logs.plus(entry.pooled - cells_.sum[j], alpha);
        part_[cells_.owner[j]] += entry.x * value;
      }
    }
    add_waiting();
    const double rest = whole_.sum + whole_.alpha - scale_ * row.lost;
    for (std::int64_t c = 0; c < cells_.n_classes; ++c) {
      const double others = rest - whole_.total[c] - (c == row.label ? 0.0 : row.removed);
      out[c] += common + part_[c] + row.length * log_whole(others);
    }
  }

  static Whole::Place place_of(const LeftEntry& entry) { return {entry.at, entry.size}; }

  void add(const LeftEntry& entry) {
    const Whole::Place place = place_of(entry);
    if (!place.spread()) {
      const Listed* at = whole_.listed(place);
      for (std::int32_t j = 0; j < place.size; ++j) part_[at[j].owner] += entry.x * at[j].value;
      return;
    }
    waiting_[n_waiting_++] = {whole_.values(place), entry.x};
    if (n_waiting_ == kTogether) add_waiting();
  }

  void add_waiting() {
    for (std::size_t i = n_waiting_; i < kTogether; ++i) waiting_[i] = {waiting_[0].values, 0.0};
    if (n_waiting_) add_four(waiting_, part_.data(), part_.size());
    n_waiting_ = 0;
  }

  double value_of(Whole::Place place, std::int32_t label) const {
    if (place.spread()) return whole_.values(place)[label];
    const Listed* at = whole_.listed(place);
    while (at->owner != label) ++at;
    return at->value;
  }

  void ask_for(const LeftEntry* entries, std::int64_t e, std::int64_t size) const {
    if (e + kAhead < size) whole_.prefetch_values(place_of(entries[e + kAhead]));
  }

  const TokenCells& cells_;
  const Whole& whole_;
  const double scale_;
  std::vector<double> part_;
  static constexpr std::size_t kTogether = 4;
  Weighted waiting_[kTogether] = {};
  std::size_t n_waiting_ = 0;
};

}  // namespace naively::cells
