// How a row of tokens leaves the counts, and what is then said of it; see left_out.hpp.
#pragma once
#include <algorithm>
#include <vector>

#include "left_out_whole.hpp"

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

inline constexpr std::ptrdiff_t kNear = 16;  // cells that are searched one by one

inline double log_whole(double x) { return x > 0 ? std::log(x) : 0.0; }

class Reader {
 public:
  Reader(const TokenCells& cells, const Whole& whole)
      : cells_(cells), whole_(whole), line_(whole.n_lines * static_cast<std::size_t>(cells.n_classes)) {
    for (std::int64_t k = 0; k < cells.n_tokens; ++k)
      if (whole.token[k].line >= 0)
        for (std::int64_t j = cells.start[k]; j < cells.start[k + 1]; ++j)
          line_[place(whole.token[k], cells.owner[j])] = {cells.sum[j], cells.rows[j]};
  }

  // Looks up a row's cells, and appends what is left to the entries; false if one was never counted.
  bool read(const LeavingRow& leaves, LeftRow& row, std::vector<LeftEntry>& entries, NotCounted& bad) const {
    row = {};
    row.label = leaves.label;
    prefetch(leaves);
    const std::size_t before = entries.size();
    for (std::int64_t e = 0; e < leaves.n; ++e) {
      const std::int64_t k = leaves.index[e];
      if (!inside(k) || !whole_.token[k].known) continue;
      const Token& token = whole_.token[k];
      const auto [own, own_rows] = own_cell(token, row.label);
      const double x = leaves.count[e], taken = leaves.weight * x;
      const std::int64_t leaving = leaves.rows * (leaves.times ? leaves.times[e] : 1), left_rows = own_rows - leaving;
      if (left_rows < 0 || own - taken < -1e-9 * (1.0 + taken)) {
        bad = {leaves.row, k, left_rows, own - taken};
        return false;
      }
      const double left = left_rows > 0 ? std::max(own - taken, 0.0) : 0.0;
      row.removed += own - left;
      row.emptied += own_rows > 0 && left_rows == 0;
      if (token.fades && token.rows - leaving <= 0) {
        if (cells_.shrinks) row.lost += cells_.alpha[k];
        continue;
      }
      const bool alone = token.rows == own_rows;  // no other class has it: nothing of it may be left
      const bool once = taken == 1 && own - left == 1;
      entries.push_back({static_cast<std::int32_t>(k), once, x, left, alone ? left : token.sum - own + left});
      row.length += x;
    }
    row.size = static_cast<std::int64_t>(entries.size() - before);
    return true;
  }

 private:
  bool inside(std::int64_t k) const { return k >= 0 && k < cells_.n_tokens; }

  struct Cell {  // one that is not there has no rows
    double sum;
    std::int64_t rows;
  };

  std::size_t place(const Token& token, std::int32_t label) const {
    return static_cast<std::size_t>(token.line) * static_cast<std::size_t>(cells_.n_classes) +
           static_cast<std::size_t>(label);
  }

  Cell own_cell(const Token& token, std::int32_t label) const {
    if (token.line >= 0) return line_[place(token, label)];
    const std::int32_t *first = cells_.owner + token.first, *last = cells_.owner + token.last;
    const std::int32_t* found = last - first > kNear ? std::lower_bound(first, last, label) : std::find(first, last, label);
    if (found == last || *found != label) return {0, 0};
    return {cells_.sum[found - cells_.owner], cells_.rows[found - cells_.owner]};
  }

  // The tokens of a row lie anywhere: ask for all of them, then for their cells, before the first is needed.
  void prefetch(const LeavingRow& leaves) const {
    for (std::int64_t e = 0; e < leaves.n; ++e)
      if (inside(leaves.index[e])) __builtin_prefetch(&whole_.token[leaves.index[e]]);
    for (std::int64_t e = 0; e < leaves.n; ++e) {
      if (!inside(leaves.index[e])) continue;
      const Token& token = whole_.token[leaves.index[e]];
      if (token.line >= 0) {
        __builtin_prefetch(&line_[place(token, leaves.label)]);
      } else {
        __builtin_prefetch(cells_.owner + token.first);
        __builtin_prefetch(cells_.sum + token.first);
        __builtin_prefetch(cells_.rows + token.first);
      }
    }
  }

  const TokenCells& cells_;
  const Whole& whole_;
  ZeroedPages<Cell> line_;  // of tokens that have one: the cells, class by class
};

class Scorer {
 public:
  Scorer(const TokenCells& cells, const Whole& whole, double scale)
      : cells_(cells), whole_(whole), scale_(scale), part_(cells.n_classes) {}

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
      const Token& token = whole_.token[entry.token];
      common += entry.x * token.base;
      own += entry.x * whole_.logs.plus(entry.left, token.alpha);
      if (pool) pooled += entry.x * whole_.logs.plus(entry.pooled, token.alpha);
      add(token, entry.x);
    }
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
      const Token& token = whole_.token[entry.token];
      const double alpha = token.alpha, log_all = whole_.logs.plus(entry.pooled, alpha);
      const double of_own = log_all - whole_.logs.plus(entry.pooled - entry.left, alpha);
      common -= entry.x * log_all;
      if (entry.once) {
        add(token, entry.x);
        part_[row.label] += entry.x * (of_own - value_of(token, row.label));
        continue;
      }
      for (std::int64_t j = token.first; j < token.last; ++j) {
        const double value = cells_.owner[j] == row.label ? of_own : log_all - whole_.logs.plus(entry.pooled - cells_.sum[j], alpha);
        part_[cells_.owner[j]] += entry.x * value;
      }
    }
    const double rest = whole_.sum + whole_.alpha - scale_ * row.lost;
    for (std::int64_t c = 0; c < cells_.n_classes; ++c) {
      const double others = rest - whole_.total[c] - (c == row.label ? 0.0 : row.removed);
      out[c] += common + part_[c] + row.length * log_whole(others);
    }
  }

  void add(const Token& token, double x) {
    if (token.line < 0) {
      for (std::int64_t j = token.first; j < token.last; ++j) part_[cells_.owner[j]] += x * whole_.value[j];
      return;
    }
    const double* line = whole_.lines.data() + static_cast<std::size_t>(token.line) * part_.size();
    for (std::size_t c = 0; c < part_.size(); ++c) part_[c] += x * line[c];
  }

  double value_of(const Token& token, std::int32_t label) const {
    if (token.line >= 0) return whole_.lines[static_cast<std::size_t>(token.line) * part_.size() + label];
    std::int64_t j = token.first;
    while (cells_.owner[j] != label) ++j;
    return whole_.value[j];
  }

  // Tokens a few entries ahead, and the values of those a little nearer.
  void ask_for(const LeftEntry* entries, std::int64_t e, std::int64_t size) const {
    if (e + 16 < size) __builtin_prefetch(&whole_.token[entries[e + 16].token]);
    if (e + 8 >= size) return;
    const Token& token = whole_.token[entries[e + 8].token];
    if (token.line < 0) {
      __builtin_prefetch(whole_.value.data() + token.first);
      __builtin_prefetch(cells_.owner + token.first);
    } else {
      const double* line = whole_.lines.data() + static_cast<std::size_t>(token.line) * part_.size();
      for (std::size_t c = 0; c < std::min<std::size_t>(part_.size(), 32); c += 8) __builtin_prefetch(line + c);
    }
  }

  const TokenCells& cells_;
  const Whole& whole_;
  const double scale_;
  std::vector<double> part_;
};

}  // namespace naively::cells
