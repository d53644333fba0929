// How a row of tokens leaves the counts, and its scores without it; see tokens.hpp.
#pragma once
#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "leave_one_out/token_scores.hpp"
#include "support/compiler.hpp"
#include "support/memory.hpp"
#include "support/simd.hpp"

namespace naively::leave_one_out {

struct CellCount {  // a missing cell has no rows
  double sum;
  std::int64_t rows;
};

// The cells class by class: cell `at` of the list of the tokens, which is one of `token`.
struct ClassCells {
  struct CellIndex {
    std::int64_t token, at;
  };
  std::vector<std::int64_t> first;  // class c has [first[c], first[c + 1])
  std::vector<CellIndex> cell;

  explicit ClassCells(const TokenCells& cells) : first(cells.n_classes + 2), cell(cells.start[cells.n_tokens]) {
    for (std::size_t j = 0; j < cell.size(); ++j) ++first[cells.owner[j] + 2];
    for (std::int64_t c = 1; c <= cells.n_classes; ++c) first[c + 1] += first[c];
    for (std::int64_t k = 0; k < cells.n_tokens; ++k)
      for (std::int64_t j = cells.start[k]; j < cells.start[k + 1]; ++j) cell[first[cells.owner[j] + 1]++] = {k, j};
  }
};

// The cells of one class by token, in a table small enough for the cache. Rows are read class by class; to change the
// class costs as much as it has cells.
class OwnClassCells {
 public:
  OwnClassCells(const TokenCells& cells, const ClassCells& by_class)
      : cells_(cells), by_class_(by_class), own_(static_cast<std::size_t>(cells.n_tokens)) {}

  void load(std::int32_t label) {
    using CellIndex = ClassCells::CellIndex;
    if (label == label_) return;
    if (label_ >= 0) for_cells(label_, [&](const CellIndex& cell) { own_[cell.token] = {0, 0}; });
    for_cells(label, [&](const CellIndex& cell) { own_[cell.token] = {cells_.sum[cell.at], cells_.rows[cell.at]}; });
    label_ = label;
  }

  CellCount count(std::int64_t k) const { return own_[k]; }
  void prefetch(std::int64_t k) const { support::prefetch(&own_[k]); }

 private:
  template <class Act>
  void for_cells(std::int32_t label, Act&& act) {
    for (std::int64_t i = by_class_.first[label]; i < by_class_.first[label + 1]; ++i) act(by_class_.cell[i]);
  }

  const TokenCells& cells_;
  const ClassCells& by_class_;
  support::LargeArray<CellCount> own_;
  std::int32_t label_ = -1;
};

// Tables for several threads, which borrow any that is idle.
class OwnClassPool {
 public:
  explicit OwnClassPool(const TokenCells& cells) : cells_(cells), by_class_(cells) {}

  class Lease {
   public:
    explicit Lease(OwnClassPool& pool) : pool_(pool) {
      const std::lock_guard lock(pool.guard_);
      if (pool.idle_.empty()) {
        table_ = std::make_unique<OwnClassCells>(pool.cells_, pool.by_class_);
      } else {
        table_ = std::move(pool.idle_.back());
        pool.idle_.pop_back();
      }
    }
    ~Lease() {
      const std::lock_guard lock(pool_.guard_);
      pool_.idle_.push_back(std::move(table_));
    }
    OwnClassCells& operator*() { return *table_; }

   private:
    OwnClassPool& pool_;
    std::unique_ptr<OwnClassCells> table_;
  };

 private:
  const TokenCells& cells_;
  const ClassCells by_class_;
  std::mutex guard_;
  std::vector<std::unique_ptr<OwnClassCells>> idle_;
};

// Returns the indices of rows in the order of their classes.
inline std::vector<std::int64_t> rows_by_class(const std::int32_t* label, std::int64_t n, std::int64_t n_classes) {
  std::vector<std::int64_t> first(n_classes + 1), order(n);
  for (std::int64_t i = 0; i < n; ++i) ++first[label[i] + 1];
  for (std::int64_t c = 0; c < n_classes; ++c) first[c + 1] += first[c];
  for (std::int64_t i = 0; i < n; ++i) order[first[label[i]]++] = i;
  return order;
}

inline void keep_first(UncountedEntry& first, const UncountedEntry& other) {
  if (other.row >= 0 && (first.row < 0 || other.row < first.row)) first = other;
}

// One row of TokenRows.
struct TokenRow {
  std::int64_t row, n;
  const std::int32_t* index;
  const double* count;
  const std::int64_t* times;
  std::int32_t label;
  double weight;
  std::int64_t rows;
};

inline constexpr std::int64_t kPrefetchTokens = 16;

class RowReader {
 public:
  RowReader(const TokenCells& cells, const TokenScores& scores) : cells_(cells), scores_(scores) {}

