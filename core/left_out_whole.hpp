// What cells of tokens say before any row leaves; see left_out.hpp.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "left_out.hpp"
#include "pages.hpp"

namespace naively::cells {

inline double log_of(double x) { return x > 0 ? std::log(x) : -INFINITY; }

// log(n + α) and log(1 + n/α). Counts are mostly small whole numbers, and α mostly one for all tokens: then they are
// looked up.
class Logs {
 public:
  Logs(const TokenCells& cells, double scale) {
    bool first = true;
    for (std::int64_t k = 0; k < cells.n_tokens; ++k) {
      if (!cells.known[k] || !cells.fades[k]) continue;
      if (first) alpha_ = scale * cells.alpha[k];
      else if (scale * cells.alpha[k] != alpha_) return;
      first = false;
    }
    if (!(alpha_ > 0)) return;
    const std::int64_t size = std::min<std::int64_t>(cells.start[cells.n_tokens], kSmall);
    plus_.resize(size), one_plus_.resize(size);
    for (std::int64_t n = 0; n < size; ++n) {
      plus_[n] = std::log(static_cast<double>(n) + alpha_);
      one_plus_[n] = std::log1p(static_cast<double>(n) / alpha_);
    }
  }

  double plus(double n, double alpha) const {
    const double* found = look(plus_, n, alpha);
    return found ? *found : log_of(n + alpha);
  }
  double one_plus(double n, double alpha) const {
    const double* found = look(one_plus_, n, alpha);
    return found ? *found : std::log1p(n / alpha);
  }

 private:
  static constexpr std::int64_t kSmall = 4096;

  const double* look(const std::vector<double>& table, double n, double alpha) const {
    if (alpha != alpha_ || !(n >= 0 && n < static_cast<double>(table.size()))) return nullptr;
    const int whole = static_cast<int>(n);
    return whole == n ? &table[whole] : nullptr;
  }

  double alpha_ = NAN;
  std::vector<double> plus_, one_plus_;
};

// All that is asked of a token, in one line of the cache: its cells [first, last), N_k, its rows, α_k, log α_k (or
// log(N_k − 1 + α_k), of a complement), and the number of the line on which
// its values stand class by class, if many classes have it, else −1.
struct alignas(64) Token {
  std::int64_t first, last;
  double sum;
  std::int64_t rows;
  double alpha, base;
  std::int32_t line;
  bool known, fades;
};

// The value of a cell is log(1 + N_kc/α_k); of a complement it is log(N_k − 1 + α_k) − log(N_k − 1 − N_kc + α_k),
// right for a token that leaves another class once.
struct Whole {
  Logs logs;
  ZeroedPages<Token> token;
  ZeroedPages<double> value, lines;   // of each cell; of each class
  std::vector<double> total;          // N_c
  std::vector<std::int64_t> n_cells;  // tokens of class c
  std::size_t n_lines = 0;
  double sum = 0, alpha = 0;
  bool lends = false;  // whether some class has no token

  Whole(const TokenCells& cells, double scale)
      : logs(cells, scale), token(static_cast<std::size_t>(cells.n_tokens)), total(cells.n_classes), n_cells(cells.n_classes) {
    for (std::int64_t k = 0; k < cells.n_tokens; ++k) {
      const double of_token = scale * cells.alpha[k];
      if (cells.known[k] || !cells.shrinks) alpha += of_token;
      token[k] = {cells.start[k], cells.start[k + 1], 0, 0, of_token, 0, -1, cells.known[k], cells.fades[k]};
      for (std::int64_t j = cells.start[k]; j < cells.start[k + 1]; ++j) {
        token[k].sum += cells.sum[j];
        token[k].rows += cells.rows[j];
        total[cells.owner[j]] += cells.sum[j];
        ++n_cells[cells.owner[j]];
      }
      if (token[k].known && 4 * (token[k].last - token[k].first) >= cells.n_classes && token[k].rows > 1)
        token[k].line = static_cast<std::int32_t>(n_lines++);
    }
    for (std::int64_t c = 0; c < cells.n_classes; ++c) sum += total[c], lends |= n_cells[c] == 0;
  }

  void set_values(const TokenCells& cells, bool complement) {
    value = ZeroedPages<double>(static_cast<std::size_t>(cells.start[cells.n_tokens]));
    lines = ZeroedPages<double>(n_lines * static_cast<std::size_t>(cells.n_classes));
    for (std::int64_t k = 0; k < cells.n_tokens; ++k) {
      Token& t = token[k];
      if (!t.known) continue;
      t.base = complement ? logs.plus(t.sum - 1, t.alpha) : log_of(t.alpha);
      for (std::int64_t j = t.first; j < t.last; ++j)
        value[j] = complement ? of_others(t, t.sum - 1 - cells.sum[j]) : logs.one_plus(cells.sum[j], t.alpha);
      if (t.line >= 0) draw_line(cells, t);
    }
  }

 private:
  // Below 0: the token cannot have left another class.
  double of_others(const Token& t, double n) const { return n + t.alpha > 0 ? t.base - logs.plus(n, t.alpha) : 0.0; }

  // Values side by side are added faster than cell by cell; at most four numbers for each cell.
  void draw_line(const TokenCells& cells, const Token& t) {
    double* at = lines.data() + static_cast<std::size_t>(t.line) * static_cast<std::size_t>(cells.n_classes);
    for (std::int64_t j = t.first; j < t.last; ++j) at[cells.owner[j]] = value[j];
  }
};

}  // namespace naively::cells
