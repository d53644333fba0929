// Logarithms of counts, mostly from a table.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "leave_one_out/tokens.hpp"

namespace naively::leave_one_out {

inline double log_of(double x) { return x > 0 ? std::log(x) : -INFINITY; }
inline double log_of_total(double x) { return x > 0 ? std::log(x) : 0.0; }

// log(n + α) and log(1 + n/α). Most counts are small integers and most models have one α for all tokens: then they are
// looked up.
class LogTable {
 public:
  LogTable() = default;
  LogTable(const TokenCells& cells, double scale) {
    bool first = true;
    for (std::int64_t k = 0; k < cells.n_tokens; ++k) {
      if (!cells.known[k] || !cells.vanishes[k]) continue;
      if (first)
        alpha_ = scale * cells.alpha[k];
      else if (scale * cells.alpha[k] != alpha_)
        return;
      first = false;
    }
    if (!(alpha_ > 0)) return;
    const std::int64_t size = std::min<std::int64_t>(cells.start[cells.n_tokens], kMaxCount);
    plus_.resize(size), one_plus_.resize(size);
    for (std::int64_t n = 0; n < size; ++n) {
      plus_[n] = std::log(static_cast<double>(n) + alpha_);
      one_plus_[n] = std::log1p(static_cast<double>(n) / alpha_);
    }
  }

  double plus(double n, double alpha) const {
    const double* log = look_up(plus_, n, alpha);
    return log ? *log : log_of(n + alpha);
  }
  double one_plus(double n, double alpha) const {
    const double* log = look_up(one_plus_, n, alpha);
    return log ? *log : std::log1p(n / alpha);
  }

 private:
  static constexpr std::int64_t kMaxCount = 4096;

  const double* look_up(const std::vector<double>& table, double n, double alpha) const {
    if (alpha != alpha_ || !(n >= 0 && n < static_cast<double>(table.size()))) return nullptr;
    const int integer = static_cast<int>(n);
    return integer == n ? &table[integer] : nullptr;
  }

  double alpha_ = NAN;
  std::vector<double> plus_, one_plus_;
};

}  // namespace naively::leave_one_out