  // Looks up the cells of a row and appends its tokens. Returns the first entry that was never counted, if any.
  UncountedEntry read(const TokenRow& leaving, OwnClassCells& own_class, RowSummary& row,
                      std::vector<RowToken>& tokens) const {
    row = {};
    row.label = leaving.label;
    row.weight = leaving.weight;
    own_class.load(leaving.label);
    for (std::int64_t e = 0; e < leaving.n; ++e) scores_.prefetch_place(leaving.index[e]);
    for (std::int64_t e = 0; e < std::min(kPrefetchTokens, leaving.n); ++e) prefetch(leaving, own_class, e);
    const std::size_t before = tokens.size();
    for (std::int64_t e = 0; e < leaving.n; ++e) {
      if (e + kPrefetchTokens < leaving.n) prefetch(leaving, own_class, e + kPrefetchTokens);
      const std::int64_t k = leaving.index[e];
      const TokenScores::Place place = scores_.place(k);
      if (!place.is_known()) continue;
      const TokenHead& token = scores_.head(place);
      const auto [own, own_rows] = own_class.count(k);
      const double x = leaving.count[e], taken = leaving.weight * x;
      const std::int64_t n_leaving = leaving.rows * (leaving.times ? leaving.times[e] : 1);
      const std::int64_t rows_left = own_rows - n_leaving;
      if (rows_left < 0 || own - taken < -1e-9 * (1.0 + taken)) return {leaving.row, k, rows_left, own - taken};
      const double left = rows_left > 0 ? std::max(own - taken, 0.0) : 0.0;
      row.removed += own - left;
      row.n_emptied += own_rows > 0 && rows_left == 0;
      const bool is_gone = token.rows - n_leaving <= 0, once = taken == 1 && own - left == 1;
      if (is_gone && !scores_.direct) {
        if (cells_.alpha_vanishes) row.lost_alpha += cells_.alpha[k];
        continue;
      }
      const double evident = is_gone ? 0.0 : x;
      tokens.push_back(
          {place.at, place.size, static_cast<std::int32_t>(k), once, evident, left, token.sum - own + left});
      row.length += evident;
    }
    row.size = static_cast<std::int64_t>(tokens.size() - before);
    return {};
  }

 private:
  void prefetch(const TokenRow& leaving, const OwnClassCells& own_class, std::int64_t e) const {
    const TokenScores::Place place = scores_.place(leaving.index[e]);
    if (!place.is_known()) return;
    scores_.prefetch_head(place);
    own_class.prefetch(leaving.index[e]);
  }

  const TokenCells& cells_;
  const TokenScores& scores_;
};

struct WeightedValues {  // x · values
  const double* values;
  double x;
};

// Adds four at a time: the sums are then read and written a quarter as often.
template <bool fused>
NAIVELY_INLINE void add_four_body(const WeightedValues* four, double* NAIVELY_RESTRICT part, std::size_t n) {
  const auto [a, x] = four[0];
  const auto [b, y] = four[1];
  const auto [c, z] = four[2];
  const auto [d, w] = four[3];
  for (std::size_t k = 0; k < n; ++k) part[k] += (x * a[k] + y * b[k]) + (z * c[k] + w * d[k]);
}
NAIVELY_DISPATCH(void, add_four, add_four_body, (const WeightedValues* four, double* part, std::size_t n),
                 (four, part, n))

// Scores rows with the tokens that RowReader read.
class RowScorer {
 public:
  RowScorer(const TokenCells& cells, const TokenScores& scores, double scale, Model model)
      : cells_(cells),
        scores_(scores),
        scale_(scale),
        model_(model),
        part_(cells.n_classes),
        count_(scores.direct ? cells.n_classes : 0),
        change_(count_.size()) {}

  // Equation (3).
  void score_bernoulli(const RowSummary& row, const RowToken* tokens, const double* n_rows, double* out) {
    std::fill(part_.begin(), part_.end(), 0.0);
    double own = 0, alpha = 0;
    for (std::int64_t e = 0; e < row.size; ++e) {
      prefetch(tokens, e, row.size);
      const RowToken& token = tokens[e];
      alpha = scores_.head(place_of(token)).alpha;  // the same for all
      const double absent = n_rows[row.label] - 2 * row.weight - token.own_sum + alpha;
      own += token.x * (scores_.logs.plus(token.own_sum, alpha) - (absent > alpha / 2 ? std::log(absent) : 0.0));
      add(token);
    }
    add_pending();
    for (std::int64_t c = 0; c < cells_.n_classes; ++c) {
      if (c == row.label)
        out[c] += own;
      else if (row.size)
        out[c] += part_[c] + row.length * (std::log(alpha) - std::log(n_rows[c] + alpha));
    }
  }

