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
      const bool gone = token.rows - leaving <= 0, once = taken == 1 && own - left == 1;
      if (gone && !whole_.direct) {
        if (cells_.shrinks) row.lost += cells_.alpha[k];
        continue;
      }
      const double evident = gone ? 0.0 : x;
      entries.push_back(
          {place.at, place.size, static_cast<std::int32_t>(k), once, evident, left, token.sum - own + left});
      row.length += evident;
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
  Scorer(const TokenCells& cells, const Whole& whole, double scale, Model model)
      : cells_(cells),
        whole_(whole),
        scale_(scale),
        model_(model),
        part_(cells.n_classes),
        count_(whole.direct ? cells.n_classes : 0),
        change_(count_.size()) {}

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

  void score(const LeftRow& row, const LeftEntry* entries, double* out) {
    if (model_ == Model::multinomial)
      whole_.direct ? direct_multinomial(row, entries, out) : multinomial(row, entries, out);
    else if (model_ == Model::complement)
      whole_.direct ? direct_complement(row, entries, out) : complement(row, entries, out);
    else
      normed_complement(row, entries, out);
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

  // Equation (1) as it stands.
  void direct_multinomial(const LeftRow& row, const LeftEntry* entries, double* out) {
    const bool empty = whole_.n_cells[row.label] - row.emptied <= 0;
    const auto pools = [&](std::int64_t c) { return c == row.label ? empty : whole_.n_cells[c] == 0; };
    std::fill(part_.begin(), part_.end(), 0.0);
    std::fill(change_.begin(), change_.end(), 0.0);  // of A_c
    for (const LeftEntry* entry = entries; entry < entries + row.size; ++entry) {
      look_up(*entry, row.label);
      for (std::int64_t c = 0; c < cells_.n_classes; ++c) {
        const double alpha = scale_ * cells_.alpha_of(entry->token, c);
        if (entry->x > 0)
          part_[c] += entry->x * log_of((pools(c) ? entry->pooled : count_[c]) + alpha);
        else if (cells_.shrinks)
          change_[c] += alpha;
      }
    }
    for (std::int64_t c = 0; c < cells_.n_classes; ++c) {
      const double total = (pools(c) ? whole_.sum : whole_.total[c]) - (pools(c) || c == row.label ? row.removed : 0.0);
      out[c] += part_[c] - row.length * log_whole(total + whole_.alphas[c] - change_[c]);
    }
  }

  // Equation (2) as it stands.
  void direct_complement(const LeftRow& row, const LeftEntry* entries, double* out) {
    std::fill(part_.begin(), part_.end(), 0.0);
    double length = 0, lost = 0;
    for (const LeftEntry* entry = entries; entry < entries + row.size; ++entry) {
      const double alpha = scale_ * cells_.alpha[entry->token], all = entry->pooled + alpha;
      if (!(entry->x > 0) && cells_.shrinks) lost += alpha;
      if (!(entry->x > 0 && all > 0)) continue;
      length += entry->x;
      look_up(*entry, row.label);
      const bool alone = alpha == 0 && std::count_if(count_.begin(), count_.end(), [](double n) { return n > 0; }) == 1;
      for (std::int64_t c = 0; c < cells_.n_classes; ++c) {
        const double others = alone && count_[c] > 0 ? 0.0 : all - count_[c];
        if (others > 0)
          part_[c] -= entry->x * std::log(others);
        else  // no other class can have it
          for (std::int64_t d = 0; d < cells_.n_classes; ++d) part_[d] = d == c ? part_[d] : -INFINITY;
      }
    }
    for (std::int64_t c = 0; c < cells_.n_classes; ++c)
      out[c] += part_[c] + length * log_whole(others_of(row, c) - lost);
  }

  // N − N_c + A_c without the row, but for the α of tokens that vanish.
  double others_of(const LeftRow& row, std::int64_t c) const {
    return whole_.sum - whole_.total[c] + whole_.alphas[c] - (c == row.label ? 0.0 : row.removed);
  }

  void normed_complement(const LeftRow& row, const LeftEntry* entries, double* out) {
    std::fill(part_.begin(), part_.end(), 0.0);
    std::fill(change_.begin(), change_.end(), 0.0);  // of log_others
    for (const LeftEntry* entry = entries; entry < entries + row.size; ++entry) {
      const double alpha = scale_ * cells_.alpha[entry->token], had = whole_.head(place_of(*entry)).sum;
      look_up(*entry, row.label);
      for (std::int64_t c = 0; c < cells_.n_classes; ++c) {
        const double log_without = std::log(entry->pooled - count_[c] + alpha);
        part_[c] += entry->x * log_without;
        if (c != row.label) change_[c] += log_without - std::log(had - count_[c] + alpha);
      }
    }
    for (std::int64_t c = 0; c < cells_.n_classes; ++c) {
      const double log_rest = std::log(others_of(row, c));
      const double norm = whole_.log_others[c] + change_[c] - static_cast<double>(cells_.n_tokens) * log_rest;
      out[c] += (part_[c] - row.length * log_rest) / norm;
    }
  }

  // N_kc of all classes, without the row.
  void look_up(const LeftEntry& entry, std::int32_t label) {
    std::fill(count_.begin(), count_.end(), 0.0);
    for (std::int64_t j = cells_.start[entry.token]; j < cells_.start[entry.token + 1]; ++j)
      count_[cells_.owner[j]] = cells_.sum[j];
    count_[label] = entry.left;
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
  const Model model_;
  std::vector<double> part_, count_, change_;
  static constexpr std::size_t kTogether = 4;
  Weighted waiting_[kTogether] = {};
  std::size_t n_waiting_ = 0;
};

}  // namespace naively::cells