  void score(const RowSummary& row, const RowToken* tokens, double* out) {
    if (model_ == Model::kMultinomial)
      scores_.direct ? direct_multinomial(row, tokens, out) : multinomial(row, tokens, out);
    else if (model_ == Model::kComplement)
      scores_.direct ? direct_complement(row, tokens, out) : complement(row, tokens, out);
    else
      normed_complement(row, tokens, out);
  }

 private:
  // Equation (1).
  void multinomial(const RowSummary& row, const RowToken* tokens, double* out) {
    const bool is_empty = is_emptied(row), pools = is_empty || scores_.has_empty_class;
    std::fill(part_.begin(), part_.end(), 0.0);
    double common = 0, own = 0, pooled = 0;
    for (std::int64_t e = 0; e < row.size; ++e) {
      prefetch(tokens, e, row.size);
      const RowToken& token = tokens[e];
      const TokenHead& head = scores_.head(place_of(token));
      common += token.x * head.base;
      own += token.x * scores_.logs.plus(token.own_sum, head.alpha);
      if (pools) pooled += token.x * scores_.logs.plus(token.all_sums, head.alpha);
      add(token);
    }
    add_pending();
    const double alpha = scores_.alpha - scale_ * row.lost_alpha;
    if (pools) pooled -= row.length * log_of_total(scores_.sum - row.removed + alpha);
    for (std::int64_t c = 0; c < cells_.n_classes; ++c) {
      if (c == row.label)
        out[c] += is_empty ? pooled : own - row.length * log_of_total(scores_.total[c] - row.removed + alpha);
      else if (scores_.n_cells[c] == 0)
        out[c] += pooled;
      else
        out[c] += common + part_[c] - row.length * log_of_total(scores_.total[c] + alpha);
    }
  }

  // Equation (2).
  void complement(const RowSummary& row, const RowToken* tokens, double* out) {
    std::fill(part_.begin(), part_.end(), 0.0);
    double common = 0;
    for (std::int64_t e = 0; e < row.size; ++e) {
      prefetch(tokens, e, row.size);
      const RowToken& token = tokens[e];
      const double alpha = scores_.head(place_of(token)).alpha, log_all = scores_.logs.plus(token.all_sums, alpha);
      const double own_value = log_all - scores_.logs.plus(token.all_sums - token.own_sum, alpha);
      common -= token.x * log_all;
      if (token.once) {
        add(token);
        part_[row.label] += token.x * (own_value - value_of(place_of(token), row.label));
        continue;
      }
      for (std::int64_t j = cells_.start[token.token]; j < cells_.start[token.token + 1]; ++j) {
        const double value = cells_.owner[j] == row.label
                                 ? own_value
                                 : log_all - scores_.logs.plus(token.all_sums - cells_.sum[j], alpha);
        part_[cells_.owner[j]] += token.x * value;
      }
    }
    add_pending();
    const double all = scores_.sum + scores_.alpha - scale_ * row.lost_alpha;
    for (std::int64_t c = 0; c < cells_.n_classes; ++c) {
      const double others = all - scores_.total[c] - (c == row.label ? 0.0 : row.removed);
      out[c] += common + part_[c] + row.length * log_of_total(others);
    }
  }

  // Equation (1) as it is written.
  void direct_multinomial(const RowSummary& row, const RowToken* tokens, double* out) {
    const bool is_empty = is_emptied(row);
    const auto pools = [&](std::int64_t c) { return c == row.label ? is_empty : scores_.n_cells[c] == 0; };
    std::fill(part_.begin(), part_.end(), 0.0);
    std::fill(change_.begin(), change_.end(), 0.0);  // of A_c
    for (const RowToken* token = tokens; token < tokens + row.size; ++token) {
      load_counts(*token, row.label);
      for (std::int64_t c = 0; c < cells_.n_classes; ++c) {
        const double alpha = scale_ * cells_.alpha_of(token->token, c);
        if (token->x > 0)
          part_[c] += token->x * log_of((pools(c) ? token->all_sums : count_[c]) + alpha);
        else if (cells_.alpha_vanishes)
          change_[c] += alpha;
      }
    }
    for (std::int64_t c = 0; c < cells_.n_classes; ++c) {
      const double total =
          (pools(c) ? scores_.sum : scores_.total[c]) - (pools(c) || c == row.label ? row.removed : 0.0);
      out[c] += part_[c] - row.length * log_of_total(total + scores_.alphas[c] - change_[c]);
    }
  }

  // Equation (2) as it is written.
  void direct_complement(const RowSummary& row, const RowToken* tokens, double* out) {
    std::fill(part_.begin(), part_.end(), 0.0);
    double length = 0, lost_alpha = 0;
    for (const RowToken* token = tokens; token < tokens + row.size; ++token) {
      const double alpha = scale_ * cells_.alpha[token->token], all = token->all_sums + alpha;
      if (!(token->x > 0) && cells_.alpha_vanishes) lost_alpha += alpha;
      if (!(token->x > 0 && all > 0)) continue;
      length += token->x;
      load_counts(*token, row.label);
      const auto n_owners = std::count_if(count_.begin(), count_.end(), [](double n) { return n > 0; });
      for (std::int64_t c = 0; c < cells_.n_classes; ++c) {
        const bool is_only_owner = alpha == 0 && n_owners == 1 && count_[c] > 0;
        const double others = is_only_owner ? 0.0 : all - count_[c];
        if (others > 0)
          part_[c] -= token->x * std::log(others);
        else  // no other class can have the token
          for (std::int64_t d = 0; d < cells_.n_classes; ++d) part_[d] = d == c ? part_[d] : -INFINITY;
      }
    }
    for (std::int64_t c = 0; c < cells_.n_classes; ++c)
      out[c] += part_[c] + length * log_of_total(sum_of_others(row, c) - lost_alpha);
  }

  void normed_complement(const RowSummary& row, const RowToken* tokens, double* out) {
    std::fill(part_.begin(), part_.end(), 0.0);
    std::fill(change_.begin(), change_.end(), 0.0);  // of log_others
    for (const RowToken* token = tokens; token < tokens + row.size; ++token) {
      const double alpha = scale_ * cells_.alpha[token->token], sum = scores_.head(place_of(*token)).sum;
      load_counts(*token, row.label);
      for (std::int64_t c = 0; c < cells_.n_classes; ++c) {
        const double log_without = std::log(token->all_sums - count_[c] + alpha);
        part_[c] += token->x * log_without;
        if (c != row.label) change_[c] += log_without - std::log(sum - count_[c] + alpha);
      }
    }
    for (std::int64_t c = 0; c < cells_.n_classes; ++c) {
      const double log_total = std::log(sum_of_others(row, c));
      const double norm = scores_.log_others[c] + change_[c] - static_cast<double>(cells_.n_tokens) * log_total;
      out[c] += (part_[c] - row.length * log_total) / norm;
    }
  }

  // N − N_c + A_c without the row, but with the α of tokens that vanish.
  double sum_of_others(const RowSummary& row, std::int64_t c) const {
    return scores_.sum - scores_.total[c] + scores_.alphas[c] - (c == row.label ? 0.0 : row.removed);
  }

  bool is_emptied(const RowSummary& row) const { return scores_.n_cells[row.label] - row.n_emptied <= 0; }

  // Fills count_ with N_kc of all classes, without the row.
  void load_counts(const RowToken& token, std::int32_t label) {
    std::fill(count_.begin(), count_.end(), 0.0);
    for (std::int64_t j = cells_.start[token.token]; j < cells_.start[token.token + 1]; ++j)
      count_[cells_.owner[j]] = cells_.sum[j];
    count_[label] = token.own_sum;
  }

  static TokenScores::Place place_of(const RowToken& token) { return {token.at, token.size}; }

  // Adds the values of a token to part_, at the latest with add_pending().
  void add(const RowToken& token) {
    const TokenScores::Place place = place_of(token);
    if (!place.is_dense()) {
      const ClassValue* at = scores_.listed(place);
      for (std::int32_t j = 0; j < place.size; ++j) part_[at[j].owner] += token.x * at[j].value;
      return;
    }
    pending_[n_pending_++] = {scores_.values(place), token.x};
    if (n_pending_ == kMaxPending) add_pending();
  }

  void add_pending() {
    for (std::size_t i = n_pending_; i < kMaxPending; ++i) pending_[i] = {pending_[0].values, 0.0};
    if (n_pending_) add_four(pending_, part_.data(), part_.size());
    n_pending_ = 0;
  }

  double value_of(TokenScores::Place place, std::int32_t label) const {
    if (place.is_dense()) return scores_.values(place)[label];
    const ClassValue* at = scores_.listed(place);
    while (at->owner != label) ++at;
    return at->value;
  }

  void prefetch(const RowToken* tokens, std::int64_t e, std::int64_t size) const {
    if (e + kPrefetchTokens < size) scores_.prefetch_values(place_of(tokens[e + kPrefetchTokens]));
  }

  const TokenCells& cells_;
  const TokenScores& scores_;
  const double scale_;
  const Model model_;
  std::vector<double> part_, count_, change_;
  static constexpr std::size_t kMaxPending = 4;
  WeightedValues pending_[kMaxPending] = {};
  std::size_t n_pending_ = 0;
};

}  // namespace naively::leave_one_out
